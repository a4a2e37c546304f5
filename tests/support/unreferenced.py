"""An item of every query of the catalogue, with and without its reference."""

from __future__ import annotations

from msgspec.structs import replace

from keju.definitions import Query, Task, tasks
from keju.items import Box, ImageRef, Item, Response

QUERIES = [(each, query) for each in tasks() for query in each.queries]
REF = ImageRef(path="images/a.png", sha256="a", width=90, height=90, size=9)
BOX = Box(x0=1, y0=1, x1=40, y1=40)
OPTIONS = ("唐代壁画", "宋代山水")
ANSWERS = {
    "letter": "A",
    "number": "3",
    "yes-no": "Yes",
    "boxes": "",
    "entities": "孔子、颜回",
    "short": "三",
}


def asked(kind: Task, query: Query, name: str = "a") -> Item:
    """A sound item of a query, with its reference."""
    common = {
        "id": name, "benchmark": kind.benchmark, "task": kind.id, "query": query.name,
        "question": f"[item {name}] 图中写了什么？", "verbatim": True,
    }  # fmt: skip
    if kind.of_pairs:
        refs = tuple(replace(REF, path=f"images/{n}.png", sha256=f"{n}") for n in range(3))
        return Item(**common, images=refs, relevant=(2,))
    return Item(
        **common,
        images=(REF,),
        options=OPTIONS if query.form == "letter" else (),
        answer=ANSWERS.get(query.form, "學而時習之，不亦說乎。"),
        boxes=(BOX,) if query.form == "boxes" else (),
    )


def without(item: Item) -> Item:
    """The same item without its reference."""
    return replace(item, answer="", answer_simplified="", boxes=(), relevant=())


def said(item: Item, text: str) -> list[Response]:
    """Responses to an item, one a pair."""
    response = Response(
        key=item.id, item=item.id, model="m", benchmark=item.benchmark, task=item.task,
        query=item.query, status="answered", text=text,
    )  # fmt: skip
    if not (len(item.images) > 1):
        return [response]
    return [
        replace(response, key=f"{item.id} {place}", candidate=place)
        for place in range(1, len(item.images))
    ]
