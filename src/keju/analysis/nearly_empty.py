"""Nearly empty pages: pages with text on which a model transcribed almost nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from keju.analysis.labels import task_name
from keju.analysis.run_set import RunSet
from keju.definitions import is_blank, query_of
from keju.items import Item, Response
from keju.scoring import transcription_of
from keju.text import counted

LIMIT = 0.2
"""Share of the reference's characters below which an answer counts as nearly empty."""

_LONGEST = 20_000
"""Maximum characters of an answer that are examined."""


class NearlyEmpty(NamedTuple):
    """One model's nearly empty pages of a task.

    `pages` are the items with their positions in the browser, `of` the number of transcribed pages.
    """

    model: str
    task: str
    pages: list[tuple[str, int]]
    of: int


def nearly_empty(run_set: RunSet) -> list[NearlyEmpty]:
    """The nearly empty pages of every model except baselines; failed requests are not counted."""
    found: dict[tuple[str, str], dict[str, int]] = {}
    read: dict[tuple[str, str], set[str]] = {}
    for (model, task), item, place, response in _readings(run_set):
        read.setdefault((model, task), set()).add(item.id)
        if _is_nearly_empty(item, response):
            found.setdefault((model, task), {})[item.id] = place
    return [NearlyEmpty(*key, list(pages.items()), len(read[key])) for key, pages in found.items()]


def _readings(run_set: RunSet) -> Iterator[tuple[tuple[str, str], Item, int, Response]]:
    for place, asked in enumerate(run_set.asked.values()):
        item = asked.item
        if query_of(item).form != "transcription" or is_blank(item):
            continue
        for answer in asked.answers:
            if run_set.by_model[answer.model].role == "baseline":
                continue
            if answer.response.status not in ("failed", "filtered"):
                yield (answer.model, task_name(item.task, item.query)), item, place, answer.response


def _is_nearly_empty(item: Item, response: Response) -> bool:
    said = transcription_of(response.text[:_LONGEST]).answer or ""
    return len(counted(said)) < LIMIT * len(counted(item.answer or item.answer_simplified))
