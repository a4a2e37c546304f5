"""Incomplete pages: pages with text of which a model transcribed almost nothing, or a part."""

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

SHORT = 0.6
"""Share of the reference's characters below which an answer counts as a part of the text."""

_LONGEST = 20_000
"""Maximum characters of an answer that are examined."""


class NearlyEmpty(NamedTuple):
    """One model's nearly empty pages of a task, or its pages with a part of the text (`short`).

    `pages` are the items with their positions in the browser, `of` the number of transcribed pages.
    """

    model: str
    task: str
    pages: list[tuple[str, int]]
    of: int
    short: bool = False


def nearly_empty(run_set: RunSet) -> list[NearlyEmpty]:
    """The incomplete pages of every model except baselines; failed requests are not counted."""
    found: dict[tuple[str, str, bool], dict[str, int]] = {}
    read: dict[tuple[str, str], set[str]] = {}
    for (model, task), item, place, response in _readings(run_set):
        read.setdefault((model, task), set()).add(item.id)
        share = _share(item, response)
        if share < SHORT:
            found.setdefault((model, task, share >= LIMIT), {})[item.id] = place
    return [
        NearlyEmpty(model, task, list(pages.items()), len(read[model, task]), short)
        for (model, task, short), pages in found.items()
    ]


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


def _share(item: Item, response: Response) -> float:
    """The length of a transcription, as a share of the reference's; 1 without a reference."""
    said = transcription_of(response.text[:_LONGEST]).answer or ""
    length = len(counted(item.answer or item.answer_simplified))
    return len(counted(said)) / length if length else 1.0
