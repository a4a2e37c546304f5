"""The clauses of a response to a short question, each with its weight as the answer."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from keju.scoring.asked_phrases import find_asked_phrase
from keju.scoring.clause_claims import (
    declines,
    denies,
    explains_first,
    grams_of,
    is_brief,
    is_offer_or_note,
    leaves_open,
)
from keju.scoring.clause_parts import parts_of, sentences_of
from keju.scoring.clause_weights import (
    BOLD_WEIGHT,
    CERTAIN,
    CONCLUDED,
    DESCRIBES,
    LEAST,
    LEFT_OPEN,
    PHRASE,
    ClauseText,
    ClauseWeights,
)
from keju.scoring.phrase_marks import BOLD, GLOSS, OUTSIDE, without_quoted
from keju.scoring.phrase_values import has_link
from keju.scoring.wordings import fold, wording
from keju.text import has_han

_BOLD_LABEL = re.compile(
    r"^[\s\-*•·#>0-9.]{0,8}\*\*(?:[^*\n：:]{1,12}|[A-Za-z][A-Za-z ,'()/-]{1,40})"
    r"(?:[：:]\s?\*\*|\*\*\s?[：:])\s*(?=\S)"
)
_BOLD_ITEM = re.compile(
    r"^[\s\-*•·#>0-9.]{0,8}\*\*(?:[A-Za-z][A-Za-z ,'()/-]{1,40})\*\*\s(?:[–—-]{1,2})\s*(?=\S)"
)
_STATED, _SECOND_THOUGHT = 12, 100
_DIRECT = 80
"""The weight from which the first sentence answers directly."""
_REACH = 4


class Clause(NamedTuple):
    """A part of a sentence, with what is known of it.

    Attributes:
        text: the clause as in the response.
        weight: how clearly it is the answer; below 0 it is not an answer.
        sentence: the number of its sentence.
    """

    text: str
    weight: int
    sentence: int


def clauses_of(core: str, question: str) -> Iterator[Clause]:
    """The clauses with their weights."""
    state = _State(question)
    sentences = list(sentences_of(core))
    conditions = [
        bool(wording("short", "condition").match(fold(each).lstrip(OUTSIDE))) for each in sentences
    ]
    last = core.rstrip().rpartition("\n")[2].strip(OUTSIDE)
    closing = core.rstrip().rpartition("\n\n")[2].strip(OUTSIDE)
    for number, sentence in enumerate(sentences):
        flat = fold(GLOSS.sub("", sentence)).strip(OUTSIDE)
        asks = sentence.rstrip(" \n*")[-1:] in "?？"
        if not flat or is_offer_or_note(flat + "?" * asks):
            continue
        if conditions[number] and any(conditions[max(0, number - 1) : number + 2 : 2]):
            yield Clause(sentence, LEFT_OPEN, number)
            continue
        final = len(sentences) > 1 and number == len(sentences) - 1
        alone = final and (sentence.strip(OUTSIDE) == last or bool(BOLD.search(sentence)))
        closes = alone and closing == last
        yield from state.read(
            sentence, number, alone=alone, longer=len(sentences) > 2, closes=closes
        )


@dataclass
class _Sentence:
    """A sentence while its clauses are read.

    Attributes:
        text: the sentence as in the response.
        number: its place in the response, from 0.
        parts: its clauses.
        alone: whether the clause that is read, or the whole sentence, answers without a context.
        declines: whether the sentence declines to answer.
        closes: whether the sentence is the whole last paragraph of several.
        denied: whether a clause denied something or left the answer open.
        corrected: whether a clause corrected what was said before.
        stated: whether a clause stated a value.
        sourced: whether a clause quoted what is written on the work, which a later one explains.
        carried: the weight that a clause without a subject takes from the clause before it.
        restated: whether a clause gave a new value right after the word that corrects.
    """

    text: str
    number: int
    parts: list[str]
    alone: bool
    declines: bool
    closes: bool = False
    denied: bool = False
    corrected: bool = False
    stated: bool = False
    sourced: bool = False
    carried: int = 0
    restated: bool = False


class _State:
    """The conclusion, correction or answer that earlier clauses have announced."""

    def __init__(self, question: str) -> None:
        self._question = question
        self._weights = ClauseWeights(question)
        self._corrected = -9
        self._most = self._concluding = 0
        self._concluded = self._labelled = self._restated = self._doubted = False
        self._answered_directly = False

    def read(
        self, text: str, number: int, *, alone: bool, longer: bool = False, closes: bool = False
    ) -> Iterator[Clause]:
        """The clauses of one sentence."""
        flat = fold(text)
        choice = wording("short", "open_sentence").search(flat)
        if choice and not wording("short", "but").search(flat, choice.end()):
            yield Clause(text, LEFT_OPEN, number)
            return
        parts = list(parts_of(text))
        if number == 0 and self._describes(flat, len(parts), longer=longer):
            yield Clause(text, DESCRIBES, number)
            return
        sentence = _Sentence(
            text, number, parts, alone=alone, declines=declines(flat), closes=closes
        )
        for whole in parts:
            if clause := self._read_clause(whole, sentence):
                yield clause

    def _read_clause(self, whole: str, sentence: _Sentence) -> Clause | None:
        """A clause with its weight; None for one that only corrects or announces."""
        part = self._without_label(whole)
        plain = fold(GLOSS.sub("", part)).strip(OUTSIDE)
        if not plain or self._only_corrects(plain, sentence):
            return None
        clause = ClauseText(part, plain, without_quoted(plain))
        if (leaves_open(plain) or self._lacks_it(plain)) and not self._labelled:
            sentence.denied = self._doubted = True
            sentence.declines = sentence.declines or self._lacks_it(plain)
            return Clause(part, LEFT_OPEN, sentence.number)
        self._doubted = self._doubted or wording("short", "doubts").search(plain) is not None
        if denies(clause.masked):
            sentence.denied = True
            if wording("discourse", "conclusion").match(plain):
                self._concluded, self._concluding = True, sentence.number
            return Clause(part, -1, sentence.number)
        weight = self._weight(whole, clause, sentence)
        weight += self._announced(clause, weight, sentence)
        if sentence.number == 0:
            if weight > 0 and BOLD.fullmatch(clause.part.strip(" \n。.")):
                weight = max(weight, _DIRECT)
            self._answered_directly = self._answered_directly or weight >= _DIRECT
        self._most = max(self._most, weight)
        weight += _SECOND_THOUGHT * (sentence.corrected and weight >= CONCLUDED)
        return None if self._labelled else Clause(part, weight, sentence.number)

    def _lacks_it(self, plain: str) -> bool:
        """Whether a clause says that there is nothing of the asked kind (手中无兵器)."""
        noun = find_asked_phrase(self._question).noun
        lacking = (
            rf"(?:无|没有|未见|未持|不见|看不到|未拿)(?:任何|拿|持|有|握|见)*{re.escape(noun)}"
        )
        return len(noun) > 1 and has_han(noun) and re.search(lacking, plain) is not None

    def _only_corrects(self, plain: str, sentence: _Sentence) -> bool:
        """Note a correction that a clause begins; whether the clause is nothing else."""
        back = wording("discourse", "correction").search(plain)
        if not back:
            return False
        self._corrected = sentence.number
        sentence.corrected = True
        corrects = plain[back.end() :].startswith((":", "为", "is ", " is "))
        self._restated = corrects and back.start() == 0
        return back[0] == plain

    def _weight(self, whole: str, clause: ClauseText, sentence: _Sentence) -> int:
        """How clearly a clause answers the question, after the clauses before it."""
        first = sentence.number == 0
        lead = self._lead(sentence.parts)
        unlinked = whole is lead and not self._weights.is_linked(clause)
        if unlinked:
            after = sentence.text[len(whole) : len(whole) + 1] if lead is sentence.parts[0] else ""
            only = whole is sentence.parts[-1]
            sentence.alone = only or after in "—-" or explains_first(sentence.parts)
            weight = self._weights.weigh_unlinked(clause, first=first, alone=sentence.alone)
        else:
            weight = self._weights.weigh(clause, first=first)
        # A clause without a subject of its own has that of the clause before it.
        begins = wording("short", "link").match(clause.masked)
        added = sentence.carried // 2 if begins and weight else 0
        keeps_none = unlinked or self._weights.fills_slot(clause.part)
        sentence.carried = 0 if keeps_none else weight
        sentence.carried -= BOLD_WEIGHT * bool(BOLD.search(clause.part))
        weight = 0 if self._says_it_again(clause, sentence) else weight + added
        sentence.stated = sentence.stated or weight >= LEAST
        sentence.sourced = sentence.sourced or self._weights.is_sourced(clause.part)
        return 0 if sentence.declines and (unlinked or weight < CERTAIN) else weight

    def _lead(self, parts: list[str]) -> str:
        """The first clause of a sentence; the last one where all before it are its grounds."""
        grounds = wording("short", "grounds")
        only = all(grounds.match(fold(part).strip(OUTSIDE)) for part in parts[:-1])
        return parts[-1] if only else parts[0]

    def _says_it_again(self, clause: ClauseText, sentence: _Sentence) -> bool:
        """Whether a clause repeats a stated value in other words (that is, i.e.)."""
        if not sentence.stated or sentence.corrected:
            return False
        if sentence.sourced:
            return False
        again = wording("short", "says_it_again").match(clause.masked)
        today = wording("short", "asks_for_today").search(fold(self._question))
        new = (
            self._weights.has_asked_year(clause.masked)
            or self._weights.is_counted(clause.part)
            or (today and "今" in clause.masked)
        )
        return bool(again) and not new

    def _without_label(self, part: str) -> str:
        """A clause without a label in bold, unless it labels the answer or repeats the question."""
        found = _BOLD_LABEL.match(part) or _BOLD_ITEM.match(part)
        if not found:
            return part
        flat = fold(found[0])
        asked = grams_of(fold(self._question)) & grams_of(flat)
        labels = asked or wording("short", "answer").search(flat.strip(OUTSIDE) + ":")
        return part if labels else part[found.end() :]

    def _announced(self, clause: ClauseText, weight: int, sentence: _Sentence) -> int:
        """The weight of an answer phrase, a conclusion or a correction."""
        raw, added = fold(clause.part).rstrip(" *\n"), 0
        concludes = wording("discourse", "conclusion").match(raw.lstrip(OUTSIDE))
        labelled = wording("short", "answer").search(raw.lstrip(OUTSIDE)) or self._labelled
        alone = sentence.closes and len(sentence.parts) == 1 and self._is_bare(clause)
        if labelled or alone:
            added = PHRASE
        elif self._restated:
            added, self._restated, sentence.restated = PHRASE, False, True
        elif weight >= _STATED and (
            (sentence.restated and concludes) or (self._most >= PHRASE and sentence.corrected)
        ):
            added = PHRASE + _SECOND_THOUGHT
        elif (
            weight >= _STATED
            and not (self._explains(sentence) and not concludes)
            and (
                wording("short", "commits").search(clause.masked)
                or (self._doubted and wording("short", "hedged").search(clause.masked))
                or (sentence.stated and wording("short", "specific").match(clause.masked))
                or concludes
                or self._concluded
                or self._is_settled(clause.masked, weight, sentence)
            )
        ):
            again = wording("short", "says_it_again").match(clause.masked)
            added = CONCLUDED + _SECOND_THOUGHT * bool(concludes and not again)
        begins = bool(concludes and not has_link(clause.masked))
        self._concluded = begins or (self._concluded and sentence.number == self._concluding)
        self._concluding = sentence.number
        self._labelled = bool(
            wording("short", "answer", "{}$").search(raw)
            or wording("short", "in_so_many").search(raw)
        )
        return added

    def _explains(self, sentence: _Sentence) -> bool:
        """Whether a sentence comes after one that answers directly, and corrects nothing."""
        return (
            self._answered_directly
            and sentence.number > 0
            and self._corrected < 0
            and not self._doubted
        )

    def _is_bare(self, clause: ClauseText) -> bool:
        """Whether a clause is a brief phrase alone, or all in bold type."""
        if clause.part.rstrip().endswith((":", "：", "?", "？")):
            return False
        if clause.part.lstrip().startswith("#") or is_offer_or_note(clause.plain + ":"):
            return False
        if wording("short", "legibility").match(clause.plain):
            return False
        bold = BOLD.fullmatch(clause.part.strip(" \n。."))
        return bool(bold) or (is_brief(clause.plain) and not self._weights.is_linked(clause))

    def _is_settled(self, masked: str, weight: int, sentence: _Sentence) -> bool:
        """Whether a year, a correction, a contrast or its place makes a clause the answer."""
        return bool(
            self._weights.has_asked_year(masked)
            or sentence.number - self._corrected <= (_REACH if weight >= CERTAIN else 1)
            or (sentence.denied and wording("short", "contrast").search(masked))
            or (sentence.closes and self._most < CERTAIN)
            or (sentence.alone and (self._corrected >= 0 or weight >= CERTAIN))
        )

    def _describes(self, flat: str, parts: int, *, longer: bool) -> bool:
        """Whether a sentence describes the image, and its clauses answer no question."""
        presents = any(
            wording("short", name).match(flat.lstrip()) for name in ("presents", "describes")
        )
        if self._shows_the_page(flat):
            return True
        of_the_work = wording("short", "asks_of_the_work").search(fold(self._question))
        if longer and presents and not of_the_work and not self._repeats_the_question(flat):
            return True
        describes = wording("short", "describes").match(flat.lstrip())
        asked = wording("short", "asks_to_describe").search(fold(self._question))
        listing = wording("short", "lists").search(flat)
        return bool(describes and not asked and (parts > 3 or listing))

    def _shows_the_page(self, flat: str) -> bool:
        """Whether a sentence begins with what is seen of a page or a bone (这是一段竖排古籍)."""
        if not wording("short", "asks_of_the_text").search(fold(self._question)):
            return False
        seen = wording(
            "short", "physical", r"(?:这|此|该|图中|图片)[^,。]{0,6}?[是为]一?[\u4e00-\u9fff]?{}"
        )
        return seen.fullmatch(next(parts_of(flat)).strip(OUTSIDE)) is not None

    def _repeats_the_question(self, flat: str) -> bool:
        """Whether a sentence has half of the words of the question."""
        grams = grams_of(fold(self._question))
        return 5 * len(grams & grams_of(flat)) >= 3 * len(grams) > 3
