"""Passages: transcriptions, punctuated texts, translations, and open answers.

A response is divided into paragraphs by blank lines and labels (译文：, Note:). The passage is what
a field, a code fence, a label or quotation marks enclose, or the only paragraph that is a text from
a page. Without them it is all that follows the reasoning: a passage is never unclear because talk
is mixed with it.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from keju.extraction.answer import FENCE, Answer, Reading, behind_last, plain, sentences_of
from keju.extraction.words import fold, has, pattern_of, refuses, words
from keju.text import count_han

FORMS = ("transcription", "punctuated", "translation", "text")
_KINDS = ("note", "original", "translation", "punctuated", "source")
_LABEL_OF = {"transcription": "source", "punctuated": "punctuated", "translation": "translation"}
_LABEL_END = r"(?:如下|是|为)?[\s*_]*(?:\([^()]*\))?[\s*_】\])]*(?::[\s*_]*|(?<=[】\])*])\s*|$)"
_LABELS = {
    kind: re.compile(rf"[\s>#*_【\[(]*(?:{pattern_of('label_' + kind)}){_LABEL_END}", re.IGNORECASE)
    for kind in _KINDS
}
_LEAD = re.compile(
    r"[\s>#*_【\[]*([^:。!?;“「\n]{1,80}?)(?:[】\])*_]*:[\s*_]*|(?<=[文字容][是为])(?=[^:]*$)|(?<=\w)$)"
)
"""Words before a colon (图中文字：…), before 是 (图中的文字是…), or all of a heading."""
_GLOSS = re.compile(rf"\s*[(（][^()（）]*(?:{pattern_of('gloss')})[^()（）]*[)）]$", re.IGNORECASE)
_GROUNDED = re.compile(
    r"<\|(?:box|quad)_start\|>[^<\n]{0,80}<\|(?:box|quad)_end\|>"
    r"|<\|ref\|>[^<\n]{0,80}<\|/ref\|>\s{0,4}(?:<\|det\|>[^<\n]{0,400}<\|/det\|>)?[ \t]*\n?"
)
"""The kind of a block and its box, which models for documents write before its text."""
_TABLE_HEAD = re.compile(r"^\|[^\n]*\n\|[ \t:|\-]+$\n?", re.MULTILINE)
_TAG = re.compile(r"</?[a-z_]{3,20}>|^[(（]共?\s?\S{1,4}[字行列][)）]$", re.MULTILINE)
"""An element around a passage, and a line that counts its characters."""
_QUOTED = re.compile(r"“([^“”]+)”|「([^「」]+)」|『([^『』]+)』|\"([^\"]+)\"|\*\*([^*]+)\*\*")
_INTRODUCED = re.compile(
    r"(?:[为為是作]|(?<![曰云])[:：]|reads?|says)[\s:：,，]{0,3}(?:“([^“”]+)”|「([^「」]+)」|『([^『』]+)』"
    r"|\*\*([^*\n]+)\*\*)"
)
_MARKS = re.compile(r"[，。；：？！,;:?!.]")
_LONGEST_REFUSAL = 600
"""Characters of a response that may be a refusal and nothing else."""
_LONGEST_LINE = 2_000
"""Characters of a line that may begin with a label."""
_LONGEST = 100_000
"""Characters of a response that is divided into paragraphs; a longer one is read as it is."""


class Part(NamedTuple):
    """A paragraph: kind, number and name of the label above it, and its text."""

    kind: str
    label: int
    name: str
    text: str


def read(answer: Answer, form: str) -> Reading:
    """The passage of a response in one of the `FORMS`."""
    if len(answer.body) > _LONGEST:
        return Reading("read", answer.body, "all", answer.body[:80])
    if form == "text":
        return _read_text(answer)
    reading = _read_translation(answer) if form == "translation" else _read_source(answer, form)
    if reading is not None:
        return reading
    first_lines = [fold(line[:_LONGEST_REFUSAL]) for line in answer.sentences[:3]]
    if any(refuses(line) and has("about_image", line) for line in first_lines):
        # No field, label, quotation or paragraph is a text from a page.
        return Reading("none", rule="refusal", quote=answer.sentences[0])
    return Reading("read", _cleaned(_GROUNDED.sub("", answer.body)), "all", answer.body[:80])


def is_only_refusal(answer: Answer) -> bool:
    """Whether every sentence refuses, doubts, or asks for something else, and nothing is chosen."""
    if len(answer.body) > _LONGEST_REFUSAL:
        return False
    lines = [fold(line) for line in answer.sentences]
    if len(answer.body) > 12 and not has("about_image", answer.folded):
        return False  # 不知道 may be what the answer says of somebody.
    if not refuses(lines[0]) or has("tentative", words("sorry_but").sub("", answer.folded)):
        return False
    return all(has("refusal doubt excuse offer", line) for line in lines)


def _read_source(answer: Answer, form: str) -> Reading | None:
    """The text of the page as a field, label or quotation has it, or as the only paragraph."""
    if stated := _stated(answer):
        return stated
    body = behind_last("revision", _TAG.sub("", _GROUNDED.sub("", answer.body))).strip()
    parts = [part for part in _parts(body) if part.kind != "translation"]
    labelled = [part for part in parts if part.kind == _LABEL_OF[form]]
    candidates = labelled or [
        part for part in parts if part.kind != "original" or form != "punctuated"
    ]
    sources = [
        part.text for part in candidates if _is_source(part.text, is_labelled=bool(labelled))
    ]
    if labelled and len(sources) > 1 and len({part.label for part in labelled}) == 1:
        sources = ["\n".join(sources)]
    if form == "punctuated":
        sources = [text for text in sources if len(text) <= 12 or _MARKS.search(text)]
    if len(sources) == 1:
        rule = "label" if labelled else "paragraph"
        return Reading("read", sources[0], rule, sources[0][:80])
    quotes = [
        quote
        for match in _INTRODUCED.finditer(body)
        for quote in filter(None, match.groups())
        if len(quote) > 1 and _is_source(quote, is_labelled=True)
    ]
    if quotes and not sources:
        return Reading("read", quotes[-1], "quotation", quotes[-1][:80])
    return None


def _read_translation(answer: Answer) -> Reading | None:
    """The one translation that the response gives or recommends; None where talk is with it."""
    if stated := _stated(answer):
        return stated
    body = behind_last("revision", answer.body).strip()
    parts = _parts(body)
    labelled = [part for part in parts if part.kind == "translation"]
    if labelled:
        # Of several versions the one that it recommends, else the first.
        advice = words("recommended").search(fold(body))
        recommended = [part for part in labelled if advice and part.name[-1:] in advice[0]]
        version = (recommended or labelled)[0].label
        labelled = [part for part in labelled if part.label == version]
    others = [part for part in parts if part.kind != "original"]
    candidates = labelled or [part for part in others if not _is_source(part.text)] or others
    while len(candidates) > 1 and has("remark offer", fold(candidates[-1].text)):
        candidates.pop()
    text = "\n".join(part.text for part in candidates)
    if not text or has("refusal", fold(text)):
        return None
    if "".join(text.split()) == "".join(body.split()):
        text = body  # Nothing was dropped, so that its paragraphs stay.
    return Reading("read", text, "label" if labelled else "paragraphs", text[:80])


def _read_text(answer: Answer) -> Reading:
    """The whole open answer, without what only introduces it and offers of further help."""
    if is_only_refusal(answer):
        return Reading("none", rule="refusal", quote=answer.sentences[0])
    fields = list(answer.json.values()) if isinstance(answer.json, dict) else []
    fences = FENCE.findall(answer.body)
    text = fences[0] if len(fences) == 1 else answer.body
    text = fields[0] if len(fields) == 1 and isinstance(fields[0], str) else text
    text = re.sub(r"^\s*-{3,}\s*$", "", text, flags=re.MULTILINE)
    if len(re.findall(r"^\s*#{1,6} ", text, re.MULTILINE)) == 1:
        text = re.sub(r"\A\s*#{1,6} [^\n]*\n", "", text)
    text = words("text_label").sub("", text, count=1)
    lines = sentences_of(text)
    first, last = 0, len(lines)
    while first < last and has("preamble", fold(lines[first])) and len(lines[first]) < 90:
        text = text.lstrip().removeprefix(lines[first]).lstrip("\n -")
        first += 1
    while first < last and has("offer", fold(plain(lines[last - 1]))):
        text = text.rstrip().removesuffix(lines[last - 1]).rstrip()
        last -= 1
    return Reading("read", text.strip(), "all", text.strip()[:80])


def _stated(answer: Answer) -> Reading | None:
    """The passage in JSON, in another field, or in the only code fence."""
    records = answer.json if isinstance(answer.json, list) else [answer.json]
    pairs = [pair for record in records if isinstance(record, dict) for pair in record.items()]
    texts = [text for key, text in pairs if has("passage_key", fold(str(key)))]
    if texts and all(isinstance(text, str) for text in texts):
        return _enclosed("\n".join(texts), "JSON")
    if isinstance(answer.json, list) and all(isinstance(text, str) for text in answer.json):
        return _enclosed("\n".join(answer.json), "JSON")
    if answer.field:
        return _enclosed(answer.field, "JSON" if records != [None] else "field")
    fences = FENCE.findall(answer.body)
    return _enclosed(fences[0], "fence") if len(fences) == 1 else None


def _enclosed(text: str, rule: str) -> Reading:
    return Reading("read", _cleaned(text), rule, text[:80])


def _parts(body: str) -> list[Part]:
    """The paragraphs of a body, each with the label above it; 0 means none."""
    parts: list[Part] = []
    lines: list[str] = []
    kind, label, name = "", 0, ""
    for line in [*body.split("\n"), ""]:
        heading = _label(line) if len(line) <= _LONGEST_LINE else None
        if (heading or not line.strip()) and (text := _cleaned("\n".join(lines))):
            parts.append(Part(kind, label, name, text))
        lines = [] if heading or not line.strip() else lines
        kind, remainder, label = (*heading, label + 1) if heading else (kind, line, label)
        if heading:
            name = re.sub(r"\([^()]*\)|\W", "", fold(line[: len(line) - len(remainder)]))
        lines += [remainder] if plain(remainder) else []
    return [part for part in parts if part.kind != "note"]


def _label(line: str) -> tuple[str, str] | None:
    """The kind of label with which a line begins, and what follows it on the line."""
    folded = fold(line)
    for kind in _KINDS:
        match = _LABELS[kind].match(folded)
        if match and (match.end() == len(line) or match[0].rstrip()[-1:] in ":】])*"):
            return kind, line[match.end() :]
    lead = _LEAD.match(folded)
    if lead is None or not has("label_lead modern", lead[1]):
        return None
    is_heading, has_colon = folded.lstrip().startswith("#"), ":" in lead[0]
    # Before a passage on the same line only words for a text: a page may say 子曰：….
    if lead.end() < len(line) and not has("label_lead", lead[1]):
        return None
    if not (has_colon or is_heading or (lead.end() < len(line) and has("modern", lead[1]))):
        return None
    kinds = [kind for kind in _KINDS[1:] if has("label_" + kind, lead[1])]
    return (kinds[-1] if kinds else "preamble"), line[lead.end() :]


def _cleaned(text: str) -> str:
    """A passage without labels of its lines, glosses behind them, and quotation marks around it."""
    lines = []
    for row in map(plain, _TABLE_HEAD.sub("", text).split("\n")):
        line = row.rstrip("| ").rsplit("|", 1)[-1].strip() if row.startswith("|") else row
        label = words("line_label").match(fold(line[:_LONGEST_LINE]))
        lines.append(_GLOSS.sub("", line[label.end() :] if label else line))
    passage = "\n".join(line for line in lines if line.strip())
    quoted = _QUOTED.fullmatch(passage.rstrip("。. "))
    return next(inside for inside in quoted.groups() if inside) if quoted else passage


def _is_source(text: str, *, is_labelled: bool = False) -> bool:
    """Whether a text is one from a page: nearly all Han, and without words of a modern comment."""
    letters = sum(map(str.isalnum, text))
    if not letters or count_han(text) < 0.9 * letters:
        return False
    folded = fold(text)
    if is_labelled:
        return not has("comment", folded)
    return not (has("modern comment", folded) or (len(text) < 60 and has("page_label", folded)))
