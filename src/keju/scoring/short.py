"""Short answers, numbers and lists of names, as they are read out of a response."""

from __future__ import annotations

import re

from keju.metrics import english_number, parse_number
from keju.scoring.answers import (
    Extracted,
    body_of,
    boxed_answer,
    json_answer,
    json_text,
    unfenced,
)
from keju.text import counted, narrowed

_EDGE = " \t\r\n\u3000*_`#。.，,、:：;；!！?？'\"‘’“”「」『』()（）[]【】《》"
_PHRASE = re.compile(
    r"(?:最终|最終|正确|正確|[Ff]inal )?(?:答案|[Aa]nswer)"
    r"(?:\s{0,3}(?:应该|应当|应)?(?:是|为|為|is|[：:])){1,2}\s{0,4}"
    r"(?P<answer>[^\n。；;！!？?]+)"
    r"|^答[：:]\s{0,4}(?P<said>[^\n。；;！!？?]+)",
    re.MULTILINE,
)
_MEASURES = (
    "个個位人名只隻条條匹头頭棵朵座艘张張幅件把本枚片株尾对對双雙群处處层層行列字章枝根间間次种種"
)
_COUNTED = re.compile(rf"(?P<number>.+?)[{_MEASURES}](?P<things>[\u4e00-\u9fff]{{0,3}})")
_KINDS = (
    "人名|人物|地名|地点|官职|官名|职官|书名|典籍|作品|朝代|时间|年号|国名|民族|组织|机构|器物|名物"
)
_NOTE = re.compile(rf"(?<=.)\s*(?:[(（][^()（）]*[)）]|[:：]\s*(?:{_KINDS}))\s*$")
_PREAMBLE = re.compile(r"^[^：:、，,\n]{0,20}(?:实体|實體|如下|包括)[^：:、，,\n]{0,6}[：:]\s*")
_SEPARATORS = re.compile(r"[、，,;；\n\r\t|/]|\s{2,}")
_NUMBERING = re.compile(r"^\s*(?:[-*•·]\s*|[(（]?\d{1,3}[)）.．、]\s*|[①-⑳]\s*)")
_FIRST_OF_ONE = re.compile(r"^(?:1[.．、)）]|[-*•])\s*(?=[^\d\s][^\n]*\Z)")
_LABEL = re.compile(r"^[^：:]{1,6}[：:]\s*")


def extract_short(text: str) -> Extracted:
    """A short answer: JSON, what follows 答案是, or the whole response.

    A sentence around the answer is not cut away: where the words end and the answer begins would
    be a guess.
    """
    body = body_of(text)
    if not body.strip():
        return Extracted(None, "no answer after the reasoning" if text.strip() else "empty")
    found = json_answer(body) or boxed_answer(body)
    if found:
        return found
    phrases = list(_PHRASE.finditer(body))
    if phrases:
        said = phrases[-1]["answer"] or phrases[-1]["said"]
        return Extracted(said.strip(_EDGE), "answer phrase", phrases[-1][0])
    core = unfenced(body).strip()
    return Extracted(_FIRST_OF_ONE.sub("", core).strip(_EDGE), "whole answer", body)


def same_short(truth: str, answer: str) -> bool:
    """Whether a short answer is the true one: equal after normalisation, or equal by value.

    White space, punctuation, case, width, variants and script are no difference, but marks between
    digits are (1.2 is not 12). A number equals the same number in other digits, and with a measure
    word and what is counted after it (3, three, 三, ３, 三匹, 三匹马).
    """
    number = _value(truth)
    said = None if number is None else _value(answer, things=True)
    if said is not None:
        return number == said
    left, right = counted(truth).casefold(), counted(answer).casefold()
    if left == right and _digits(truth) == _digits(answer):
        return bool(left) or truth.strip() == answer.strip()
    return False


def _digits(text: str) -> list[str]:
    return re.findall(r"[0-9]+", narrowed(text))


def extract_entities(text: str) -> Extracted:
    """The names in a list with any separator, joined by 、 in the order they came.

    Separators are 、 , ; | / line breaks and runs of spaces; a single space parts names where
    nothing else does. Numbering, a label before a colon (人名：), a note or kind after the name
    (孔子（人名）, 孔子：人名), an introduction (以下是命名实体：), brackets and quotation marks are
    taken off.
    """
    body = body_of(text)
    if not body.strip():
        return Extracted(None, "no answer after the reasoning" if text.strip() else "empty")
    listed = json_text(body)
    inside = listed.answer if listed and listed.answer else _PREAMBLE.sub("", unfenced(body))
    names = [_name(part) for part in _SEPARATORS.split(inside)]
    if len(names) == 1 and " " in inside.strip():
        names = [_name(part) for part in inside.split()]
    kept = [name for name in names if name]
    rule = "JSON list" if listed else "list"
    return Extracted("、".join(dict.fromkeys(kept)), rule, body)


def entity_set(joined: str) -> frozenset[str]:
    """The set of names in a list, normalised to standard simplified characters."""
    names = (counted(_name(part)) for part in _SEPARATORS.split(joined))
    return frozenset(name for name in names if name)


def _name(part: str) -> str:
    return _LABEL.sub("", _NOTE.sub("", _NUMBERING.sub("", part))).strip(_EDGE)


def _value(text: str, *, things: bool = False) -> float | None:
    """A number, with a measure word after it, and where `things` is set with what is counted."""
    core = text.strip(_EDGE)
    number = parse_number(core)
    if number is None:
        number = english_number(core)
    if number is None and (found := _COUNTED.fullmatch(core)) and (things or not found["things"]):
        return parse_number(found["number"])
    return number
