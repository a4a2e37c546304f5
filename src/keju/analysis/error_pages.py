"""Pages to which most of an engine's recognition or layout error is due."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from keju.analysis.labels import task_name
from keju.analysis.reading_patterns import pattern_of
from keju.analysis.run_set import RunSet
from keju.layout import ReadingPattern

MOST_OF_IT = 2 / 3
"""The share of an error from which the pages with it are named."""
FEW_PAGES = 0.1
"""Maximum share of such pages among all; a single page is always few."""
FEWEST_PAGES = 3
LEAST_RATE = 0.01
"""Minimum error of all pages, as a fraction of the characters."""
LEAST_ERRORS = 10
"""Minimum number of wrong characters on all pages."""

LAYOUT, RECOGNITION = "CER_layout", "CER_recognition"


class ErrorPages(NamedTuple):
    """The few pages with most of a model's layout or recognition error in a task, as fractions.

    `metric` is `LAYOUT` or `RECOGNITION`. `pages` are the items with their positions in the
    browser, the worst first, `of` the number of pages with a result. `share` is their share of the
    error, `rate` the error of all pages, `there` that of these pages and `elsewhere` that of the
    others. `pattern` is the reading pattern that all of them have, None where they have none or
    several.
    """

    model: str
    task: str
    metric: str
    pages: list[tuple[str, int]]
    of: int
    share: float
    rate: float
    there: float
    elsewhere: float
    pattern: ReadingPattern | None


class _Page(NamedTuple):
    errors: float
    characters: float
    item: str
    place: int


def error_pages(run_set: RunSet) -> list[ErrorPages]:
    """The pages with most of an error of every model except baselines; failures do not count."""
    found: dict[tuple[str, str, str], dict[str, _Page]] = {}
    for place, asked in enumerate(run_set.asked):
        name = task_name(asked.item.task, asked.item.query)
        for answer in asked.answers:
            if run_set.by_model[answer.model].role == "baseline":
                continue
            for score in answer.scores:
                counts = score.protocol == "strict" and score.status == "answered"
                if counts and score.metric in (LAYOUT, RECOGNITION):
                    errors, characters = (
                        score.stats.get(part, 0.0) for part in ("numerator", "denominator")
                    )
                    pages = found.setdefault((answer.model, name, score.metric), {})
                    page = pages.get(score.item, _Page(0.0, 0.0, score.item, place))
                    pages[score.item] = page._replace(
                        errors=page.errors + errors, characters=page.characters + characters
                    )
    named = (_worst_pages(key, list(pages.values())) for key, pages in found.items())
    return _add_patterns([each for each in named if each is not None], run_set)


def _worst_pages(key: tuple[str, str, str], pages: list[_Page]) -> ErrorPages | None:
    """The fewest pages with most of the error, if they are few."""
    errors, characters = (sum(values) for values in zip(*(page[:2] for page in pages), strict=True))
    if len(pages) < FEWEST_PAGES or errors < max(LEAST_ERRORS, LEAST_RATE * characters):
        return None
    ranked = sorted(pages, key=lambda page: (-page.errors, page.place))
    count, sum_there = 0, 0.0
    while sum_there < MOST_OF_IT * errors:
        sum_there += ranked[count].errors
        count += 1
    if count > max(1, FEW_PAGES * len(pages)):
        return None
    worst, others = ranked[:count], ranked[count:]
    left = sum(page.characters for page in others)
    return ErrorPages(
        *key,
        pages=[(page.item, page.place) for page in worst],
        of=len(pages),
        share=sum_there / errors,
        rate=errors / characters,
        there=sum_there / max(1.0, sum(page.characters for page in worst)),
        elsewhere=(errors - sum_there) / left if left else 0.0,
        pattern=None,
    )


def _add_patterns(found: list[ErrorPages], run_set: RunSet) -> list[ErrorPages]:
    """The pages, each with the reading pattern that all of its transcriptions have."""
    wanted = {
        (each.model, place) for each in found if each.metric == LAYOUT for _, place in each.pages
    }
    patterns: dict[tuple[str, int], set[ReadingPattern | None]] = {}
    for place, (asked, text) in enumerate(zip(run_set.asked, run_set.page_texts, strict=True)):
        for answer, said in zip(asked.answers if text.task else (), text.said, strict=True):
            if (key := (answer.model, place)) in wanted:
                patterns.setdefault(key, set()).add(pattern_of(asked.item, said))
    return [each._replace(pattern=_shared_pattern(each, patterns)) for each in found]


def _shared_pattern(
    found: ErrorPages, patterns: Mapping[tuple[str, int], set[ReadingPattern | None]]
) -> ReadingPattern | None:
    of_pages = (patterns.get((found.model, place), set()) for _, place in found.pages)
    names = set[ReadingPattern | None]().union(*of_pages)
    return names.pop() if len(names) == 1 else None
