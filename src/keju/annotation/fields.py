"""Answers of people: parse the form of each kind of question into the text of an answer."""

from __future__ import annotations

from math import isfinite
from string import ascii_uppercase

import msgspec

from keju.annotation.queue import Form, text_of
from keju.errors import UsageError
from keju.items import Box, Record, Request
from keju.messages import message
from keju.metrics.boxes import box_convention, from_pixels

MOST_BOXES = 2000
_EMPTY = "annotation.answer-missing"


class Given(Record, frozen=True, kw_only=True):
    """One answer: its text as a model would have written it; empty where the person did not know.

    `boxes` are the drawn boxes, in pixels of the image.
    """

    text: str = ""
    boxes: tuple[Box, ...] = ()


def given_of(request: Request, form: Form) -> Given:
    """A person's answer to a request.

    Raises:
        UsageError: it does not have the form that the request asks for.
    """
    if form.get("act") == "unknown":
        return Given()
    if request.form == "boxes":
        boxes = boxes_of(form)
        return Given(text=_written(boxes, request), boxes=boxes)
    return Given(text=_text(request, form))


def _text(request: Request, form: Form) -> str:
    match request.form:
        case "letter":
            return one_of(form, request.choices or tuple(ascii_uppercase[:6]))
        case "yes-no":
            return one_of(form, ("Yes", "No"))
        case "probability":
            return _plain(_number(form, 100) / 100)
        case "number":
            return f"{_number(form, 1_000_000, whole=True):.0f}"
    return text_of(form, "answer", needed=_EMPTY)


def one_of(form: Form, choices: tuple[str, ...]) -> str:
    """The selected choice.

    Raises:
        UsageError: it is not one of the choices.
    """
    if (said := form.get("answer", "")) in choices:
        return said
    raise UsageError(message(_EMPTY))


def boxes_of(form: Form) -> tuple[Box, ...]:
    """The drawn boxes, with sorted edges and without those of no area.

    Raises:
        UsageError: they cannot be parsed.
    """
    try:
        rows = msgspec.json.decode(form.get("boxes") or "[]", type=list[tuple[float, ...]])
    except msgspec.DecodeError:
        raise UsageError(message("annotation.boxes-unreadable")) from None
    if len(rows) > MOST_BOXES or any(len(row) != 4 or not all(map(isfinite, row)) for row in rows):
        raise UsageError(message("annotation.boxes-unreadable"))
    sorted_rows = ((*sorted((a, c)), *sorted((b, d))) for a, b, c, d in rows)
    return tuple(
        Box(x0=left, y0=top, x1=right, y1=bottom)
        for left, right, top, bottom in sorted_rows
        if right > left and bottom > top
    )


def rows_of(boxes: tuple[Box, ...]) -> list[list[float]]:
    """Boxes in the format of the page."""
    return [[box.x0, box.y0, box.x1, box.y1] for box in boxes]


def _number(form: Form, most: int, *, whole: bool = False) -> float:
    said = form.get("answer", "").strip()
    try:
        number = float(int(said)) if whole else float(said)
    except (ValueError, OverflowError):
        empty = not said
        raise UsageError(message(_EMPTY if empty else "annotation.number-missing")) from None
    if not 0 <= number <= most:
        raise UsageError(message("annotation.number-not-possible"))
    return number


def _written(boxes: tuple[Box, ...], request: Request) -> str:
    convention = box_convention(request.box_convention or "xyxy")
    ref = request.images[0]
    rows = from_pixels(rows_of(boxes), convention, width=ref.width, height=ref.height).tolist()
    said = (", ".join(map(_plain, row)) for row in rows)
    return f"[{', '.join(f'[{row}]' for row in said)}]"


def _plain(number: float) -> str:
    """A number without an exponent, up to the sixth decimal."""
    return f"{number:.6f}".rstrip("0").rstrip(".")
