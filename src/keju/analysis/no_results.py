"""Pages for which an engine or model has no result: a missing file, or a request that failed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from keju.analysis.run_set import RunSet
from keju.definitions import query_of
from keju.items import Item, Response
from keju.models import MISSING, RESULTS
from keju.texts import Text, join_parts, n_

MOST = 0.1
"""The share of pages without a result up to which an engine is ranked and compared."""


class NoResults(NamedTuple):
    """One model's pages without a result; `of_files` where its results are files.

    `pages` are the items with their positions in the browser, `of` the number of its pages, `kinds`
    the failures by kind. `with_text` is the number of its pages with a reference text, on which
    error rates are based: blank pages and pages without a reference have none. `scored` is the
    number of these with a result.
    """

    model: str
    pages: list[tuple[str, int]]
    of: int
    kinds: Counter[str]
    of_files: bool
    with_text: int = 0
    scored: int = 0

    @property
    def too_many(self) -> bool:
        """Whether missing results influence the model's values more than its transcriptions do."""
        return len(self.pages) > MOST * self.of

    @property
    def text_missing(self) -> int:
        """The number of pages with a reference text that have no result."""
        return self.with_text - self.scored

    @property
    def mixed(self) -> bool:
        """Whether some of the model's pages have a reference text and others have none."""
        return 0 < self.with_text < self.of

    @property
    def lacks_files(self) -> bool:
        """Whether files are missing, and no file could not be read."""
        return self.of_files and set(self.kinds) == {MISSING}

    @property
    def cause(self) -> Text:
        """How many pages have no result, and why, without the pages' names."""
        if self.lacks_files:
            return n_(
                "{:,} of {n:,} page have no result file from {}",
                "{:,} of {n:,} pages have no result file from {}",
                self.of,
                len(self.pages),
                self.model,
            )
        return n_(
            "{:,} of {n:,} page failed with {} ({})",
            "{:,} of {n:,} pages failed with {} ({})",
            self.of,
            len(self.pages),
            self.model,
            join_parts(f"{times}× {kind}" for kind, times in self.kinds.most_common()),
        )

    @property
    def not_ranked(self) -> Text:
        """Why a model with too many missing results is not ranked."""
        return n_(
            "not ranked: {:,} of {n:,} page have no result, more than {:.0f} %",
            "not ranked: {:,} of {n:,} pages have no result, more than {:.0f} %",
            self.of,
            len(self.pages),
            100 * MOST,
        )


def no_results(run_set: RunSet) -> list[NoResults]:
    """The missing results of every model, except baselines, that transcribed some pages."""
    found: dict[str, NoResults] = {}
    asked: dict[str, set[tuple[str, int]]] = {}
    scored: dict[str, set[tuple[str, int]]] = {}
    for page, has_text, model, response in _readings(run_set):
        asked.setdefault(model, set()).add(page)
        if has_text:
            scored.setdefault(model, set()).add(page)
        if response.status == "failed":
            of_files = run_set.by_model[model].kind == RESULTS
            lacks = found.setdefault(model, NoResults(model, [], 0, Counter(), of_files))
            lacks.kinds[response.error.kind if response.error else "failed"] += 1
            if page not in lacks.pages[-1:]:
                lacks.pages.append(page)
    return [
        each._replace(
            of=len(asked[each.model]),
            with_text=len(scored.get(each.model, ())),
            scored=len(scored.get(each.model, set()) - set(each.pages)),
        )
        for each in found.values()
    ]


def in_no_mean(run_set: RunSet) -> list[NoResults]:
    """The models that are in no mean over models of a transcription, since too much is missing.

    None where all models are such.
    """
    left = [each for each in no_results(run_set) if each.too_many]
    real = [
        name
        for name, model_responses in run_set.by_model.items()
        if model_responses.role != "baseline"
    ]
    return left if len(left) < len(real) else []


def has_text(item: Item) -> bool:
    """Whether an item has a reference with text, so that its answers are in the CER."""
    return bool((item.answer or item.answer_simplified or item.transcription or "").strip())


def _readings(run_set: RunSet) -> Iterator[tuple[tuple[str, int], bool, str, Response]]:
    """Page, whether it has a text, model and response of each transcription.

    A page has its position in the browser.
    """
    for place, asked in enumerate(run_set.asked):
        if query_of(asked.item).form == "transcription":
            for answer in asked.answers:
                if run_set.by_model[answer.model].role != "baseline":
                    page = asked.item.id, place
                    yield page, has_text(asked.item), answer.model, answer.response


def unranked(run_set: RunSet) -> Iterator[tuple[str, Text]]:
    """The models with too many missing results to be ranked, with the reason."""
    for each in no_results(run_set):
        if each.too_many:
            yield each.model, each.not_ranked
