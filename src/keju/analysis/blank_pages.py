"""Blank pages in a run: invented text in the JSON of `keju score`, the report and its CSV."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec

from keju.analysis.labels import task_name
from keju.analysis.roles import model_role
from keju.analysis.run_set import RunSet
from keju.definitions import is_blank
from keju.errors import shortened
from keju.items import PromptVariant, Response, get_group, variant_of
from keju.runs import RunFolder
from keju.scoring import Result
from keju.scoring.export import json_task_name, result_names
from keju.scoring.pages import (
    FEWEST_BLANK,
    InventedText,
    count_invented_characters,
    measure_invented_text,
)
from keju.texts import Text, _, n_

_Row = tuple[str, str]
"""A model's name and a task."""

InventedBy = dict[tuple[str, PromptVariant], dict[tuple[str, str], InventedText]]
"""Invented text by model and prompt variant, then by task and query."""


class InventedRow(NamedTuple):
    """One model's invented text on the blank pages of one task.

    `place` is the index of the worst page.
    """

    model: str
    task: str
    found: InventedText
    place: int


def invented_rows(run_set: RunSet) -> list[InventedRow]:
    """Rows for every model except baselines, for each task with blank pages."""
    answers: dict[_Row, list[tuple[str, Response]]] = {}
    places: dict[str, int] = {}
    for place, asked in enumerate(run_set.asked):
        if not is_blank(asked.item):
            continue
        places[asked.item.id] = place
        name = task_name(asked.item.task, asked.item.query)
        for answer in asked.answers:
            if run_set.by_model[answer.model].role != "baseline":
                row = answers.setdefault((answer.model, name), [])
                row.append((asked.item.id, answer.response))
    return [
        InventedRow(model, name, found, places.get(found.where, 0))
        for (model, name), responses in answers.items()
        if (found := measure_invented_text(responses, engine=_is_engine(run_set, model)))
        is not None
    ]


def _is_engine(run_set: RunSet, model: str) -> bool:
    return run_set.by_model[model].role == "engine"


def invented_in(run: RunFolder) -> InventedBy:
    """The text that each model except baselines invents on the blank pages of a run.

    The models are in the order in which the run asked them.
    """
    items = {(item.task, item.query, item.id) for item in run.stored_items() if is_blank(item)}
    answers: dict[tuple[str, PromptVariant, str, str], list[tuple[str, Response]]] = {}
    manifest = run.manifest()
    for response in run.responses(tasks={task for task, __, __ in items}) if items else ():
        place = (response.task, response.query, response.item)
        if place in items and model_role(manifest, response.model) != "baseline":
            key = (response.model, variant_of(response), response.task, response.query)
            answers.setdefault(key, []).append((response.item, response))
    counted: InventedBy = {}
    for (model, variant, task, query), responses in answers.items():
        engine = model_role(manifest, model) == "engine"
        found = measure_invented_text(responses, engine=engine)
        if found is not None:
            counted.setdefault((model, variant), {})[task, query] = found
    asked = list(manifest.models)
    return dict(sorted(counted.items(), key=lambda one: asked.index(one[0][0])))


def with_blank_pages(
    parts: dict[str, bytes], results: Sequence[Result], counted: InventedBy
) -> dict[str, bytes]:
    """The JSON of a model's scores by name, with the counts of its blank pages."""
    for who, name in result_names(results).items():
        if name in parts and (of_tasks := counted.get(who)):
            json = msgspec.json.decode(parts[name], type=dict[str, msgspec.Raw])
            counts = {
                json_task_name(*place): {**found._asdict(), "per_page": found.per_page}
                for place, found in of_tasks.items()
            }
            json["blank_pages"] = msgspec.Raw(msgspec.json.encode(counts))
            parts[name] = msgspec.json.format(msgspec.json.encode(json), indent=2)
    return parts


def blank_page_rows(run_set: RunSet) -> list[dict[str, object]]:
    """The number of invented characters in every response to a blank page, including baselines."""
    return [
        {
            "model": answer.model,
            "task": task_name(asked.item.task, asked.item.query),
            "item": asked.item.id,
            "group": get_group(asked.item),
            "round": answer.response.round,
            "status": answer.response.status,
            "invented_characters": count_invented_characters(
                answer.response, engine=_is_engine(run_set, answer.model)
            ),
        }
        for asked in run_set.asked
        if is_blank(asked.item)
        for answer in asked.answers
    ]


def invented_lines(run: RunFolder) -> Iterator[Text]:
    """A line for each model and prompt variant, where the run has blank pages."""
    every = [
        (f"{model} ({label})" if (label := variant.label()) else model, task_name(*place), found)
        for (model, variant), of_tasks in invented_in(run).items()
        for place, found in of_tasks.items()
    ]
    for name, task, found in every:
        rate = (
            _("{:.1f} characters per page", found.per_page)
            if found.enough
            else _("too few pages for a rate, which needs {}", FEWEST_BLANK)
        )
        if found.where:
            yield n_(
                "{}, {}: invented text on {:,} of {n:,} blank page, {} (most: {:,}, on {})",
                "{}, {}: invented text on {:,} of {n:,} blank pages, {} (most: {:,}, on {})",
                found.pages,
                name,
                task,
                found.with_text,
                rate,
                found.most,
                shortened(found.where)
            )  # fmt: skip
        else:
            yield n_(
                "{}, {}: invented text on {:,} of {n:,} blank page, {}",
                "{}, {}: invented text on {:,} of {n:,} blank pages, {}",
                found.pages,
                name,
                task,
                found.with_text,
                rate
            )  # fmt: skip
