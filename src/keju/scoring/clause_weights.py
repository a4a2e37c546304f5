"""How clearly a clause of a response to a short question is the answer, as a weight."""

from __future__ import annotations

import re
from typing import NamedTuple

from keju.scoring.asked_phrases import find_asked_phrase, has_own_link, links_in
from keju.scoring.clause_claims import concludes_bare, grams_of, is_brief
from keju.scoring.phrase_marks import BOLD, EDGE, OUTSIDE, QUOTED
from keju.scoring.phrase_values import trimmed_phrase, value_of
from keju.scoring.question_slots import maker_of, slot_of
from keju.scoring.typed_values import counted_value, typed_value
from keju.scoring.wordings import fold, wording
from keju.text import all_han, count_han, has_han, is_han, parse_number

CERTAIN = 45
"""The weight from which a clause is clearly the answer."""
PHRASE, CONCLUDED, LEFT_OPEN, DESCRIBES = 1000, 500, -2, -3
"""The weights of an answer phrase and a conclusion, of a clause that leaves the answer open, and of
one that only describes the image."""
SETTLED = 600
"""The weight from which a conclusion counts after a correction, or draws on all before it."""
LEAST, BOLD_WEIGHT = 20, 30
"""The least weight of a clause that has a value, and the weight that bold type adds."""

_YEAR = re.compile(r"(?<!\d)\d{3,4}(?!\d)")
_COPULA = re.compile(r"[是为:有]|\b(?:is|are)\b")
_PARTICIPLE = re.compile(r"[a-z]{3,}ing\b")
_ARTICLE = re.compile(r"^(?:an?|the|some|this|one) ")
_BUT = re.compile(r"^(?:但是?|不过|然而|but |however,? )")
_IS_SUCH = re.compile(r"[^,。]{0,8}?(?P<subject>[\u4e00-\u9fff]{2})是一[\u4e00-\u9fff][^,。]+的")
_RELATIVE = re.compile(r"(?:which|who|whose|whom|where)\b(?! belong)")
_PRONOUN = re.compile(r"[他她它我]|(?:he|she|it|they|we|i)\b")
_READ_AS, _FITS = 40, 30
_EXISTENTIAL, _GENERIC, _SOURCED, _PLACES = 30, 25, 10, "上下中里内旁前后"


class ClauseText(NamedTuple):
    """The text of a clause in three forms.

    Attributes:
        part: as in the response.
        plain: folded, without glosses and outer punctuation.
        masked: the plain text, with blanks for quotations.
    """

    part: str
    plain: str
    masked: str


class _Signs(NamedTuple):
    """Signs that a clause has a value: links, a slot of the question, a typed value, bold type."""

    links: list[re.Match[str]]
    slot: bool
    typed: bool
    bold: bool


class ClauseWeights:
    """The weights of clauses as answers to one question."""

    def __init__(self, question: str) -> None:
        self._question = question

    def weigh(self, clause: ClauseText, *, first: bool) -> int:
        """How clearly a clause answers the question.

        Args:
            clause: the clause.
            first: whether it is in the first sentence of the response.
        """
        made = bool(maker_of(clause.part, self._question))
        unfinished = not made and wording("short", "link", "{}$").search(clause.masked)
        if unfinished or self._says_something_else(clause.plain):
            return 0
        if self._names_no_person(clause.part) or self._is_beside(clause.plain):
            return 0
        signs = self._signs_of(clause, made=made)
        if not signs.typed and self._is_no_statement(clause):
            return 0
        if not any(signs):
            return CERTAIN * concludes_bare(clause.plain)
        if self._only_locates(signs):
            return 0
        weight = self._evidence_for(clause, signs, first=first)
        weight = max(0, weight - _GENERIC * self._is_generic(clause.part))
        return weight - self._evidence_against(clause, signs)

    def _is_no_statement(self, clause: ClauseText) -> bool:
        """Whether a clause only gives a ground, says what is hard to read, or names a sign."""
        if wording("short", "subordinate").match(clause.plain) or self._only_doubts(clause):
            return True
        value = fold(value_of(clause.part, self._question)).strip(OUTSIDE)
        physical = wording("short", "physical").fullmatch(value)
        if physical and wording("short", "asks_of_the_text").search(fold(self._question)):
            return True
        return "meaning" in find_asked_phrase(self._question).kinds and bool(
            wording("short", "derived").match(clause.plain)
            or self._only_names(clause.plain)
            or self._is_of_a_part(clause.masked)
            or wording("short", "sign").fullmatch(_ARTICLE.sub("", value))
        )

    def _only_doubts(self, clause: ClauseText) -> bool:
        """Whether a clause says how hard something is to read, and names nothing with a hedge."""
        if wording("short", "legibility").match(clause.plain):
            return True
        return wording("short", "doubts").search(clause.plain) is not None and not any(
            wording("short", name).search(clause.masked) for name in ("commits", "hedged")
        )

    def _only_names(self, plain: str) -> bool:
        """Whether a clause ends with the word whose meaning is asked for (所以称“尺素”)."""
        named = wording("short", "named_so").search(plain)
        if not named:
            return False
        term = named["term"].strip(EDGE)
        return not term or term in fold(self._question)

    def _is_of_a_part(self, masked: str) -> bool:
        """Whether an English clause speaks of a part or the style of a sign, not of its meaning."""
        if has_han(self._question):
            return False
        links = self._links(masked)
        if not links or has_own_link(masked, self._question):
            return False
        return wording("short", "of_a_part", "{}$").search(masked[: links[0].start()]) is not None

    def _signs_of(self, clause: ClauseText, *, made: bool) -> _Signs:
        return _Signs(
            self._links(clause.masked),
            slot_of(clause.part, self._question) is not None or made,
            typed_value(clause.part, self._question) is not None,
            bool(BOLD.search(clause.part)),
        )

    def _only_locates(self, signs: _Signs) -> bool:
        """Whether a clause only says where something is, which the question does not ask."""
        if signs.slot or signs.bold or signs.typed or self._asks_for_place():
            return False
        placed = wording("short", "located")
        return all(placed.search(each[0]) for each in signs.links)

    def _evidence_for(self, clause: ClauseText, signs: _Signs, *, first: bool) -> int:
        """The weight of the words that a clause shares with the question, and of its signs."""
        asked = fold(self._question)
        grams = grams_of(asked)
        shared = len(grams & grams_of(clause.plain))
        links = [each[0].strip() for each in signs.links]
        weight = 30 * shared // max(1, min(8, len(grams)))
        weight += 12 + 8 * first + BOLD_WEIGHT * signs.bold
        words = [word for each in links for word in re.findall(r"[a-z]{4,}|[^a-z\s]{2,}", each)]
        weight += 25 * (signs.slot or any(word in asked for word in words))
        weight += 12 * bool(wording("short", "strong").search(clause.masked))
        pointing = wording("short", "pronoun").match(clause.plain) or not self._question
        weight += 15 * bool(links and pointing and _COPULA.search(links[0]))
        holds = wording("short", "holding")
        weight += 20 * bool(holds.search(asked) and any(map(holds.search, links)))
        weight += 40 * (self.has_asked_year(clause.plain) or signs.typed)
        weight += 45 * has_own_link(clause.masked, self._question)
        weight += _FITS * self._has_asked_length(clause.part)
        return weight + self._of_what_is_asked(clause.plain, signs.links)

    def _has_asked_length(self, part: str) -> bool:
        """Whether a value has as many characters as the question asks for (请用三个字回答)."""
        found = wording("short", "asked_length").search(fold(self._question))
        number = parse_number(found["number"]) if found else None
        return number is not None and count_han(_trimmed(part, self._question)) == number

    def _evidence_against(self, clause: ClauseText, signs: _Signs) -> int:
        """The weight lost by a clause that only says who exists, where, like what, or by whom."""
        weight = 0
        asks_for_person = "person" in find_asked_phrase(self._question).kinds
        if asks_for_person and signs.links and signs.links[0][0].strip().startswith("there"):
            weight += _EXISTENTIAL
        weight += _GENERIC * bool(wording("short", "adds").match(clause.plain))
        weight += 10 * bool(_PARTICIPLE.match(clause.plain))
        if "meaning" in find_asked_phrase(self._question).kinds:
            weight += _GENERIC * bool(wording("short", "at_first_meant").search(clause.plain))
        weight += _READ_AS * self._only_reads(clause)
        own = has_own_link(clause.masked, self._question)
        weight += _GENERIC * bool(_RELATIVE.match(clause.plain) and not own)
        if not self._asks_for_place():
            weight += 20 * bool(wording("short", "located").match(clause.plain))
        if not signs.typed:
            weight += _SOURCED * self.is_sourced(clause.part)
            weight += 5 * bool(wording("short", "like").search(clause.masked))
        return weight

    def _only_reads(self, clause: ClauseText) -> bool:
        """Whether a clause names the character of a sign whose meaning is asked for in English."""
        if has_han(self._question) or "meaning" not in find_asked_phrase(self._question).kinds:
            return False
        return all_han(value_of(clause.part, self._question).strip(EDGE))

    def _asks_for_place(self) -> bool:
        return wording("short", "asks_for_place").search(fold(self._question)) is not None

    def weigh_unlinked(self, clause: ClauseText, *, first: bool, alone: bool) -> int:
        """The weight of the first clause of a sentence, where nothing links it to a subject."""
        bare = _BUT.sub("", clause.plain)
        begins = wording("short", "reason").match(bare) or _PRONOUN.match(clause.plain)
        heading = wording("discourse", "note").fullmatch(clause.plain)
        shared = grams_of(fold(self._question)) & grams_of(clause.plain)
        lexicon = find_asked_phrase(self._question).lexicon
        if lexicon and re.search(lexicon, clause.plain) and (shared or not begins):
            return CERTAIN
        concluding = wording("discourse", "conclusion").fullmatch(clause.plain)
        announces = clause.part.rstrip(" *\n").endswith((":", "："))
        no_value = heading or concluding or announces or (lexicon and not alone)
        named = QUOTED.fullmatch(clause.part.strip(OUTSIDE.replace("“", "").replace("”", "")))
        if first and named and alone:
            return 2 * CERTAIN
        whole = first and alone and clause.part.rstrip().endswith(("。", ".", "**"))
        if whole and 2 * len(shared) < len(grams_of(clause.plain)):
            shared = set()
        if "meaning" in find_asked_phrase(self._question).kinds:
            no_value = no_value or bool(wording("short", "derived").match(clause.plain))
        if not is_brief(clause.plain) or shared or begins or no_value:
            return 0
        if self.is_sourced(clause.part):
            return LEAST
        if first and alone and not wording("short", "pronoun").match(clause.plain):
            return 2 * CERTAIN
        return 22 if alone or first else 0

    def is_linked(self, clause: ClauseText) -> bool:
        """Whether a clause has a link, answers a question word, or has words in bold."""
        return bool(
            self._links(clause.masked)
            or slot_of(clause.part, self._question) is not None
            or maker_of(clause.part, self._question)
            or BOLD.search(clause.part)
            or typed_value(clause.part, self._question) is not None
        )

    def fills_slot(self, part: str) -> bool:
        """Whether a clause has a value, not a place, where the question has its interrogative."""
        value = (slot_of(part, self._question) or "").rstrip(OUTSIDE)
        return bool(value) and value[-1] not in _PLACES

    def has_asked_year(self, plain: str) -> bool:
        """Whether a clause has a year in digits where the question asks for a year."""
        asked = wording("short", "asks_for_year").search(fold(self._question))
        written = "written_year" in find_asked_phrase(self._question).kinds
        return bool(asked and not written and _YEAR.search(plain))

    def _says_something_else(self, plain: str) -> bool:
        """Whether a clause gives another name, size or calendar of what a question asks for."""
        today = wording("short", "asks_for_today").search(fold(self._question))
        if not today and wording("short", "older_name").match(plain):
            return True
        if "written_year" in find_asked_phrase(self._question).kinds:
            return bool(wording("short", "converts").match(plain))
        counted = wording("short", "asks_for_number").search(fold(self._question))
        return not counted and bool(wording("short", "counts_parts").match(plain))

    def is_counted(self, part: str) -> bool:
        """Whether a clause has the number of what the question counts (也就是二十六岁)."""
        return counted_value(part, fold(self._question)) is not None

    def is_sourced(self, part: str) -> bool:
        """Whether a clause quotes a source (志文曰“…”), where no text is asked for."""
        if find_asked_phrase(self._question).kinds & {"text", "title"}:
            return False
        quoted = QUOTED.search(part)
        before = fold(part[: quoted.start()]) if quoted else ""
        return wording("short", "sourced").search(before) is not None

    def _links(self, masked: str) -> list[re.Match[str]]:
        """The links of a clause; those that describe a figure do not say who it is."""
        found = links_in(masked, self._question)
        if not find_asked_phrase(self._question).kinds & {"person", "title"}:
            return found
        return [
            each for each in found
            if not wording("short", "link_describing").fullmatch(each[0].strip())
        ]  # fmt: skip

    def _is_beside(self, plain: str) -> bool:
        """Whether a clause ends with its own subject, or speaks of another aspect than is asked."""
        repeated = _IS_SUCH.match(plain)
        if repeated and plain.rstrip(OUTSIDE).endswith(repeated["subject"]):
            return True
        found = wording("short", "other_aspect").match(plain)
        return found is not None and found["aspect"] not in fold(self._question)

    def _is_generic(self, part: str) -> bool:
        """Whether a clause only repeats the asked kind with a word before it (一件弦乐器)."""
        noun = find_asked_phrase(self._question).noun[-2:]
        value = fold(value_of(part, self._question)).strip(EDGE)
        if len(noun) < 2 or not is_han(noun[0]):
            return False
        counted = re.fullmatch(f"{noun}[一二两三四五六][行处方则段]", value)
        return value.endswith(noun) or counted is not None

    def _names_no_person(self, part: str) -> bool:
        """Whether a clause has a place or a work where the question asks for a person."""
        if "person" not in find_asked_phrase(self._question).kinds:
            return False
        value = value_of(part, self._question).strip(OUTSIDE)
        scripts = wording("categories", "script_values").fullmatch(fold(value))
        verse = has_han(value) and re.search(r"[，。]", value)
        return bool(scripts or verse or wording("short", "no_person").fullmatch(fold(value)))

    def _of_what_is_asked(self, plain: str, links: list[re.Match[str]]) -> int:
        """The weight of the asked noun before a link, and of a value of the asked category."""
        asked = find_asked_phrase(self._question)
        noun = asked.noun[-2:] if not asked.noun.isascii() else asked.noun
        named = bool(noun and links and noun in plain[: links[0].start()])
        if not asked.lexicon or re.search(asked.lexicon, plain):
            return 20 * named + 20 * bool(asked.lexicon)
        chosen = wording("short", "choice").search(fold(self._question))
        foreign = has_han(asked.lexicon) and not has_han(plain)
        return -CONCLUDED if chosen and not foreign else 20 * named


def _trimmed(part: str, question: str) -> str:
    """The value of a clause without words of the question."""
    return trimmed_phrase(value_of(part, question), question)
