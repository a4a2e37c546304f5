"""Yes or no: the word itself, or the question's own words affirmed or denied in a conclusion."""

from __future__ import annotations

import re

from keju.extraction.answer import Answer, Reading, unclear
from keju.extraction.words import fold, has, pattern_of, words
from keju.text import has_han

_LEAD = rf"^[\s\W]*(?:(?:{pattern_of('softly')})[\s,:]*)*[\s\W]*"
_YES = re.compile(rf"{_LEAD}(?:{pattern_of('yes')})(?=\W*$)", re.IGNORECASE)
_NO = re.compile(rf"{_LEAD}(?:{pattern_of('no')})(?=\W*$)", re.IGNORECASE)
_BEGUN = re.compile(
    rf"{_LEAD}(?:({pattern_of('yes')})(?=\s*[,.。;:!(—–-])|(yes|indeed|是的|对的|没错)\b"
    rf"|(?:{pattern_of('no')})(?=\s*[,.。;:!(—–-])|(?:no|nope|不是|没有|并非))",
    re.IGNORECASE,
)


def value(text: str, answer: Answer) -> str | None:
    """The yes or no that a text says, by the word alone or with the question's words."""
    folded = re.sub(r"\([^()]*\)\s*$", "", fold(text[:99])).lower()
    if has("both", folded):
        return None
    yes, no = _YES.match(folded), _NO.match(folded)
    if bool(yes) != bool(no):
        return "Yes" if yes else "No"
    return _echo(folded, answer.query) if len(folded) < 60 else None


def otherwise(answer: Answer) -> Reading:
    """The word with which the response begins or ends, or what its conclusion says."""
    # A repeated question does not answer it.
    lines = [fold(line).lower() for line in answer.sentences if line[-1] not in "?？吗"]
    if not lines:
        return unclear("question")
    if has("both", "\n".join(lines)):
        return unclear("both")
    firm = [line for line in lines if not has("draft", line)]
    tails = [match for line in firm for match in words("tail").finditer(line)]
    values = {"Yes" if match[1] else "No" for match in tails}
    last_paragraph = fold(answer.text.rsplit("\n", 1)[-1]).lower()
    for line in (lines[0], last_paragraph, lines[-1]):
        if (match := _BEGUN.match(line[:99])) and not re.search("也(?:可能|许)", line):
            values.add("Yes" if match[1] or match[2] else "No")
    if not values and answer.refuses:
        return unclear("refusal")
    ending = [line for line in lines if has("conclusion", line)]
    decisive = [lines[0], *ending, lines[-1]]
    values |= {word for line in decisive if (word := _echo(line, answer.query))}
    restated = {word for line in decisive for word in _restated(line, answer.query)}
    values |= restated if not values else restated - {"unclear"}
    if len(values) != 1 or "unclear" in values:
        return unclear("several" if values else "silent")
    return Reading("read", values.pop(), "stated", answer.sentences[0])


def _echo(sentence: str, query: str) -> str | None:
    """Whether a sentence says that two things are the same, or can be joined, if that was asked."""
    kind = next((name for name in ("same", "joined") if has("key_" + name, query)), "")
    if not kind or has("embedded draft condition", sentence):
        return None
    values: set[str | None] = {"No"} if kind == "same" and has("different", sentence) else set()
    for match in words("key_" + kind).finditer(sentence):
        clause = re.split(r"[,;:，；]|\bbut\b|但", sentence[: match.start()])[-1]
        is_asserted = has("asserted", clause + match[0]) and not has("hedge", clause)
        values.add("No" if has("denial negative", clause) else "Yes" if is_asserted else None)
    return values.pop() if len(values) == 1 else None


def _restated(sentence: str, query: str) -> set[str]:
    """Yes or No of the clauses of a sentence that affirm or deny what the question asks."""
    question = words("instruction").sub("", query).split("\n")[0]
    match = words("predicate").search(question)
    predicate = next(filter(None, match.groups()), "").replace("了", "") if match else ""
    if has("negative", predicate or question) or has("embedded draft condition hedge", sentence):
        return set()
    if has_han(question):
        parts = [predicate[at : at + 2] for at in range(len(predicate) - 1)]
    else:
        parts = [word for word in re.findall(r"[a-z]{2,}", question) if not has("auxiliary", word)]
    values = set()
    is_contrast = has("contrast", sentence)
    for clause in re.split(r"[,;，；。]|\bbut\b|但|而是", sentence):
        shared = [part for part in parts if part in clause.replace("了", "")]
        if not shared or len(shared) < 0.5 * len(parts) or shared[-1] != parts[-1]:
            continue
        negations = len(words("negation").findall(clause))
        if negations or not (is_contrast or len(shared) < 0.8 * len(parts)):
            values.add(("Yes", "No", "unclear")[min(negations, 2)])
    return values
