"""Mutations of plain text in lines and fields: YOLO boxes, lines with polygons, TOML, lists."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from random import Random

from tests.support.mutations.values import CELLS, TOKENS

_FIELD = re.compile(r"[^\s,，:=\"\[\]{}]+")
_MARK = re.compile(r"[ ,，:=\"\[\]{}\t]")


def _on_lines(change: Callable[[list[str], Random], None]) -> Callable[[Path, Random], bool]:
    def mutate(path: Path, draw: Random) -> bool:
        try:
            lines = path.read_text("utf-8-sig").split("\n")
        except (ValueError, OSError):
            return False
        change(lines, draw)
        path.write_bytes("\n".join(lines).encode("utf-8", "surrogatepass"))
        return True

    return mutate


def _swap(lines: list[str], draw: Random, pattern: re.Pattern[str], new: str) -> None:
    places = [(at, match) for at, line in enumerate(lines) for match in pattern.finditer(line)]
    if places:
        at, match = draw.choice(places)
        lines[at] = lines[at][: match.start()] + new + lines[at][match.end() :]


def _field(lines: list[str], draw: Random) -> None:
    _swap(lines, draw, _FIELD, draw.choice([*TOKENS, *CELLS]))


def _mark(lines: list[str], draw: Random) -> None:
    _swap(lines, draw, _MARK, draw.choice(("", " ", ",", "\t", ";", "，", "  ", ":", '"', "\0")))


def _lines(lines: list[str], draw: Random) -> None:
    at = draw.randrange(len(lines))
    match draw.randrange(6):
        case 0:
            lines.insert(at, lines[at])
        case 1:
            lines.pop(at)
        case 2:
            lines.insert(at, draw.choice(CELLS))
        case 3:
            lines[:] = [""]
        case 4:
            lines.extend([lines[0]] * 3000)
        case _:
            lines[:] = [" ".join(lines)]


def _long(lines: list[str], draw: Random) -> None:
    at = draw.randrange(len(lines))
    lines[at] = (lines[at] or "1 ") * draw.choice((2, 100, 20_000 // (1 + len(lines[at]))))


def _encoding(path: Path, draw: Random) -> bool:
    try:
        text = path.read_text("utf-8-sig")
    except (ValueError, OSError):
        return False
    name = draw.choice(("utf-16", "utf-16-be", "utf-32", "gb18030", "big5", "shift_jis", "latin-1",
                        "utf-8-sig"))  # fmt: skip
    path.write_bytes(text.encode(name, "replace"))
    return True


MUTATIONS = {
    "field replaced": _on_lines(_field),
    "separator of fields replaced": _on_lines(_mark),
    "lines changed": _on_lines(_lines),
    "line made long": _on_lines(_long),
    "text in another encoding": _encoding,
}
