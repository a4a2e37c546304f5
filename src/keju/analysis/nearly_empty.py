"""Pages with text of which a model transcribed almost nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from keju.analysis.run_set import RunSet
from keju.definitions import is_blank
from keju.items import Item
from keju.text import counted

LIMIT = 0.2
"""Share of the reference's characters below which an answer counts as nearly empty."""


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
    for key, item, place, said in _readings(run_set):
        read.setdefault(key, set()).add(item.id)
        if _share(item, said) < LIMIT:
            found.setdefault(key, {})[item.id] = place
    return [NearlyEmpty(*key, list(pages.items()), len(read[key])) for key, pages in found.items()]


def _readings(run_set: RunSet) -> Iterator[tuple[tuple[str, str], Item, int, str]]:
    texts = zip(run_set.asked, run_set.page_texts, strict=True)
    for place, (asked, text) in enumerate(texts):
        item = asked.item
        if not text.task or is_blank(item):
            continue
        for answer, said in zip(asked.answers, text.said, strict=True):
            if run_set.by_model[answer.model].role == "baseline":
                continue
            if answer.response.status not in ("failed", "filtered"):
                yield (answer.model, text.task), item, place, said


def _share(item: Item, said: str) -> float:
    """The length of a transcription, as a share of the reference's; 1 without a reference."""
    length = len(counted(item.answer or item.answer_simplified))
    return len(counted(said)) / length if length else 1.0
