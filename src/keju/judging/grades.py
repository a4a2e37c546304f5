"""Parsing of a grade from a judge's response: where it is stated plainly, or not at all."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import NamedTuple

from keju.extraction import body_of
from keju.items import Response
from keju.text import parse_number, to_half_width
from keju.texts import _

LEAST, MOST = 0.0, 10.0

_SHOWN = 60
_LONGEST = 20_000
"""Characters at the end of a response in which a grade is looked for."""
_MOST_OBJECTS = 50

_LABEL = (
    r"(?:(?:最[終终後后]|[总總]|[综綜]合|整[体體])?(?:分[数數]|[评評]分|打分|得分|[总總]分)"
    r"|(?:(?:final|overall|total|my)\s)?(?:score|grade|rating|mark))"
)
_DIGIT = "〇零一二三四五六七八九"
_NUMBER = rf"(?:\d{{1,4}}(?:\.\d{{1,20}})?|[{_DIGIT}两兩十]{{1,3}}(?:[点點][{_DIGIT}]{{1,3}})?)"
_SCALE = (
    r"\s?(?:\(?(?:/|out of|of)\s?(?P<scale>\d{1,4})(?:\s?分|\s?points)?\)?"
    r"|[(,]\s?[满滿总總]分(?:[是为為:]|\s){0,3}(?P<full>\d{1,4})\s?分?\)?"
    r"|\((?P<system>\d{1,4})\s?分制\))"
)
_VALUE = (
    rf"(?:\[\[|\\boxed\{{|<(?P<tag>{_LABEL})>)?\s?(?P<number>{_NUMBER})"
    rf"\s?(?P<unit>分半|分|points?)?(?:{_SCALE})?\s?(?:\]\]|\}}|</(?P=tag)>)?"
)
_LEAD = (
    r"(?:(?:[综綜]上(?:所述)?|因此|所以|故|[总總]之|最[終终後后]|therefore|thus|hence|so|overall"
    r"|in summary)[,:]?\s?)?"
)
_GIVES = (
    r"(?:(?:我|本人|i(?:['’]d|\swould|\swill)?)\s?)?"
    r"(?:[給给打判][予出了与與]?(?:[这這]份)?(?:答卷)?|give\s(?:it|this)(?:\sanswer)?(?:\san?)?"
    r"|rate\s(?:it|this)(?:\sanswer)?(?:\sas)?)\s?"
)
_STATEMENT = re.compile(
    rf"{_LEAD}(?:(?P<label>{_LABEL})\s?(?P<beside>\([^()]{{1,30}}\))?\s?(?:[:=是为為]|is\b|\s)\s?"
    rf"|(?P<gives>{_GIVES}))?{_VALUE}(?P<after>.*)",
    re.IGNORECASE,
)
_REASONS = re.compile(r"(?:\s?\([^()\d]{0,80}\))?(?:\s?[.。!,;，；—-]\D{0,400})?")
_IN_BRACKETS = re.compile(rf"(?:\[\[|\\boxed\{{)\s?(?P<number>{_NUMBER})\s?(?:\]\]|\}})[.。]?\Z")
"""A grade in the brackets of MT-Bench or LaTeX, at the end of a line."""
_PAIR = re.compile(rf"\{{\s?['\"“]?{_LABEL}['\"”]?\s?:\s?['\"]?{_VALUE}['\"]?\s?\}}", re.IGNORECASE)
_GRADE_LIKE = re.compile(
    rf"{_LABEL}\s?[:=是为為]\s?{_NUMBER}|{_NUMBER}\s?(?:分(?![数數])|/\s?\d)", re.IGNORECASE
)
_KEYS = frozenset({"score", "grade", "rating", "分数", "分數", "评分", "評分", "得分"})
_OBJECT = re.compile(r"^[ \t]*\{", re.MULTILINE)
_FENCE = re.compile(r"```(?:json)?\s*\Z")
_MARKUP = re.compile(r"[*`$_]+|\\[()\[\]]|^[\s#>|]+|^[-•]\s+(?!\d)|[\s|]+$")
_BRACKETS = str.maketrans("【】|", "   ")


class Grade(NamedTuple):
    """A grade of 0 to 10, or None and the reason why there is none."""

    value: float | None
    reason: str = ""


class _Stated(NamedTuple):
    """A number that a response states as its grade, and the highest grade of its scale."""

    value: float
    scale: float = MOST


class _Object(NamedTuple):
    """A JSON object in a response, and its place."""

    start: int
    end: int
    stated: _Stated | None


def grade_of(reply: str) -> Grade:
    """Parse the grade in a judge's response.

    The grade is what the last line states (``分数：8``, ``8/10``, ``[[8]]``, ``八分`` …), or a JSON
    object with one key such as ``score`` at the end. Text before it does not count then, so that an
    answer which the judge quotes cannot set the grade. If nothing of the kind is at the end, the
    grade is what the first line states with a label, or the only JSON object in a code fence,
    unless another grade is mentioned. A range, a number outside 0 to 10 and another scale than 10
    give no grade.
    """
    text = body_of(reply).strip()[-_LONGEST:]
    lines = [line for line in text.split("\n") if line.strip(" \t\r`")]
    if not lines:
        return Grade(None, "empty reply")
    objects = list(_objects(text))
    if objects and not text[objects[-1].end :].strip(" \t\r\n`"):
        stated = objects[-1].stated
    else:
        stated = _stated_in(lines[-1], whole=len(lines) == 1) or _stated_before(text, objects)
    if stated is None:
        last = lines[-1].strip()
        shown = last if len(last) <= _SHOWN else f"{last[: _SHOWN // 2]}…{last[-_SHOWN // 2 :]}"
        return Grade(None, _("unparsable: the last line is {!r}", shown))
    if stated.scale != MOST:
        return Grade(None, _("unparsable: {:g} is on a scale of {:g}", stated.value, stated.scale))
    if not LEAST <= stated.value <= MOST:
        return Grade(None, _("unparsable: {:g} is not from 0 to 10", stated.value))
    return Grade(stated.value)


def grade_in(response: Response) -> Grade:
    """The grade in a stored response; a failed or truncated call has none."""
    if response.status in {"failed", "filtered"}:
        why = response.error.kind if response.error else response.status
        return Grade(None, _("failed: {}", why))
    if response.status == "truncated":
        return Grade(None, _("unparsable: the reply was cut off"))
    return grade_of(response.text)


def _stated_before(text: str, objects: list[_Object]) -> _Stated | None:
    """The grade of a response that ends with something else, such as its reasons."""
    if objects:
        only = objects[0]
        before, rest = text[: only.start], text[: only.start] + text[only.end :]
        stated = only.stated if _is_own(before) else None
    else:
        first, _, rest = text.partition("\n")
        stated = _stated_in(first, labelled=True)
    mentioned = len(objects) > 1 or _GRADE_LIKE.search(to_half_width(rest))
    return None if mentioned else stated


def _is_own(before: str) -> bool:
    """Whether a JSON object begins the response or a code fence, and is not in a quotation."""
    quoted = any(before.count(mark) > before.count(end) for mark, end in ("「」", "『』", "“”"))
    return not before.strip() or (_FENCE.search(before) is not None and not quoted)


def _stated_in(line: str, *, whole: bool = False, labelled: bool = False) -> _Stated | None:
    """The grade that a line states and nothing else; `whole` is a response of one line."""
    plain = _MARKUP.sub("", to_half_width(line.strip()).translate(_BRACKETS)).strip()
    if pair := _PAIR.fullmatch(plain):
        return _value_of(pair)
    found = _STATEMENT.fullmatch(plain)
    if found and _is_plain(found, whole=whole, labelled=labelled):
        return _value_of(found)
    brackets = _IN_BRACKETS.search(plain)
    if brackets and not labelled and plain.count("[[") + plain.count("\\boxed") == 1:
        return _value_of(brackets)
    return None


def _is_plain(found: re.Match[str], *, whole: bool, labelled: bool) -> bool:
    """Whether a line is a grade, and not a numbered point or a number among others."""
    named = found["label"] or found["gives"] or found["tag"]
    scaled = found["scale"] or found["full"] or found["system"]
    after = found["after"].strip()
    if labelled and not (named or scaled):
        return False
    if named or scaled or (whole and found["unit"]):
        return _REASONS.fullmatch(after) is not None
    return after in {"", ".", "。", "!"} and (
        whole or bool(found["unit"]) or (not after and found["number"].isascii())
    )


def _value_of(found: re.Match[str]) -> _Stated | None:
    groups = found.groupdict()
    whole, _, decimals = groups["number"].replace("點", "点").partition("点")
    value = parse_number(whole)
    if value is None:
        return None
    if decimals:
        value += float("0." + "".join(str(max(_DIGIT.index(char) - 1, 0)) for char in decimals))
    if groups.get("unit") == "分半":
        value += 0.5
    scale_numbers = [float(each) for each in re.findall(r"\d{1,4}", groups.get("beside") or "")]
    scale = groups.get("scale") or groups.get("full") or groups.get("system")
    return _Stated(value, float(scale) if scale else max(scale_numbers, default=MOST))


def _objects(text: str) -> Iterator[_Object]:
    """The outermost JSON objects that begin a line."""
    decoder = json.JSONDecoder(object_pairs_hook=_Pairs, parse_constant=_nothing)
    end = 0
    for tried, found in enumerate(_OBJECT.finditer(text)):
        start = found.end() - 1
        if start < end or tried >= _MOST_OBJECTS:
            continue
        try:
            pairs, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            continue
        yield _Object(start, end, _stated_by(pairs))


def _stated_by(pairs: object) -> _Stated | None:
    """The grade of a JSON object that has one key for it."""
    members = pairs if isinstance(pairs, _Pairs) else []
    scores = [value for name, value in members if name.strip().lower() in _KEYS]
    if len(scores) != 1 or isinstance(scores[0], bool):
        return None
    score = scores[0]
    if isinstance(score, str):
        return _stated_in(score, whole=True)
    if not isinstance(score, int | float):
        return None
    return _Stated(float(score) if abs(score) <= 1000 else 1000.0)


class _Pairs(list[tuple[str, object]]):
    """The members of an object in their order, including repeated names."""


def _nothing(_: str) -> None:
    return None
