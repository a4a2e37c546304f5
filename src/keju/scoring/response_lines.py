"""Lines of a response: quotations over several lines joined, lines divided before a label."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import pairwise

CLOSING = {"“": "”", "「": "」", "『": "』", '"': '"'}
"""The marks that open and close a quotation."""

QUOTED = re.compile(r"“[^“”]+”|「[^「」]+」|『[^『』]+』|\"[^\"]+\"|‘[^‘’]+’")
"""A quotation, whole."""

_MOST_LINES_QUOTED = 60
_LABEL = re.compile(
    r"(?<=[。！？!?.”」』）)])\s*(?:\*\*|> )?"
    r"(?:【(?P<bracketed>[^】\n]{2,12})】|(?P<label>[^，。！？!?：:*\s]{2,12})\*{0,2}[:：])"
)
_SPEECH = re.compile(r"[曰云道言][：:，,]?\Z")
_SENTENCE_END = re.compile(
    r"(?<=[。！？!?])(?![”’」』》）)\]】。！？!?\"'])"
    r"|(?<=[\u3400-\u9fff□”」』\"][.])\s+(?=[(（]?[A-Z])"
    r"|(?<=[a-z0-9)\]”\"'’][.])\s+(?=\S)"
    r"|(?<=[。！？!?][”’」』）)\"])(?![。！？])"
)


def lines_of(body: str, kind_of: Callable[[str], str]) -> Iterator[str]:
    """The lines of a body, for reading one by one.

    Args:
        body: the response.
        kind_of: the kind of a label; empty for other words.
    """
    for line in _quotes_joined(body.split("\n")):
        start = 0
        for found in _LABEL.finditer(line):
            if kind_of(found["bracketed"] or found["label"]) not in {"", "place", "version"}:
                yield line[start : found.start()]
                start = found.start()
        yield line[start:] if start else line


def _quotes_joined(lines: list[str]) -> Iterator[str]:
    """Lines, those of one quotation that goes over several joined (印文为“…)."""
    held: list[str] = []
    closing = ""
    for line in lines:
        if held:
            held.append(line)
            if closing in line or len(held) > _MOST_LINES_QUOTED:
                yield from ["\n".join(held)] if closing in line else held
                held = []
            continue
        closing = _awaited(line)
        if closing:
            held = [line]
        else:
            yield line
    yield from held


def _awaited(line: str) -> str:
    """The mark that closes a quotation which continues after a line; not of a speech on a page."""
    for mark, closing in CLOSING.items():
        place = line.rfind(mark)
        is_open = line.count(mark) % 2 if mark == closing else place > line.rfind(closing)
        if is_open and not _SPEECH.search(line[:place]):
            return closing
    return ""


def sentences_of_line(line: str) -> list[str]:
    """The sentences of a line, white space kept."""
    ends = [match.end() for match in _SENTENCE_END.finditer(line)]
    bounds = [0, *ends, len(line)]
    return [part for first, last in pairwise(bounds) if (part := line[first:last]).strip()]
