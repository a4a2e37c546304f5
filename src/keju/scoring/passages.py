"""The passage that a response gives: a transcription, a punctuated text or a translation."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from keju.scoring.blocks import Piece, kind_of_label, pieces_of
from keju.scoring.contrast import without_talk
from keju.scoring.extraction import Extracted, strict_body, without_fence
from keju.scoring.json_answers import json_passage
from keju.scoring.named_characters import named_character
from keju.scoring.quotations import (
    last_reading,
    quoted_text,
    stated_quotation,
)
from keju.scoring.remarks import PassageForm, is_modern, is_mostly_latin, is_remark
from keju.scoring.translations import one_translation, only_talks, without_original
from keju.scoring.unanswered import is_prose, only_declines
from keju.scoring.wordings import fold, wording
from keju.text import count_han, counted, han_only, has_han

LONGEST = 400_000
"""Longer responses are taken whole."""

_PREFERRED: dict[PassageForm, tuple[frozenset[str], ...]] = {
    "transcription": (
        frozenset({"final"}), frozenset({"reading"}), frozenset({"plain", "original", "place"}),
        frozenset({"unpunctuated"}), frozenset({"punctuated"}), frozenset({"variant"}),
        frozenset({"draft"}),
    ),
    "punctuated": (
        frozenset({"final"}), frozenset({"punctuated"}), frozenset({"reading"}),
        frozenset({"plain", "place"}), frozenset({"original"}), frozenset({"variant"}),
        frozenset({"draft"}),
    ),
    "translation": (
        frozenset({"final"}), frozenset({"translation"}), frozenset({"reading"}),
        frozenset({"plain", "place"}), frozenset({"variant"}), frozenset({"draft"}),
    ),
}  # fmt: skip
_BREAK = re.compile(r"<br\s?/?>", re.IGNORECASE)
_ROW_END = re.compile(r"</tr>\s*", re.IGNORECASE)
_CELL = re.compile(r"</?(?:table|thead|tbody|t[rdh])\b[^<>]{0,80}>", re.IGNORECASE)
_TAG = re.compile(r"<(?P<close>/?)(?P<tag>[A-Za-z_]{2,30})>")
_BOX = re.compile(
    r"\\boxed\s{0,3}\{(?:\\(?:text|mathrm|mathbf|textbf)\s{0,3}\{)?(?P<inside>[^{}]*)\}"
)
_STYLES = frozenset({"br", "em", "strong", "sub", "sup", "div", "span", "center"})
_MATHS = re.compile(
    r"(?:\$+|\\[(\[])?\s*\\(?:text|mathrm|mathbf|textbf)\s*\{(?P<inside>[^{}]*)\}\s*(?:\$+|\\[)\]])?"
)
_DENIED = re.compile(
    r"~~(?:(?!~~)[\s\S]){1,2000}~~"
    r"|[（(](?:而不是|而非|不是|并非|不作|not |rather than |instead of )[^（()）]{4,2000}[）)]"
)
"""The text that a response strikes out, or denies in parentheses."""
_FEWEST_HAN = 4
_PAIRS = {
    "“": "”",
    "「": "」",
    "『": "』",
    '"': '"',
    "‘": "’",
    "'": "'",
    "«": "»",
    "《": "》",
    "〈": "〉",
}
_OPENING, _LONGEST_UNMARKED = 60, 20
_LAST_NOTE = re.compile(r"\s*[（(\[【](?P<note>[^（()）\[\]【】]{1,300})[）)\]】]\s*[。.]?\Z")
_IN_BRACKETS = re.compile(r"[（(\[][^（()）\[\]]{4,}[）)\]]")
_LATIN_NOTE = re.compile(
    r"\s*[（(][^（()）\u4e00-\u9fff]{0,80}[A-Za-zÀ-ɏ]{2}[^（()）\u4e00-\u9fff]{0,80}[）)]"
)
_NUMBERED = re.compile(
    r"[\[(（【]?(?P<number>[0-9０-９]{1,3})(?:[.．、:：)）\]】]\s*|\s+)(?=\S)|(?P<circled>[①-⑳])\s*"
)
_FIRST = re.compile(r"1[.．、)）]\s*(?=[^\d\s])")
_TITLE = re.compile(r"\A《[^《》\n]{1,20}》\s?[:：]\s*(?=\S)")
_ATTRIBUTION = re.compile(r"[—–―-]{1,2}\s*[^，。,.]{2,30}")
_DOUBLE_END = re.compile(r"(?<=[。！？])[。.]\Z|(?<=[。！？][”」』])[。.]\Z")
_ITALIC = re.compile(r"\A\*(?P<inside>[^*]+)\*\Z")
_MARKS = re.compile(r"[，。、；：？！,.;:?!]")


def passage_of(text: str, form: PassageForm) -> Extracted:
    """The text that a response gives, without what the model says about it.

    Out of JSON, tags or a LaTeX box; else of the pieces of the response (`blocks`) those under the
    label that fits the form, or those under no label; without remarks, notes, drafts that a later
    version replaces, line labels and numbers. Of a response that only speaks about the text, what
    it quotes; of one that declines or describes, nothing.
    """
    body = strict_body(text)
    if not body.strip():
        return Extracted(None, "no answer after the reasoning" if text.strip() else "empty")
    found = json_passage(body, form)
    if found:
        return found
    inside = _BREAK.sub("\n", without_fence(_unwrapped(body)))
    inside = _CELL.sub("", _ROW_END.sub("\n", inside)) if "<td" in inside else inside
    if form == "translation" and only_declines(inside.strip()):
        return Extracted(None, "declines", inside)
    if form != "translation":
        inside = _revised(_DENIED.sub("", inside)) or _DENIED.sub("", inside)
        if said := last_reading(inside, bare=form == "transcription"):
            return said
    whole = Extracted(inside.strip(), "whole answer" if inside == text else "after the reasoning")
    return whole if len(inside) > LONGEST else _of_pieces(inside, form, whole)


def _of_pieces(  # noqa: PLR0911
    inside: str, form: PassageForm, whole: Extracted
) -> Extracted:
    if (
        form == "punctuated"
        and len(han_only(inside)) > _LONGEST_UNMARKED
        and not _MARKS.search(inside)
    ):
        return Extracted(None, "no punctuation is given", inside)
    pieces = pieces_of(_table_text(inside), form)
    if form == "transcription" and not _is_labelled(pieces, inside):
        if named := named_character(inside):
            return named
        if said := stated_quotation(inside):
            return Extracted(said, "quotation", inside)
    chosen = _chosen(pieces, form)
    if _breaks_off(inside, chosen, form):
        return Extracted(None, "breaks off before the text", inside)
    if chosen:
        kept = _finished([each.text for each in chosen], form)
        if kept == inside or counted(kept) == counted(inside):
            return whole._replace(answer=kept)
        return Extracted(kept, "text of the answer", inside)
    return _of_talk(pieces, form, whole)


def _of_talk(pieces: Sequence[Piece], form: PassageForm, whole: Extracted) -> Extracted:
    """The text that a response quotes which gives it nowhere else."""
    inside = whole.answer or ""
    if form == "translation" and only_talks(inside):
        return Extracted(None, "no text is given", inside)
    if not any(each.kind in {"remark", "aside"} for each in pieces):
        return whole
    spoken_of = [each._replace(kind="remark") if each.kind == "plain" else each for each in pieces]
    quoted = quoted_text(spoken_of, form)
    if quoted is None and not _only_speaks_of_it(inside):
        return whole
    return Extracted(quoted, "quotation" if quoted else "no text is given", inside)


def _breaks_off(inside: str, chosen: Sequence[Piece], form: PassageForm) -> bool:
    """Whether a response ends with the label of the text that is asked for, before the text."""
    last = inside.rstrip().rpartition("\n")[2]
    asked = {"translation": "translation", "punctuated": "punctuated"}.get(form, "reading")
    return (
        last.rstrip(" *").endswith((":", "："))
        and kind_of_label(last) == asked
        and not any(each.kind in {asked, "final"} for each in chosen)
    )


def _is_labelled(pieces: Sequence[Piece], inside: str) -> bool:
    """Whether a text of some length is under a label, and is not quoted there."""
    return any(
        each.kind in {"final", "reading"}
        and not any(mark in each.text or mark + each.text in inside for mark in _PAIRS)
        and count_han(each.text) >= _FEWEST_HAN
        and not is_modern(each.text)
        for each in pieces
    )


def _revised(body: str) -> str:
    """The text after the last line that announces a corrected version; "" without such a line.

    The version after the line must share most characters with the one before it: a line such as
    "corrections:" before single characters announces no version.
    """
    lines = body.split("\n")
    for place in range(len(lines) - 1, 0, -1):
        line = fold(lines[place]).rstrip(" *")
        if line.endswith(":") and wording("passages", "revises").search(line):
            before, after = (
                Counter(counted("\n".join(part))) for part in (lines[:place], lines[place + 1 :])
            )
            shared = (before & after).total()
            if 2 * shared > after.total() > 0 and 2 * after.total() > before.total() - len(line):
                return "\n".join(lines[place + 1 :]).strip()
    return ""


def transcription_of(text: str) -> Extracted:
    """The transcription in a response (`passage_of`)."""
    return passage_of(text, "transcription")


def _unwrapped(body: str) -> str:
    """The inside of one tag or box around the whole."""
    core = body.strip()
    if maths := _MATHS.fullmatch(core):
        return maths["inside"]
    found = list(_BOX.finditer(body))
    if found and found[-1]["inside"].strip():
        return found[-1]["inside"]
    return _untagged(body)


def _untagged(body: str) -> str:
    """The inside of the one element that a body has, without the text around it."""
    tags = [each for each in _TAG.finditer(body) if each["tag"].lower() not in _STYLES]
    if (
        len(tags) != 2
        or tags[0]["close"]
        or not tags[1]["close"]
        or tags[0]["tag"] != tags[1]["tag"]
    ):
        return body
    inside = body[tags[0].end() : tags[1].start()]
    return inside if inside.strip() else body


def _chosen(pieces: Sequence[Piece], form: PassageForm) -> list[Piece]:
    """The pieces that are the answer, by what their labels say."""
    usable = [each for each in pieces if each.kind not in {"remark", "aside"}]
    if form != "translation" and len(usable) < len(pieces) and is_prose(usable, pieces):
        return []
    if form == "translation":
        usable = without_original(usable)
    for kinds in _PREFERRED[form]:
        found = [
            each for each in usable if each.kind in kinds and any(c.isalnum() for c in each.text)
        ]
        if found:
            return _of_one_version(found, pieces, form)
    return []


def _of_one_version(found: list[Piece], pieces: Sequence[Piece], form: PassageForm) -> list[Piece]:
    if any(each.fenced for each in found) and form != "translation":
        fenced = [each for each in found if each.fenced]
        if 2 * _size(fenced) >= _size(found) or len({each.paragraph for each in fenced}) == 1:
            found = fenced
    if form == "translation":
        return one_translation(found, pieces)
    found = without_talk(_without_note(_without_latin(found)), form)
    return _punctuated(found) if form == "punctuated" else found


def _only_speaks_of_it(inside: str) -> bool:
    """Whether a response without a text declines, or describes the image."""
    flat = fold(inside)
    return bool(
        wording("discourse", "refusal").search(flat)
        or wording("passages", "describes").search(flat[:_OPENING])
    )


def _size(pieces: Sequence[Piece]) -> int:
    return sum(len(each.text) for each in pieces)


def _without_latin(found: list[Piece]) -> list[Piece]:
    """The pieces in Han characters; all where there are none (a page in another script)."""
    han = [each for each in found if not is_mostly_latin(each.text)]
    return han if any(has_han(each.text) for each in han) else found


def _without_note(found: list[Piece]) -> list[Piece]:
    """The pieces without a last paragraph that is in brackets as a whole."""
    if len(found) < 2 or found[-1].paragraph == found[-2].paragraph:
        return found
    bracketed = [bool(_IN_BRACKETS.fullmatch(each.text.strip())) for each in found]
    return found[:-1] if bracketed[-1] and sum(bracketed) == 1 else found


def _punctuated(found: list[Piece]) -> list[Piece]:
    """The pieces without a copy that has no punctuation, where one with punctuation follows."""
    marked = [each for each in found if _MARKS.search(each.text)]
    bare = [each for each in found if not _MARKS.search(each.text)]
    if not marked or not bare:
        return found
    left, right = (
        Counter(han_only("".join(each.text for each in bare))),
        Counter(han_only("".join(each.text for each in marked))),
    )
    shared = (left & right).total()
    return marked if shared >= 0.7 * left.total() and shared >= 0.5 * right.total() else found


def _finished(lines: list[str], form: PassageForm) -> str:
    """Lines joined, without numbers, quotation marks around the whole and notes in brackets."""
    lines = _unnumbered(lines)
    if form != "translation":
        lines = [_LATIN_NOTE.sub("", line) if has_han(line) else line for line in lines]
    bare = [_unquoted(line) for line in lines]
    lines = bare if len(lines) > 1 and all(map(str.__ne__, bare, lines)) else lines
    if len(lines) > 1 and _ATTRIBUTION.fullmatch(lines[-1].strip()):
        lines = lines[:-1]
    text = _DOUBLE_END.sub("", "\n".join(lines).strip())
    text = _TITLE.sub("", text, count=1) if form == "punctuated" else text
    while (note := _LAST_NOTE.search(text[-320:])) and _is_note(note["note"], form):
        kept = text[: len(text) - len(note[0])].strip()
        if not kept:
            break
        text = kept
    return _unquoted(text)


def _is_note(note: str, form: PassageForm) -> bool:
    return is_remark(note, form) or bool(re.match(r"[见参]", note) and len(note) > 40)


def _unnumbered(lines: list[str]) -> list[str]:
    """Lines without the numbers 1, 2, 3 … before each of them."""
    found = [_NUMBERED.match(line) for line in lines]
    if not all(found) or (len(lines) == 1 and not _FIRST.match(lines[0])):
        return lines
    numbers = [int(match["number"] or ord(match["circled"]) - 0x245F) for match in found if match]
    if numbers != list(range(numbers[0], numbers[0] + len(numbers))) or numbers[0] > 1:
        return lines
    return [line[match.end() :] for line, match in zip(lines, found, strict=True) if match]


def _unquoted(text: str) -> str:
    """A text without quotation marks that only quote the whole."""
    core = _ITALIC.sub(r"\g<inside>", text.strip())
    while len(core) > 2 and core[0] in _PAIRS and core.rstrip("。.")[-1:] == _PAIRS[core[0]]:
        tail = core.rstrip("。.")
        inside = tail[1:-1]
        if core[0] in inside or _PAIRS[core[0]] in inside:
            break
        core = inside.strip()
    return core


def _table_text(body: str) -> str:
    """A body whose Markdown tables are lines: of each row the cell with most Han characters."""
    if "|" not in body:
        return body
    return "\n".join(_rows(body.split("\n")))


def _rows(lines: Sequence[str]) -> Iterator[str]:
    for place, line in enumerate(lines):
        core = line.strip()
        if not (core.startswith("|") and core.endswith("|") and len(core) > 2):
            yield line
            continue
        cells = [cell.strip() for cell in core.strip("|").split("|")]
        ahead = lines[place + 1].strip() if place + 1 < len(lines) else ""
        if set("".join(cells)) <= set("-: ") or (ahead and set(ahead) <= set("|-: ")):
            continue
        yield max(cells, key=lambda cell: len(han_only(cell)), default="")
