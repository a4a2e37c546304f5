"""From a judge's reply to a grade: by a declared form, or not at all."""

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
    """A grade of 0 to 10, or None and why there is none."""

    value: float | None
    reason: str = ""


def grade_of(reply: str) -> Grade:
    """Take the grade out of a judge's reply.

    It is taken from one of two forms and nowhere else: the whole reply is a JSON object with a
    number ``score`` (in a code fence or not), or the last line is such an object with nothing
    beside it or is ``分数：n``. What a judge says before that line is not looked at, so that an
    answer which the judge quotes cannot speak for it.
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
    """The grade in a stored reply; a call that failed, or was cut off, gave none."""
    if response.status in {"failed", "filtered"}:
        why = response.error.kind if response.error else response.status
        return Grade(None, f"failed: {why}")
    if response.status == "truncated":
        return Grade(None, "unparsable: the reply was cut off")
    return grade_of(response.text)


def _stated(text: str, *, alone: bool = False) -> float | None:
    """The number `score` of a JSON object that says it once."""
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
    """The members of an object as they stand, names that come twice included."""


def _nothing(_: str) -> None:
    return None
