"""A response cut into pieces, each with its role: label, text, remark, note, draft, version.

The pieces are lines, and of a line its first and last sentences where these are remarks. A
piece whose role is not clear from its wording stays text: it is worse to cut the text of a page
than to keep a remark.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator
from functools import cache
from typing import NamedTuple

from keju.scoring.han_scripts import is_simplified, is_traditional
from keju.scoring.remarks import ONE_WORD, PassageForm, is_denied, is_modern, is_remark
from keju.scoring.response_lines import CLOSING, lines_of, sentences_of_line
from keju.scoring.wordings import expression, fold, wording
from keju.text import has_han, is_han

_KINDS = ("draft", "unpunctuated", "variant", "aside", "version", "final", "punctuated",
          "translation", "reading", "original", "place")  # fmt: skip
_LABEL = re.compile(r"(?P<label>[^:：\n。！？!?]{1,60})[:：](?P<rest>.*)\Z", re.DOTALL)
_BRACKETED = re.compile(
    r"[【〖\[（(〔](?P<label>[^】〗\]\n）)〕]{1,24})[】〗\]）)〕]\s*[:：]?(?P<rest>.*)\Z", re.DOTALL
)
_PLACE_QUOTED = re.compile(
    r"(?P<label>[\u4e00-\u9fff]{2,4})(?P<rest>“[^“”]+”|「[^「」]+」|『[^『』]+』)[，,。；;]?"
)
_NUMBERING = re.compile(
    r"\s*(?:[0-9]{1,2}|[一二三四五六七八九十]{1,2})[.、)）．]\s*|\s*step [0-9]+[.:]?\s*"
)
_IN_BRACKETS = re.compile(r"[(（\[【][^()（）\[\]【】]{0,40}[)）\]】]")
_EDGES = re.compile(r"^[\W_]+|[\W_]+$")
_MARKUP = re.compile(r"\*\*|__|`|~~|</?(?:b|i|u|em|strong|p|div|span|center)>", re.IGNORECASE)
_QUOTE_MARK = re.compile(r"[ \t]*(?:>[ \t]?)+")
_HEADING = re.compile(r"[ \t]*#{1,6}[ \t]+")
_BULLET = re.compile(r"[ \t]*(?:[-*•·●◦▪][ \t]+|[→↓➡][ \t]*)")
_RULE = re.compile(r"[ \t]*(?:[-*_=—─][ \t]*){3,}\Z")
_NOTE_AT_END = re.compile(
    r"(?P<note>[…\s]*[（(\[【〔][^（()）\[\]【】〔〕]{2,300}[）)\]】〕]\s*[。.]?)\Z"
)
_LONG_QUOTE = re.compile(r"“[^“”]{8,}”|「[^「」]{8,}」|\"[^\"]{12,}\"")
_SAYS = re.compile(r"(?P<prefix>[^“”「」『』\"]{2,120})(?P<open>[“「『\"])")
_SHOULD_BE = ("应为", "应作")
_STOPS = " \t。.，,；;：:"
_LONGEST_SAYING = 140
_MOST_QUOTES = 8
_FENCE = re.compile(r"[ \t]*(?:```|~~~)")
_COLON = re.compile(r"[:：]|\s?→")
_LONGEST_PREFIX = 120
_LONGEST_LABEL, _LONGEST_LEAD = 40, 24
_SHORTEST_HEADING = 4
_MOST_PIECES = 12


class Piece(NamedTuple):
    """A line of a response, or a part of one.

    Attributes:
        text: the text without its label and markup.
        kind: ``plain``; the kind of the label that it is under; or ``remark``.
        fenced: whether it is in a code fence.
        paragraph: the number of the paragraph.
        version: the number of the version of a translation; 0 where there is one only.
        name: the label of the version.
    """

    text: str
    kind: str
    fenced: bool = False
    paragraph: int = 0
    version: int = 0
    name: str = ""


@cache
def kind_of_label(label: str) -> str:
    """The kind of a label, or an empty string for one that is not known."""
    plain = _IN_BRACKETS.sub("", fold(_MARKUP.sub("", label)))
    plain = _NUMBERING.sub("", plain, count=1) if _NUMBERING.match(plain) else plain
    plain = _EDGES.sub("", plain)
    if not plain or len(plain) > _LONGEST_LABEL:
        return ""
    for kind in _KINDS:
        if _label_pattern(kind).fullmatch(plain):
            return kind
    return ""


@cache
def _label_pattern(kind: str) -> re.Pattern[str]:
    qualifier = expression("labels", "qualifier")
    return re.compile(rf"{qualifier}{{0,4}}?{expression('labels', kind)}{{1,2}}{qualifier}{{0,3}}")


def pieces_of(body: str, form: PassageForm) -> list[Piece]:
    """The pieces of a body in order."""
    return list(_Reader(form).read(body))


class _Reader:
    """The state of reading: the section that the last label opened, the paragraph, the fence."""

    def __init__(self, form: PassageForm) -> None:
        self._form = form
        self._kind = "plain"
        self._inline = False
        self._fenced = False
        self._paragraph = 0
        self._version = 0
        self._name = ""
        self._body = ""
        self._first = True
        self._listed = False

    def read(self, body: str) -> Iterator[Piece]:
        self._body = body
        for raw in lines_of(body, kind_of_label):
            if _FENCE.match(raw):
                self._fenced = not self._fenced
                self._next_paragraph()
            elif not raw.strip() or _RULE.match(raw):
                self._next_paragraph()
            else:
                yield from self._line(raw)
                self._first = False

    def _next_paragraph(self) -> None:
        self._paragraph += 1
        if self._inline:
            self._kind, self._inline = "plain", False

    def _line(self, raw: str) -> Iterator[Piece]:
        heading = bool(_HEADING.match(raw)) or _emphasised(raw)
        line = _QUOTE_MARK.sub("", raw, count=1) if _QUOTE_MARK.match(raw) else raw
        line = _HEADING.sub("", line, count=1) if _HEADING.match(line) else line
        listed = bool(_BULLET.match(line) or _NUMBERING.match(line))
        if self._kind == "aside" and self._listed and not listed:
            self._kind = "plain"
        self._listed = listed
        line = _BULLET.sub("", line, count=1) if _BULLET.match(line) else line
        line = _MARKUP.sub("", line).strip()
        if not line:
            return
        labelled = self._labelled(line, heading=heading)
        if labelled is None:
            yield from self._sentences(line)
        elif labelled:
            yield from self._sentences(labelled)

    def _labelled(self, line: str, *, heading: bool) -> str | None:
        """The text after the label of a line; None if the line has no label."""
        found = _BRACKETED.match(line) or _LABEL.match(line) or _PLACE_QUOTED.fullmatch(line)
        label, rest = (found["label"], found["rest"].strip()) if found else ("", "")
        kind = kind_of_label(label) if label else ""
        alone = heading or line.endswith((":", "：")) or self._is_lone_heading(line)
        if not kind and alone and len(line) <= _LONGEST_LABEL:
            kind, rest = kind_of_label(line) or self._announced_by(line), ""
        if not kind or (rest and not self._is_label(label, kind, rest)):
            return None
        self._open(kind, inline=bool(rest), name=fold(label or line))
        return rest

    def _announced_by(self, line: str) -> str:
        """The kind of text that a line with a colon at its end announces by a word; or nothing."""
        if not line.endswith((":", "：")) or re.search(r"[说道问答曰云写题][:：]$", line):
            return ""
        kind = _announced_kind(line.rstrip(":："), self._form)
        return "" if kind in {"reading", "aside"} else kind

    def _is_lone_heading(self, line: str) -> bool:
        """Whether a line is a paragraph by itself that names a final text, without a mark."""
        return (
            len(line) >= _SHORTEST_HEADING
            and kind_of_label(line) in {"final", "punctuated", "translation"}
            and re.search(rf"(?:\A|\n\s*\n)\W*{re.escape(line)}\W*\n\s*\n", self._body) is not None
        )

    def _is_label(self, label: str, kind: str, rest: str) -> bool:
        """Whether the words before a colon are a label, and no part of a commentary (注：…)."""
        if label[:1] in "（(" and kind != "place":
            return False
        if fold(label).strip() not in ONE_WORD or self._form == "translation":
            return True
        if self._first and fold(label).strip() == "答":
            return not re.search(r"\n\s*[问答問][:：]", self._body)
        return is_remark(rest, self._form) or is_modern(rest)

    def _open(self, kind: str, *, inline: bool, name: str = "") -> None:
        self._name = name or self._name
        if kind == "version" or (kind in {"translation", "final"} and self._kind == kind):
            self._version += 1
        if kind == "place":
            if self._kind not in {"plain", "aside", "remark"}:
                return
            inline = False
        elif kind == "version":
            kind = "translation"
        self._kind = kind
        self._inline = inline and kind in {"aside", "variant", "draft", "unpunctuated"}

    def _sentences(self, line: str) -> Iterator[Piece]:
        """The line, with remarks at its beginning and end as pieces of their own."""
        if self._fenced:
            yield self._piece(line)
            return
        note = ""
        if (tail := _NOTE_AT_END.search(line[-320:])) and is_remark(
            tail["note"].strip(" …\t（()）[]【】〔〕。."), self._form
        ):
            line, note = line[: len(line) - len(tail["note"])], tail["note"]
        if line.strip():
            yield from self._parts(line)
        if note:
            yield self._piece(note, "remark")

    def _parts(self, line: str) -> Iterator[Piece]:
        line = yield from self._announced(line)
        line = yield from self._read_statement(line)
        for _ in range(_MOST_QUOTES):
            if (rest := (yield from self._read_quotation(line))) is None:
                break
            line = rest
        if not line.strip(_STOPS):
            return
        parts = sentences_of_line(line)
        first, last = 0, len(parts)
        if line.startswith("—") and is_remark(parts[0], self._form):
            yield self._piece(line, "remark")
            return
        while first < last and first < _MOST_PIECES and is_remark(parts[first], self._form):
            first += 1
        while last > first and is_remark(parts[last - 1], self._form):
            last -= 1
        if first:
            yield self._piece("".join(parts[:first]), "remark")
        if last > first:
            yield self._piece("".join(parts[first:last]))
        if last < len(parts):
            tail = "".join(parts[last:])
            yield self._piece(tail, "remark")
            if tail.rstrip().endswith((":", "：")):
                self._open(_announced_kind(tail, self._form), inline=False)

    def _announced(self, line: str) -> Generator[Piece, None, str]:
        """The line after a sentence that announces the text (图中的文字是：…)."""
        for colon in _COLON.finditer(line[:_LONGEST_PREFIX]):
            prefix, rest = line[: colon.start()], line[colon.end() :]
            english = _introduces_in_english(prefix, rest)
            contrasts = self._form != "translation" and _contrasts(prefix, rest)
            if not (english or contrasts or _is_prefix(prefix, self._form)):
                continue
            if self._form == "translation" and len(_LONG_QUOTE.findall(line)) > 1:
                yield self._piece(line, "remark")
                return ""
            yield self._piece(line[: colon.end()], "remark")
            kind = _announced_kind(prefix, self._form)
            self._open(kind, inline=kind == "aside")
            return line[colon.end() :].strip()
        return line

    def _read_statement(self, line: str) -> Generator[Piece, None, str]:
        """The line after words that say what follows is on the image (图中的文字是…)."""
        head = fold(line[:_LONGEST_PREFIX])
        found = wording("passages", "subject").search(head)
        if not found or self._form == "translation" or self._kind in {"aside", "variant"}:
            return line
        rest = line[found.end() :].lstrip(_STOPS)
        if line[:1] in ONE_WORD or re.match(r"[^,，。]{1,8}所", rest):
            return line
        first = fold(re.split(r"[,，;；。(（]", rest[:_LONGEST_PREFIX])[0])
        if rest[:1] in CLOSING or not has_han(first) or _has_modern(first):
            return line
        yield self._piece(line[: found.end()], "remark")
        self._open(_announced_kind(line[: found.end()], self._form), inline=False)
        return rest

    def _read_quotation(self, line: str) -> Generator[Piece, None, str | None]:
        """The line after a sentence that says the text in quotation marks (印文为“…”), or None."""
        found = _SAYS.match(line[:_LONGEST_SAYING])
        if not found or self._kind in {"aside", "variant"}:
            return None
        prefix = fold(found["prefix"])
        end = line.find(CLOSING[found["open"]], found.end())
        tail = re.split(r"[。!?]", prefix)[-1]
        if end < 0 or not self._introduces(prefix[-40:], tail):
            return None
        if self._form != "translation" and is_denied(fold(line), found.end() - 1, end + 1):
            return None
        rest = line[end + 1 :].lstrip("。.，, ")
        inside = line[found.end() : end]
        if not has_han(inside) and self._form != "translation":
            return None
        self._open(_announced_kind(found["prefix"], self._form), inline=False)
        yield self._piece(found["prefix"], "remark")
        yield self._piece(inside)
        if rest.strip(_STOPS) and not _SAYS.match(rest[:_LONGEST_SAYING]):
            yield self._piece(rest, "remark")
            return ""
        return rest

    def _introduces(self, prefix: str, tail: str) -> bool:
        """Whether words before a quotation say that it is the text."""
        if self._form == "translation" and wording("passages", "translates", "{}[:,]?\\s*$").search(
            prefix
        ):
            return True
        says = wording("passages", "reads", "{}[:,]?\\s*$").search(prefix)
        denied = wording("passages", "not_read", "{}[:,]?\\s?$").search(prefix)
        return bool(says and is_remark(tail, self._form) and not denied)

    def _piece(self, text: str, kind: str = "") -> Piece:
        return Piece(
            text, kind or self._kind, self._fenced, self._paragraph, self._version, self._name
        )


def _introduces_in_english(prefix: str, rest: str) -> bool:
    """Whether English words before a colon introduce a text in Han characters."""
    words = re.findall(r"[A-Za-z]+", prefix)
    return len(words) > 1 and not has_han(prefix) and is_han(rest.strip(' *“「"')[:1] or " ")


def _contrasts(prefix: str, rest: str) -> bool:
    """Whether the few words before a colon are modern, or of another script than the text."""
    tail = re.split(r"[。!?！？\n]", prefix)[-1]
    if (
        len(tail) > _LONGEST_LEAD
        or re.search(r"[曰云道言]$", tail)
        or not is_han(rest.strip()[:1] or " ")
    ):
        return False
    modern = wording("passages", "never_classical").search(fold(tail)) is not None
    return modern or (is_simplified(tail, 1) and is_traditional(rest))


def _has_modern(flat: str) -> bool:
    return bool(
        wording("passages", "modern").search(flat) or wording("passages", "page").search(flat)
    )


def _emphasised(raw: str) -> bool:
    core = raw.strip()
    return core.startswith("**") and core.rstrip(":：").endswith("**")


def _is_prefix(prefix: str, form: PassageForm) -> bool:
    flat = fold(prefix)
    if re.search(r"[曰云]$", flat):
        return False
    tail = re.split(r"[。!?\n]", flat)[-1]
    if form == "translation":
        if re.search(r"(?:译|释|解)(?:为|作|成)$", tail):
            return True
        words = wording("passages", "translation").search(tail) or (
            wording("discourse", "announcement").search(tail)
            or (len(tail) <= _LONGEST_LEAD and wording("passages", "of_translating").search(tail))
        )
        return bool(words) and not re.search(r"[说道问答曰]$", tail)
    if wording("passages", "leads_in", "{}$").search(tail):
        return True
    return is_remark(tail, form) or bool(
        wording("discourse", "correction", "^{}").search(tail) and len(tail) < 30
    )


def _announced_kind(prefix: str, form: PassageForm) -> str:
    """The kind of what an announcement announces."""
    flat = fold(prefix)
    last = re.split(r"[。!?\n]", flat)[-1]
    found = (
        (
            "aside",
            wording("labels", "aside", r"(?:^|[^a-z]){}$").search(last)
            or wording("discourse", "note").fullmatch(last),
        ),
        ("translation", wording("passages", "announces_translation").search(last)),
        ("draft", wording("discourse", "reported").search(last)),
        ("final", wording("discourse", "correction").search(flat) or last.endswith(_SHOULD_BE)),
        ("punctuated", form == "punctuated" and re.search(r"标点|断句|\bpunctuat", last)),
        ("variant", re.search(r"简体|拼音|simplified|pinyin", last)),
        ("original", form != "transcription" and re.search(r"原文|original", last)),
    )
    return next((kind for kind, match in found if match), "reading")
