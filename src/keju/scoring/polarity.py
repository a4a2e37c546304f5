"""Yes or no where a response says neither as a word of its own: from what its clauses state."""

from __future__ import annotations

import re

from keju.scoring.answers import Extracted
from keju.scoring.wordings import folded, wording
from keju.text import is_han

_CLAUSE = re.compile(r"[,，:：—]|\s-\s")
_EDGE = " \t\r\n\u3000*_`#>。.，,、:：;；!！'\"‘’“”「」『』()（）[]【】✅❌-"
_WORD = (
    r"^\s*(?:{})(?=\s*(?:[,。.;!:—()\-]|$"
    r"|\s(?:the|they|it|this|these|because|as|since|given|but)\b))"
)
_LONGEST = 4_000
_SENTENCES = 40
_COMMON = frozenset(
    [
        "the",
        "this",
        "that",
        "these",
        "those",
        "are",
        "and",
        "with",
        "from",
        "image",
        "can",
        "does",
        "they",
        "same",
    ]
)
_HAN_COMMON = frozenset(
    ["是否", "是不", "不是", "图中", "这两", "两个", "这个", "请用", "用是", "请回", "回答"]
)


def stated_yes_no(body: str, question: str = "") -> Extracted | None:
    """Yes or No from the clauses of a response; None where they state neither.

    A conclusion or a correction decides before what stands earlier; else the first clause that
    says yes or no, or affirms or denies what the question asks.
    """
    sentences = [
        each for each in re.split(r"(?<=[。！!?？；;\n])|(?<=\.)\s", body[-_LONGEST:]) if each
    ]
    first: Extracted | None = None
    last: Extracted | None = None
    for sentence in sentences[-_SENTENCES:]:
        flat = folded(sentence).strip(_EDGE)
        if not flat or flat.endswith(("吗", "?")) or wording("discourse", "reported").match(flat):
            continue
        said = _of_sentence(flat, folded(question))
        if said is None:
            continue
        found = Extracted(said or None, "statement" if said else "neither yes nor no", sentence)
        concludes = wording("yes_no", "decides").match(flat)
        if concludes or wording("discourse", "correction").search(flat):
            last = found
        first = first or found
    return last or first


def _of_sentence(flat: str, asked: str) -> str | None:
    """Yes, No, an empty text for a doubt, or None where a sentence says nothing of it."""
    if wording("yes_no", "doubt").search(flat):
        return ""
    core = flat
    for name in ("decides", "correction"):
        file = "yes_no" if name == "decides" else "discourse"
        while (lead := wording(file, name, "{}[,:\\s]*").match(core)) and lead.end():
            core = core[lead.end() :].strip(_EDGE)
    if wording("yes_no", "no", _WORD).match(core):
        return "No"
    if wording("yes_no", "yes", _WORD).match(core):
        return "Yes"
    clauses = [each.strip(_EDGE) for each in _CLAUSE.split(core)]
    for clause in reversed(clauses):
        said = _of_clause(clause, asked)
        if said:
            return said
    return None


def _of_clause(clause: str, asked: str) -> str:
    """Yes or No of a clause that speaks about what is asked; else an empty text."""
    denied = bool(wording("yes_no", "denies").search(wording("yes_no", "double").sub(" ", clause)))
    alike = wording("yes_no", "asks_alike").search(asked)
    if alike and wording("yes_no", "differs").search(clause):
        return "Yes" if re.search(r"不(?:相)?同|different", asked) else "No"
    if alike and wording("yes_no", "alike").search(clause) and _about(clause, asked):
        return "No" if denied else "Yes"
    if wording("yes_no", "joins").search(clause):
        return "No" if denied else "Yes"
    if _about(clause, asked):
        return "No" if denied else "Yes"
    return ""


def _about(clause: str, asked: str) -> bool:
    """Whether a clause has most of the asked predicate."""
    words, said = _contents(asked), _contents(clause)
    return bool(words) and len(words & said) >= max(1, (len(words) + 1) // 3)


def _contents(flat: str) -> set[str]:
    han = "".join(char if is_han(char) else " " for char in flat)
    pairs = {han[at : at + 2] for at in range(len(han) - 1) if " " not in han[at : at + 2]}
    words = {word[:6] for word in re.findall(r"[a-z]{4,}", flat)} - {w[:6] for w in _COMMON}
    return (pairs - _HAN_COMMON) | words
