"""Short answers, numbers and lists of names, as they are read out of a response."""

from __future__ import annotations

import re

from keju.metrics import parse_number
from keju.scoring.answers import Extracted, body_of, json_answer, json_text, unfenced
from keju.text import counted

_EDGE = " \t\r\n\u3000*_`#。.，,、:：;；!！?？'\"‘’“”「」『』()（）[]【】《》"
_PHRASE = re.compile(
    r"(?:最终|最終|正确|正確|[Ff]inal )?(?:答案|[Aa]nswer)"
    r"(?:\s{0,3}(?:应该|应当|应)?(?:是|为|為|is|[：:])){1,2}"
    r"(?P<answer>[^\n。；;！!？?]+)"
)
_MEASURES = (
    "个個位人名只隻条條匹头頭棵朵座艘张張幅件把本枚片株尾对對双雙群处處层層行列字章枝根间間次种種"
)
_SEPARATORS = re.compile(r"[、，,;；\n\r\t|/]|\s{2,}")
_NUMBERING = re.compile(r"^\s*(?:[-*•·]\s*|[(（]?\d{1,3}[)）.．、]\s*|[①-⑳]\s*)")
_LABEL = re.compile(r"^[^：:]{1,6}[：:]\s*")


def extract_short(text: str) -> Extracted:
    """A short answer: JSON, what follows 答案是, or the whole response.

    A sentence around the answer is not cut away: where the words end and the answer begins would
    be a guess.
    """
    body = body_of(text)
    if not body.strip():
        return Extracted(None, "no answer after the reasoning" if text.strip() else "empty")
    found = json_answer(body)
    if found:
        return found
    phrases = list(_PHRASE.finditer(body))
    if phrases:
        return Extracted(phrases[-1]["answer"].strip(_EDGE), "answer phrase", phrases[-1][0])
    return Extracted(unfenced(body).strip(_EDGE), "whole answer", body)


def same_short(truth: str, answer: str) -> bool:
    """Whether a short answer is the true one: equal after normalisation, or equal by value.

    White space, punctuation, case, width, variants and script are no difference. A number equals
    the same number in other digits, and with a measure word after it (3, 三, ３, 三匹).
    """
    left, right = counted(truth).casefold(), counted(answer).casefold()
    if left == right:
        return bool(left) or truth.strip() == answer.strip()
    number = _value(truth)
    return number is not None and number == _value(answer)


def extract_entities(text: str) -> Extracted:
    """The names in a list with any separator, joined by 、 in the order they came.

    Separators are 、 , ; | / line breaks and runs of spaces; a single space parts names where
    nothing else does. Numbering, a label before a colon (人名：), brackets and quotation marks are
    taken off.
    """
    body = body_of(text)
    if not body.strip():
        return Extracted(None, "no answer after the reasoning" if text.strip() else "empty")
    listed = json_text(body)
    inside = listed.answer if listed and listed.answer else unfenced(body)
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
    return _LABEL.sub("", _NUMBERING.sub("", part)).strip(_EDGE)


def _value(text: str) -> float | None:
    core = text.strip(_EDGE)
    number = parse_number(core)
    if number is None and core[-1:] and core[-1] in _MEASURES:
        return parse_number(core[:-1])
    return number
