"""Parsing of a grade from a judge's response: by a declared form, or not at all."""

from __future__ import annotations

import json
import re
from typing import NamedTuple

from keju.items import Response
from keju.scoring import body_of

LEAST, MOST = 0.0, 10.0

_LAST_LINE = re.compile(r"分[数數]\s*[：:]\s*(\d{1,2}(?:\.\d{1,20})?)", re.ASCII)
_SHOWN = 60


class Grade(NamedTuple):
    """A grade of 0 to 10, or None and the reason why there is none."""

    value: float | None
    reason: str = ""


def grade_of(reply: str) -> Grade:
    """Parse the grade in a judge's response.

    Two forms are accepted: the whole response is a JSON object with a number ``score`` (in a code
    fence or not), or the last line is only such an object or ``分数：n``. Text before that line is
    ignored, so that an answer which the judge quotes cannot set the grade.
    """
    body = body_of(reply).strip()
    core = re.sub(r"\A```(?:json)?\s*\n(.*)\n```\Z", r"\1", body, flags=re.DOTALL).strip()
    last = core.rpartition("\n")[2].strip()
    found = _stated(core) if core.startswith("{") else None
    if found is None:
        stated = _LAST_LINE.fullmatch(last)
        found = float(stated[1]) if stated else _stated(last, alone=True)
    if found is None:
        shown = last if len(last) <= _SHOWN else f"{last[: _SHOWN // 2]}…{last[-_SHOWN // 2 :]}"
        return Grade(None, f"unparsable: the last line is {shown!r}" if last else "empty reply")
    if not LEAST <= found <= MOST:
        return Grade(None, f"unparsable: {found:g} is not from 0 to 10")
    return Grade(found)


def grade_in(response: Response) -> Grade:
    """The grade in a stored response; a failed or truncated call has none."""
    if response.status in {"failed", "filtered"}:
        why = response.error.kind if response.error else response.status
        return Grade(None, f"failed: {why}")
    if response.status == "truncated":
        return Grade(None, "unparsable: the reply was cut off")
    return grade_of(response.text)


def _stated(text: str, *, alone: bool = False) -> float | None:
    """The number `score` of a JSON object that contains it once."""
    try:
        pairs = json.loads(text, object_pairs_hook=_Pairs, parse_constant=_nothing)
    except (ValueError, RecursionError):
        return None
    if not isinstance(pairs, _Pairs) or (alone and len(pairs) != 1):
        return None
    scores = [value for name, value in pairs if name == "score"]
    if len(scores) != 1 or isinstance(scores[0], bool) or not isinstance(scores[0], int | float):
        return None
    return float(scores[0]) if abs(scores[0]) <= 1000 else 1000.0


class _Pairs(list[tuple[str, object]]):
    """The members of an object in their order, including repeated names."""


def _nothing(_: str) -> None:
    return None
