"""A clause of a response in the frame of a question: subject, link, and the value asked for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from keju.scoring.asked_frame import IN, frame_of, is_chinese, names_alike
from keju.scoring.asked_phrases import LINKED_KINDS, find_asked_phrase
from keju.scoring.clause_claims import denies, grams_of
from keju.scoring.clause_parts import parts_of
from keju.scoring.phrase_marks import QUOTED, without_quoted
from keju.scoring.wordings import fold, wording

ANSWER, FRAMED, NAMED, CONTINUED = 4, 3, 2, 1
"""The levels: a labelled answer, the frame of the question, a pronoun, a clause without subject."""
MARKS = " \t\r\n\u3000*_`#>。.，,、:：;；!！—–-"
"""Marks around a clause, without those that quote."""

_LONGEST_SUBJECT, _TAIL, _STEM = 8, 14, 5
_LONGEST_ASPECT = 4
_MEANT = re.compile(r"[“「]?(?P<value>[^,，。是为“”]{1,8})[”」]?的意思")
_TOO_COMMON = {"name", "place", "seen", "how", "scene", "where", "worn", "technique"}
_COMPLETES = re.compile(r"就是|即|便是|正是|乃是")
_VERSE = re.compile(r"[“「\"][^”」\"]*[,，。…]")
_ENGLISH_VERB = (
    r"(?<!the )(?<!this )(?<!a )\b{}(?:e|es|s|ed|d|ing|te|ting)?\b"
    r"(?: (?:the|this) [a-z]+(?= (?:to|as|from|by)\b))?"
    r"(?: (?:by|from|as|in|of|to|on|with|out of))?(?: (?:an?|the))? (?=\S)"
)
_CHINESE_VERB = "{}(?![的假常过用篇体](?!是))(?:的|了|着|著)?(?:就|便|正|应)?(?:是|为|于|在|作|自)?"
_PRONOUN = re.compile(r"(?:it|this|that|she|he|they|which|who)\b.*|.*\b(?:i|we) (?:would|can)")
_SUBORDINATE = frozenset(["where", "when", "because", "since", "which", "as", "what", "how", "why"])
_ENGLISH_LINKS = {
    r"\bwhere\b|\b(?:which|what) (?:museum|place|city|site|collection)\b": "at_place",
    r"\b(?:technique|method|process)\b": "by_technique",
    r"\b(?:subject|theme|scene|story|topic)\b": "showing",
}
_AFTER_VALUE = frozenset(["dynasty", "period", "era", "century", "style"])


class FrameStatement(NamedTuple):
    """A sentence that states a value.

    Attributes:
        value: the words in the place of the interrogative.
        text: the sentence.
        level: how clearly it answers the question.
        own: whether a word links it that fits only this kind of question (字摩诘).
    """

    value: str
    text: str
    level: int
    own: bool = False

    @property
    def is_complete(self) -> bool:
        """Whether the frame is that of the question, and no later clause says it otherwise."""
        rest = fold(self.text.partition(self.value.strip(MARKS))[2])
        return self.level >= FRAMED and not wording("statements", "restates").search(rest)

    @property
    def values(self) -> Iterator[str]:
        """The value, and the value without the words that only end its clause (的故事, 一职)."""
        for end in wording("statements", "value_end").finditer(without_quoted(fold(self.value))):
            if self.value[: end.start()].strip(MARKS) and "《" not in self.value[end.start() :]:
                yield self.value[: end.start()]
                break
        if start := wording("statements", "value_start").match(fold(self.value)):
            yield self.value[start.end() :].rstrip("了呀吧呢。.! ")
        yield self.value


class ClauseFrames:
    """Reads clauses in the frame of one question."""

    def __init__(self, question: str) -> None:
        self._asked = fold(question)
        self._frame = frame_of(question)
        kinds = find_asked_phrase(question).kinds
        self._meaning, self._person = "meaning" in kinds, "person" in kinds
        self._own = [
            wording("short", f"link_{kind}") for kind in LINKED_KINDS
            if kind in kinds and wording("short", f"asks_{kind}").search(self._asked[-_TAIL:])
            and kind not in _TOO_COMMON
        ]  # fmt: skip

    def statement_of(self, clause: str, topic: str, *, first: bool) -> FrameStatement | None:
        """The value that a clause states, or None.

        Args:
            clause: the clause, without marks at its ends.
            topic: the clause before it, where that has no link (图里的这只动物，应该是…).
            first: whether nothing but its grounds comes before it in its sentence.
        """
        masked = without_quoted(fold(clause))
        if denies(masked):
            return None
        if answer := wording("short", "answer").search(masked):
            return FrameStatement(clause[answer.end() :], "", ANSWER)
        if is_chinese(self._asked):
            return self._of_chinese(clause, masked, topic, first=first)
        return self._of_english(clause, masked)

    def describes(self, value: str) -> bool:
        """Whether what follows a link only describes (书法的重要内容), or cannot be a person."""
        flat = fold(value).strip(MARKS)
        if self._person:
            brief = next(parts_of(flat))
            scripts = wording("categories", "script_values").fullmatch(brief)
            if scripts or _VERSE.search(value) or wording("short", "no_person").fullmatch(brief):
                return True
        return wording("statements", "describing").search(flat) is not None

    def _of_chinese(
        self, clause: str, masked: str, topic: str, *, first: bool
    ) -> FrameStatement | None:
        """The value after the link of a clause, or before one that repeats the question."""
        if self._meaning and (meant := _MEANT.fullmatch(clause)):
            return FrameStatement(meant["value"], "", FRAMED)
        lead = wording("statements", "lead").match(masked)
        start = lead.end() if lead else 0
        for link, own in self._links(masked, start):
            subject, value = clause[start : link.start()], clause[link.end() :]
            level = self._level_of_subject(subject, first=first or start > 0)
            if topic and "“" not in topic and not subject.strip(MARKS):
                level = max(level, self._level_of_subject(topic, first=False))
            if not level and not subject and _COMPLETES.match(link[0]):
                level = NAMED
            if own and (level or not wording("statements", "other_subject").search(subject)):
                level = FRAMED if level or (len(link[0]) > 1 and not self._meaning) else NAMED
            if level and value.strip(MARKS) and not self.describes(value):
                return FrameStatement(value, "", level, own=own > 1)
            after = grams_of(masked[link.end() :]) & self._frame.grams
            if not level and len(after) >= 2 and 0 < len(subject) <= _LONGEST_SUBJECT:
                return FrameStatement(clause[start : link.start()], "", FRAMED)
        return None

    def _links(self, masked: str, start: int) -> Iterator[tuple[re.Match[str], int]]:
        """The links of a clause; 1 with a verb of the question, 2 with one of its kind, else 0."""
        for verb in self._frame.verbs:
            if verb == IN:
                yield from ((each, 0) for each in re.finditer("在", masked))
                continue
            form = re.compile(_CHINESE_VERB.format(re.escape(verb)))
            yield from ((each, 1) for each in form.finditer(masked, start))
        for own in self._own:
            for each in own.finditer(masked, start):
                yield each, 2
        for each in wording("statements", "copula").finditer(masked, start):
            yield each, 0

    def _level_of_subject(self, subject: str, *, first: bool) -> int:
        """How clearly a subject is the asked one; 0 for another."""
        bare = fold(subject).strip(MARKS + "“”「」《》")
        quoted = QUOTED.search(subject)
        if self._meaning and quoted:
            return FRAMED if fold(quoted[0]) in self._asked else 0
        if not bare:
            return NAMED if first else CONTINUED
        if any(noun in bare for noun in self._frame.nouns):
            return FRAMED
        pronoun = wording("statements", "pronoun").match(bare)
        rest = bare[pronoun.end() :] if pronoun else bare
        if pronoun and len(rest) <= 2:
            return NAMED
        aspect = (pronoun and set(rest) & self._frame.chars) or self._is_synonym(rest)
        if aspect and len(rest) <= _LONGEST_ASPECT:
            return FRAMED
        return NAMED if grams_of(bare) & self._frame.grams else 0

    def _is_synonym(self, subject: str) -> bool:
        asked = "".join((*self._frame.nouns, *self._frame.verbs))
        forms = (wording("statements", name) for name in ("of_place", "of_source", "of_material"))
        return any(form.search(subject) and form.search(asked) for form in forms)

    def _of_english(self, clause: str, masked: str) -> FrameStatement | None:
        """The value of a clause: after a copula or the asked verb, or before the asked verb."""
        if found := self._by_verb(clause, masked) or self._before_noun(clause, masked):
            return found
        links = list(wording("statements", "copula_in_english").finditer(masked))
        link = links[-1 if masked.startswith("what ") else 0] if links else None
        for asked, name in _ENGLISH_LINKS.items():
            if re.search(asked, self._asked):
                link = wording("statements", name).search(masked) or link
        if not link or self.describes(clause[link.end() :]):
            return None
        level = self._level_of_english_subject(masked[: link.start()].strip())
        return FrameStatement(clause[link.end() :], "", level) if level else None

    def _level_of_english_subject(self, subject: str) -> int:
        """How clearly an English subject is the asked one; 0 for another."""
        words = re.findall(r"[a-z]+", subject)
        if set(words) & _SUBORDINATE and words[0] != "what":
            return 0
        if set(words) & set(self._frame.nouns):
            return FRAMED
        if not subject or wording("statements", "pronoun_in_english").fullmatch(subject):
            return NAMED
        if names_alike(subject, self._frame):
            return FRAMED
        stems = {each[:_STEM] for each in self._frame.grams}
        return NAMED if {each[:_STEM] for each in words} & stems else 0

    def _by_verb(self, clause: str, masked: str) -> FrameStatement | None:
        """The text after the verb of the question, or who does it (Ma Yuan painted this)."""
        if self._person and (made := wording("statements", "by_whom").search(masked)):
            subject = re.split(r"\b(?:is|was|are|were)\b", masked[: made.start()])[0].strip()
            level = self._level_of_english_subject(subject)
            return FrameStatement(clause[made.end() :], "", FRAMED) if level else None
        for verb in self._frame.verbs:
            done = re.search(_ENGLISH_VERB.format(re.escape(verb)), masked)
            if not done or re.match(
                r"(?:is|was|are|were|can|could|may|must|should)\b", masked[done.end() :]
            ):
                continue
            before, after = (
                self._frame.grams & set(re.findall(r"[a-z]{3,}", each))
                for each in (masked[: done.start()], masked[done.end() :])
            )
            subject = clause[: done.start()].strip()
            if after and not before and subject and not _PRONOUN.fullmatch(fold(subject)):
                return FrameStatement(subject, "", FRAMED)
            if not self.describes(clause[done.end() :]):
                return FrameStatement(clause[done.end() :], "", FRAMED)
        return None

    def _before_noun(self, clause: str, masked: str) -> FrameStatement | None:
        """The words before the noun that is asked for (a celadon green glaze, the Tang dynasty)."""
        nouns = [each for each in self._frame.nouns if each in _AFTER_VALUE]
        if {"colour", "color"} & {*self._frame.nouns}:
            nouns += re.findall(r"\b(?:is|of) the ([a-z]+)", self._asked)
        words = "|".join(map(re.escape, nouns))
        form = (
            rf"\b(?:an?|the|in|of|with|during) (?P<value>[a-z-]+(?: [a-z-]+){{0,2}}) (?:{words})\b"
        )
        found = re.search(form, masked) if nouns else None
        if not found or self.describes(found["value"]):
            return None
        return FrameStatement(clause[found.start("value") : found.end("value")], "", FRAMED)
