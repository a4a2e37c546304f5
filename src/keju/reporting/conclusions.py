"""Conclusions of a report; of own pages a comparison of engines: errors, time, differences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from keju.analysis.confusions import Confusion, Misread
from keju.analysis.nearly_empty import LIMIT, NearlyEmpty
from keju.analysis.no_results import MOST, NoResults
from keju.analysis.reading_patterns import PatternCounts, Patterns
from keju.analysis.resampling import Gap, ResampledMeans
from keju.analysis.run_set import RunSet
from keju.errors import shortened
from keju.formatting import NOTHING, percent_range
from keju.reporting.benchmark_conclusions import benchmark_sentences
from keju.reporting.engine_rates import MOSTLY_READ, add_time, describe_rate, loses_order
from keju.reporting.error_rows import ErrorRow
from keju.reporting.terms import PATTERNS
from keju.reporting.view import View
from keju.statistics import groups_needed
from keju.texts import Text, _, join_clauses, join_sentences, listed, n_

_MOST_PAIRS = 6
_MOST_PAGES = 10


class Pair(NamedTuple):
    """Two engines, the better first, and their difference in points.

    `reliable` is whether it is significant: otherwise neither is named the better one.
    """

    better: str
    worse: str
    points: str
    reliable: bool = True

    @property
    def text(self) -> Text:
        """The difference in words."""
        if self.reliable:
            return _("{} better than {} by {} points", self.better, self.worse, self.points)
        return _("{} and {} differ by {} points", self.better, self.worse, self.points)


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
            pages: str = listed(shortened(item) for item, _ in self.first_pages)
            if self.more_pages:
                pages = _("{} and {:,} more", pages, self.more_pages)
            first = _("{}: {}", self.text, pages)
            return join_sentences([first, *self.next])
        if not self.pairs:
            return self.text
        first = _("{}: {} {}", self.text, self._pairs(), points_note())
        return join_sentences([first, *self.next])

    def _pairs(self) -> str:
        """The first few pairs, and how many more the report has."""
        shown = [each.text for each in self.pairs[:_MOST_PAIRS]]
        if (more := len(self.pairs) - _MOST_PAIRS) > 0:
            shown.append(_("{} more in the report", more))
        return join_clauses(shown)

    @property
    def first_pages(self) -> Sequence[tuple[str, int]]:
        """The pages that are named."""
        return self.pages[:_MOST_PAGES]

    @property
    def more_pages(self) -> int:
        """How many further pages there are."""
        return len(self.pages) - len(self.first_pages)


def points_note() -> Text:
    """The note on the points of a difference, in brackets."""
    return _(
        "(points of the strict score, a mean over pages; the error rates are over all characters)"
    )


def conclusion_lines(view: View, run_set: RunSet, misread: Sequence[Misread] = ()) -> Iterator[str]:
    """A line for each engine or model that transcribed, then the reliable conclusions.

    All errors, times and tests are those of the report; `misread` are its confusions.
    """
    errors = _select_errors(view, run_set)
    yield from (each.line for each in _describe_missing(view))
    yield from (
        add_time(describe_rate(view, run_set, row), view.times, row.model) for row in errors
    )
    if not errors:
        yield _(
            "No page has both a reference and an answer, so no error is known. The texts that "
            "were read are in the report"
        )
        return
    # A wrong order is reported in the engine's own line already.
    for each in (
        *_compare_engines(view, errors),
        *_find_faults(view, errors, misread),
        *_suggest_next_steps(view, errors),
    ):
        yield each.line
    times = view.times
    if times and not times.collection and any(row.wall != NOTHING for row in times.rows):
        yield _("--pages N converts the times to days for a collection of N pages")


def _select_errors(view: View, run_set: RunSet) -> list[ErrorRow]:
    """The rows of errors of all but baselines."""
    return [row for row in view.errors if run_set.by_model[row.model].role != "baseline"]


def verdicts(
    view: View,
    run_set: RunSet,
    misread: Sequence[Misread] = (),
    patterns: PatternCounts | None = None,
) -> list[Verdict]:
    """The conclusions of a report, and what to do next.

    Of own pages they compare engines: `misread` are the confusions of the report, `patterns` its
    reading patterns. Empty for own pages where nothing was both read and has a reference.
    """
    if not view.own_pages:
        sentences = benchmark_sentences(view.boards, view.unfinished, run_set, view.decision)
        return [Verdict(each.text, next=each.steps) for each in sentences]
    errors = _select_errors(view, run_set)
    lacking = list(_describe_missing(view))
    if not (errors or lacking):
        return []
    found = patterns or PatternCounts()
    turned = (
        _describe_order(row, found.of(row.model, row.task)) for row in errors if loses_order(row)
    )
    faults = _find_faults(view, errors, misread)
    compared = _compare_engines(view, errors)
    rates = [_describe_engine(view, run_set, row) for row in errors]
    return [*lacking, *rates, *compared, *turned, *faults, *_suggest_next_steps(view, errors)]


def _describe_engine(view: View, run_set: RunSet, row: ErrorRow) -> Verdict:
    """An engine's own errors, its time and its cost."""
    times = view.times
    of_engine = [each for each in times.rows if each.model == row.model] if times else []
    steps = [
        times.describe(each) or _("Its time is not known: {}", each.why)
        for each in of_engine
        if times
    ]
    return Verdict(describe_rate(view, run_set, row), next=steps)


def _describe_missing(view: View) -> Iterator[Verdict]:
    """The engines without a result for some pages, how these pages count, and what to do."""
    for each in view.no_results:
        steps = [_explain_counting(each)]
        if each.too_many:
            steps.append(
                _(
                    "{} is not ranked and not compared, because more than {:.0f} % of its pages "
                    "have no result",
                    each.model,
                    100 * MOST,
                )
            )
        steps.append(
            _("Add the files and run the same command again: only these pages are read")
            if each.lacks_files
            else _(
                "Run the same command again to read only these pages (keju run: with "
                "--retry-failed)"
            )
        )
        yield Verdict(each.cause, pages=each.pages, next=steps)


def _explain_counting(missing: NoResults) -> Text:
    """How the tables count pages without a result."""
    if not missing.mixed:
        return _(
            "The tables and the points count these pages as wrong; the error rates below are of "
            "the pages with a result"
        )
    if missing.text_missing:
        return _(
            "The tables and the points count those with a reference text as wrong; the error "
            "rates below are of the pages with a reference text and a result"
        )
    return _("None of them has a reference text, so they are in no error rate and in no mean")


def _compare_engines(view: View, errors: Sequence[ErrorRow]) -> Iterator[Verdict]:
    if len(errors) > 1:
        for board in view.boards:
            for each in _describe_differences(board.resampled["strict"]):
                yield each._replace(next=[*_note_missing(view, each.pairs), *each.next])


def _note_missing(view: View, pairs: Sequence[Pair]) -> list[Text]:
    """A sentence on the engines of these pairs that lack pages; none where all pages were read."""
    named = {name for pair in pairs for name in (pair.better, pair.worse)}
    lacking = [each.model for each in view.no_results if each.model in named and each.text_missing]
    if not lacking:
        return []
    return [_("A page without a result counts as 0 in these points ({})", listed(lacking))]


def _find_faults(
    view: View, errors: Sequence[ErrorRow], misread: Sequence[Misread]
) -> Iterator[Verdict]:
    """Pages with nearly empty transcriptions, and the main confusions."""
    shown = {row.model for row in errors}
    yield from (_describe_incomplete(each) for each in view.nearly_empty if each.model in shown)
    yield from (_describe_confusions(each) for each in misread if each.model in shown and each.main)


def _describe_incomplete(found: NearlyEmpty) -> Verdict:
    return Verdict(
        n_(
            "{} left {:,} of {n:,} page nearly empty (fewer than {:.0f} % of the characters of "
            "the text)",
            "{} left {:,} of {n:,} pages nearly empty (fewer than {:.0f} % of the characters of "
            "the text)",
            found.of,
            found.model,
            len(found.pages),
            100 * LIMIT,
        ),
        pages=found.pages,
    )


def _describe_confusions(found: Misread) -> Verdict:
    confusions = join_clauses(_describe_confusion(each, found.mistakes) for each in found.main)
    return Verdict(_("{} {}", found.model, confusions))


def _describe_confusion(each: Confusion, mistakes: int) -> Text:
    share = 100 * each.times / mistakes
    if not each.read:
        return _(
            "misses {} at {:,} of {:,} places ({:.0f} % of its misread characters)",
            each.truth,
            each.times,
            each.of,
            share,
        )
    return _(
        "reads {} as {} at {:,} of {:,} places ({:.0f} % of its misread characters)",
        each.truth,
        each.read,
        each.times,
        each.of,
        share,
    )


def _suggest_next_steps(view: View, errors: Sequence[ErrorRow]) -> Iterator[Verdict]:
    lacking = {each.model for each in view.no_results if each.too_many}
    known = [
        float(row.over_results.recognition)
        for row in errors
        if row.over_results.recognition != NOTHING and row.model not in lacking
    ]
    if known and min(known) > MOSTLY_READ:
        yield Verdict(
            _(
                "No engine reads these pages well: the best recognition error is {:.1f} %. Try "
                "other engines, or scans of a higher resolution",
                min(known),
            )
        )
    if any(not each.others for each in view.swapped):
        yield Verdict(_("Correct the texts that seem to be swapped before you rely on this"))
    if mixed := dict.fromkeys(m for each in view.swapped if each.others for m in each.models):
        yield Verdict(
            _("Check the results of {}: some seem to belong to other pages", listed(mixed))
        )


def _describe_order(row: ErrorRow, patterns: Patterns) -> Verdict:
    """The engine's order, its frequent reading patterns, and what can be done about each."""
    if not patterns.attributed:
        return Verdict(
            _(
                "{}: most characters are right, their order is wrong. Its reading order can "
                "perhaps be set or corrected",
                row.model,
            )
        )
    senses = PATTERNS
    steps = [senses[name].do for name, _ in patterns.attributed]
    wrong = _("{}: most characters are right, their order is wrong", row.model)
    return Verdict(wrong, next=steps, patterns=patterns)


def _describe_differences(resampled: ResampledMeans) -> Iterator[Verdict]:
    pairs = {pair: gap for pair, gap in resampled.gaps.items() if gap.difference > 0}
    if not pairs:
        yield Verdict(
            _("No two engines differ in their overall values")
            if resampled.gaps
            else _("No two engines can be compared by their overall values")
        )
        return
    groups = resampled.shares.groups if resampled.shares else 0
    needed = groups_needed(len(resampled.gaps) // 2)
    if groups < needed:
        yield Verdict(
            n_(
                "No difference between engines is reliable yet: the pages are from {n:,} book "
                "(folder), and at least {} are needed, {} more",
                "No difference between engines is reliable yet: the pages are from {n:,} books "
                "(folders), and at least {} are needed, {} more",
                groups,
                needed,
                needed - groups,
            )
        )
        return
    reliable = [_build_pair(pair, gap) for pair, gap in pairs.items() if gap.significant]
    open_ = [_build_pair(pair, gap) for pair, gap in pairs.items() if not gap.significant]
    if reliable:
        yield Verdict(_("Reliable (p ≤ .05 over {} books)", groups), reliable)
    if open_:
        doubtful = _("{} books are too few to decide which of these is better", groups)
        yield Verdict(
            doubtful, open_, [_("Add pages of more books to decide it, or choose by time and cost")]
        )


def _build_pair(pair: tuple[str, str], gap: Gap) -> Pair:
    return Pair(*pair, percent_range(gap.least, gap.most), reliable=gap.significant)
