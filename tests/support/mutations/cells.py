"""Mutations of CSV and TSV: cells, rows, heads, separators, quotes and encodings."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path
from random import Random

from tests.support.mutations.values import CELLS

Rows = list[list[str]]

_MANY = 3000


def _on_rows(change: Callable[[Rows, Random], None]) -> Callable[[Path, Random], bool]:
    def mutate(path: Path, draw: Random) -> bool:
        try:
            text = path.read_text("utf-8-sig")
        except (ValueError, OSError):
            return False
        mark = max("\t,;", key=text.partition("\n")[0].count)
        rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=mark) if row]
        if not rows:
            return False
        change(rows, draw)
        out = io.StringIO(newline="")
        csv.writer(out, delimiter=mark, lineterminator="\n").writerows(rows)
        path.write_bytes(out.getvalue().encode("utf-8", "surrogatepass"))
        return True

    return mutate


def _on_text(change: Callable[[str, Random], str | bytes]) -> Callable[[Path, Random], bool]:
    def mutate(path: Path, draw: Random) -> bool:
        try:
            changed = change(path.read_text("utf-8-sig"), draw)
        except (ValueError, OSError):
            return False
        path.write_bytes(changed.encode() if isinstance(changed, str) else changed)
        return True

    return mutate


def _cell(rows: Rows, draw: Random) -> None:
    row = draw.choice(rows)
    row[draw.randrange(len(row))] = draw.choice(CELLS)


def _column(rows: Rows, draw: Random) -> None:
    """A whole column but its head: empty, one value, or another type."""
    at, value = draw.randrange(len(rows[0])), draw.choice(CELLS)
    for row in rows[1:]:
        if at < len(row):
            row[at] = value


def _ragged(rows: Rows, draw: Random) -> None:
    row = draw.choice(rows)
    match draw.randrange(4):
        case 0:
            row.append("more")
        case 1:
            row.pop(draw.randrange(len(row)))
        case 2:
            row.extend([""] * 500)
        case _:
            del row[1:]


def _head(rows: Rows, draw: Random) -> None:
    at = draw.randrange(len(rows[0]))
    new = (
        rows[0][0],
        "",
        " ",
        rows[0][at].upper(),
        rows[0][at] + " ",
        "image",
        "id",
        "\ufeffimage",
    )
    match draw.randrange(4):
        case 0:
            rows[0][at] = draw.choice(new)
        case 1:
            rows.pop(0)
        case 2:
            rows.insert(1, list(rows[0]))
        case _:
            for row in rows:
                if at < len(row):
                    row.pop(at)


def _order(rows: Rows, draw: Random) -> None:
    match draw.randrange(4):
        case 0:
            draw.shuffle(rows)
        case 1:
            rows[1:] = []
        case 2:
            rows += [list(row) for row in rows[1:]]
        case _:
            rows += [list(rows[-1])] * min(_MANY, 300_000 // (1 + len(str(rows[-1]))))


def _shuffle_columns(rows: Rows, draw: Random) -> None:
    """All columns, or the heads or cells alone, in another order."""
    order = draw.sample(range(len(rows[0])), len(rows[0]))
    changed = draw.choice((slice(None), slice(1), slice(1, None)))
    rows[changed] = [[row[at] for at in order if at < len(row)] for row in rows[changed]]


def _separator(text: str, draw: Random) -> str:
    mark = max("\t,;", key=text.partition("\n")[0].count)
    return text.replace(mark, draw.choice([*";,\t|:，", "\0", "\x1f", ", ", "、"]))


def _quotes(text: str, draw: Random) -> str:
    at = draw.randrange(len(text) + 1)
    piece = draw.choice(
        ('"', '""', "'", '"\n', '\\"', '"' * 999, "“", '",', "\r", "\r\r\n", "\x0b")
    )
    return text[:at] + piece + text[at:]


def _encoding(text: str, draw: Random) -> bytes:
    name = draw.choice(("utf-16", "utf-16-le", "utf-32", "gb18030", "big5", "shift_jis", "latin-1",
                        "euc-kr", "utf-7", "hz"))  # fmt: skip
    data = text.encode(name, "replace")
    return data if draw.random() < 0.7 else data + text.encode()


def _ends(text: str, draw: Random) -> str:
    return text.replace("\n", draw.choice(("\r", "\r\n", "\n\n", "\u2028", "\x0c", "", "\n \n")))


MUTATIONS = {
    "cell replaced": _on_rows(_cell),
    "column replaced": _on_rows(_column),
    "row ragged": _on_rows(_ragged),
    "head changed": _on_rows(_head),
    "rows in another order or number": _on_rows(_order),
    "columns shuffled": _on_rows(_shuffle_columns),
    "separator changed": _on_text(_separator),
    "quote inserted": _on_text(_quotes),
    "table in another encoding": _on_text(_encoding),
    "ends of lines changed": _on_text(_ends),
}
