"""Yes or no, as a response says it in English or Chinese."""

from __future__ import annotations

import re

from keju.scoring.answers import Extracted, body_of, boxed_answer, json_answer, unfenced
from keju.text import narrowed

_EDGE = " \t\r\n\u3000*_`#>。.，,、:：;；!！'\"‘’“”「」『』()（）[]【】"
_SAID = {
    "yes": "Yes", "true": "Yes", "correct": "Yes", "yep": "Yes", "yeah": "Yes",
    "是": "Yes", "是的": "Yes", "对": "Yes", "對": "Yes",
    "正确": "Yes", "正確": "Yes", "属于": "Yes", "屬於": "Yes",
    "no": "No", "false": "No", "incorrect": "No", "nope": "No",
    "否": "No", "不是": "No", "不是的": "No", "不对": "No",
    "不對": "No", "并非": "No", "並非": "No", "不属于": "No", "不屬於": "No",
}  # fmt: skip
_NEITHER = r"(?:是否|是不是|yes\s?(?:or|/)\s?no\b)"
_FIRST = re.compile(rf"{_NEITHER}|(?P<said>\b(?:yes|no)\b|不是|并非|並非|是|否)", re.IGNORECASE)
_WORD = (
    r"(?:(?P<said>(?:yes|no)\b|不是的?|并非|並非|不[属屬][于於]|不[对對]|是的?(?![否不])|否"
    r"|[对對](?=[的，,。.！!\s]|$)|正[确確]|[属屬][于於]))"
)
_LEADING = re.compile(rf"[\s*_`#>\"'“「(（\[【]*{_WORD}", re.IGNORECASE)
_PHRASE = re.compile(
    rf"(?:(?:最终|最終)?答案|(?:final\s)?answer|答)"
    rf"(?:\s{{0,3}}(?:应该|应当|应)?(?:是(?![的，,。.\s]*$)|为|為|is|[：:])|[*_`\s\"'“「]){{1,4}}{_WORD}",
    re.IGNORECASE | re.MULTILINE,
)
# In running text "no" is mostly a determiner (no doubt) and 是 a copula: only words that stand
# apart are answers. Between commas 是 is one of many characters, but "yes" is a word.
_APART = re.compile(
    r"(?:^|(?<=[\s。.；;：:!！?？\"'“「(（*]))(?P<said>yes|no|是的?|不是的?|否)"
    r"(?=\s*(?:[，,。.；;:：!！\"'”」)）*]|$))",
    re.IGNORECASE | re.MULTILINE,
)


def extract_yes_no(text: str) -> Extracted:
    """Yes or No, where a response says one of them.

    Rules, in order; the first that decides is named: the response is the word; JSON or a box; the
    answer phrases, if they agree; the first word, unless the other one stands apart later; the
    words that stand apart, if they agree. A copula (这是…) and a determiner (no doubt) say neither.
    """
    body = narrowed(body_of(text))
    if not body.strip():
        return Extracted(None, "no answer after the reasoning" if text.strip() else "empty")
    core = unfenced(body).strip(_EDGE)
    if core.lower() in _SAID:
        return Extracted(_SAID[core.lower()], "whole answer", body)
    listed = json_answer(body) or boxed_answer(body)
    if listed and listed.answer is not None:
        return listed._replace(answer=_SAID.get(listed.answer.strip(_EDGE).lower()))
    plain = re.sub(_NEITHER, "\n", body, flags=re.IGNORECASE)
    leading = _LEADING.match(plain)
    rules = (
        ("answer phrase", list(_PHRASE.finditer(plain))),
        ("first word", ([leading] if leading else []) + list(_APART.finditer(plain))),
    )
    for rule, found in rules:
        said = {_meaning(match) for match in found}
        if len(said) == 1:
            name = rule if rule == "answer phrase" or leading else "word that stands apart"
            return Extracted(said.pop(), name, found[0][0])
        if said:
            return Extracted(None, "both yes and no", " … ".join(match[0] for match in found))
    return Extracted(None, "neither yes nor no")


def first_yes_no(text: str) -> Extracted:
    """The first word for yes or no after the reasoning, wherever it stands.

    OBI-Bench publishes no rule; this is our reading of it. 是否, 是不是 and "yes or no" are
    passed over.
    """
    for match in _FIRST.finditer(body_of(text)):
        if match["said"]:
            return Extracted(_meaning(match), "first word for yes or no", match[0])
    return Extracted(None, "neither yes nor no")


def _meaning(match: re.Match[str]) -> str:
    return _SAID[match["said"].lower()]
