"""The one character to which a response commits itself, where a character is asked for.

Each clause is judged by itself: a character in it is named as the reading (这是“牛”字), denied or
compared (像“羊”), or a part of the sign (上部为“口”). The last of the clearest statements decides;
clauses that only describe, explain or deny change nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from keju.scoring.statement_lines import StatementLine, statement_lines
from keju.scoring.wordings import fold, wording
from keju.text import count_han, is_han

_HAN = r"[\u3400-\u9fff\U00020000-\U0003ffff□]"
_OPEN, _CLOSE = r"“「『\"‘'《【\[`*（(", r"”」』\"’'》】\]`*）)"
_MARKED = re.compile(
    rf"[“「『\"‘'《【\[`*][{_OPEN}\s]*(?P<value>{_HAN})字?(?:\s?[（(][^（()）]*[）)])?\s*[{_CLOSE}]+"
)
_AFTER_BARE = r"(?=\s*(?:字|吧|了|啊|呢|的(?:甲骨文|金文|初文|早期))*\s*(?:$|[:：(（—→]))"
_ALONE = re.compile(rf"(?P<value>{_HAN})\s*字?\s*(?:[:：(（—→]\s?\S.*|[/\[]?[a-zà-ɏ]+[/\]]?)?")
_BOLD_FIRST = re.compile(
    rf"\W*\*\*[“「『\"]?(?P<value>{_HAN})[”」』\"]?(?:\s?[(（][^()（）]*[)）])?\*\*"
)
_ISOLATED = re.compile(rf"(?<!{_HAN})(?P<value>{_HAN})(?!{_HAN})")
_NAME = r"(?![中准注字读是汉今果的主义形文音何谁它此这者因])[\u3400-\u9fff]"
_ONE_WORD_LABELS = "答释注按音义读字本借"
_SIGN_AS_LABEL = re.compile(rf"({_HAN})\s?(?:[(（\[][^()（）]*[)）\]])?")
_NOT_THESE = re.compile(
    rf"(?:而非|不是|并非|绝非|非|\bnot|\brather than)\W*{_HAN}\W*"
    rf"(?:字?(?:[或和、及]|or|and)\W*{_HAN}\W*)*"
)
_CUT = re.compile(r"[，,;；]|——|—|–|…")
_EDGE = " \t\r\n#>.。!！;；:：,，、-—–•·?？"
_GLOSS = re.compile(rf"[（(](?!\s?{_HAN}\s?[）),，;；])[^（()）]*[）)]")
_BEFORE_MARKS = " “「『\"‘'《【[*`(（"
_SHORT = 8
_CONCLUDED, _STATED, _ONLY = 3, 2, 1


class SignStatement(NamedTuple):
    """A character that a clause names.

    Attributes:
        value: the character; empty where the choice is left open.
        level: how clearly it is the answer; 0 where the choice is left open.
    """

    value: str
    level: int


def stated_sign(core: str, question: str) -> str | None:
    """The character to which a response commits itself.

    Args:
        core: the response without reasoning.
        question: the question, whose words label the answer.

    Returns:
        The character; an empty text where two are left open; None where none is named.
    """
    found: list[SignStatement] = []
    corrected = 0
    for line in statement_lines(core):
        flat = fold(line.text)
        if wording("discourse", "correction").search(flat):
            corrected = len(found)
        if wording("signs", "both_left").search(flat):
            found = [each for each in found if each.level >= _CONCLUDED] + [SignStatement("", 0)]
        if not (found and wording("signs", "adds").match(flat.lstrip(_EDGE))):
            found += _of_line(line, question)
    later = [each for each in found[corrected:] if each.level >= _STATED]
    named = later or [each for each in found if each.level]
    if not named:
        return "" if found else None
    most = max(each.level for each in named)
    return [each.value for each in named if each.level == most][-1]


def _of_line(line: StatementLine, question: str) -> list[SignStatement]:
    """The statements of a sentence with its label."""
    if (label := _SIGN_AS_LABEL.fullmatch(line.label)) and label[1] not in _ONE_WORD_LABELS:
        return [SignStatement(label[1], _STATED)]
    level = _level_of_label(line.label, question)
    if line.label and (alone := _alone(line.text)):
        return [SignStatement(alone, level)] if level else []
    said = list(_of_sentence(line.text))
    return said if level or line.headed else [each for each in said if each.level >= _CONCLUDED]


def _level_of_label(label: str, question: str) -> int:
    """The level of a character with a label; 0 where the label is of something else."""
    if wording("statements", "answer_label").fullmatch(label):
        return _CONCLUDED
    if wording("signs", "asked_label").search(label) or (label and label in fold(question)):
        return _STATED
    return 0 if label and wording("statements", "explaining_label").search(label) else _ONLY


def _of_sentence(sentence: str) -> list[SignStatement]:
    """The statements of a sentence; one without a level where it leaves the choice open."""
    bare = _GLOSS.sub(_after_gloss, sentence).strip(_EDGE)
    flat = fold(bare)
    asks = len(bare) > _SHORT and sentence.rstrip().endswith(("?", "？"))
    if wording("signs", "note").match(flat) or not bare or asks:
        return []
    if wording("signs", "condition").match(flat):
        return [SignStatement("", 0)]
    found: list[SignStatement] = []
    concludes = False
    for place, clause in enumerate(filter(str.strip, _CUT.split(bare))):
        plain = fold(clause).lstrip(_EDGE)
        concludes = concludes or wording("signs", "concludes").search(plain) is not None
        adds = wording("signs", "adds").match(plain)
        if not (adds and any(each.level >= _STATED for each in found)):
            said = _of_clause(clause, first=not place)
            found += (each._replace(level=each.level + (concludes and each.level == _STATED))
                      for each in said)  # fmt: skip
    left = _NOT_THESE.sub("", bare)
    several = len({each["value"] for each in _mentions(left)}) > 1
    left_open = several and wording("signs", "left_open").search(fold(left))
    return [SignStatement("", 0)] if left_open else found


def _after_gloss(gloss: re.Match[str]) -> str:
    """A comma in place of a gloss that no mark separates from the next words."""
    return "，" if is_han(gloss.string[gloss.end() : gloss.end() + 1]) else ""


def _alone(text: str) -> str:
    """The one character that a text is, with its gloss; or nothing."""
    if bold := _BOLD_FIRST.match(text):
        return bold["value"]
    plain = text.strip(_EDGE + "*`_“”「」『』\"'‘’【】[]()（）<>")
    found = _ALONE.fullmatch(fold(plain))
    return plain[found.start("value")] if found else ""


def _mentions(clause: str) -> list[re.Match[str]]:
    """The characters in a clause that are marked, or in Latin text."""
    found = list(_MARKED.finditer(clause))
    return found or (list(_ISOLATED.finditer(clause)) if _is_latin(clause) else [])


def _is_latin(clause: str) -> bool:
    """Whether a clause is in Latin letters, besides the characters that it names."""
    words = re.findall(r"[A-Za-z]{2,}", clause)
    return bool(words) and len(words) >= count_han(clause)


def _of_clause(clause: str, *, first: bool) -> Iterator[SignStatement]:
    """The characters that a clause names as the reading."""
    if alone := _alone(clause):
        yield SignStatement(alone, _STATED if first else _ONLY)
        return
    flat = fold(clause)
    latin = _is_latin(clause)
    bare = wording("signs", "bare_after", rf"{{}}(?P<value>{_HAN}(?=字)|{_NAME}){_AFTER_BARE}")
    mentions = _mentions(clause) or list(bare.finditer(flat))
    for each in mentions:
        before, after = flat[: each.start("value")], flat[each.end() :]
        level = _level_in_latin(before, after) if latin else _level(before, after)
        if level:
            yield SignStatement(clause[each.start("value")], level)


def _level(before: str, after: str) -> int:
    """How clearly a character between two parts of a Chinese clause is the reading; 0 for none."""
    before = before.rstrip(_BEFORE_MARKS)
    if any(wording("signs", name, "{}$").search(before) for name in ("part", "of_meaning")):
        return 0
    nearest = wording("signs", "nearest", "{}$").search(before) or (
        before.endswith("与") and wording("signs", "is_nearest").match(after)
    )
    if not nearest and wording("signs", "denied", "{}$").search(before):
        return 0
    if wording("signs", "compared").match(after) or wording("signs", "reported").search(before):
        return 0
    if nearest or wording("signs", "named", "{}$").search(before):
        return _CONCLUDED if wording("signs", "modern").search(before) else _STATED
    return _ONLY


def _level_in_latin(before: str, after: str) -> int:
    """The same of an English clause."""
    before = before.rstrip(_BEFORE_MARKS)
    nearest = wording("signs", "nearest_in_english", r"{}\W*(?:the )?\W*$").search(
        before
    ) or wording("signs", "is_nearest_in_english").match(after)
    if not nearest and wording("signs", "denied_in_english").search(before):
        return 0
    if wording("signs", "compared_in_english").match(after):
        return 0
    if nearest or wording("signs", "named_in_english", "{}$").search(before):
        return _CONCLUDED if wording("signs", "modern").search(before) else _STATED
    return _ONLY
