"""Passages: transcriptions, punctuated texts, translations, and open answers.

A response is divided into paragraphs by blank lines and labels (译文：, Note:). Those that are the
passage are read; where one between them or before them is something else, it is unclear.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from keju.extraction.answer import FENCE, Answer, Reading, behind_last, plain, unclear
from keju.extraction.answer import sentences_of as sentences
from keju.extraction.words import fold, has, words
from keju.text import count_han

FORMS = ("transcription", "punctuated", "translation", "text")
_KINDS = ("note", "original", "translation", "punctuated", "source")
_LABEL_END = r"(?:如下|是|为)?[\s*_]*(?:\([^()]*\))?[\s*_】\])]*(?::[\s*_]*|(?<=[】\])*])\s*|$)"
_GLOSS = re.compile(rf"\s*[(（][^()（）]*(?:{words('gloss').pattern})[^()（）]*[)）]$")
_QUOTED = re.compile(r"“([^“”]+)”|「([^「」]+)」|\"([^\"]+)\"|\*\*([^*]+)\*\*")


class Part(NamedTuple):
    """A paragraph: the kind and number of the label that it stands under, and its text."""

    kind: str
    label: int
    text: str


def _label(line: str) -> tuple[str, str] | None:
    """The kind of label with which a line begins, and what follows it on the line."""
    folded = fold(line)
    for kind in _KINDS:
        start = rf"[\s>#*_【\[(]*(?:{words('label_' + kind).pattern}){_LABEL_END}"
        found = re.match(start, folded, re.IGNORECASE)
        if found and (found.end() == len(line) or found[0].rstrip()[-1:] in ":】])*"):
            return kind, line[found.end() :]
    if re.search(r":[\s*_]*$", folded) and len(folded) < 80 and has("modern", folded):
        kinds = [kind for kind in _KINDS[1:] if has("label_" + kind, folded)]
        return (kinds[-1] if kinds else "preamble"), ""
    return None


def _parts(body: str) -> list[Part]:
    """The paragraphs of a body, each with the label that it stands under; 0 is no label."""
    parts: list[Part] = []
    lines: list[str] = []
    kind, label = "", 0
    for line in [*body.split("\n"), ""]:
        found = _label(line)
        if (found or not line.strip()) and (text := _cleaned("\n".join(lines))):
            parts.append(Part(kind, label, text))
        lines = [] if found or not line.strip() else lines
        kind, rest, label = (*found, label + 1) if found else (kind, line, label)
        lines += [rest] if plain(rest) else []
    return [part for part in parts if part.kind != "note"]


def _cleaned(text: str) -> str:
    """A passage without labels of its lines, glosses behind them, and quotation marks around it."""
    lines = []
    for line in map(plain, text.split("\n")):
        label = words("line_label").match(fold(line))
        lines.append(_GLOSS.sub("", line[label.end() :] if label else line))
    passage = "\n".join(line for line in lines if line.strip())
    found = _QUOTED.fullmatch(passage)
    return next(each for each in found.groups() if each) if found else passage


def _is_source(text: str) -> bool:
    """Whether a text is one from a page: nearly all Han, and without words of a modern comment."""
    letters = sum(char.isalnum() for char in text)
    labelled = len(text) < 60 and has("page_label", fold(text))
    modern = labelled or has("modern", fold(text))
    return letters > 0 and count_han(text) >= 0.9 * letters and not modern


def _stated(answer: Answer) -> str | None:
    """The passage in a field, or in the only code fence."""
    found = answer.json if isinstance(answer.json, list) else [answer.json]
    pairs = [pair for each in found if isinstance(each, dict) for pair in each.items()]
    texts = [text for key, text in pairs if has("passage_key", fold(key))]
    if texts and all(isinstance(each, str) for each in texts):
        return "\n".join(texts)
    fences = FENCE.findall(answer.body)
    return answer.field or (fences[0] if len(fences) == 1 else None)


def reader(form: str) -> Callable[[Answer], Reading]:
    """The function that reads a passage of a form."""
    if form == "text":
        return _read_text
    return _read_translation if form == "translation" else lambda answer: _read_source(answer, form)


def _read_source(answer: Answer, form: str) -> Reading:
    """The text of the page under its label, else the paragraphs that are source."""
    body = behind_last("revision", answer.body).strip()
    if (stated := _stated(answer)) is not None:
        return Reading("read", stated, "field") if _is_source(stated) else unclear("mixed")
    parts = [part for part in _parts(body) if part.kind != "translation"]
    labelled = [part for part in parts if part.kind == {"transcription": "source"}.get(form, form)]
    some = labelled or [part for part in parts if part.kind != "original" or form != "punctuated"]
    source = [_is_source(part.text) for part in some]
    if source.count(True) != 1:
        return unclear("several" if any(source) else "silent")
    first = source.index(True)
    if any(has("refusal", fold(part.text)) for part in some[:first]):
        return unclear("refusal")
    text = some[first].text
    if form == "punctuated" and len(text) > 12 and not re.search(r"[，。；：？！,;:?!.]", text):
        return unclear("unpunctuated")
    return Reading("read", text, "labelled" if labelled else "paragraph")


def _read_translation(answer: Answer) -> Reading:
    """The one translation that the response gives."""
    body = behind_last("revision", answer.body).strip()
    if (stated := _stated(answer)) is not None:
        return Reading("read", _cleaned(stated), "field")
    parts = _parts(body)
    some = [part for part in parts if part.kind == "translation"]
    if len({part.label for part in some}) > 1 or (not some and has("versions", fold(body))):
        return unclear("several")
    some = some or [part for part in parts if part.kind != "original"]
    while len(some) > 1 and has("remark", fold(some[-1].text)):
        some.pop()
    text = "\n".join(part.text for part in some)
    if not text or has("refusal describes about_text", fold(text)):
        return unclear("mixed" if text else "silent")
    return Reading("read", text, "labelled" if some[0].kind == "translation" else "paragraphs")


def _read_text(answer: Answer) -> Reading:
    """The whole open answer, without what only introduces it and offers of further help."""
    text = re.sub(r"^\s*答[:：]\s*", "", answer.body)
    while len(said := sentences(text)) > 1 and has("preamble", fold(said[0])) and len(said[0]) < 90:
        text = text.lstrip().removeprefix(said[0]).lstrip("\n -")
    while len(said := sentences(text)) > 1 and has("offer", fold(plain(said[-1]))):
        text = text.rstrip().removesuffix(said[-1]).rstrip()
    refused = has("refusal", fold(said[0]))
    return unclear("refusal") if refused else Reading("read", text.strip(), "whole")
