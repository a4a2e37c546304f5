"""The sentence of a response that states what a question asks for, in the frame of the question.

Each sentence is judged by itself. It states a value where it is labelled as the answer (答案：),
repeats the asked noun or verb (该字体是…, painted by …), begins with a pronoun or nothing (它是…),
or is nothing but a phrase. Sentences that compare, deny, advise, describe or speak of something
else state nothing, wherever they are. The last of the clearest statements decides.
"""

from __future__ import annotations

import re

from keju.scoring.asked_frame import frame_of, is_chinese, names_alike
from keju.scoring.asked_phrases import find_asked_phrase
from keju.scoring.clause_claims import denies, grams_of, is_offer_or_note, leaves_open
from keju.scoring.clause_parts import parts_of
from keju.scoring.frame_clauses import (
    ANSWER,
    FRAMED,
    MARKS,
    NAMED,
    ClauseFrames,
    FrameStatement,
)
from keju.scoring.phrase_marks import BOLD, GLOSS, OUTSIDE, QUOTED, without_quoted
from keju.scoring.phrase_values import is_new
from keju.scoring.remarks import is_mostly_latin
from keju.scoring.statement_lines import StatementLine, statement_lines
from keju.scoring.wordings import fold, wording
from keju.text import has_han

_LONGEST_BARE, _MOST_BARE_WORDS, _LONGEST_LABELLED = 12, 5, 30
_LONGEST_LABEL, _LONGEST_TERM, _MOST_BARE = 10, 8, 1
_ARROW = re.compile(r"[→⇒]|->")
_BEFORE_DASH = re.compile(r"\W*?\*\*(?P<value>[^*—–:：，,。]{1,24})\*\*\s?(?:—{1,2}|–|\s-\s)")


def stated_in_frame(core: str, question: str) -> FrameStatement | None:
    """The statement that decides; None where no sentence states a value, or two are left open."""
    judge = _Judge(question)
    if judge.asks_for_an_english_meaning:
        return None
    found: list[FrameStatement] = []
    lines = list(statement_lines(core))
    for line in lines:
        flat = fold(GLOSS.sub("", line.text)).strip(OUTSIDE)
        if found and wording("discourse", "correction").search(fold(line.whole)):
            return None
        if wording("short", "both_remain").search(flat):
            return None
        if judge.is_beside(line) or _is_foreign(line.text, question):
            continue
        concludes = wording("discourse", "conclusion").match(flat)
        if _is_open(flat):
            if concludes or line is lines[-1]:
                return None
            continue
        if said := judge.statement_of(line, first=not found):
            found.append(said._replace(level=max(said.level, FRAMED if concludes else 0)))
    if sum(each.value == each.text.strip(MARKS) for each in found) > _MOST_BARE:
        return None
    most = max((each.level for each in found), default=0)
    return [each for each in found if each.level == most][-1] if found else None


def _is_foreign(text: str, question: str) -> bool:
    """Whether a sentence is in Chinese where the question is in English, or the reverse."""
    if is_chinese(question):
        return not has_han(text) and is_mostly_latin(text)
    return has_han(text) and not is_mostly_latin(text) and len(text) > _LONGEST_TERM


def _is_open(flat: str) -> bool:
    return leaves_open(flat) or wording("short", "open_sentence").search(flat) is not None


class _Judge:
    """Judges sentences by the frame of one question."""

    def __init__(self, question: str) -> None:
        self._question = question
        self._asked = fold(question)
        self._frame = frame_of(question)
        self._clauses = ClauseFrames(question)
        self._meaning = "meaning" in find_asked_phrase(question).kinds

    @property
    def asks_for_an_english_meaning(self) -> bool:
        """Whether a meaning is asked for in English, which `english_meanings` reads."""
        return self._meaning and not is_chinese(self._asked)

    def is_beside(self, line: StatementLine) -> bool:
        """Whether a sentence asks, offers, compares, reports or advises, so states nothing."""
        said, whole = (fold(GLOSS.sub("", each)) for each in (line.text, line.whole))
        said = said.strip(OUTSIDE)
        asks = line.text.rstrip(" *\n")[-1:] in "?？" and len(said) > _LONGEST_BARE
        if not said or asks or is_offer_or_note(fold(line.text).strip(OUTSIDE)):
            return True
        if wording("statements", "condition").match(whole) or self._presents(whole):
            return True
        if self._meaning and any(len(each[0]) > _LONGEST_TERM for each in QUOTED.finditer(whole)):
            return True
        found = wording("statements", "beside").search(whole)
        return found is not None and found[0] not in self._asked

    def _presents(self, flat: str) -> bool:
        """Whether a sentence says what kind of image this is, which is not asked."""
        presents = wording("short", "presents").match(flat)
        if not presents or wording("short", "asks_of_the_work").search(self._asked):
            return False
        return not any(f"的{each}" in presents[0] for each in self._frame.nouns)

    def statement_of(self, line: StatementLine, *, first: bool) -> FrameStatement | None:
        """The statement of a sentence with its label."""
        bare = line.text.strip(MARKS)
        if line.headed and not line.label:
            return None
        if (dashed := _BEFORE_DASH.match(line.whole)) and self._is_bare(dashed["value"]):
            return FrameStatement(dashed["value"], line.whole, FRAMED)
        if wording("statements", "no_label").search(line.label):
            line = line._replace(label="", text=line.whole)
        level = self._level_of_label(line.label)
        plain = not line.headed or self._is_bare(bare)
        if level and (self._clauses.describes(bare) or (plain and len(bare) <= _longest(bare))):
            said = FrameStatement(next(parts_of(_ARROW.split(bare)[-1])), line.whole, level)
            return None if self._clauses.describes(bare) else said
        if line.label and not level and not line.headed and len(line.label) <= _LONGEST_LABEL:
            return None
        best = self._unlabelled(line, bare, first=first)
        return best and best._replace(level=max(best.level, level))

    def _unlabelled(self, line: StatementLine, bare: str, *, first: bool) -> FrameStatement | None:
        """The statement of a sentence without a label: a phrase, words in bold, or a clause."""
        bold = [each[1] for each in BOLD.finditer(line.text)]
        marked = line.alone or "**" in line.text
        ends = line.alone or line.text.rstrip()[-1:] in "。.!！"
        begins = any(fold(bare).startswith(verb) for verb in self._frame.verbs)
        if (first or marked) and ends and not bold and not begins and self._is_bare(bare):
            return FrameStatement(bare, line.text, FRAMED if marked else NAMED)
        said = list(self._of_clauses(line.text))
        only = len(bold) == 1 and fold(bold[0]) not in self._asked
        if only and not denies(fold(line.text)):
            said.insert(0, FrameStatement(bold[0], line.text, FRAMED))
        return max(said, key=lambda each: each.level, default=None)

    def _of_clauses(self, text: str) -> list[FrameStatement]:
        """The statements of the clauses of a sentence; a conclusion drops those before it."""
        said: list[FrameStatement] = []
        first, topic = True, ""
        for part in parts_of(text):
            clause = part.replace("*", "").replace("`", "").strip(MARKS)
            plain = fold(clause)
            found = self._clauses.statement_of(clause, topic, first=first)
            concludes = not first and wording("statements", "concludes").match(plain)
            beside = wording("statements", "beside_clause").search(plain)
            beside = beside or wording("short", "subordinate").match(plain)
            if found and not beside and self._can_be_value(found.value):
                said = [] if concludes or found.own else said
                level = max(found.level, FRAMED if concludes else 0)
                said.append(found._replace(text=text, level=level))
            topic = "" if found or not first else clause
            first = first and (denies(plain) or _gives_grounds(plain))
        return said

    def _can_be_value(self, value: str) -> bool:
        """Whether a value is new, and one of the asked category where there is one."""
        lexicon = find_asked_phrase(self._question).lexicon
        if lexicon and len(set(re.findall(lexicon, fold(value)))) > 1:
            return False
        return is_new(value, self._question)

    def _level_of_label(self, label: str) -> int:
        """The level of a labelled value; 0 where there is no label, or one of something else."""
        if not label or wording("statements", "answer_label").fullmatch(label):
            return ANSWER if label else 0
        term = label.strip("“”\"「」'")
        if any(f"{a}{term}{b}" in self._asked for a, b in ("“”", "「」", '""', "''")):
            return FRAMED
        longest = _LONGEST_LABEL * (1 + label.isascii())
        if wording("statements", "of_the_whole").search(label) or len(label) > longest:
            return 0
        named = set(re.findall(r"[a-z]+", label)) if label.isascii() else set(label)
        if named & self._frame.chars or any(each in label for each in self._frame.nouns):
            return FRAMED
        if label in self._asked and len(label) > 1:
            return NAMED
        return FRAMED if names_alike(label, self._frame) else 0

    def _is_bare(self, bare: str) -> bool:
        """Whether a sentence is nothing but a short phrase that repeats nothing of the question."""
        flat = fold(GLOSS.sub("", bare)).strip(OUTSIDE)
        no_phrase = wording("statements", "no_phrase").search(without_quoted(flat))
        if not re.search(r"\w", flat) or no_phrase:
            return False
        if has_han(flat):
            return len(flat) <= _LONGEST_BARE and len(grams_of(flat) & self._frame.grams) < 2
        return len(flat.split()) <= _MOST_BARE_WORDS


def _gives_grounds(plain: str) -> bool:
    """Whether a clause only gives the grounds for the next one."""
    return any(
        wording(file, name).match(plain)
        for file, name in (("short", "grounds"), ("short", "reason"), ("statements", "no_value"))
    )


def _longest(bare: str) -> int:
    """The most characters of a labelled value; Latin words are longer."""
    return _LONGEST_LABELLED * (1 + bare.isascii())
