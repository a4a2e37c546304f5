"""What is drafted from: pages, each once, with what is known of them, and what they are asked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from keju.benchmarks import task as declared
from keju.building.drafting.replies import Value, Values
from keju.building.drafting.templates import Kind, Stage, Templates
from keju.items import ImageRef, Item, Request
from keju.running.sealing import seal_of, without_marks

DRAFT = "draft"
"""The step, as provenance names it."""

NOTES = "notes"
"""The name in an item's metadata under which what is known of a picture stands."""

_BLANK = re.compile(r"\{([a-z_]+)\}")


class Page(NamedTuple):
    """A picture, or a text without one: the item that first shows it, and what items say of it.

    `drafted` are the kinds of draft that stand in the set for it already.
    """

    source: Item
    images: tuple[ImageRef, ...]
    text: str
    notes: str
    drafted: frozenset[str] = frozenset()

    def waits_for(self, task: str) -> bool:
        """Whether its own item is of that task and has no answer yet."""
        source = self.source
        return source.task == task and not source.answer.strip() and source.transcription is None

    def lacks(self, kind: Kind) -> str:
        """What a kind needs and the page has not; empty if nothing."""
        has = {
            "image": bool(self.images),
            "text": bool(self.text.strip()),
            "notes": bool(self.notes),
        }
        return next((need for need in kind.needs if not has[need]), "")


def pages_of(items: Iterable[Item]) -> list[Page]:
    """The pages that items of the test split show, in order.

    Items that show the same images are about one page; a text without an image is a page of its
    own. Galleries are no pages.
    """
    pages: dict[object, Page] = {}
    for item in items:
        if item.split != "test" or item.relevant:
            continue
        place: object = tuple(ref.sha256 for ref in item.images) or item.id
        known = pages.get(place) or Page(item, item.images, "", "")
        pages[place] = known._replace(
            text=known.text or item.transcription or "",
            notes=known.notes or item.metadata.get(NOTES, ""),
            drafted=known.drafted | _drafted(item),
        )
    return list(pages.values())


def _drafted(item: Item) -> set[str]:
    """The kinds of draft that an item is, by its provenance."""
    notes = (each.note for each in item.provenance if each.step == DRAFT)
    return {note.split()[0] for note in notes if note.strip()}


def asked_of(
    page: Page,
    kind: Kind,
    stage: Stage,
    templates: Templates,
    *,
    task: str,
    most: int,
    earlier: Mapping[str, Values],
) -> Request:
    """The request that a stage makes of a page.

    Args:
        page: what is shown.
        kind: the kind of draft.
        stage: the stage of it.
        templates: the frame of the prompt.
        task: the task of the item that shall be made.
        most: items asked for.
        earlier: what earlier stages replied, by their names.
    """
    texts = [shown for name in stage.shows if (shown := _shown(name, page, earlier))]
    images = page.images if "image" in stage.shows else ()
    text = without_marks("\n\n".join(texts))
    seal = seal_of(stage.instruction, text)
    marks = {"opening": f"⟦材料 {seal}⟧", "closing": f"⟦材料完 {seal}⟧", "text": text}
    parts = [templates.shown_image] if images else []
    parts += [_filled(templates.shown_text, marks).strip()] if texts else []
    examples = [
        _filled(templates.example, {"given": each.given, "reply": each.reply})
        for each in stage.example
    ]
    count = templates.count_many if kind.many else templates.count_one
    prompt = _filled(
        templates.prompt,
        {
            "instruction": stage.instruction,
            "shown": "\n".join(parts),
            "examples": "\n".join(examples),
            "form": _form(stage),
            "count": _filled(count, {"most": str(most)}),
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


def _shown(name: str, page: Page, earlier: Mapping[str, Values]) -> str:
    if name == "image":
        return ""
    if name in {"text", NOTES}:
        return page.text if name == "text" else page.notes
    stage, _, field = name.partition(".")
    return _said(earlier[stage][field])


def _said(value: Value) -> str:
    return value if isinstance(value, str) else "、".join(value)


def _form(stage: Stage) -> str:
    """The fields of the reply as a JSON object would show them."""
    parts = (
        f'"{name}": "…"' if kind == "text" else f'"{name}": ["…"]'
        for name, kind in stage.reply.items()
    )
    return "{" + ", ".join(parts) + "}"


def _filled(template: str, blanks: Mapping[str, str]) -> str:
    """A template with its blanks filled; nothing inside what is filled in counts as a blank."""
    return _BLANK.sub(lambda blank: blanks.get(blank[1], blank[0]), template)
