"""The clauses of a response to a short question, each with its weight as the answer."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from keju.scoring.asked_phrases import asked_phrase, has_own_link, links_in
from keju.scoring.clause_parts import parts_of, sentences_of
from keju.scoring.phrase_marks import BOLD, EDGE, GLOSS, OUTSIDE, without_quoted
from keju.scoring.phrase_values import has_link, value_of
from keju.scoring.question_slots import maker_of, slot_of
from keju.scoring.typed_values import typed_value
from keju.scoring.wordings import alternatives, folded, wording
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
_STATED, _BOLD_WEIGHT, _SHORT, _EXISTENTIAL, _SECOND_THOUGHT = 12, 30, 12, 30, 100
_LEAST, _GENERIC, _PLACES = 20, 25, "上下中里内旁前后"


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
        if not flat or _is_aside(flat):
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
        left, declined = False, _declines(flat)
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
            if _is_open(plain) and not self._labelled:
                left = True
                yield Clause(part, LEFT_OPEN, number)
                continue
            if _is_denied(masked):
                denied = True
                yield Clause(part, -1, number)
                continue
            weight = self._weight(plain, masked, part, number)
            bare = whole is parts[0] and not self._is_linked(masked, part)
            if bare:
                after = sentence[len(whole) : len(whole) + 1]
                alone = len(parts) == 1 or after in "—-" or _is_explained(parts)
                weight = self._bare_weight(plain, number, alone=alone)
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
        asked = _grams(folded(self._question)) & _grams(flat)
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
            added = CONCLUDED
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
        grams = _grams(folded(self._question))
        return 5 * len(grams & _grams(flat)) >= 3 * len(grams) > 3

    def _weight(self, plain: str, masked: str, part: str, number: int) -> int:
        """How clearly a clause answers the question."""
        made = bool(maker_of(part, self._question))
        unfinished = not made and wording("short", "link", "{}$").search(masked)
        if unfinished or self._says_something_else(plain):
            return 0
        asked = folded(self._question)
        grams = _grams(asked)
        shared = len(grams & _grams(plain))
        found = self._links(masked)
        if self._names_no_person(part):
            return 0
        typed = typed_value(part, self._question) is not None
        slot = slot_of(part, self._question) is not None or made
        bold = bool(BOLD.search(part))
        if not found and not slot and not bold and not typed:
            return 0
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
        return weight - 15 * bool(not typed and wording("short", "like").search(masked))

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
        return len(noun) > 1 and is_han(noun[0]) and value.endswith(noun)

    def _names_no_person(self, part: str) -> bool:
        """Whether a clause has a place or a work where the question asks for a person."""
        if "person" not in asked_phrase(self._question).kinds:
            return False
        value = value_of(part, self._question).strip(OUTSIDE)
        return wording("short", "no_person").fullmatch(folded(value)) is not None

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
        return 20 * named + 20 * bool(asked.lexicon and re.search(asked.lexicon, plain))

    def _bare_weight(self, plain: str, number: int, *, alone: bool) -> int:
        """The weight of the first clause of a sentence, where nothing links it to a subject."""
        begins = wording("short", "reason").match(plain) or _PRONOUN.match(plain)
        heading = wording("discourse", "note").fullmatch(plain)
        shared = _grams(folded(self._question)) & _grams(plain)
        if len(plain) > _SHORT or shared or begins or heading:
            return 0
        if number == 0 and alone and not wording("short", "pronoun").match(plain):
            return 2 * CERTAIN
        return 22 if alone or number == 0 else 0


def repeats(clause: str, question: str, *, least: int) -> bool:
    """Whether a clause repeats at least so many words of the question."""
    return len(_grams(folded(question)) & _grams(folded(clause))) >= least


def speaks_of(clause: str, question: str) -> bool:
    """Whether a clause has words of the question, a value it asks for, or no subject of its own."""
    flat = folded(GLOSS.sub("", clause)).strip(OUTSIDE)
    asked = folded(question)
    lexicon = asked_phrase(question).lexicon
    return bool(
        _grams(asked) & _grams(flat)
        or (lexicon and re.search(lexicon, flat))
        or has_own_link(flat, question)
        or wording("short", "pronoun", r"{}.{0,6}?(?:[是为叫指]|\b(?:is|was|are|were)\b)").match(
            flat
        )
        or wording("short", "link").match(flat)
        or (wording("short", "holding").search(asked) and wording("short", "holding").search(flat))
        or BOLD.search(clause)
        or without_quoted(folded(clause)) != folded(clause)
    )


def _is_explained(parts: list[str]) -> bool:
    """Whether the second clause of a sentence only says more of the first (关羽，字云长)."""
    after = folded(parts[1]).strip(OUTSIDE) if len(parts) > 1 else ""
    return (
        after[:1] not in {"", "→", "⇒"} and wording("short", "says_more").match(after) is not None
    )


def _is_denied(masked: str) -> bool:
    """Whether a clause denies, reports what others think, or gives an example."""
    reported = wording("discourse", "reported").search(masked)
    if reported or wording("short", "example").search(masked):
        return True
    return bool(
        wording("short", "denied").search(masked) and not wording("short", "but").search(masked)
    )


def _is_aside(flat: str) -> bool:
    """Whether a sentence offers help, notes, or asks."""
    return bool(
        wording("discourse", "offer").match(flat)
        or wording("discourse", "note", "{}[:,]").match(flat)
        or wording("discourse", "acknowledgement", "{}[,.!。]*").fullmatch(flat)
    )


def _declines(flat: str) -> bool:
    """Whether a sentence ends in a refusal, and does not answer all the same."""
    found = wording("discourse", "refusal").search(flat)
    return bool(
        found
        and wording("unanswered", "cannot").search(flat)
        and not wording("discourse", "although").search(flat)
        and not wording("unanswered", "prefers").search(flat, found.end())
    )


def _is_open(flat: str) -> bool:
    """Whether a sentence leaves the choice between two candidates open, or declines."""
    if wording("short", "open").search(flat):
        return True
    return bool(wording("discourse", "refusal").search(flat)) and not has_link(flat[-20:])


def _grams(flat: str) -> set[str]:
    """Pairs of Han characters and words of other scripts, without the commonest."""
    han = "".join(char if is_han(char) else " " for char in flat)
    pairs = {han[at : at + 2] for at in range(len(han) - 1) if " " not in han[at : at + 2]}
    words = set(re.findall(r"[a-z]{3,}", flat)) - set(alternatives("short", "common"))
    return pairs | words
