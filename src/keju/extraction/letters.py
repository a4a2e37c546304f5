"""Multiple choice: the one option to which a response commits itself, by letter or by text."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import NamedTuple

from keju.extraction.answer import Answer, Reading, plain, sentences_of, unclear
from keju.extraction.completions import completions
from keju.extraction.words import fold, has, words

_LETTERS = "ABCDEFGH"
_CLAUSE = re.compile(r"[,;。!?\n]|\.\s|\b(?:but|while|whereas)\b|但是?|然而", re.IGNORECASE)

_SENTENCE_END = re.compile(r"[。!?\n]|\.(?=\s|$)")
_RANGE = re.compile(r"(?<![A-Za-z])[A-H]\s*(?:to|through|[-~–—至到])\s*[A-H](?![A-Za-z])")
"""Several options in a row; the A of "A to D" would be read as an article."""
_LONGEST_DENIAL = 40
"""Characters of the longest words that deny an option; the mention may cut them off."""


class Mention(NamedTuple):
    """A place where a text names an option, by its letter or its text."""

    letter: str
    start: int
    end: int


_Edges = tuple[tuple[re.Pattern[str], re.Pattern[str]], ...]
"""Patterns of what is before a text and what is behind it, one pair of which must match."""

_HAN = "[\u4e00-\u9fff]"
_BEHIND = re.compile("(?![a-z0-9])")
_OF_TEXT: _Edges = ((re.compile("(?<![不非])"), _BEHIND),)
"""不是 and 非楷书 do not name the options 是 and 楷书."""
_OF_WORD: _Edges = ((re.compile(r"(?<![不非])\b"), _BEHIND),)
_OF_CHARACTER: _Edges = (
    (re.compile(f"(?<!{_HAN})"), re.compile(f"[代朝]?(?!{_HAN})")),
    (re.compile("(?<=[是为于属])"), re.compile(f"[代朝](?!{_HAN})")),
)
"""A single character counts only as a word of its own."""


@lru_cache(maxsize=4)
def _option_texts(options: tuple[str, ...]) -> list[tuple[str, str, _Edges]]:
    """Letter, text in small letters and edges of the options, the longest text first."""
    texts = [(letter, fold(text).strip()) for letter, text in zip(_LETTERS, options, strict=False)]
    named_options = []
    for letter, text in sorted(texts, key=lambda pair: -len(pair[1])):
        is_word = text[:1].isascii() and text[:1].isalnum()
        edges = _OF_WORD if is_word else _OF_TEXT
        if len(text) == 1 and not text.isascii():
            edges = _OF_CHARACTER
        elif not (text := text.rstrip("。.")):
            continue
        named_options.append((letter, _in_small_letters(text), edges))
    return named_options


# Readers look for options in the same text several times.
@lru_cache(maxsize=16)
def _in_small_letters(text: str) -> str:
    """A text of the same length."""
    return "".join(char.lower()[0] for char in text) if "İ" in text else text.lower()


@cache
def _letter_pattern(count: int) -> re.Pattern[str]:
    """The letter of one of so many options; of an unknown number, of any."""
    last = _LETTERS[min(count or len(_LETTERS), len(_LETTERS)) - 1]
    article = r"(?<=A)\s+(?!(?:is|was|and|or|as|because)\b)[a-z]"
    return re.compile(
        rf"(?<![A-Za-z0-9'&./\-])[A-{last}](?![A-Za-z0-9'&\-]|\.\s?[A-Z]\b|{article})"
    )


def _mentions(text: str, options: tuple[str, ...]) -> list[Mention]:
    """The mentions of options in a folded text, in order; none overlaps another.

    Of several at one place, a letter comes first, then the longest text.
    """
    letters = _letter_pattern(len(options)).finditer(text)
    candidates = [Mention(match[0], match.start(), match.end()) for match in letters]
    small = _in_small_letters(text)
    for letter, option_text, edges in _option_texts(options):
        start = small.find(option_text)
        while start >= 0:
            for before, behind in edges:
                end = behind.match(text, start + len(option_text))
                if end and before.match(text, start):
                    candidates.append(Mention(letter, start, end.end()))
                    break
            start = small.find(option_text, start + 1)
    mentions: list[Mention] = []
    for mention in sorted(candidates, key=lambda mention: mention.start):
        if not mentions or mention.start >= mentions[-1].end:
            mentions.append(mention)
    return mentions


def value(text: str, answer: Answer) -> str | None:
    """The letter of a text that names one option and next to nothing else, or ``several``."""
    folded = fold(text).strip(" .。:")
    if re.fullmatch(r"[(\[]?[a-h][)\].:]*", folded) or re.match(r"\([a-h]\)|[a-h][).]\s?,", folded):
        folded = folded.upper()
    letters = {mention.letter for mention in _mentions(folded, answer.options)}
    if _RANGE.search(folded):
        return "several"
    if any(has("condition", note) for note in re.findall(r"\([^()]*\)", folded)):
        return None
    without_notes = re.sub(r"(?<=.)\([^()]*\)", "", folded)
    remainder, end = "", 0
    for mention in _mentions(without_notes, answer.options):
        remainder, end = remainder + without_notes[end : mention.start], mention.end
    remainder += without_notes[end:]
    if len(re.findall(r"\w", remainder)) > 6 or has("verdict denial", remainder):
        return None
    return "several" if len(letters) > 1 else next(iter(letters), None)


def contradicts(letter: str, quote: str, answer: Answer) -> bool:
    """Whether what follows a letter makes it conditional, or says that it is another option."""
    if _is_conditional(fold(plain(quote)), answer.folded):
        return True
    behind = sentences_of(answer.text[answer.text.rfind(plain(quote)) + len(plain(quote)) :])
    objections = [line for line in map(fold, behind) if has("but_begin", line)]
    rivals = {rival for rival, _ in _concluded(answer)}
    rivals |= {rival for line in objections for rival in _affirmed(line, answer.options)[0]}
    return bool(rivals - {letter})


def _is_conditional(quote: str, text: str) -> bool:
    """Whether a condition follows a quote: "B; if it is a copy", "would be B; if not, C".

    In "B; if the seal were clear, D too" the condition belongs to D.
    """
    for match in re.finditer(re.escape(quote), text):
        sentence = _SENTENCE_END.split(text[match.end() :].lstrip(" *,;"))[0]
        if words("condition").match(sentence) and not has("offer", sentence):
            is_alone = not re.search(r"[,;]\s*\w", sentence)
            if is_alone or re.search(r"\bwould\sbe\W*$", text[: match.start()]):
                return True
    return False


def otherwise(answer: Answer) -> Reading:
    """The option that completes the question, that a conclusion names, or the only one named."""
    text = answer.folded
    if answer.refuses:
        return unclear("refusal")
    for line in map(fold, answer.sentences):
        if "?" in line and _mentions(line, answer.options):
            return unclear("question")
    for rule, find in (("completes the question", _completing), ("concluded", _concluded)):
        pairs = find(answer)
        letters = {letter for letter, _ in pairs}
        if len(letters) == 1:
            return Reading("read", letters.pop(), rule, pairs[0][1])
        if letters:
            return unclear("several")
    affirmed, denied = _affirmed(text, answer.options)
    mentions = _mentions(text, answer.options)
    if len(affirmed) == 1 and mentions and not (denied or has("hedge option_list", text)):
        _, start, end = mentions[-1]
        plainly = text[start:end] not in _LETTERS or has("conclusion", text)
        if plainly and has("named_as", text[:start][-12:]):
            return Reading("read", affirmed.pop(), "only option named", text[start:end])
    return unclear("several" if affirmed else "silent")


def _completing(answer: Answer) -> list[tuple[str, str]]:
    """The letters of the options that complete the question, with the sentences."""
    pairs = []
    for completion in completions(answer, answer.text):
        remainder = fold(completion.remainder).lstrip("“”\"'「『《*( ")
        mention = next(iter(_mentions(remainder, answer.options)), None)
        if mention is None or mention.start or completion.is_elliptic:
            continue
        if not has("denied", _CLAUSE.split(remainder)[0]):
            pairs.append((mention.letter, completion.sentence))
    return pairs


def _concluded(answer: Answer) -> list[tuple[str, str]]:
    """The letters that the last clause with a conclusion names, with the clause."""
    sentence = fold(answer.sentences[-1])
    if has("hedge condition", sentence):
        return []
    for mention in reversed(_mentions(sentence, answer.options)):
        # The text of an option may have commas, a letter has none.
        sentence = f"{sentence[: mention.start]} {mention.letter} {sentence[mention.end :]}"
    for clause in reversed(_CLAUSE.split(sentence)):
        if has("conclusion", clause) and not has("denial denied draft", clause):
            pairs = [(mention.letter, clause) for mention in _mentions(clause, answer.options)]
            if pairs:
                return pairs
    return []


def _affirmed(text: str, options: tuple[str, ...]) -> tuple[set[str], set[str]]:
    """The letters of the options that a text names and does not deny, and of those it denies."""
    affirmed: set[str] = set()
    denied: set[str] = set()
    for clause in dict.fromkeys(_CLAUSE.split(text)):
        mentions = _mentions(clause, options)
        if not mentions:
            continue
        # A looping answer names options hundreds of times: search the clause only once.
        first_end = min((match.end() for match in words("denial").finditer(clause)), default=None)
        last_start = max((match.start() for match in words("denied").finditer(clause)), default=-1)
        for letter, start, end in mentions:
            is_denied = (
                (first_end is not None and first_end <= start)
                or last_start >= end
                or words("denial").search(clause, max(start - _LONGEST_DENIAL, 0), start)
                or has("denied", clause[end : end + _LONGEST_DENIAL])
            )
            (denied if is_denied else affirmed).add(letter)
    return affirmed, denied
