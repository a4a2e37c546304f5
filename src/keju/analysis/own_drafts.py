"""Notes on models that are evaluated on items which they drafted themselves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from keju.analysis.run_set import RunSet
from keju.items import Item
from keju.models import drafted_by
from keju.texts import _


def own_draft_line(name: str, model: str, items: Iterable[Item]) -> str:
    """The number of a model's answered items that it drafted itself; empty where there are none.

    Args:
        name: the displayed name of the model.
        model: the model string in the run.
        items: that it answered, each once.
    """
    count = total = open_ = 0
    for item in items:
        total += 1
        if drafted_by(item, model):
            count += 1
            open_ += item.draft
    if not count:
        return ""
    if open_:
        return _(
            "{}: this model itself drafted {} of {} items ({} of them not yet accepted), which "
            "favours it",
            name,
            count,
            total,
            open_,
        )
    return _(
        "{}: this model itself drafted {} of {} items (accepted or corrected by a person), which "
        "favours it",
        name,
        count,
        total,
    )


def own_draft_notes(run_set: RunSet, benchmark: str) -> Iterator[str]:
    """A line for each model of a report whose own drafts are among a benchmark's items."""
    answered: dict[str, list[Item]] = {name: [] for name in run_set.by_model}
    for asked in run_set.asked:
        if asked.item.benchmark == benchmark:
            for model in {answer.model for answer in asked.answers}:
                answered[model].append(asked.item)
    for name, model_responses in run_set.by_model.items():
        if line := own_draft_line(name, model_responses.model, answered[name]):
            yield line
