"""Parser of an OCR service's reply, by its declaration; the reply is untrusted."""

from __future__ import annotations

import math
from collections.abc import Iterator

from keju.items import Line, Point
from keju.models.base import AskError
from keju.models.ocr_services import Reply
from keju.models.replies import excerpt
from keju.texts import _

_RETRYABLE = frozenset({"rate", "server", "bad-response"})


def lines_of(reply: object, where: Reply, prefix: str = "") -> Iterator[Line]:
    """The lines of a decoded reply, in its order.

    Raises:
        AskError: the service reports a failure, or the reply does not have the declared form.
    """
    if any(_at(reply, name) != value for name, value in where.right.items()):
        raise _failure(excerpt(str(_at(reply, where.problem) or "it did not say why")), where)
    found = _at(reply, where.lines)
    if not isinstance(found, list):
        raise bad_reply(f"no list at {where.lines}")
    for number, each in enumerate(found, start=1):
        text = each if isinstance(each, str) else _at(each, where.text)
        if not isinstance(text, str):
            raise bad_reply(f"line {number} has no {where.text}")
        yield Line(
            id=f"{prefix}{number}",
            text=text,
            polygon=polygon_of(_at(each, where.polygon)),
            confidence=_share(_at(each, where.confidence)),
        )


def polygon_of(value: object) -> tuple[Point, ...]:
    """A polygon from points, from a flat list of coordinates, or from left, top, right, bottom.

    Empty where it is none of them: a line without a position is still a line.
    """
    if not isinstance(value, list):
        return ()
    flat = [each for point in value for each in (point if isinstance(point, list) else [point])]
    numbers = [float(each) for each in flat if isinstance(each, int | float)]
    if len(numbers) != len(flat) or len(flat) % 2 or not all(map(math.isfinite, numbers)):
        return ()
    if len(numbers) == 4:
        x0, y0, x1, y1 = numbers
        return ((x0, y0), (x1, y0), (x1, y1), (x0, y1))
    points = tuple(zip(numbers[::2], numbers[1::2], strict=True))
    return points if len(points) > 2 else ()


def bad_reply(words: str) -> AskError:
    """An error for a reply that does not have the declared form."""
    return AskError("bad-response", _("the service's reply: {}", words), retryable=True)


def _failure(said: str, where: Reply) -> AskError:
    kinds = (fault.kind for fault in where.faults if any(word in said for word in fault.says))
    kind = next(kinds, "bad-response")
    return AskError(
        kind,
        _("the service reports: {}", said),
        retryable=kind in _RETRYABLE,
        overloaded=kind == "rate",
    )


def _at(value: object, path: str) -> object:
    """The value at a dotted path of names; None where there is none."""
    for name in path.split(".") if path else [""]:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _share(value: object) -> float | None:
    """A confidence in 0..1, or None."""
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1:
        return float(value)
    return None
