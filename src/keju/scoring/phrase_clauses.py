"""The clauses of a response to a short question, each with its weight as the answer."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from keju.scoring.asked_phrases import asked_phrase, has_own_link, links_in
from keju.scoring.clause_claims import (
    SHORT,
    concludes_bare,
    declines,
    grams_of,
    is_aside,
    is_denied,
    is_explained,
    is_open,
)
from keju.scoring.clause_parts import parts_of, sentences_of
from keju.scoring.phrase_marks import BOLD, EDGE, GLOSS, OUTSIDE, QUOTED, without_quoted
from keju.scoring.phrase_values import has_link, value_of
from keju.scoring.question_slots import maker_of, slot_of
from keju.scoring.typed_values import typed_value
from keju.scoring.wordings import folded, wording
from keju.text import is_han

_BOLD_LABEL = re.compile(
    r"^[\s\-*•·#>0-9.]{0,8}\*\*[^*\n：:]{1,12}(?:[：:]\s?\*\*|\*\*\s?[：:])\s*(?=\S)"
)
CERTAIN = 45
"""The weight from which a clause is clearly the answer."""
PHRASE, CONCLUDED, LEFT_OPEN, DESCRIBES = 1000, 500, -2, -3
"""The weights of an answer phrase and a conclusion, of a clause that leaves the answer open, and of
one that only describes the image."""

_YEAR = re.compile(r"(?<!\d)\d{3,4}(?!\d)")
_COPULA = re.compile(r"[是为:有]|\b(?:is|are)\b")
_PRONOUN = re.compile(r"[他她它我]|(?:he|she|it|they|we|i)\b")
_STATED, _BOLD_WEIGHT, _EXISTENTIAL, _SECOND_THOUGHT = 12, 30, 30, 100
_LEAST, _GENERIC, _SOURCED, _PLACES = 20, 25, 10, "上下中里内旁前后"


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


def clauses_of(core: str, question: str) -> Iterator[Clause]:
    """The clauses with their weights."""
    state = _State(question)
    sentences = list(sentences_of(core))
    last = core.rstrip().rpartition("\n")[2].strip(OUTSIDE)
    for number, sentence in enumerate(sentences):
        flat = folded(GLOSS.sub("", sentence)).strip(OUTSIDE)
        if not flat or is_aside(flat):
            continue
        final = len(sentences) > 1 and number == len(sentences) - 1
        alone = final and (sentence.strip(OUTSIDE) == last or bool(BOLD.search(sentence)))
        yield from state.read(sentence, number, alone=alone, longer=len(sentences) > 2)


class _State:
    """What the clauses before have announced: a conclusion, a correction, an answer."""

    def __init__(self, question: str) -> None:
        self._question = question
        self._corrected = -9
        self._concluded = self._labelled = self._restated = False

    def read(
        self, sentence: str, number: int, *, alone: bool, longer: bool = False
    ) -> Iterator[Clause]:
        """The clauses of one sentence."""
        denied, carried = False, 0
        flat = folded(sentence)
        choice = wording("short", "open_sentence").search(flat)
        if choice and not wording("short", "but").search(flat, choice.end()):
            yield Clause(sentence, LEFT_OPEN, number)
            return
        parts = list(parts_of(sentence))
        left, declined = False, declines(flat)
        if number == 0 and self._describes(flat, len(parts), longer=longer):
            yield Clause(sentence, DESCRIBES, number)
            return
        restated = stated = False
        for whole in parts:
            part = self._without_label(whole)
            plain = folded(GLOSS.sub("", part)).strip(OUTSIDE)
            if not plain:
                continue
            if back := wording("discourse", "correction").search(plain):
                self._corrected = number
                restated = True
                corrects = plain[back.end() :].startswith((":", "为", "is ", " is "))
                self._restated = corrects and back.start() == 0
                if back[0] == plain:
                    continue
            masked = without_quoted(plain)
            if is_open(plain) and not self._labelled:
                left = True
                yield Clause(part, LEFT_OPEN, number)
                continue
            if is_denied(masked):
                denied = True
                yield Clause(part, -1, number)
                continue
            weight = self._weight(plain, masked, part, number)
            bare = whole is parts[0] and not self._is_linked(masked, part)
            if bare:
                after = sentence[len(whole) : len(whole) + 1]
                alone = len(parts) == 1 or after in "—-" or is_explained(parts)
                weight = self._bare_weight(plain, part, number, alone=alone)
            # A clause without a subject of its own has that of the clause before it.
            begins = wording("short", "link").match(masked)
            added = carried // 2 if begins and weight else 0
            weight, carried = weight + added, 0 if bare or self._fills_slot(part) else weight
            carried -= _BOLD_WEIGHT * bool(BOLD.search(part))
            again = wording("short", "says_it_again").match(masked)
            repeated = again and stated and not restated and not self._is_year(masked)
            weight = 0 if repeated else weight
            stated = stated or weight >= _LEAST
            weight = 0 if declined and weight < CERTAIN else weight
            weight += self._announced(
                folded(part).rstrip(" *\n"),
                masked,
                weight,
                number,
                denied=denied or left,
                alone=alone,
            )
            weight += _SECOND_THOUGHT * (restated and weight >= CONCLUDED)
            if not self._labelled:
                yield Clause(part, weight, number)

    def _without_label(self, part: str) -> str:
        """A clause without a label in bold, unless it labels the answer or repeats the question."""
        found = _BOLD_LABEL.match(part)
        if not found:
            return part
        flat = folded(found[0])
        asked = grams_of(folded(self._question)) & grams_of(flat)
        labels = asked or wording("short", "answer").search(flat.strip(OUTSIDE) + ":")
        return part if labels else part[found.end() :]

    def _announced(
        self, raw: str, masked: str, weight: int, number: int, *, denied: bool, alone: bool
    ) -> int:
        """The weight of an answer phrase, a conclusion or a correction."""
        added = 0
        concludes = wording("discourse", "conclusion").match(raw.lstrip(OUTSIDE))
        stated = weight >= _STATED
        if wording("short", "answer").search(raw.lstrip(OUTSIDE)) or self._labelled:
            added = PHRASE
        elif self._restated:
            added, self._restated = PHRASE, False
        elif stated and (
            concludes
            or self._is_year(masked)
            or self._concluded
            or number - self._corrected <= 1
            or (denied and wording("short", "contrast").search(masked))
            or (alone and (self._corrected >= 0 or weight >= CERTAIN))
        ):
            again = wording("short", "says_it_again").match(masked)
            added = CONCLUDED + _SECOND_THOUGHT * bool(concludes and not again)
        self._concluded = bool(concludes and not has_link(masked))
        self._labelled = bool(wording("short", "answer", "{}$").search(raw))
        return added

    def _is_year(self, plain: str) -> bool:
        """Whether a clause has a year in digits where the question asks for a year."""
        asked = wording("short", "asks_for_year").search(folded(self._question))
        written = "written_year" in asked_phrase(self._question).kinds
        return bool(asked and not written and _YEAR.search(plain))

    def _says_something_else(self, plain: str) -> bool:
        """Whether a clause gives another name, size or calendar of what a question asks for."""
        today = wording("short", "asks_for_today").search(folded(self._question))
        if not today and wording("short", "older_name").match(plain):
            return True
        if "written_year" in asked_phrase(self._question).kinds:
            return bool(wording("short", "converts").match(plain))
        counted = wording("short", "asks_for_number").search(folded(self._question))
        return not counted and bool(wording("short", "counts_parts").match(plain))

    def _describes(self, flat: str, parts: int, *, longer: bool) -> bool:
        """Whether a sentence describes the image, and its clauses answer no question."""
        presents = any(
            wording("short", name).match(flat.lstrip()) for name in ("presents", "describes")
        )
        of_the_work = wording("short", "asks_of_the_work").search(folded(self._question))
        if longer and presents and not of_the_work and not self._repeats_the_question(flat):
            return True
        describes = wording("short", "describes").match(flat.lstrip())
        asked = wording("short", "asks_to_describe").search(folded(self._question))
        listing = wording("short", "lists").search(flat)
        return bool(describes and not asked and (parts > 3 or listing))

    def _repeats_the_question(self, flat: str) -> bool:
        """Whether a sentence has half of the words of the question."""
        grams = grams_of(folded(self._question))
        return 5 * len(grams & grams_of(flat)) >= 3 * len(grams) > 3

    def _weight(self, plain: str, masked: str, part: str, number: int) -> int:
        """How clearly a clause answers the question."""
        made = bool(maker_of(part, self._question))
        unfinished = not made and wording("short", "link", "{}$").search(masked)
        if unfinished or self._says_something_else(plain):
            return 0
        asked = folded(self._question)
        grams = grams_of(asked)
        shared = len(grams & grams_of(plain))
        found = self._links(masked)
        if self._names_no_person(part):
            return 0
        typed = typed_value(part, self._question) is not None
        slot = slot_of(part, self._question) is not None or made
        bold = bool(BOLD.search(part))
        if not found and not slot and not bold and not typed:
            return CERTAIN * concludes_bare(plain)
        placed = wording("short", "located")
        if not (slot or bold or typed or wording("short", "asks_for_place").search(asked)) and all(
            placed.search(each[0]) for each in found
        ):
            return 0
        links = [each[0].strip() for each in found]
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
        weight += 40 * (self._is_year(plain) or typed)
        weight += 25 * has_own_link(masked, self._question)
        weight += self._of_what_is_asked(plain, found)
        weight = max(0, weight - _GENERIC * self._is_generic(part))
        if (
            "person" in asked_phrase(self._question).kinds
            and links[:1]
            and links[0].startswith("there")
        ):
            weight -= _EXISTENTIAL
        if not wording("short", "asks_for_place").search(asked):
            weight -= 20 * bool(wording("short", "located").match(plain))
        if not typed and self._is_sourced(part):
            weight -= _SOURCED
        return weight - 15 * bool(not typed and wording("short", "like").search(masked))

    def _is_sourced(self, part: str) -> bool:
        """Whether a clause quotes a source (志文曰“…”), where no text is asked for."""
        if asked_phrase(self._question).kinds & {"text", "title", "character"}:
            return False
        quoted = QUOTED.search(part)
        before = folded(part[: quoted.start()]) if quoted else ""
        return wording("short", "sourced").search(before) is not None

    def _links(self, masked: str) -> list[re.Match[str]]:
        """The links of a clause; those that describe a figure do not say who it is."""
        found = links_in(masked, self._question)
        if not asked_phrase(self._question).kinds & {"person", "character", "title"}:
            return found
        return [
            each for each in found
            if not wording("short", "link_describing").fullmatch(each[0].strip())
        ]  # fmt: skip

    def _fills_slot(self, part: str) -> bool:
        """Whether a clause has a value, not a place, where the question has its interrogative."""
        value = (slot_of(part, self._question) or "").rstrip(OUTSIDE)
        return bool(value) and value[-1] not in _PLACES

    def _is_generic(self, part: str) -> bool:
        """Whether a clause only repeats the asked kind with a word before it (一件弦乐器)."""
        noun = asked_phrase(self._question).noun[-2:]
        value = folded(value_of(part, self._question)).strip(EDGE)
        if len(noun) < 2 or not is_han(noun[0]):
            return False
        counted = re.fullmatch(f"{noun}[一二两三四五六][行处方则段]", value)
        return value.endswith(noun) or counted is not None

    def _names_no_person(self, part: str) -> bool:
        """Whether a clause has a place or a work where the question asks for a person."""
        if "person" not in asked_phrase(self._question).kinds:
            return False
        value = value_of(part, self._question).strip(OUTSIDE)
        scripts = wording("categories", "script_values").fullmatch(folded(value))
        return bool(scripts or wording("short", "no_person").fullmatch(folded(value)))

    def _is_linked(self, masked: str, part: str) -> bool:
        """Whether a clause has a link, answers a question word, or has words in bold."""
        return bool(
            self._links(masked)
            or slot_of(part, self._question) is not None
            or maker_of(part, self._question)
            or BOLD.search(part)
            or typed_value(part, self._question) is not None
        )

    def _of_what_is_asked(self, plain: str, links: list[re.Match[str]]) -> int:
        """The weight of the asked noun before a link, and of a value of the asked category."""
        asked = asked_phrase(self._question)
        noun = asked.noun[-2:] if not asked.noun.isascii() else asked.noun
        named = bool(noun and links and noun in plain[: links[0].start()])
        if not asked.lexicon or re.search(asked.lexicon, plain):
            return 20 * named + 20 * bool(asked.lexicon)
        chosen = wording("short", "choice").search(folded(self._question))
        return -CONCLUDED if chosen else 20 * named

    def _bare_weight(self, plain: str, part: str, number: int, *, alone: bool) -> int:
        """The weight of the first clause of a sentence, where nothing links it to a subject."""
        begins = wording("short", "reason").match(plain) or _PRONOUN.match(plain)
        heading = wording("discourse", "note").fullmatch(plain)
        shared = grams_of(folded(self._question)) & grams_of(plain)
        lexicon = asked_phrase(self._question).lexicon
        if lexicon and re.search(lexicon, plain) and not begins:
            return CERTAIN
        concluding = wording("discourse", "conclusion").fullmatch(plain)
        no_value = heading or concluding or (lexicon and not alone)
        if len(plain) > SHORT or shared or begins or no_value:
            return 0
        if self._is_sourced(part):
            return _LEAST
        if number == 0 and alone and not wording("short", "pronoun").match(plain):
            return 2 * CERTAIN
        return 22 if alone or number == 0 else 0
