"""The count to which the sentences of a response commit, each judged by itself (`strict`).

A sentence commits to a count of what is asked (图中共有5个字, "Total: 5"), or it counts a part, a
first guess or another thing. The last total decides; where there is none, the statements if they
agree. What other sentences say does not matter.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import IntEnum
from typing import NamedTuple

from keju.scoring.counted_things import (
    MEASURES,
    NUMBER,
    AskedThing,
    count_of_none,
    find_asked_thing,
    value_of_numeral,
    without_ranges,
)
from keju.scoring.extraction import Extracted
from keju.scoring.remarks import is_mostly_latin
from keju.scoring.wordings import fold, wording
from keju.text import has_han

_AROUND = 80
_NUMERAL = re.compile(
    rf"(?<![0-9a-z第.,、《\[(/-])(?<!\d[:-])(?:{NUMBER}|(?P<open>…))(?![0-9a-z%]|[.,、-][0-9])"
)
_MARKUP = re.compile(r"\\(?:boxed|text|mathrm|mathbf|textbf)\s?|\\[()\[\],;]|[{}$*_`\\|>#【\"]")
_TABLE_RULE = re.compile(r"^[\s|:-]+$")
_SUMMAND = r"(?>[0-9]{1,4})\s?[^\s0-9=+×]{0,4}\s?"
EQUATION = re.compile(rf"(?<![0-9+×]){_SUMMAND}(?:[+×]\s?{_SUMMAND})+=\s?(?=[0-9])")
_BOUND = re.compile(
    r"(?:[至最]少|[至最]多|不少于|不到|超过|多于)[有为是]?$"
    r"|\b(?:at (?:least|most)|(?:more|less|fewer) than|up to|over)$"
)
_LIST_MARK = re.compile(r"^\s*(?:(?P<n>[0-9]{1,2})[.)、]|[-*•·])\s+")
_NUMBER_GLOSS = re.compile(rf"\s?\(\s?{NUMBER}\s?[{MEASURES}]?\s?\)")
_END = re.compile(r"[。!?;]|(?<!\bno)(?<!\bca)(?<!\bvol)(?<!\bfig)\.(?=\s|$)")
_CLAUSE = re.compile(r"[()—]|,(?![0-9]{3}(?![0-9]))|\s-\s")
_LABELLED = re.compile(r"[:=]\s*$")
_ADJECTIVES = r"(?:(?:清晰|可辨|可见|完整|独立|古代|甲骨|单|可识)[^,;0-9]{0,2}?)?的?"
_CHARACTERS = r"(?:甲骨|古|汉|刻|单)*(?:文?字(?:符|形)?|甲骨文|刻辞|文)(?!体)"
_ENGLISH_CHARACTERS = r"(?:characters?|inscriptions?|glyphs?|graphs?|symbols?|signs?)\b"
_LONE = frozenset({"一", "one", "a", "1"})
_SUPPOSED = re.compile(r"如果|若|要是|倘若|if\b")
_ONLY = re.compile(r"(?:只|仅|恰好?|\b(?:only|just|exactly))\W?[有为是]?\s?$")
_EARLIER = re.compile(rf"{NUMBER}\s?[{MEASURES}]")
_WORD = r"(?!(?:of|in|on|at|are|is|and|or)\b)[a-z'’-]+"
_DENIED = re.compile(r"(?:不是|并非|不止|没有)$")
_DEFINITE = re.compile(r"\b(?:the|these|those|all|both|as|into|like|not|than|from|another)$")
_LINKS = re.compile(
    r"(?:为|是|[:=]|达到?|有|共|数|得到?|约|大概|大约|凡|存|等于|到|计|可能|应该?|也就是|→)\s?$"
)


class _Weight(IntEnum):
    """How clearly a sentence says that a count is one of the whole."""

    MENTION = 0
    STATEMENT = 1
    TOTAL = 2


class _Statement(NamedTuple):
    """A count to which a sentence commits; None for a range."""

    value: float | None
    weight: _Weight
    source: str


def stated_count(plain: str, asked: AskedThing | None) -> Extracted | None:
    """The count to which the last sentence that gives a total commits, or on which all agree.

    Args:
        plain: the response without ranges and bounds.
        asked: the thing that is counted.
    """
    if asked is None or asked.each or asked.verb or asked.qualifier:
        return None
    said: list[_Statement] = []
    corrected = False
    for line, is_item in _sentences(without_ranges(fold(plain))):
        corrected = corrected or any(
            wording(file, name).search(line)
            for file, name in (("counts", "corrects"), ("discourse", "correction"))
        )
        for each in _of(line, asked, is_item=is_item):
            raised = corrected and each.weight == _Weight.STATEMENT
            if each.weight == _Weight.TOTAL or not is_item:
                said.append(each._replace(weight=_Weight.TOTAL) if raised else each)
    top = max((each.weight for each in said), default=_Weight.MENTION)
    said = [each for each in said if each.weight == top]
    if not said or (top < _Weight.TOTAL and len({each.value for each in said}) > 1):
        return None
    value, _, source = said[-1]
    return Extracted(None if value is None else f"{value:.0f}", top.name.lower(), source)


def commits_to_count(core: str, question: str) -> bool:
    """Whether a response, or its last line, commits to a count of what a question asks for."""
    asked = find_asked_thing(question, in_english=is_mostly_latin(core))
    found = stated_count(core, asked) or stated_count(core.rpartition("\n")[2], asked)
    return found is not None and found.answer is not None


def _sentences(flat: str) -> Iterator[tuple[str, bool]]:
    """The sentences, and whether each is an item of a list.

    A heading or label is joined with the line below it, and a row of a table is one sentence.
    """
    label, marks = "", 0
    for raw in flat.split("\n"):
        line, mark = _plain_line(raw, marks)
        if not line:
            continue
        marks = int(mark["n"]) if mark and mark["n"] else marks
        if (raw.lstrip().startswith("#") or line.endswith(":")) and not _NUMERAL.search(line):
            counts = wording("counts", "gives_total").search(line)
            label = line.rstrip(":") + ": " if counts else ""
            continue
        line, label = label + line, ""
        for sentence in _END.split(line):
            if sentence.strip():
                yield EQUATION.sub("", sentence).strip(), mark is not None


def _plain_line(raw: str, marks: int) -> tuple[str, re.Match[str] | None]:
    """A line without markup and mark of a list, and this mark; `marks` is the number before it."""
    line = raw.strip().strip("|").replace("|", ":", 1) if raw.strip().startswith("|") else raw
    line = " ".join(_MARKUP.sub("", line).replace("】", ":").split()).strip(" \"'“”「」")
    mark = _LIST_MARK.match(line)
    if _TABLE_RULE.match(raw) or (mark and mark["n"] and int(mark["n"]) != marks + 1):
        mark = None
    return line[mark.end() :] if mark else line, mark


def _of(sentence: str, asked: AskedThing, *, is_item: bool) -> Iterator[_Statement]:
    """The counts to which the clauses of a sentence commit."""
    corrects = wording("counts", "corrects").search(sentence)
    reported = not corrects and wording("discourse", "reported").match(sentence)
    if reported or wording("counts", "dismisses_sentence").search(sentence):
        return
    supposed = _SUPPOSED.match(sentence)
    sentence = _NUMBER_GLOSS.sub("", sentence)
    for each in _CLAUSE.split(sentence):
        clause = each.strip(" '“”")
        if wording("counts", "dismisses").search(clause):
            continue
        if count_of_none(clause, asked) == 0:
            yield _Statement(0, _Weight.STATEMENT, sentence)
            continue
        judge = _chinese if has_han(clause) or not asked.noun.isascii() else _english
        for found, before, after in _numerals(clause):
            weight = judge(before, after, asked)
            whole = not before and not is_item and clause == sentence.rstrip(" .")
            weight = _Weight.TOTAL if whole and weight == _Weight.STATEMENT else weight
            if weight == _Weight.STATEMENT and supposed:
                weight = _Weight.MENTION
            lone = found["n"] in _LONE and weight != _Weight.TOTAL and not _ONLY.search(before)
            if weight is not None and not lone and not _BOUND.search(before):
                value = None if found["open"] else value_of_numeral(found["n"])
                yield _Statement(value, weight, sentence)


def _numerals(clause: str) -> Iterator[tuple[re.Match[str], str, str]]:
    """The numbers of a clause, what is before each without numbers of other things, and after."""
    start = 0
    for found in _NUMERAL.finditer(clause):
        before = clause[max(0, found.start() - _AROUND) : found.start()].strip()
        if start and ":" in clause[start : found.start()]:
            return
        yield found, _EARLIER.sub("", before), clause[found.end() : found.end() + _AROUND]
        start = found.end()


def _chinese(before: str, after: str, asked: AskedThing) -> _Weight | None:
    """How clearly a number counts the whole; None where it counts something else."""
    noun = f"[{asked.noun}]{{1,2}}"
    if asked.characters or not asked.noun:
        noun = _CHARACTERS
    elif asked.noun.isascii():
        noun = "[\u4e00-\u9fff]{1,3}"
    measure = rf"\s?(?P<measure>[{MEASURES}]?)\s?"
    thing = re.match(rf"{measure}(?P<thing>{_ADJECTIVES}{noun})", after)
    counted = thing or re.match(measure, after)
    if counted is None or wording("counts", "part_of").search(before) or _DENIED.search(before):
        return None
    known = rf"{asked.unit}|个|{'[字处]' if asked.characters else '个'}"
    if counted["measure"] and not thing and not re.match(known, after):
        return None
    rest = after[counted.end() :].strip()
    if rest and not wording("counts", "after_count").fullmatch(rest):
        return None
    subject = re.sub(rf"{noun}|\W", "", wording("counts", "neutral").sub("", before))
    total = wording("counts", "gives_total").search(before)
    linked = not before or total or _LINKS.search(before) or re.search(rf"{noun}\s?$", before)
    if subject:
        return (
            (_Weight.STATEMENT if total and len(subject) == 1 else _Weight.MENTION)
            if thing
            else None
        )
    if not (thing or linked):
        return None
    return _Weight.TOTAL if total or _LABELLED.search(before) else _Weight.STATEMENT


def _english(before: str, after: str, asked: AskedThing) -> _Weight | None:
    """How clearly a number counts the whole; None where it counts something else."""
    if wording("counts", "part_of").search(before) or _DEFINITE.search(before):
        return None
    noun = _ENGLISH_CHARACTERS if asked.characters else asked.noun
    thing = re.match(rf"[\s-](?P<kind>(?:{_WORD}\s){{0,4}}?){noun}", after)
    rest = after[thing.end() if thing else 0 :].strip()
    total = wording("counts", "gives_total").search(f"{before} … {rest}")
    label = _LABELLED.search(before)
    if label and not total and not re.search(noun, before):
        return None
    sure = _Weight.TOTAL if total or label else _Weight.STATEMENT
    if thing is None:
        linked = not before or label or wording("counts", "links", "{}$").search(before)
        closed = not rest or wording("counts", "after_count").fullmatch(rest)
        return sure if linked and closed else None
    if wording("counts", "predicate_of_part").match(rest):
        return None
    if rest and not before and not total and not wording("counts", "exists_after").match(rest):
        return _Weight.MENTION
    plain_kind = wording("counts", "plain_kind").fullmatch(thing["kind"].strip())
    return sure if plain_kind or total else _Weight.MENTION
