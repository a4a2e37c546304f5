"""Pages from which drafts are made, each once, with their metadata and their requests."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from keju.building.drafting.replies import Value, Values
from keju.building.drafting.templates import KNOWN, Kind, Stage, Templates
from keju.definitions import prompt_of
from keju.definitions import task as declared
from keju.items import ImageRef, Item, Request
from keju.running.requests import seal_of, without_marks
from keju.runs.record_list import LazyList

DRAFT = "draft"
"""The name of the step in provenance."""

_BLANK = re.compile(r"\{([a-z_]+)\}")


class Page(NamedTuple):
    """An image, or a text without one: the first item about it, and the metadata of its items.

    `known` is what metadata contains about the image, by the names in `KNOWN`. `waiting` are its
    items that have no answer yet, `tasks` those of all its items, and `drafted` the kinds of draft
    that exist for it already.
    """

    source: Item
    images: tuple[ImageRef, ...]
    text: str
    known: Mapping[str, str] = MappingProxyType({})
    drafted: frozenset[str] = frozenset()
    waiting: tuple[Item, ...] = ()
    tasks: frozenset[str] = frozenset()

    def is_waiting_for(self, task: str) -> bool:
        """Return whether its own item is of that task and has no answer yet."""
        return self.source.task == task and _is_waiting(self.source)

    def with_source(self, item: Item) -> Page:
        """Return the page with that item as its source, which may have notes of its own."""
        return self._replace(source=item, known={**self.known, **_collect_known(item)})

    def find_missing(self, kind: Kind) -> str:
        """Find material that a kind needs and the page does not have; empty if none is missing."""
        has = {"image": bool(self.images), "text": bool(self.text.strip())}
        return next((need for need in kind.needs if not has.get(need, need in self.known)), "")


def list_pages(items: Sequence[Item]) -> Sequence[Page]:
    """List the pages of items of the test split, in order; each is made when it is accessed.

    Items that show the same images are about one page; a text without an image is a page of its
    own. Galleries are not pages.
    """
    known: dict[bytes | str, int] = {}
    numbers, places = array("q"), array("q")
    for place, item in enumerate(items):
        if item.split == "test" and not item.relevant:
            hashes = "".join(ref.sha256 for ref in item.images)
            key = sha256(hashes.encode()).digest() if hashes else item.id
            numbers.append(known.setdefault(key, len(known)))
            places.append(place)
    order = np.argsort(np.asarray(numbers), kind="stable")
    by_page = np.asarray(places)[order]
    ends = np.cumsum(np.bincount(np.asarray(numbers), minlength=len(known)))

    def make(number: int) -> Page:
        first = int(ends[number - 1]) if number else 0
        return _make_page([items[int(place)] for place in by_page[first : int(ends[number])]])

    return LazyList(len(known), make)


def _make_page(items: Sequence[Item]) -> Page:
    """The page that items are about."""
    page = Page(items[0], items[0].images, "")
    for item in items:
        page = page._replace(
            text=page.text or item.transcription or "",
            known={**_collect_known(item), **page.known},
            drafted=page.drafted | _list_drafted_kinds(item),
            waiting=(*page.waiting, item) if _is_waiting(item) else page.waiting,
            tasks=page.tasks | {item.task},
        )
    return page


def list_targets(
    page: Page, kind: Kind, tasks: Iterable[str], completed: Iterable[str] = ()
) -> list[Page]:
    """List the page once for each item that a kind fills, or for a new item.

    `completed` are the tasks of all kinds that only fill items without an answer; none where the
    recipe names the task.
    """
    wanted = frozenset(tasks)
    waiting = [page.with_source(item) for item in page.waiting if item.task in wanted]
    if waiting:
        return waiting[:1] if kind.many else waiting
    if kind.name in page.drafted or (kind.completes and page.tasks & frozenset(completed)):
        return []
    return [page]


def _is_waiting(item: Item) -> bool:
    reads = declared(item.task).queries[0].form == "transcription"
    return not item.answer.strip() and not (reads and item.transcription is not None)


def _collect_known(item: Item) -> dict[str, str]:
    return {name: text for name in KNOWN if (text := item.metadata.get(name, "").strip())}


def _list_drafted_kinds(item: Item) -> set[str]:
    """List the kinds of draft of an item, by its provenance."""
    notes = (each.note for each in item.provenance if each.step == DRAFT)
    return {note.split()[0] for note in notes if note.strip()}


def make_question(page: Page, task: str) -> str:
    """Make the published prompt that the draft answers.

    Raises:
        DataError: a placeholder of the task's prompt has no value.
    """
    source = page.source
    if source.task != task:
        source = Item(id=source.id, benchmark=declared(task).benchmark, task=task)
    return without_marks(prompt_of(source))


def make_request(
    page: Page,
    kind: Kind,
    stage: Stage,
    templates: Templates,
    *,
    task: str,
    most: int,
    earlier: Mapping[str, Values],
) -> Request:
    """Make the request of a stage about a page."""
    texts = [
        templates.labels.get(name, "") + shown
        for name in stage.shows
        if (shown := _format_material(name, page, earlier))
    ]
    images = page.images if "image" in stage.shows else ()
    text = without_marks("\n\n".join(texts))
    seal = seal_of(stage.instruction, text)
    marks = {"opening": f"⟦材料 {seal}⟧", "closing": f"⟦材料完 {seal}⟧", "text": text}
    parts = [templates.shown_image] if images else []
    parts += [_fill_template(templates.shown_text, marks).strip()] if texts else []
    examples = [
        _fill_template(templates.example, {"given": each.given, "reply": each.reply})
        for each in stage.example
    ]
    asks = {"question": make_question(page, task)} if stage.asks_question else {}
    prompt = _fill_template(
        templates.prompt,
        {
            "instruction": _fill_template(stage.instruction, asks),
            "shown": "\n".join(parts),
            "examples": "\n".join(examples),
            "form": _format_reply_form(stage),
            "count": _fill_template(templates.format_count(kind), {"most": str(most)}),
        },
    )
    return Request(
        item=f"{page.source.id}:{kind.name}",
        benchmark=declared(task).benchmark,
        task=task,
        form="text",
        prompt=prompt.strip(),
        query=stage.name,
        images=images,
        source=text,
    )


def _format_material(name: str, page: Page, earlier: Mapping[str, Values]) -> str:
    if name == "image":
        return ""
    if name == "text":
        return page.text
    if name in KNOWN:
        return page.known.get(name, "")
    stage, _, field = name.partition(".")
    return _format_value(earlier[stage][field])


def _format_value(value: Value) -> str:
    return value if isinstance(value, str) else "、".join(value)


def _format_reply_form(stage: Stage) -> str:
    """Format the fields of the response, as a JSON object shows them."""
    parts = (
        f'"{name}": "…"' if kind == "text" else f'"{name}": ["…"]'
        for name, kind in stage.reply.items()
    )
    return "{" + ", ".join(parts) + "}"


def _fill_template(template: str, blanks: Mapping[str, str]) -> str:
    """Fill the placeholders of a template; a placeholder inside a value is not filled."""
    return _BLANK.sub(lambda blank: blanks.get(blank[1], blank[0]), template)
