"""A short answer: the phrase that a response commits itself to, with equivalent readings.

The response is cut into clauses. A clause that is denied, reported of others or left open is no
answer; of the others the last conclusion or correction decides, else the clause that repeats most
of the question. Of that clause the words that repeat the question are taken off.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from keju.metrics import english_number, parse_number
from keju.scoring.answers import Extracted, spoken, unfenced
from keju.scoring.categories import of_category
from keju.scoring.objects import json_phrase
from keju.scoring.wordings import folded, wording
from keju.text import is_han

LONGEST = 50_000
"""Of longer responses only the end is read."""

_EDGE = " \t\r\n\u3000*_`#。.，,、:：;；!！?？'\"‘’“”「」『』()（）[]【】《》-—–=~"
_OUTSIDE = " \t\r\n\u3000*_`#。.，,、:：;；!！'\"‘’“”—–-"
_BOX = re.compile(r"\\boxed\s{0,3}\{\s{0,3}(?:\\(?:text|mathrm|mathbf|textbf)\s{0,3}\{)?([^{}]*)\}")
_MATHS = re.compile(r"\\(?:text|mathrm|mathbf|textbf)\s{0,3}\{([^{}]*)\}|\\[()\[\]]|\$+")
_BOLD = re.compile(r"\*\*([^*\n]{1,60})\*\*")
_OPEN, _CLOSE = "（(“「『《【[‘", "）)”」』》】]’"
_LIGHT = " \t\r\n\u3000*_`#。.，,、:：;；!！—–-"
_STOPS = frozenset("。！？!?；;\n")
_GLOSS = re.compile(r"\s*[（(\[][^（()）\[\]]{0,200}[）)\]]")
_QUOTED = re.compile(
    r"[“「『《\"‘](?P<inside>[^“”「」『』《》\"‘’]{1,80})[”」』》\"’]"
    r"|(?<!\w)'(?P<single>[^'\n]{1,80})'(?!\w)"
)
_FIRST_OF_ONE = re.compile(r"^(?:1[.．、)）]|[-*•])\s*(?=[^\d\s][^\n]*\Z)")
_ANSWER_HEADING = re.compile(
    r"^[ \t#*【\[]*(?:最终|最終|正确|正確)?(?:答案|(?:final |correct )?answer)[】\]*:： \t]*\n+",
    re.IGNORECASE | re.MULTILINE,
)
_YEAR = re.compile(r"(?<!\d)\d{3,4}(?!\d)")
_REPEATED = re.compile(r"(?P<unit>\S{2,12}?)(?P=unit){3,}")
_ARTICLE = re.compile(r"(?:an?|the|some)\s+", re.IGNORECASE)
_WITH = ("与", "和", "跟", "同")
_COPULA = re.compile(r"[是为:有]|\b(?:is|are)\b")
_PRONOUN = re.compile(r"[他她它我]|(?:he|she|it|they|we|i)\b")
_GLOSSES = re.compile(r"[（(][^（()）]{1,40}[）)]\s?[（(][^（()）]{1,40}[）)]")
_LONGEST_BARE = 12
_LONGEST_PHRASE = 40
_LONGEST_PLAIN = 60
_LEAST, _STATED, _BOLD_WEIGHT = 20, 12, 30
_CERTAIN, _LONG = 45, 80
_ENDS = "。.！!？?）)”」』》*`]】\"'"


class Clause(NamedTuple):
    """A part of a sentence, with what is known of it.

    Attributes:
        text: the clause as it stands.
        weight: how clearly it is the answer; below 0 it is none.
        sentence: the number of its sentence.
    """

    text: str
    weight: int
    sentence: int


def extract_short(text: str, question: str = "") -> Extracted:
    """The phrase that a response gives as its answer, with its equivalent readings.

    JSON, a LaTeX box or a single phrase decide at once. None where the response declines, leaves
    two candidates, or says nothing that answers the question.
    """
    body = spoken(text)
    if not body.strip():
        return Extracted(None, "no answer after the reasoning" if text.strip() else "empty")
    body = body[-LONGEST:]
    if found := json_phrase(body, question):
        return _read(found.answer or "", question, found.rule, body)
    boxes = [box for box in _BOX.finditer(body) if box[1].strip()]
    if boxes:
        return _read(boxes[-1][1], question, "box", boxes[-1][0])
    core = _MATHS.sub(lambda found: found[1] or "", unfenced(body)).strip()
    if len(core) <= _LONGEST_PLAIN:
        core = _REPEATED.sub(lambda found: found["unit"], core)
    core = _FIRST_OF_ONE.sub("", _ANSWER_HEADING.sub(r"答案：", core))
    if _is_cut_off(core):
        return Extracted(None, "cut off before the answer", body)
    return _of_clauses(core, question, body)


def _only_describes(core: str) -> bool:
    """Whether a text of three sentences or more begins as the description of an image."""
    sentences = [each for each in _sentences(core) if each.strip(_OUTSIDE)]
    return len(sentences) > 2 and bool(wording("short", "describes").match(folded(core).lstrip()))


def _is_cut_off(core: str) -> bool:
    """Whether a text of several clauses ends with the words that should introduce the answer."""
    tail = folded(core[-_LONGEST_PHRASE:]).rstrip(" *")
    ends = wording("short", "link", "{}$").search(tail)
    return len(core) > _LONGEST_BARE and bool(ends) and bool(re.search(r"[,，。;；.]", core))


def _of_clauses(core: str, question: str, body: str) -> Extracted:  # noqa: PLR0911
    clauses = list(_clauses(core, question))
    if _lists_several(clauses, question) or _GLOSSES.search(core):
        return Extracted(None, "several phrases", body)
    if len(clauses) == 1 and clauses[0].weight >= 0 and _is_plain(clauses[0].text, question):
        return _read(clauses[0].text, question, "whole answer", body)
    best = _best([each for each in clauses if each.weight < 0 or _is_new(each.text, question)])
    if best and best.weight < _CERTAIN and len(core) > _LONG and core[-1:] not in _ENDS:
        best = None
    if (best is None or best.weight < _CERTAIN + 5) and _only_describes(core):
        return Extracted(None, "only describes", body)
    if best is None:
        if core.rstrip(" *").endswith((":", "：")):
            return Extracted(None, "no phrase is given", body)
        declined = any(each.weight < 0 for each in clauses) or len(core) > _LONGEST_PLAIN
        if declined or wording("discourse", "refusal").search(folded(core)):
            return Extracted(None, "no phrase is given", body)
        said = _value(core, question) if len(clauses) == 1 else core
        return _read(said, question, "whole answer", body)
    rule = "answer phrase" if best.weight >= _PHRASE else "sentence"
    value = _value(best.text, question)
    return _read(value + _translated(best.text, value), question, rule, best.text)


def _translated(clause: str, value: str) -> str:
    """The gloss right after a value, in brackets, that names it in another script."""
    plain, name = clause.replace("*", ""), value.replace("*", "").strip(_EDGE)
    if not name or len(name) > _LONGEST_PHRASE:
        return ""
    for found in _GLOSS.finditer(plain):
        before = plain[max(0, found.start() - _LONGEST_PHRASE - 2) : found.start()].rstrip()
        if before.endswith(name):
            gloss = found[0].strip(_EDGE)
            return f" ({gloss})" if _other_name(value, gloss) else ""
    return ""


def _other_name(value: str, gloss: str) -> bool:
    """Whether a gloss is a name in Han characters for one in Latin letters, or the reverse."""
    latin = re.compile(r"[A-Za-zÀ-ɏ' -]{2,40}")
    if any(map(is_han, value)):
        return bool(latin.fullmatch(gloss))
    return bool(gloss) and all(map(is_han, gloss))


_PHRASE, _CONCLUDED, _LEFT_OPEN = 1000, 500, -2


def _lists_several(clauses: list[Clause], question: str) -> bool:
    """Whether a response is nothing but different phrases, one sentence or line each."""
    bare = {folded(each.text).strip(_EDGE) for each in clauses if _is_plain(each.text, question)}
    places = {each.sentence for each in clauses}
    short = all(len(each.text) <= _LONGEST_BARE for each in clauses)
    return len(places) > 2 and len(bare) == len(clauses) and short


def _is_new(clause: str, question: str) -> bool:
    """Whether the value of a clause is more than words of the question."""
    value = folded(_trimmed(_value(clause, question), question)).strip(_EDGE)
    return bool(value) and value not in folded(question)


def _best(clauses: list[Clause]) -> Clause | None:
    """The clause with most weight; of conclusions the last, of others the first."""
    usable = [each for each in clauses if each.weight >= _LEAST]
    if not usable:
        return None
    top = max(usable, key=lambda each: each.weight // _CONCLUDED)
    left_open = [each.sentence for each in clauses if each.weight == _LEFT_OPEN]
    if left_open and top.weight < _CONCLUDED:
        usable = [each for each in usable if each.sentence <= min(left_open)]
        return max(usable, key=lambda each: each.weight) if usable else None
    if top.weight >= _CONCLUDED:
        same = [each for each in usable if each.weight // _CONCLUDED == top.weight // _CONCLUDED]
        last = same[-1].sentence
        return max((each for each in same if each.sentence == last), key=lambda each: each.weight)
    return max(usable, key=lambda each: each.weight)


def _sentences(core: str) -> Iterator[str]:
    """The sentences of a text; marks in quotation marks and brackets end none."""
    depth, start = 0, 0
    for place, char in enumerate(core):
        if char in _OPEN:
            depth += 1
        elif char in _CLOSE:
            depth = max(0, depth - 1)
        elif char == "\n" or (not depth and (char in _STOPS or _is_period(core, place))):
            depth = 0
            if core[start:place].strip():
                yield core[start : place + 1]
            start = place + 1
    if core[start:].strip():
        yield core[start:]


def _is_period(core: str, place: int) -> bool:
    after, before = core[place + 1 : place + 2], core[max(0, place - 2) : place]
    return (
        core[place] == "."
        and (not after or after.isspace())
        and not (before[-1:].isupper() and (len(before) < 2 or not before[0].isalnum()))
    )


def _parts(sentence: str) -> Iterator[str]:
    """The clauses of a sentence."""
    depth, start = 0, 0
    for place, char in enumerate(sentence):
        if char in _OPEN:
            depth += 1
        elif char in _CLOSE:
            depth = max(0, depth - 1)
        elif not depth and (char == "，" or _is_comma(sentence, place) or char in "—→⇒"):
            yield sentence[start:place]
            start = place if char in "→⇒" else place + 1
    yield sentence[start:]


def _is_comma(sentence: str, place: int) -> bool:
    after = sentence[place + 1 : place + 2]
    if sentence[place] == "-":
        return sentence[place - 1 : place + 2] == " - "
    return sentence[place] == "," and not after.isdigit()


def _clauses(core: str, question: str) -> Iterator[Clause]:
    """The clauses with their weights."""
    state = _State(question)
    sentences = list(_sentences(core))
    last = core.rstrip().rpartition("\n")[2].strip(_OUTSIDE)
    for number, sentence in enumerate(sentences):
        flat = folded(_GLOSS.sub("", sentence)).strip(_OUTSIDE)
        if not flat or _is_aside(flat):
            continue
        final = len(sentences) > 1 and number == len(sentences) - 1
        alone = final and (sentence.strip(_OUTSIDE) == last or bool(_BOLD.search(sentence)))
        yield from state.read(sentence, number, alone=alone)


class _State:
    """What the clauses before have announced: a conclusion, a correction, an answer."""

    def __init__(self, question: str) -> None:
        self._question = question
        self._corrected = -9
        self._concluded = self._labelled = self._restated = False

    def read(self, sentence: str, number: int, *, alone: bool) -> Iterator[Clause]:
        """The clauses of one sentence."""
        denied, carried = False, 0
        flat = folded(sentence)
        choice = wording("short", "open_sentence").search(flat)
        if choice and not wording("short", "but").search(flat, choice.end()):
            yield Clause(sentence, _LEFT_OPEN, number)
            return
        parts = list(_parts(sentence))
        left = False
        for part in parts:
            plain = folded(_GLOSS.sub("", part)).strip(_OUTSIDE)
            if not plain:
                continue
            if back := wording("discourse", "correction").search(plain):
                self._corrected = number
                corrects = plain[back.end() :].startswith((":", "为", "is ", " is "))
                self._restated = corrects and back.start() == 0
                if back[0] == plain:
                    continue
            masked = _masked(plain)
            if _is_open(plain) and not self._labelled:
                left = True
                yield Clause(part, _LEFT_OPEN, number)
                continue
            if _is_denied(masked):
                denied = True
                yield Clause(part, -1, number)
                continue
            weight = self._weight(plain, masked, part, number, opening=part is parts[0])
            # A clause without a subject of its own has that of the clause before it.
            begins = wording("short", "link").match(masked)
            weight, carried = weight + (carried // 2 if begins and weight else 0), weight
            carried -= _BOLD_WEIGHT * bool(_BOLD.search(part))
            weight += self._announced(
                folded(part).rstrip(" *\n"),
                masked,
                weight,
                number,
                denied=denied or left,
                alone=alone,
            )
            if not self._labelled:
                yield Clause(part, weight, number)

    def _announced(
        self, raw: str, masked: str, weight: int, number: int, *, denied: bool, alone: bool
    ) -> int:
        """The weight of an answer phrase, a conclusion or a correction."""
        added = 0
        concludes = wording("discourse", "conclusion").match(raw.lstrip(_OUTSIDE))
        stated = weight >= _STATED
        if wording("short", "answer").search(raw.lstrip(_OUTSIDE)) or self._labelled:
            added = _PHRASE
        elif self._restated:
            added, self._restated = _PHRASE, False
        elif stated and (
            concludes
            or self._is_year(masked)
            or self._concluded
            or number - self._corrected <= 1
            or (denied and wording("short", "contrast").search(masked))
            or (alone and (self._corrected >= 0 or weight >= _CERTAIN))
        ):
            added = _CONCLUDED
        self._concluded = bool(concludes and not _has_link(masked))
        self._labelled = bool(wording("short", "answer", "{}$").search(raw))
        return added

    def _is_year(self, plain: str) -> bool:
        """Whether a clause has a year in digits where the question asks for a year."""
        asked = wording("short", "asks_for_year").search(folded(self._question))
        return bool(asked and _YEAR.search(plain))

    def _weight(self, plain: str, masked: str, part: str, number: int, *, opening: bool) -> int:
        """How clearly a clause answers the question."""
        if wording("short", "link", "{}$").search(masked):
            return 0
        asked = folded(self._question)
        grams = _grams(asked)
        shared = len(grams & _grams(plain))
        links = [each[0].strip() for each in wording("short", "link").finditer(masked)]
        slot = _slot(part, self._question) is not None
        bold = bool(_BOLD.search(part))
        if not links and not slot and not bold:
            begins = wording("short", "reason").match(plain) or _PRONOUN.match(plain)
            return 22 if opening and len(plain) <= 12 and not shared and not begins else 0
        weight = (
            30 * shared // max(1, min(8, len(grams))) + 12 + 8 * (number == 0) + _BOLD_WEIGHT * bold
        )
        words = [word for each in links for word in re.findall(r"[a-z]{4,}|[^a-z\s]{2,}", each)]
        weight += 25 * (slot or any(word in asked for word in words))
        weight += 12 * bool(wording("short", "strong").search(masked))
        pointing = wording("short", "pronoun").match(plain) or not self._question
        weight += 15 * bool(links and pointing and _COPULA.search(links[0]))
        holds = wording("short", "holding")
        weight += 20 * bool(holds.search(asked) and any(map(holds.search, links)))
        weight += 40 * self._is_year(plain)
        if not wording("short", "asks_where").search(asked):
            weight -= 20 * bool(wording("short", "located").match(plain))
        return weight - 15 * bool(wording("short", "like").search(masked))


def _is_denied(masked: str) -> bool:
    """Whether a clause denies, reports what others think, or gives an example."""
    reported = wording("discourse", "reported").search(masked)
    if reported or wording("short", "example").search(masked):
        return True
    return bool(
        wording("short", "denied").search(masked) and not wording("short", "but").search(masked)
    )


def _masked(flat: str) -> str:
    """A text of the same length with what is quoted made neutral."""
    return _QUOTED.sub(lambda found: found[0][0] + "□" * (len(found[0]) - 2) + found[0][-1], flat)


def _after_verb(said: str, before: str) -> str:
    """What follows the words that stand before the interrogative (桌上放着什么)."""
    flat = _masked(folded(said))
    for length in range(min(len(before), 12), 1, -1):
        verb = before[-length:]
        at = flat.rfind(verb)
        if at >= 0 and all(map(is_han, verb)) and said[at + length :].strip(_EDGE):
            rest = said[at + length :]
            return rest if not wording("short", "link").match(_masked(folded(rest))) else ""
    return ""


def _slot(said: str, question: str) -> str | None:
    """What stands in a clause where the question has 谁 (谁戴了眼镜 – 陳其美戴了眼镜)."""
    found = wording("short", "who").search(folded(question))
    asking = wording("short", "asking").search(folded(question))
    together = found and folded(question)[found.start() - 1 : found.start()] in _WITH
    if asking and not together:
        rest = _after_verb(said, folded(question)[: asking.start()])
        if rest:
            return rest
    if not found:
        return None
    core = said.strip(_OUTSIDE)
    flat = folded(core)
    before = folded(question)[: found.start()].strip(_OUTSIDE)
    after = re.split(r"[,?。]", folded(question)[found.end() :])[0].strip(_OUTSIDE)
    if len(after) > 2 and flat.endswith(after) and len(flat) > len(after):
        start = len(before) if before and flat.startswith(before) else 0
        left = core[start : len(core) - len(after)]
        links = list(wording("short", "link").finditer(_masked(folded(left))))
        return (left[links[-1].end() :] if links else left) or None
    if len(before) > 2 and flat.startswith(before) and before[-1] in _WITH:
        rest = core[len(before) :]
        stop = wording("short", "link").search(folded(rest))
        return rest[: stop.start()] if stop and stop.start() else rest
    return None


def _is_aside(flat: str) -> bool:
    """Whether a sentence offers help, notes, or asks."""
    return bool(
        wording("discourse", "offer").match(flat)
        or wording("discourse", "note", "{}[:,]").match(flat)
        or wording("discourse", "acknowledgement", "{}[,.!。]*").fullmatch(flat)
    )


def _is_open(flat: str) -> bool:
    """Whether a sentence leaves the choice between two candidates open, or declines."""
    if wording("short", "open").search(flat):
        return True
    return bool(wording("discourse", "refusal").search(flat)) and not _has_link(flat[-20:])


def _has_link(flat: str) -> bool:
    return bool(wording("short", "link").search(flat))


def _grams(flat: str) -> set[str]:
    """Pairs of Han characters and words of other scripts, without the commonest."""
    han = "".join(char if is_han(char) else " " for char in flat)
    pairs = {han[at : at + 2] for at in range(len(han) - 1) if " " not in han[at : at + 2]}
    words = set(re.findall(r"[a-z]{3,}", flat)) - _COMMON
    return pairs | words


_COMMON = frozenset(
    [
        "the",
        "and",
        "this",
        "that",
        "what",
        "which",
        "who",
        "where",
        "when",
        "how",
        "does",
        "did",
        "are",
        "was",
        "were",
        "is",
    ]
)


def _is_plain(clause: str, question: str) -> bool:
    """Whether a clause is a phrase alone, without words that link it to a subject."""
    flat = folded(_GLOSS.sub("", clause)).strip(_OUTSIDE)
    linked = _has_link(_masked(flat)) or _slot(clause, question)
    return len(flat) <= _LONGEST_PLAIN and not linked


def _value(clause: str, question: str) -> str:
    """What a clause says, without the words that repeat the question."""
    bold = [found[1] for found in _BOLD.finditer(clause)]
    bold = [each for each in bold if folded(each).strip(_EDGE) not in folded(question)]
    if len(bold) == 1 and not wording("short", "answer").search(folded(bold[0])):
        return bold[0]
    said = clause.replace("*", "").replace("`", "")
    said = _GLOSS.sub("", said) if _GLOSS.sub("", said).strip(_OUTSIDE) else said
    flat = folded(said)
    if (slot := _slot(said, question)) is not None:
        return slot
    links = list(wording("short", "link").finditer(_masked(flat)))
    if wording("short", "but").search(flat):
        after = wording("short", "but").search(flat)
        links = [each for each in links if after and each.end() > after.end()] or links
    for link in reversed(links):
        rest = said[link.end() :]
        if rest.strip(_EDGE) and _trimmed(rest, question).strip(_EDGE):
            return rest
    return said


def _trimmed(said: str, question: str) -> str:
    """A phrase without words of the question and little words at both ends."""
    core = _bared(said)
    asked = folded(question)
    while True:
        flat = folded(core)
        head = wording("short", "head").match(flat)
        if head and head.end() and head.end() < len(core):
            core = core[head.end() :].strip(_LIGHT)
            continue
        tail = wording("short", "tail").search(flat)
        if tail and tail.start() > 0:
            core = core[: tail.start()].strip(_LIGHT)
            continue
        cut = _tail_of_question(flat, asked)
        if 0 < cut < len(core):
            core = core[:cut].strip(_LIGHT)
            continue
        return core


def _tail_of_question(flat: str, asked: str) -> int:
    """Where words at the end of a phrase begin that the question has (的年号, 种药材, dynasty)."""
    if flat and flat[-1].isascii() and flat[-1].isalpha():
        words = flat.split()
        at = len(words)
        while at > 1 and words[at - 1] in asked.replace("?", " ").split():
            at -= 1
        return len(flat) if at == len(words) else flat.index(words[at], len(" ".join(words[:at])))
    at = len(flat)
    while at > 1 and flat[at - 1 :] in asked and is_han(flat[at - 1]):
        at -= 1
    if "的" in flat[at:] and not flat[at:].startswith("的"):
        at = flat.index("的", at)
    shared = len(flat) - at
    before = flat[:at]
    if shared and (before.endswith("的") or (_number(before) is not None) or shared >= 2):
        return at - 1 if before.endswith("的") else at
    return len(flat)


def _number(flat: str) -> float | None:
    core = flat.strip(_EDGE)
    if not core:
        return None
    return parse_number(core) if not core.isascii() or core[0].isdigit() else english_number(core)


def _bared(text: str) -> str:
    """A phrase without marks at its ends and quotation marks around the whole."""
    core = text.strip(_LIGHT)
    while len(core) > 2 and core[0] in _OPEN + "\"'" and core[-1] in _CLOSE + "\"'":
        inside = core[1:-1]
        if any(mark in inside for mark in core[0] + core[-1]):
            break
        core = inside.strip(_LIGHT)
    return core


def _read(said: str, question: str, rule: str, source: str) -> Extracted:
    """The phrase with its readings, the barest one first."""
    readings: list[str] = []

    def add(each: str) -> None:
        core = _bared(each)
        if core.strip(_EDGE) and core not in readings and len(core) <= 400:
            readings.append(core)

    core = said.replace("**", "").replace("`", "").strip(_LIGHT)
    chosen = _in_language(core, question)
    quoted = [each["inside"] or each["single"] for each in _QUOTED.finditer(chosen)]
    trimmed = _trimmed(chosen, question)
    if chosen[:1] in '“「『《"‘' and quoted:
        add(quoted[0])
    add(_ARTICLE.sub("", trimmed, count=1) if _ARTICLE.match(trimmed) else trimmed)
    if len(quoted) == 1 and len(chosen) <= _LONGEST_PHRASE:
        add(quoted[0])
    for gloss in _GLOSS.finditer(core):
        if len(core) <= _LONGEST_PHRASE and _other_name(
            _GLOSS.sub("", core), gloss[0].strip(_EDGE)
        ):
            add(_GLOSS.sub("", core))
            add(gloss[0].strip(_EDGE))
    flat = folded(trimmed)
    if title := wording("short", "person").match(flat):
        add(trimmed[title.end() :])
    if (stop := wording("short", "phrase_end").search(flat)) and stop.start() > 1:
        bare = trimmed[: stop.start()]
        add(_ARTICLE.sub("", bare, count=1) if _ARTICLE.match(bare) else bare)
    if unit := wording("short", "unit").fullmatch(flat):
        add(unit["number"])
    for each in of_category(trimmed, question):
        add(each)
    add(chosen)
    add(core.strip(_EDGE))
    if not readings:
        return Extracted(None, "no phrase is given", source)
    return Extracted(readings[0], rule, source, tuple(readings[1:]))


def _in_language(core: str, question: str) -> str:
    """A phrase without its gloss; the gloss where that is in the language of the question."""
    bare = _GLOSS.sub("", core).strip()
    glosses = [each[0].strip(" （()）[]") for each in _GLOSS.finditer(core)]
    if not bare.strip(_EDGE):
        return core
    if question and glosses and any(map(is_han, question)) and not any(map(is_han, bare)):
        han = [each for each in glosses if each and all(is_han(char) for char in each)]
        return han[0] if han else bare
    if question and glosses and not any(map(is_han, question)) and any(map(is_han, bare)):
        latin = [each for each in glosses if _other_name(bare, each)]
        return latin[0] if latin and len(core) <= _LONGEST_PHRASE else bare
    return bare
