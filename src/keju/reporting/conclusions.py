"""Conclusions of a report; of own pages a comparison of engines: errors, time, differences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from keju.analysis.confusions import Confusion, Misread
from keju.analysis.error_pages import LAYOUT, ErrorPages
from keju.analysis.nearly_empty import LIMIT, SHORT, NearlyEmpty
from keju.analysis.no_results import MOST, NoResults
from keju.analysis.reading_patterns import PatternCounts, Patterns
from keju.analysis.resampling import Gap, ResampledMeans
from keju.analysis.run_set import RunSet
from keju.errors import shortened
from keju.formatting import NOTHING, percent
from keju.messages import Message, message
from keju.reporting.benchmark_conclusions import benchmark_sentences
from keju.reporting.engine_rates import MOSTLY_READ, add_time, describe_rate, loses_order
from keju.reporting.error_rows import ErrorRow
from keju.reporting.glossary import pattern_senses
from keju.reporting.view import View
from keju.statistics import groups_needed
from keju.texts import join_clauses, join_sentences, listed, recognised

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
    def text(self) -> Message:
        """The difference in words."""
        name = "reporting.pair-better" if self.reliable else "reporting.pair-differs"
        return message(name, better=self.better, worse=self.worse, points=self.points)


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
                pages = message("reporting.pages-and-more", pages=pages, count=self.more_pages)
            first = message("reporting.text-and-pages", text=self.text, pages=pages)
            return join_sentences([first, *self.next])
        if not self.pairs:
            return self.text
        first = message(
            "reporting.text-and-pairs", text=self.text, pairs=self._pairs(), points=points_note()
        )
        return join_sentences([first, *self.next])

    def _pairs(self) -> str:
        """The first few pairs, and how many more the report has."""
        shown = [each.text for each in self.pairs[:_MOST_PAIRS]]
        if (more := len(self.pairs) - _MOST_PAIRS) > 0:
            shown.append(message("reporting.more-in-report", count=more))
        return join_clauses(shown)

    @property
    def first_pages(self) -> Sequence[tuple[str, int]]:
        """The pages that are named."""
        return self.pages[:_MOST_PAGES]

    @property
    def more_pages(self) -> int:
        """How many further pages there are."""
        return len(self.pages) - len(self.first_pages)


def points_note() -> Message:
    """The note on the points of a difference, in brackets."""
    return message("reporting.points-strict-score-mean")


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
        yield message("reporting.no-errors-known")
        return
    # A wrong order is reported in the engine's own line already.
    for each in (
        *_compare_engines(view, errors),
        *_find_faults(view, errors, misread),
        *_suggest_next_steps(view, errors),
    ):
        yield each.line
    times = view.times
    if times and not times.collection and any(row.cpu != NOTHING for row in times.rows):
        yield message("reporting.pages-converts-times")


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
        sentences = benchmark_sentences(view.boards, view.unfinished, run_set)
        return [Verdict(each.text, next=each.steps) for each in sentences]
    errors = _select_errors(view, run_set)
    lacking = list(_describe_missing(view))
    if not (errors or lacking):
        return []
    found = patterns or PatternCounts()
    on_few_pages = {(each.model, each.task) for each in view.error_pages if each.metric == LAYOUT}
    turned = (
        _describe_order(row, found.of(row.model, row.task))
        for row in errors
        if loses_order(row) and (row.model, row.task) not in on_few_pages
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
        times.describe(each) or message("reporting.time-not-known", why=each.why)
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
                message("reporting.not-ranked-not-compared", model=each.model, percent=100 * MOST)
            )
        steps.append(
            message("reporting.add-files-run-same")
            if each.lacks_files
            else message("reporting.run-same-command-again")
        )
        yield Verdict(each.cause, pages=each.pages, next=steps)


def _explain_counting(missing: NoResults) -> Message:
    """How the tables count pages without a result."""
    if not missing.mixed:
        return message("reporting.tables-points-count-these")
    if missing.text_missing:
        return message("reporting.text-pages-counted-as-wrong")
    return message("reporting.missing-pages-without-text")


def _compare_engines(view: View, errors: Sequence[ErrorRow]) -> Iterator[Verdict]:
    if len(errors) > 1:
        for board in view.boards:
            for each in _describe_differences(board.resampled["strict"]):
                yield each._replace(next=[*_note_missing(view, each.pairs), *each.next])


def _note_missing(view: View, pairs: Sequence[Pair]) -> list[Message]:
    """A sentence on the engines of these pairs that lack pages; none where all pages were read."""
    named = {name for pair in pairs for name in (pair.better, pair.worse)}
    lacking = [each.model for each in view.no_results if each.model in named and each.text_missing]
    if not lacking:
        return []
    return [message("reporting.page-without-result-counts", models=listed(lacking))]


def _find_faults(
    view: View, errors: Sequence[ErrorRow], misread: Sequence[Misread]
) -> Iterator[Verdict]:
    """Pages with most of an error, with nearly empty transcriptions, and the main confusions."""
    shown = {row.model for row in errors}
    incomplete = {(each.model, item) for each in view.nearly_empty for item, _ in each.pages}
    for found in view.error_pages:
        # Pages that are nearly empty have their own sentence.
        named = {(found.model, item) for item, _ in found.pages}
        if found.model in shown and not named <= incomplete:
            yield _describe_error_pages(found)
    yield from (_describe_incomplete(each) for each in view.nearly_empty if each.model in shown)
    yield from (_describe_confusions(each) for each in misread if each.model in shown and each.main)


def _describe_error_pages(found: ErrorPages) -> Verdict:
    """The pages with most of an error, their reading pattern and what can be done about it."""
    text = message(
        "reporting.layout-error-on-few-pages"
        if found.metric == LAYOUT
        else "reporting.recognition-error-on-few-pages",
        model=found.model,
        rate=percent(found.rate),
        share=round(100 * found.share),
        count=len(found.pages),
        total=found.of,
        there=percent(found.there),
        elsewhere=percent(found.elsewhere),
    )
    if found.pattern is None:
        return Verdict(text, pages=found.pages)
    pattern = message("reporting.pages-are-read", pattern=recognised(found.pattern))
    return Verdict(text, pages=found.pages, next=[pattern, pattern_senses()[found.pattern].do])


def _describe_incomplete(found: NearlyEmpty) -> Verdict:
    if found.short:
        return Verdict(
            message(
                "reporting.only-a-part",
                model=found.model,
                count=len(found.pages),
                total=found.of,
                least=100 * LIMIT,
                most=100 * SHORT,
            ),
            pages=found.pages,
            next=(message("reporting.check-these-results-complete"),),
        )
    return Verdict(
        message(
            "reporting.nearly-empty",
            model=found.model,
            count=len(found.pages),
            total=found.of,
            percent=100 * LIMIT,
        ),
        pages=found.pages,
    )


def _describe_confusions(found: Misread) -> Verdict:
    confusions = join_clauses(_describe_confusion(each, found.mistakes) for each in found.main)
    return Verdict(message("reporting.main-confusions", model=found.model, confusions=confusions))


def _describe_confusion(each: Confusion, mistakes: int) -> Message:
    share = 100 * each.times / mistakes
    if not each.read:
        return message(
            "reporting.passes-over", truth=each.truth, times=each.times, of=each.of, percent=share
        )
    return message(
        "reporting.reads-as",
        truth=each.truth,
        read=each.read,
        times=each.times,
        of=each.of,
        percent=share,
    )


def _suggest_next_steps(view: View, errors: Sequence[ErrorRow]) -> Iterator[Verdict]:
    lacking = {each.model for each in view.no_results if each.too_many}
    known = [
        float(row.over_results.recognition)
        for row in errors
        if row.over_results.recognition != NOTHING and row.model not in lacking
    ]
    if known and min(known) > MOSTLY_READ:
        yield Verdict(message("reporting.no-engine-reads-these", percent=min(known)))
    if any(not each.others for each in view.swapped):
        yield Verdict(message("reporting.correct-texts-seem-swapped"))
    for each in view.swapped:
        if each.others:
            yield Verdict(message("reporting.check-results-some-seem", models=each.models))
    rows = view.times.rows if view.times else ()
    if untimed := [row.model for row in rows if row.busy]:
        yield Verdict(message("reporting.time-run-again-another", untimed=listed(untimed)))


def _describe_order(row: ErrorRow, patterns: Patterns) -> Verdict:
    """The engine's order, its frequent reading patterns, and what can be done about each."""
    if not patterns.attributed:
        return Verdict(message("reporting.most-characters-right-their-order", model=row.model))
    senses = pattern_senses()
    steps = [senses[name].do for name, _ in patterns.attributed]
    wrong = message("reporting.most-characters-right-their", model=row.model)
    return Verdict(wrong, next=steps, patterns=patterns)


def _describe_differences(resampled: ResampledMeans) -> Iterator[Verdict]:
    pairs = {pair: gap for pair, gap in resampled.gaps.items() if gap.difference > 0}
    if not pairs:
        yield Verdict(
            message("reporting.no-two-engines-differ")
            if resampled.gaps
            else message("reporting.no-two-engines-can")
        )
        return
    groups = resampled.shares.groups if resampled.shares else 0
    needed = groups_needed(len(resampled.gaps) // 2)
    if groups < needed:
        yield Verdict(
            message(
                "reporting.no-difference-reliable",
                groups=groups,
                needed=needed,
                more=needed - groups,
            )
        )
        return
    reliable = [_build_pair(pair, gap) for pair, gap in pairs.items() if gap.significant]
    open_ = [_build_pair(pair, gap) for pair, gap in pairs.items() if not gap.significant]
    if reliable:
        yield Verdict(message("reporting.reliable-p-05-over", groups=groups), reliable)
    if open_:
        doubtful = message("reporting.not-reliable-with-books", groups=groups)
        yield Verdict(doubtful, open_, [message("reporting.add-pages-more-books")])


def _build_pair(pair: tuple[str, str], gap: Gap) -> Pair:
    return Pair(*pair, percent(gap.difference), reliable=gap.significant)
