"""Answers of people: parse the form of each kind of question into the text of an answer."""

from __future__ import annotations

from math import isfinite
from string import ascii_uppercase

import msgspec

from keju.annotation.queue import Form, read_text
from keju.errors import UsageError
from keju.items import Box, Record, Request
from keju.metrics.boxes import box_convention, from_pixels
from keju.texts import _

MOST_BOXES = 2000
_EMPTY = _('Enter an answer, or choose "I don\'t know"')


class HumanAnswer(Record, frozen=True, kw_only=True):
    """One answer: its text as a model would write it; empty if the person did not know.

    `boxes` are the drawn boxes, in pixels of the image.
    """

    text: str = ""
    boxes: tuple[Box, ...] = ()


def parse_answer(request: Request, form: Form) -> HumanAnswer:
    """Parse a person's answer to a request.

    Raises:
        UsageError: the answer does not have the form that the request needs.
    """
    if form.get("act") == "unknown":
        return HumanAnswer()
    if request.form == "boxes":
        boxes = parse_boxes(form)
        return HumanAnswer(text=_write_boxes(boxes, request), boxes=boxes)
    return HumanAnswer(text=_parse_text(request, form))


def _parse_text(request: Request, form: Form) -> str:
    match request.form:
        case "letter":
            return parse_choice(form, request.choices or tuple(ascii_uppercase[:6]))
        case "yes-no":
            return parse_choice(form, ("Yes", "No"))
        case "probability":
            return _format_number(_parse_number(form, 100) / 100)
        case "number":
            return f"{_parse_number(form, 1_000_000, whole=True):.0f}"
    return read_text(form, "answer", needed=_EMPTY)


def parse_choice(form: Form, choices: tuple[str, ...]) -> str:
    """The selected choice.

    Raises:
        UsageError: it is not one of `choices`.
    """
    if (answer := form.get("answer", "")) in choices:
        return answer
    raise UsageError(_EMPTY)


def parse_boxes(form: Form) -> tuple[Box, ...]:
    """The drawn boxes, with sorted edges; boxes without area are dropped.

    Raises:
        UsageError: the field cannot be parsed.
    """
    try:
        rows = msgspec.json.decode(form.get("boxes") or "[]", type=list[tuple[float, ...]])
    except msgspec.DecodeError:
        raise UsageError("The boxes of the form are not valid. Reload the page") from None
    if len(rows) > MOST_BOXES or any(len(row) != 4 or not all(map(isfinite, row)) for row in rows):
        raise UsageError("The boxes of the form are not valid. Reload the page")
    sorted_rows = ((*sorted((a, c)), *sorted((b, d))) for a, b, c, d in rows)
    return tuple(
        Box(x0=left, y0=top, x1=right, y1=bottom)
        for left, right, top, bottom in sorted_rows
        if right > left and bottom > top
    )


def format_boxes(boxes: tuple[Box, ...]) -> list[list[float]]:
    """The edges of boxes, as the pages store them: left, top, right, bottom."""
    return [[box.x0, box.y0, box.x1, box.y1] for box in boxes]


def _parse_number(form: Form, most: int, *, whole: bool = False) -> float:
    text = form.get("answer", "").strip()
    try:
        number = float(int(text)) if whole else float(text)
    except (ValueError, OverflowError):
        raise UsageError(_("Enter a number") if text else _EMPTY) from None
    if not 0 <= number <= most:
        raise UsageError("The number is outside the possible range")
    return number


def _write_boxes(boxes: tuple[Box, ...], request: Request) -> str:
    convention = box_convention(request.box_convention or "xyxy")
    ref = request.images[0]
    rows = from_pixels(format_boxes(boxes), convention, width=ref.width, height=ref.height).tolist()
    texts = (", ".join(map(_format_number, row)) for row in rows)
    return f"[{', '.join(f'[{text}]' for text in texts)}]"


def _format_number(number: float) -> str:
    """A number without an exponent, with at most six decimals."""
    return f"{number:.6f}".rstrip("0").rstrip(".")
