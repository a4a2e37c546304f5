"""Parsing of a grade from a judge's response: where it is stated plainly, or not at all."""

from __future__ import annotations

import json
import re
from typing import NamedTuple

from keju.extraction import body_of
from keju.items import Response
from keju.text import parse_number, to_half_width
from keju.texts import _

LEAST, MOST = 0.0, 10.0

_SHOWN = 60
_LONGEST = 20_000
"""Characters at the end of a response in which a grade is looked for."""

_LABEL = (
    r"(?:(?:最[终終後后]|[总總]|[综綜]合|整[体體])?(?:分[数數]|[评評]分|打分|得分|[总總]分)"
    r"|(?:(?:final|overall|total|my)\s)?(?:score|grade|rating|mark))"
)
_NUMBER = r"(?:\d{1,4}(?:\.\d{1,20})?|[〇零一二三四五六七八九两兩十]{1,3})"
_SCALE = (
    r"\s?(?:\(?(?:/|out of|of)\s?(?P<scale>\d{1,4})(?:\s?分|\s?points)?\)?"
    r"|[(,]\s?[满滿总總]分(?:[是为為:]|\s){0,3}(?P<full>\d{1,4})\s?分?\)?)"
)
_STATEMENT = re.compile(
    rf"(?:(?P<label>{_LABEL})\s?(?P<beside>\([^()]{{1,30}}\))?\s?(?:[:=是为為]|is\b|\s)\s?)?"
    rf"(?:\[\[|\\boxed\{{)?\s?(?P<number>{_NUMBER})\s?(?P<unit>分|points?)?(?:{_SCALE})?"
    r"\s?(?:\]\]|\})?(?P<after>.*)",
    re.IGNORECASE,
)
_REASONS = re.compile(r"(?:\s?\([^()\d]{0,80}\))?(?:\s?[.。!,;，；—-]\D{0,400})?")
_IN_BRACKETS = re.compile(rf"(?:\[\[|\\boxed\{{)\s?(?P<number>{_NUMBER})\s?(?:\]\]|\}})[.。]?\Z")
"""A grade in the brackets of MT-Bench or LaTeX, at the end of a line."""
_KEYS = frozenset({"score", "grade", "rating", "分数", "分數", "评分", "評分", "得分"})
_OBJECT = re.compile(r"^[ \t]*(\{[^{}]*\})\Z", re.MULTILINE)
_MARKUP = re.compile(r"[*`$_]+|\\[()\[\]]|^[\s#>|]+|^[-•]\s+(?!\d)|[\s|]+$")
_BRACKETS = str.maketrans("【】|", "   ")


class Grade(NamedTuple):
    """A grade of 0 to 10, or None and the reason why there is none."""

    value: float | None
    reason: str = ""


_Stated = tuple[float, float]
"""A number that a response states as its grade, and the highest grade of its scale."""


def grade_of(reply: str) -> Grade:
    """Parse the grade in a judge's response.

    The grade is what the last line states (``分数：8``, ``8/10``, ``[[8]]``, ``八分`` …), or a JSON
    object with one key such as ``score`` at the end. Text before it does not count, so that an
    answer which the judge quotes cannot set the grade. A range, a number outside 0 to 10 and
    another scale than 10 give no grade.
    """
    text = body_of(reply).strip()[-_LONGEST:].rstrip(" \t\r\n`")
    lines = [line for line in text.split("\n") if line.strip(" \t\r`")]
    if not lines:
        return Grade(None, "empty reply")
    stated = _stated_in_object(text) or _stated_in_line(lines[-1], whole=len(lines) == 1)
    if stated is None:
        last = lines[-1].strip()
        shown = last if len(last) <= _SHOWN else f"{last[: _SHOWN // 2]}…{last[-_SHOWN // 2 :]}"
        return Grade(None, _("unparsable: the last line is {!r}", shown))
    value, scale = stated
    if scale != MOST:
        return Grade(None, _("unparsable: {:g} is on a scale of {:g}", value, scale))
    if not LEAST <= value <= MOST:
        return Grade(None, _("unparsable: {:g} is not from 0 to 10", value))
    return Grade(value)


def grade_in(response: Response) -> Grade:
    """The grade in a stored response; a failed or truncated call has none."""
    if response.status in {"failed", "filtered"}:
        why = response.error.kind if response.error else response.status
        return Grade(None, _("failed: {}", why))
    if response.status == "truncated":
        return Grade(None, _("unparsable: the reply was cut off"))
    return grade_of(response.text)


def _stated_in_line(line: str, *, whole: bool) -> _Stated | None:
    """The grade that a line states and nothing else; `whole` is a response of one line."""
    plain = _MARKUP.sub("", to_half_width(line.strip()).translate(_BRACKETS)).strip()
    match = _STATEMENT.fullmatch(plain)
    if match is None or not _is_plain(match, whole=whole):
        match = _IN_BRACKETS.search(plain)
        if match is None or plain.count("[[") + plain.count("\\boxed") != 1:
            return None
    parts = match.groupdict()
    value = parse_number(parts["number"])
    if value is None:
        return None
    scale_numbers = [float(number) for number in re.findall(r"\d{1,4}", parts.get("beside") or "")]
    scale = parts.get("scale") or parts.get("full")
    return value, float(scale) if scale else max(scale_numbers, default=MOST)


def _is_plain(match: re.Match[str], *, whole: bool) -> bool:
    """Whether a line is a grade, and not a numbered point or a number among others."""
    after = match["after"].strip()
    if match["label"] or match["scale"] or match["full"] or (whole and match["unit"]):
        return _REASONS.fullmatch(after) is not None
    return after in {"", ".", "。", "!"} and (
        whole or bool(match["unit"]) or (not after and match["number"].isascii())
    )


def _stated_in_object(text: str) -> _Stated | None:
    """The grade in the JSON object at the end of a text, if it has one key for it."""
    braces = _OBJECT.search(text)
    try:
        # Pairs, so that a name that is there twice is seen.
        members = json.loads(braces[1], object_pairs_hook=list) if braces else []
    except ValueError:
        return None
    match [value for name, value in members if name.strip().lower() in _KEYS]:
        case [str(value)]:
            return _stated_in_line(value, whole=True)
        case [int() | float() as value] if not isinstance(value, bool):
            return float(max(-1000, min(value, 1000))), MOST  # also of a number of 400 digits
    return None
