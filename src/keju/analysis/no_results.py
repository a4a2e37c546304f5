"""Pages for which an engine or model has no result: a missing file, or a request that failed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from keju.analysis.run_set import RunSet
from keju.definitions import query_of
from keju.errors import number_of
from keju.items import Response
from keju.models import MISSING, RESULTS

MOST = 0.1
"""The share of pages without a result up to which an engine is ranked and compared."""


class NoResults(NamedTuple):
    """One model's pages without a result; `of_files` where its results are files.

    `pages` are the items with their positions in the browser, `of` the number of its pages, `kinds`
    the failures by kind.
    """

    model: str
    pages: list[tuple[str, int]]
    of: int
    kinds: Counter[str]
    of_files: bool

    @property
    def too_many(self) -> bool:
        """Whether missing results influence the model's values more than its transcriptions do."""
        return len(self.pages) > MOST * self.of

    @property
    def read(self) -> int:
        """The pages with a result."""
        return self.of - len(self.pages)

    @property
    def lacks_files(self) -> bool:
        """Whether files are missing, and no file could not be read."""
        return self.of_files and set(self.kinds) == {MISSING}

    @property
    def cause(self) -> str:
        """How many pages have no result, and why, without the pages' names."""
        count = f"{len(self.pages):,} of {number_of(self.of, 'page')}"
        if self.lacks_files:
            return f"{count} have no result file from {self.model}"
        kinds = ", ".join(f"{times}× {kind}" for kind, times in self.kinds.most_common())
        return f"{count} failed with {self.model} ({kinds})"


def no_results(run_set: RunSet) -> list[NoResults]:
    """The missing results of every model, except baselines, that transcribed some pages."""
    found: dict[str, NoResults] = {}
    asked: dict[str, set[tuple[str, int]]] = {}
    for page, model, response in _readings(run_set):
        asked.setdefault(model, set()).add(page)
        if response.status == "failed":
            of_files = run_set.by_model[model].kind == RESULTS
            lacks = found.setdefault(model, NoResults(model, [], 0, Counter(), of_files))
            lacks.kinds[response.error.kind if response.error else "failed"] += 1
            if page not in lacks.pages[-1:]:
                lacks.pages.append(page)
    return [each._replace(of=len(asked[each.model])) for each in found.values()]


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


def _readings(run_set: RunSet) -> Iterator[tuple[tuple[str, int], str, Response]]:
    """Page, with its position in the browser, the model and the response of each transcription."""
    for place, asked in enumerate(run_set.asked.values()):
        if query_of(asked.item).form == "transcription":
            for answer in asked.answers:
                if run_set.by_model[answer.model].role != "baseline":
                    yield (asked.item.id, place), answer.model, answer.response


def unranked(run_set: RunSet) -> Iterator[tuple[str, str]]:
    """The models with too many missing results to be ranked, with the reason."""
    for each in no_results(run_set):
        if each.too_many:
            count = f"{len(each.pages):,} of {number_of(each.of, 'page')}"
            yield each.model, f"not ranked: {count} have no result"
