"""Blank pages in a run: what `keju score` prints and the report shows of invented text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from keju.benchmarks import is_blank
from keju.errors import number_of, shortened
from keju.items import Response, variant_of
from keju.models import role_of
from keju.reporting.gather import Gathered
from keju.reporting.labels import task_name
from keju.runs import RunFolder
from keju.scoring.blank_pages import Invented, invented

_Row = tuple[str, str]
"""A model's name and a task."""


class InventedRow(NamedTuple):
    """One model's invented text on the blank pages of one task; `place` is the worst page's."""

    model: str
    task: str
    found: Invented
    place: int


def invented_rows(gathered: Gathered) -> list[InventedRow]:
    """Of every model but baselines, for each task with blank pages."""
    answers: dict[_Row, list[tuple[str, Response]]] = {}
    places: dict[str, int] = {}
    for place, asked in enumerate(gathered.asked.values()):
        if not is_blank(asked.item):
            continue
        places[asked.item.id] = place
        name = task_name(asked.item.task, asked.item.query)
        for answer in asked.answers:
            if gathered.voices[answer.model].role != "baseline":
                row = answers.setdefault((answer.model, name), [])
                row.append((asked.item.id, answer.response))
    return [
        InventedRow(model, name, found, places.get(found.where, 0))
        for (model, name), responses in answers.items()
        if (found := invented(responses, engine=_is_engine(responses))) is not None
    ]


def _is_engine(answers: Sequence[tuple[str, Response]]) -> bool:
    return all(role_of(response.model) == "engine" for _, response in answers)


def invented_lines(run: RunFolder) -> Iterator[str]:
    """A line for each model and prompt variant, where the run has blank pages."""
    items = {(item.task, item.query, item.id) for item in run.items() if is_blank(item)}
    answers: dict[_Row, list[tuple[str, Response]]] = {}
    for response in run.responses(tasks={task for task, _, _ in items}) if items else ():
        place = (response.task, response.query, response.item)
        if place in items and role_of(response.model) != "baseline":
            label = variant_of(response).label()
            name = f"{response.model} ({label})" if label else response.model
            task = task_name(response.task, response.query)
            answers.setdefault((name, task), []).append((response.item, response))
    for (name, task), responses in answers.items():
        found = invented(responses, engine=_is_engine(responses))
        if found is None:
            continue
        worst = f" (most: {found.most:,}, on {shortened(found.where)})" if found.where else ""
        pages = number_of(found.pages, "blank page", "blank pages")
        yield (
            f"{name}, {task}: invented text on {found.with_text:,} of {pages}, "
            f"{found.per_page:.1f} characters a page{worst}"
        )
