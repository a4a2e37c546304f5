"""Reading order errors: lines out of order, and the data that the item browser draws."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from msgspec.structs import replace

from keju.analysis.labels import task_name
from keju.extraction import body_of
from keju.items import Item, Line, Response
from keju.layout import Placed, bounds_of, order_of_lines, order_of_text
from keju.text import normalise

Json = dict[str, Any]

_FEWEST = 2


class OrderRow(NamedTuple):
    """The reading order of a model on a task's pages.

    `placed` counts lines with a position in the true order, `moved` those of them that would have
    to be moved, `across` lines that were read across several true ones; `whole` the pages without
    either.
    """

    model: str
    task: str
    by: str
    pages: int
    whole: int
    placed: int
    moved: int
    across: int


class OrderErrors:
    """Collects reading orders answer by answer, and makes the drawing data of the wrong ones."""

    def __init__(self) -> None:
        self._rows: dict[tuple[str, str, str], list[tuple[int, int, int]]] = {}

    def add(self, model: str, item: Item, response: Response) -> Json | None:
        """Add one answer; return its drawing data, or None where nothing is out of order.

        It must be about a page with one image and at least two lines with outlines, of which at
        least two are found in the answer.
        """
        drawn = [line for line in item.lines if line.polygon and line.text]
        if len(item.images) != 1 or len(drawn) < _FEWEST or not response.text:
            return None
        found, by = _order(drawn, response)
        placed = sum(each.place is not None for each in found)
        moved = sum(each.moved for each in found)
        across = sum(each.across for each in found)
        if placed + across < _FEWEST:
            return None
        key = (model, task_name(item.task, item.query), by)
        self._rows.setdefault(key, []).append((placed, moved, across))
        lines = [_mark(each) for each in found]
        return {"by": by, "lines": lines} if moved or across else None

    @property
    def rows(self) -> list[OrderRow]:
        """One row for each model, task and way of finding the lines."""
        return [
            OrderRow(
                model=model,
                task=task,
                by=by,
                pages=len(pages),
                whole=sum(moved == across == 0 for _, moved, across in pages),
                placed=sum(placed for placed, _, _ in pages),
                moved=sum(moved for _, moved, _ in pages),
                across=sum(across for _, _, across in pages),
            )
            for (model, task, by), pages in self._rows.items()
        ]


def true_order(item: Item) -> Json | None:
    """The page's size and true lines for drawing; None where no order can be drawn."""
    boxes = [bounds_of(line) for line in item.lines if line.polygon and line.text]
    if len(item.images) != 1 or len(boxes) < _FEWEST:
        return None
    image = item.images[0]
    return {
        "size": [image.width, image.height],
        "lines": [[round(side) for side in box] for box in boxes if box is not None],
    }


def _order(truth: Sequence[Line], response: Response) -> tuple[list[Placed], str]:
    """The order by the outlines of an engine, else by the positions of the lines' texts."""
    if any(line.polygon for line in response.lines):
        return order_of_lines(truth, response.lines), "outlines"
    folded = [replace(line, text=normalise(line.text)) for line in truth]
    return order_of_text(folded, normalise(body_of(response.text)[:20_000])), "text"


def _mark(placed: Placed) -> list[Any]:
    """``[x0, y0, x1, y1, true rank or null, 1 if out of order or 2 if across others]``."""
    kind = 2 if placed.across else int(placed.moved)
    return [*(round(side) for side in placed.bounds), placed.place, kind]
