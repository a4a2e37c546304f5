"""Clauses that repeat the question and complete it: "The title of this scroll is X"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from keju.extraction.answer import Answer, sentences_of
from keju.extraction.words import fold, has, words
from keju.text import has_han

_WORD = re.compile(r"[A-Za-z][A-Za-z'’\-]*|\S")
_CLAUSES = re.compile(r"(?<=[，；,;])(?![^“「『《(（]*[”」』》)）])(?!\d)")
_PARENTHESES = re.compile(r"\s*[(（][^()（）]*[)）]")
_PHRASE_END = re.compile(
    r"[，,；;。！!?？\n|](?!\d)|\.(?=\s|$)|\s[–—-]\s|——|：|:\s|\s(?:which|that|because|since|who|where)\b"
    r"|\s(?:in|on|at|from)\s(?:the|this)\b"
)
_OPTIONS = re.compile(r"\n\W*a\s?[、.,):]")
_QUOTED = re.compile(r"[“「『《\"][^“”「」『』《》\"]*[”」』》\"]")
OPENING = ("“", "「", "『", "《", '"')
_LOCATIVES = "上中下里内旁时"
_LONGEST = 300
"""Characters of a sentence that is looked at."""


class Question(NamedTuple):
    """A question as the words around its question word.

    Attributes:
        echo: its text, folded and without instructions, alternatives and question words.
        words: its English words.
        before: the end of what precedes the question word, without punctuation.
        key: the last two characters of what is asked about (作者 of 这幅画的作者是谁).
        is_attribute: whether that belongs to something (这幅画的作者), so that it must be named.
        tail: what follows the question word and its noun (谁**吹着横笛**).
    """

    echo: str
    words: frozenset[str]
    before: str
    key: str
    is_attribute: bool
    tail: str


class Completion(NamedTuple):
    """A phrase in the place of the question word.

    Attributes:
        phrase: as the response writes it.
        remainder: what its clause says from there on.
        sentence: the sentence with it.
        is_elliptic: whether nothing of the question is repeated (所以是X).
    """

    phrase: str
    remainder: str
    sentence: str
    is_elliptic: bool


@lru_cache(maxsize=256)
def _question(query: str) -> Question:
    query = words("instruction").sub("", _OPTIONS.split(query)[0])
    match = words("question_word").search(query)
    before, behind = (query[: match.start()], query[match.end() :]) if match else (query, "")
    tail = re.sub(r"[^\w]", "", re.split(r"[?。，,\n]", behind)[0])
    tail = re.sub(r"[呢吗]$", "", tail)
    echo = re.sub(r"[\u4e00-\u9fff]{1,4}还是[\u4e00-\u9fff]{1,4}", "|", f"{before}|{behind}")
    english = frozenset(re.findall(r"[a-z][a-z'\-]*", query))
    before = re.sub(r"\W", "", before)
    key = words("key_end").sub("", before)[-2:].removeprefix("的") if has_han(before) else ""
    is_attribute = words("attribute_end").search(before) is not None
    return Question(echo, english, before[-2:], key, is_attribute, tail)


def completions(answer: Answer, text: str) -> Iterator[Completion]:
    """The phrases of a text's sentences that complete the question, in order; none is denied."""
    question = _question(answer.query)
    for sentence in sentences_of(text):
        if len(sentence) > _LONGEST or has("hedge condition", fold(_QUOTED.sub("“”", sentence))):
            continue
        echoed, repeated = 0, ""
        for clause in _CLAUSES.split(_PARENTHESES.sub("", sentence)):
            lowered = fold(clause).lower()
            if has("denial draft maybe", _QUOTED.sub("“”", lowered)):
                echoed, repeated = 0, ""
                continue
            in_han = has_han(question.echo) and has_han(clause) and clause.lstrip()[:1] > "z"
            read_echo = _read_han if in_han else _read_english
            echo = read_echo(lowered, question)
            echoed += echo.length
            repeated += re.sub(r"\W", "", lowered[: echo.end])
            remainder = clause[echo.link_end :].strip()
            phrase = _PHRASE_END.split(remainder)[0].strip()
            is_elliptic = echo.length == 0 and echoed < 2 and has("conclusion", lowered)
            if echo.end == len(clause) or not phrase:
                continue
            if echo.link_end and (is_elliptic or (echoed >= 2 and _is_about(repeated, question))):
                yield Completion(_without_tail(phrase, question), remainder, sentence, is_elliptic)
                echoed, repeated = 0, ""


def _is_about(repeated: str, question: Question) -> bool:
    """Whether a clause repeats what is asked about."""
    if question.words & {"mean", "meaning"}:
        return "mean" in repeated
    if question.key in repeated or not question.key:
        return True
    noun = question.tail[:2]
    names_subject = has("echo_subject", repeated) or (len(noun) == 2 and noun in repeated)
    return names_subject and not question.is_attribute


class _Echo(NamedTuple):
    """How far a clause repeats the question: `link_end` is behind the verb that ends it, or 0."""

    end: int
    link_end: int
    length: int


def _read_han(clause: str, question: Question) -> _Echo:
    """The echo of a Chinese clause: pieces of the question, fillers (图中), and verbs (是)."""
    place, length, link_end = 0, 0, 0
    while place < len(clause) and not (0 < link_end == place and clause[place] in OPENING):
        if match := words("echo_link").match(clause, place):
            place = link_end = match.end()
        elif match := words("echo_subject").match(clause, place):
            place, length = match.end(), length + 2 * (place == 0)
        elif (size := _shared(clause, place, question.echo)) >= 2:
            place, length = place + size, length + size
            if question.before and re.sub(r"\W", "", clause[:place]).endswith(question.before):
                link_end = place
        elif match := words("echo_filler").match(clause, place):
            place = match.end()
        else:
            break
    if not link_end and length and words("number_begin").match(clause, place):
        link_end = place
    return _Echo(place, link_end, length)


def _shared(clause: str, place: int, echo: str) -> int:
    """The length of the longest text from a place on that the question has too, up to a verb."""
    size = 0
    while place + size < len(clause) and clause[place : place + size + 1] in echo:
        size += 1
        if size >= 2 and words("echo_link").match(clause, place + size):
            break
    return size


def _read_english(clause: str, question: Question) -> _Echo:
    """The echo of an English clause: words of the question, fillers, and verbs."""
    end, length, link_end = 0, 0, 0
    for match in _WORD.finditer(clause):
        word = match[0]
        if link_end and word in OPENING:
            break
        if words("echo_link_english").fullmatch(word) or (link_end and word in ("of", "in", "on")):
            link_end = match.end()
            length += word.startswith("mean")
        elif words("echo_noun_english").fullmatch(word):
            length += 1
        elif word in question.words or word.rstrip("s") in question.words:
            length += len(word) > 3
            link_end = match.end() if link_end else link_end
        elif not words("echo_filler_english").fullmatch(word):
            break
        end = match.end()
    if not link_end and length and words("number_begin").match(clause, end + 1):
        link_end = end
    return _Echo(end, link_end, 2 * length)


def _without_tail(phrase: str, question: Question) -> str:
    """A phrase without the end of the question (停在什么植物**上**)."""
    folded = fold(phrase)
    endings = (question.tail, *(mark for mark in _LOCATIVES if question.tail.endswith(mark)))
    tail = next((mark for mark in endings if mark and folded[1:].endswith(mark)), "")
    return phrase[: len(phrase) - len(tail)].removesuffix("的") if tail else phrase
