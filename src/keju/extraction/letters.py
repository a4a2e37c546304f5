"""Multiple choice: the one option to which a response commits itself, by letter or by text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
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


@lru_cache(maxsize=64)
def _option_pattern(options: tuple[str, ...]) -> re.Pattern[str]:
    """One group for each way to name an option: its letter, or its text."""
    last = _LETTERS[min(len(options) or len(_LETTERS), len(_LETTERS)) - 1]
    article = r"(?<=A)\s+(?!(?:is|was|and|or|as|because)\b)[a-z]"
    letter = (
        rf"(?<![A-Za-z0-9'&./\-])(?P<letter>[A-{last}])(?![A-Za-z0-9'&\-]|\.\s?[A-Z]\b|{article})"
    )
    texts = [
        (f"t{index}", fold(option).strip())
        for index, option in enumerate(options[: len(_LETTERS)])
        if option.strip()
    ]
    texts.sort(key=lambda pair: -len(pair[1]))
    groups = (f"(?P<{name}>{_option_text_pattern(text)})" for name, text in texts)
    return re.compile("|".join([letter, *groups]))


def _option_text_pattern(text: str) -> str:
    """The pattern of an option's text; a single character counts only as a word of its own."""
    if len(text) == 1 and not text.isascii():
        free, end = r"(?<![\u4e00-\u9fff])", r"(?![\u4e00-\u9fff])"
        return rf"{free}{text}[代朝]?{end}|(?<=[是为于属]){text}[代朝]{end}"
    edge = r"\b" if text[:1].isascii() and text[:1].isalnum() else ""
    # 不是 and 非楷书 do not name the options 是 and 楷书.
    return rf"(?<![不非]){edge}(?i:{re.escape(text.rstrip('。.'))})(?![a-z0-9])"


def _mentions(text: str, options: tuple[str, ...]) -> Iterator[Mention]:
    """The mentions of options in a folded text, in order."""
    for match in _option_pattern(options).finditer(text):
        kind = match.lastgroup or ""
        letter = match[0] if kind == "letter" else _LETTERS[int(kind[1:])]
        yield Mention(letter, match.start(), match.end())


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
    remainder = _option_pattern(answer.options).sub("", without_notes)
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
        if "?" in line and any(_mentions(line, answer.options)):
            return unclear("question")
    for rule, find in (("completes the question", _completing), ("concluded", _concluded)):
        pairs = find(answer)
        letters = {letter for letter, _ in pairs}
        if len(letters) == 1:
            return Reading("read", letters.pop(), rule, pairs[0][1])
        if letters:
            return unclear("several")
    affirmed, denied = _affirmed(text, answer.options)
    mentions = list(_mentions(text, answer.options))
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
        mention = next(_mentions(remainder, answer.options), None)
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
    for mention in reversed(list(_mentions(sentence, answer.options))):
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
        mentions = list(_mentions(clause, options))
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
