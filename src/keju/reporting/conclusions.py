"""Conclusions of a comparison of OCR engines: errors, time, reliable differences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from keju.analysis.confusions import Confusion, Misread
from keju.analysis.labels import task_name
from keju.analysis.nearly_empty import LIMIT, SHORT, NearlyEmpty
from keju.analysis.no_results import BEYOND, has_text
from keju.analysis.reading_patterns import PatternCounts, Patterns
from keju.analysis.resampling import Resampled
from keju.analysis.run_set import ItemKey, RunSet
from keju.errors import number_of, shortened
from keju.formatting import NOTHING, percent
from keju.reporting.error_rows import ErrorRow
from keju.reporting.glossary import pattern_senses
from keju.reporting.time_table import TimeTable
from keju.reporting.view import View
from keju.statistics import groups_needed

_MOST_PAIRS = 6
_MOST_PAGES = 10
POINTS = "(points of the strict score, a mean over pages; the errors are over all characters)"
_MOSTLY_READ = 20.0
"""Maximum recognition error, in percent, at which the characters of an engine count as mostly
right."""


class Pair(NamedTuple):
    """Two engines, the better first, and their difference in points."""

    better: str
    worse: str
    points: str


class Verdict(NamedTuple):
    """A sentence without its full stop, its pairs of engines, and what to do next.

    `next` are sentences, with or without a final full stop. `pages` are its items, with their
    positions in the browser. `patterns` are the reading patterns of its engine, if it is about
    their order.
    """

    text: str
    pairs: Sequence[Pair] = ()
    next: Sequence[str] = ()
    pages: Sequence[tuple[str, int]] = ()
    patterns: Patterns | None = None

    @property
    def line(self) -> str:
        """The whole verdict in one line, with the first few pairs or pages."""
        if self.pages:
            named = ", ".join(shortened(item) for item, _ in self.first_pages)
            others = f" and {self.more_pages} more" if self.more_pages else ""
            return ". ".join([f"{self.text}: {named}{others}", *self.next])
        if not self.pairs:
            return self.text
        shown = (
            f"{each.better} better than {each.worse} by {each.points} points"
            for each in self.pairs[:_MOST_PAIRS]
        )
        more = len(self.pairs) - _MOST_PAIRS
        listed = "; ".join(shown) + (f"; {more} more in the report" if more > 0 else "")
        return ". ".join([f"{self.text}: {listed} {POINTS}", *self.next])

    @property
    def first_pages(self) -> Sequence[tuple[str, int]]:
        """The pages that are named."""
        return self.pages[:_MOST_PAGES]

    @property
    def more_pages(self) -> int:
        """How many further pages there are."""
        return len(self.pages) - len(self.first_pages)


def conclusion_lines(view: View, run_set: RunSet, misread: Sequence[Misread] = ()) -> Iterator[str]:
    """A line for each engine or model that transcribed, then the reliable conclusions.

    All errors, times and tests are those of the report; `misread` are its confusions.
    """
    errors = _errors(view, run_set)
    yield from (each.line for each in _lacking(view))
    yield from (_rate(view, run_set, row) + _time(view.times, row.model) for row in errors)
    if not errors:
        yield (
            "No page has both a reference and an answer, so no error is known. The texts that were "
            "read are in the report"
        )
        return
    # A wrong order is reported in the engine's own line already.
    for each in (
        *_compared(view, run_set, errors),
        *_faults(view, errors, misread),
        *_next_steps(view, errors),
    ):
        yield each.line
    times = view.times
    if times and not times.collection and any(row.cpu != NOTHING for row in times.rows):
        yield "--pages N converts the times to days for a collection of N pages"


def _errors(view: View, run_set: RunSet) -> list[ErrorRow]:
    """The rows of errors of all but baselines."""
    return [row for row in view.errors if run_set.by_model[row.model].role != "baseline"]


def _rate(view: View, run_set: RunSet, row: ErrorRow) -> str:
    """The errors of an engine, over the pages that have a result."""
    lacking = any(each.model == row.model for each in view.no_results)
    own = row.over_results if lacking else row
    on = f" on the {_pages(run_set, row)} with a result" if lacking else ""
    over = "" if lacking else f", {_pages(run_set, row)}"
    all_pages = f"; {row.cer} % if the others count as wrong" if lacking else ""
    return (
        f"{row.model}: {_wrong(own)}{on} "
        f"(recognition {own.recognition}, layout {own.layout}{_order(own)}{all_pages}){over}"
    )


def _wrong(row: ErrorRow) -> str:
    """The CER in words; above 100 % it is not a share of the reference's characters."""
    if row.cer == NOTHING or float(row.cer) <= 100:
        return f"{row.cer} % of the characters wrong"
    return f"CER {row.cer} %, above 100 since some pages were read with more text than they have"


def _order(row: ErrorRow) -> str:
    """A remark if an engine recognises the characters and loses their order."""
    if NOTHING in (row.recognition, row.layout):
        return ""
    recognition, layout = float(row.recognition), float(row.layout)
    if recognition > _MOSTLY_READ or layout <= max(recognition, _MOSTLY_READ):
        return ""
    return ": most characters are right, their order is wrong"


def _pages(run_set: RunSet, row: ErrorRow) -> str:
    """The number of pages with a reference for a row's model, and how many of them it answered."""
    statuses: dict[ItemKey, bool] = {}
    for key, asked in run_set.asked.items():
        name = task_name(asked.item.task, asked.item.query)
        if name != row.task or not has_text(asked.item):
            continue
        for answer in asked.answers:
            if answer.model == row.model:
                done = answer.response.status == "answered"
                statuses[key] = statuses.get(key, True) and done
    answered = sum(statuses.values())
    if answered == len(statuses):
        return number_of(answered, "page")
    return f"{answered:,} of {number_of(len(statuses), 'page')}"


def _time(times: TimeTable | None, model: str) -> str:
    row = next((each for each in times.rows if each.model == model), None) if times else None
    if times is None or row is None:
        return ""
    if row.thousand == NOTHING:
        cpu = f"; processor time {row.cpu} a page" if row.cpu != NOTHING else ""
        least = times.least_words(row)
        return f", time not measured ({row.why}{cpu}{f'; {least}' if least else ''})"
    return f", {times.words(row)}"


def verdicts(
    view: View,
    run_set: RunSet,
    misread: Sequence[Misread] = (),
    patterns: PatternCounts | None = None,
) -> list[Verdict]:
    """The conclusions of a comparison of engines on own pages, and what to do next.

    `misread` are the confusions of the report, `patterns` its reading patterns. Empty for other
    benchmarks, and where nothing was both read and has a reference.
    """
    errors = _errors(view, run_set)
    lacking = list(_lacking(view))
    if not view.own_pages or not (errors or lacking):
        return []
    found = patterns or PatternCounts()
    turned = (_in_wrong_order(row, found.of(row.model, row.task)) for row in errors if _order(row))
    faults = _faults(view, errors, misread)
    compared = _compared(view, run_set, errors)
    rates = [_own_rate(view, run_set, row) for row in errors]
    return [*lacking, *rates, *compared, *turned, *faults, *_next_steps(view, errors)]


def _own_rate(view: View, run_set: RunSet, row: ErrorRow) -> Verdict:
    """An engine's own errors, its time and its cost."""
    times = view.times
    of_engine = [each for each in times.rows if each.model == row.model] if times else []
    steps = [said for each in of_engine if times and (said := times.sentence(each))]
    return Verdict(_rate(view, run_set, row), next=steps)


def _lacking(view: View) -> Iterator[Verdict]:
    """The engines without a result for some pages, how these pages count, and what to do."""
    for each in view.no_results:
        steps = [_COUNTED]
        if each.too_many:
            steps.append(
                f"{each.model} is not ranked and not compared, because {BEYOND} of its pages have "
                "no result"
            )
        steps.append(_ADD_FILES if each.lacks_files else _AGAIN)
        yield Verdict(each.cause, pages=each.pages, next=steps)


def _compared(view: View, run_set: RunSet, errors: Sequence[ErrorRow]) -> Iterator[Verdict]:
    if len(errors) > 1:
        for board in view.boards:
            for each in _reliable(board.sure["strict"], run_set):
                yield each._replace(next=[*_counted(view, each.pairs), *each.next])


def _counted(view: View, pairs: Sequence[Pair]) -> list[str]:
    """A sentence on the engines of these pairs that lack pages; none where all pages were read."""
    named = {name for pair in pairs for name in (pair.better, pair.worse)}
    lacking = [each.model for each in view.no_results if each.model in named]
    return [_AS_ZERO.format(", ".join(lacking))] if lacking else []


def _faults(
    view: View, errors: Sequence[ErrorRow], misread: Sequence[Misread]
) -> Iterator[Verdict]:
    """Pages with nearly empty transcriptions, and the main confusions."""
    shown = {row.model for row in errors}
    yield from (_left_empty(each) for each in view.nearly_empty if each.model in shown)
    yield from (_confused(each) for each in misread if each.model in shown and each.main)


def _left_empty(found: NearlyEmpty) -> Verdict:
    if found.short:
        return Verdict(
            f"{found.model} gave only a part of the text on {len(found.pages):,} of "
            f"{number_of(found.of, 'page')} ({100 * LIMIT:.0f} to {100 * SHORT:.0f} % of its "
            "characters)",
            pages=found.pages,
            next=("Check that these results are complete",),
        )
    return Verdict(
        f"{found.model} left {len(found.pages):,} of {number_of(found.of, 'page')} nearly empty "
        f"(fewer than {100 * LIMIT:.0f} % of the characters of the text)",
        pages=found.pages,
    )


def _confused(found: Misread) -> Verdict:
    first, *others = (_confusion(each, found.mistakes) for each in found.main)
    return Verdict("; ".join([f"{found.model} {first}", *others]))


def _confusion(each: Confusion, mistakes: int) -> str:
    what = f"reads {each.truth} as {each.read}" if each.read else f"passes over {each.truth}"
    share = f"{100 * each.times / mistakes:.0f} % of its misread characters"
    return f"{what} at {each.times:,} of {each.of:,} places ({share})"


def _next_steps(view: View, errors: Sequence[ErrorRow]) -> Iterator[Verdict]:
    lacking = {each.model for each in view.no_results if each.too_many}
    known = [
        float(row.recognition)
        for row in errors
        if row.recognition != NOTHING and row.model not in lacking
    ]
    if known and min(known) > _MOSTLY_READ:
        yield Verdict(_NONE_READS.format(min(known)))
    if any(not each.others for each in view.swapped):
        yield Verdict("Correct the texts that seem to be swapped before you rely on this")
    for each in view.swapped:
        if each.others:
            yield Verdict(f"Check the results of {each.models}: some seem to be of other pages")
    rows = view.times.rows if view.times else ()
    if untimed := [row.model for row in rows if row.cpu != NOTHING and row.thousand == NOTHING]:
        yield Verdict(
            f"For a time of {', '.join(untimed)}, run it again with another --work while no other "
            "program works"
        )


_COUNTED = (
    "The tables and the points count these pages as wrong; the error rates below are of the pages "
    "with a result"
)
_AS_ZERO = "A page without a result counts as 0 in these points ({})"
_ADD_FILES = "Add the files and run the same command again: only these pages are read"
_AGAIN = "Run the same command again to read only these pages (keju run: with --retry-failed)"
_NONE_READS = (
    "No engine reads these pages well: the best recognition error is {:.1f} %. Try other engines, "
    "or scans of a higher resolution"
)
_MORE_BOOKS = "Add pages of more books to decide it, or choose by time and cost"


def _in_wrong_order(row: ErrorRow, patterns: Patterns) -> Verdict:
    """The engine's order, its frequent reading patterns, and what can be done about each."""
    said = f"{row.model}: most characters are right, their order is wrong"
    if not patterns.sure:
        return Verdict(f"{said}. Its reading order can perhaps be set or corrected")
    senses = pattern_senses()
    steps = [senses[name].do for name, _ in patterns.sure]
    return Verdict(said, next=steps, patterns=patterns)


def _reliable(sure: Resampled, run_set: RunSet) -> Iterator[Verdict]:
    pairs = {pair: gap for pair, gap in sure.gaps.items() if gap.difference > 0}
    if not pairs:
        yield Verdict(
            "No two engines differ in their overall values"
            if sure.gaps
            else "No two engines can be compared by their overall values"
        )
        return
    groups = len(
        {
            score.group or score.item
            for scores in run_set.mains["strict"].values()
            for score in scores
            if score.value is not None
        }
    )
    needed = groups_needed(len(sure.gaps) // 2)
    if groups < needed:
        yield Verdict(
            f"No difference between engines is reliable yet: the pages are from "
            f"{number_of(groups, 'book (folder)', 'books (folders)')}, and at least {needed} are "
            f"needed, {needed - groups} more"
        )
        return
    reliable = [_pair(pair, gap.difference) for pair, gap in pairs.items() if gap.significant]
    open_ = [_pair(pair, gap.difference) for pair, gap in pairs.items() if not gap.significant]
    if reliable:
        yield Verdict(f"Reliable (p ≤ .05 over {groups} books)", reliable)
    if open_:
        yield Verdict(f"Not reliable with {groups} books", open_, [_MORE_BOOKS])


def _pair(pair: tuple[str, str], difference: float) -> Pair:
    return Pair(*pair, percent(difference))
