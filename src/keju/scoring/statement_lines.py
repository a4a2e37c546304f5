"""The lines of a response as statements: headings, list labels and table cells become labels."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from keju.scoring.clause_parts import sentences_of
from keju.scoring.wordings import fold, wording

_MARKS = re.compile(r"^[ \t]*(?:(?:#{1,6}|>|[-*•·])(?=[ \t])[ \t]*|\d{1,2}[.、)）](?!\d)[ \t]*)+")
_HEADING = re.compile(r"^[ \t]*#{1,6}[ \t]")
_LISTED = re.compile(r"^[ \t]*(?:[-*•·][ \t]|\d{1,2}[.、)）])")
_ROW = re.compile(r"^[ \t]*\|(?P<cells>[^\n]+?)\|?[ \t]*$")
_RULE = re.compile(r"^[\s|:*=_—-]*$")
_BRACKETED = re.compile(r"^【[^】\n]{2,12}】$")
_BOLD_LINE = re.compile(r"^\*\*[^*\n]{1,40}\*\*[：:]?$")
_EMPHASIS = re.compile(r"\*\*|__")
_LONGEST_LABEL, _LONGEST_TITLE = 16, 30
_LABEL = re.compile(
    r"^[\s*]*(?P<label>(?![\s*])[^：:。，,;；\n“”「」\"→⇒=|]{1,40}?)[\s*]*"
    r"(?:[：:→⇒=]|—{1,2}|\s[–-]\s|？(?=.)|\?\s(?=.))\s*(?:\*\*(?=\s|[^*]*$))?[\s：:]*(?P<value>\S.*)$"
)


class StatementLine(NamedTuple):
    """A sentence of a response.

    Attributes:
        label: the folded label before its text, the heading above it, or the cell beside it.
        text: the text.
        alone: whether it is a whole line.
        whole: the sentence with its label as in the response.
        headed: whether its label is a heading above it, or it is a heading.
    """

    label: str
    text: str
    alone: bool = True
    whole: str = ""
    headed: bool = False


def statement_lines(core: str) -> Iterator[StatementLine]:
    """The sentences of a response with their labels; sections that only explain are passed over."""
    title, explains, rows = "", False, []
    for raw in [*core.splitlines(), ""]:
        row = _ROW.match(raw) if raw.lstrip().startswith("|") else None
        if row:
            rows.append([cell.strip(" *`") for cell in row["cells"].split("|")])
            continue
        yield from _of_table(rows)
        rows = []
        line = _MARKS.sub("", raw).strip()
        if not line or _RULE.match(line):
            continue
        if _is_title(raw, line):
            title = fold(_EMPHASIS.sub("", line)).strip(" :：*#")
            explains = _explains(title)
            continue
        if _HEADING.match(raw) or _BRACKETED.match(line):
            title = fold(_EMPHASIS.sub("", line)).strip(" :：*#【】[]")
            explains = _explains(title)
            yield StatementLine("", line.strip("【】"), whole=line, headed=True)
            continue
        if explains and (_LISTED.match(raw) or title):
            explains = bool(_LISTED.match(raw))
            title = ""
            continue
        explains = False
        sentences = list(sentences_of(line))
        for sentence in sentences:
            yield _labelled(sentence, title)._replace(
                alone=len(sentences) == 1 and not _LISTED.match(raw), whole=sentence
            )
            title = ""
    if title and not explains:
        yield StatementLine("", title)


def _is_title(raw: str, line: str) -> bool:
    """Whether a line only names what comes below it."""
    if len(line) > _LONGEST_TITLE:
        return False
    if line.rstrip("* ").endswith((":", "：")):
        return True
    named = wording("statements", "title").fullmatch(fold(_EMPHASIS.sub("", line)).strip(" :#"))
    return bool(named and (_HEADING.match(raw) or _BOLD_LINE.match(line) or len(line) < 8))


def _explains(label: str) -> bool:
    return wording("statements", "explaining_label").search(label) is not None


def _labelled(line: str, title: str) -> StatementLine:
    found = _LABEL.match(line)
    label = fold(_EMPHASIS.sub("", found["label"])).strip(" *") if found else ""
    if found and (len(label) <= _LONGEST_LABEL or (label.isascii() and len(label.split()) <= 6)):
        return StatementLine(label, found["value"])
    return StatementLine(title, line, headed=bool(title))


def _of_table(rows: list[list[str]]) -> Iterator[StatementLine]:
    """The cells of a table of labels and values, or of one row below its heads."""
    rows = [row for row in rows if not _RULE.match("".join(row))]
    if not rows or len({len(row) for row in rows}) > 1:
        return
    columns = [list(each) for each in zip(*rows, strict=True)]
    pairs = columns if len(rows) == 2 and len(rows[0]) != 2 else rows
    if len(rows) == 2 and len(rows[0]) == 2:
        pairs = [*columns, *rows[1:]]
    for pair in pairs:
        if len(pair) >= 2 and pair[1]:
            yield StatementLine(fold(pair[0]), pair[1])
