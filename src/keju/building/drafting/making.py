"""Make a draft item from a transcription or a proposal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from string import ascii_uppercase

import numpy as np
from msgspec.structs import replace

from keju.building.drafting.pages import Page
from keju.building.drafting.replies import Value, Values, as_list
from keju.building.drafting.templates import Kind
from keju.definitions import task as declared
from keju.items import Item, Line, get_group

_METADATA = "metadata."


def make_transcription_item(page: Page, text: str, lines: Sequence[Line], *, task: str) -> Item:
    """Make the draft of a page's text."""
    item = _make_draft(page, f"{page.source.id}-ocr", task)
    return replace(item, answer=text, transcription=text, lines=tuple(lines))


def make_item(
    page: Page,
    kind: Kind,
    stages: Mapping[str, Values],
    number: int,
    *,
    task: str,
    rng: np.random.Generator,
    fills: bool = True,
) -> Item:
    """Make a draft from a response, by the kind's `fill`.

    `number` is that of the proposal about this page, from 1. With `fills`, the page's own item
    becomes the draft if it has no answer yet.
    """
    # The id is the same whenever the draft is proposed again.
    item = _make_draft(page, f"{page.source.id}-{kind.name}-{number}", task, fills=fills)
    item = replace(item, transcription=page.text or None)
    for part, names in kind.fill.items():
        values = [_get_value(name.strip(), kind, stages) for name in names.split(",")]
        if part == "options":
            item = _add_options(item, [each for value in values for each in as_list(value)], rng)
            continue
        text = "、".join(each.strip() for value in values for each in as_list(value))
        if part in {"answer", "question"}:
            item = replace(item, **{part: text})
        elif part.startswith(_METADATA):
            name = part.removeprefix(_METADATA)
            item = replace(item, metadata={**item.metadata, name: text})
        else:
            item = replace(item, fields={**item.fields, part: text})
    return item


def _make_draft(page: Page, name: str, task: str, *, fills: bool = True) -> Item:
    """Make a draft without an answer: the page's own item if that has none, else a new item."""
    source = page.source
    if fills and page.is_waiting_for(task):
        return replace(source, draft=True)
    return Item(
        id=name,
        benchmark=declared(task).benchmark,
        task=task,
        images=page.images,
        group=get_group(source),
        metadata=source.metadata,
        provenance=source.provenance,
        draft=True,
    )


def _add_options(item: Item, options: Sequence[str], rng: np.random.Generator) -> Item:
    """Add options in random order; the first one given is the correct one."""
    order = rng.permutation(len(options)).tolist()
    letter = ascii_uppercase[order.index(0)]
    return replace(item, options=tuple(options[place].strip() for place in order), answer=letter)


def _get_value(name: str, kind: Kind, stages: Mapping[str, Values]) -> Value:
    stage, _, field = name.rpartition(".")
    return stages[stage or kind.stage[-1].name][field]
