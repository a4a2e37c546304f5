"""Mutations of XLSX: the parts of its archive, its XML, its shared strings."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from random import Random

from tests.support.mutations import xml
from tests.support.mutations.values import CELLS

Parts = dict[str, bytes]

_ZEROS = 64 << 20
"""Bytes of a part that is all zeros: 64 KB in the archive."""


def _on_parts(change: Callable[[Parts, Random], bool]) -> Callable[[Path, Random], bool]:
    def mutate(path: Path, draw: Random) -> bool:
        try:
            with zipfile.ZipFile(path) as archive:
                parts = {name: archive.read(name) for name in archive.namelist()}
        except (zipfile.BadZipFile, OSError):
            return False
        if not change(parts, draw):
            return False
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", draw.choice((0, 8, 8, 14))) as archive:
            for name, data in parts.items():
                archive.writestr(name, data)
        path.write_bytes(out.getvalue())
        return True

    return mutate


def _named(parts: Parts, pattern: str) -> str | None:
    return next((name for name in parts if re.search(pattern, name)), None)


def _lose_part(parts: Parts, draw: Random) -> bool:
    return parts.pop(draw.choice(list(parts)), None) is not None


def _add_part(parts: Parts, draw: Random) -> bool:
    name = draw.choice(("../out.xml", "/etc/x", "a" * 5000, "xl/media/image1.png", "\u202e", "CON"))
    parts[name] = b"<x/>"
    return True


def _swell(parts: Parts, draw: Random) -> bool:
    """A bomb: a part that is far larger than the archive."""
    parts[draw.choice(list(parts))] = bytes(_ZEROS)
    return True


def _xml(parts: Parts, draw: Random) -> bool:
    name = draw.choice([name for name in parts if name.endswith((".xml", ".rels"))])
    text = parts[name].decode("utf-8", "replace")
    changed = draw.choice(list(xml.CHANGES.values()))(text, draw)
    if changed is None:
        return False
    parts[name] = changed.encode("utf-8", "surrogatepass")
    return True


def _cells(parts: Parts, draw: Random) -> bool:
    name = _named(parts, r"worksheets/")
    if name is None:
        return False
    text = parts[name].decode()
    pattern, news = draw.choice((
        (r"<v>[^<]*</v>", ("<v>99999999</v>", "<v>-1</v>", "<v>1e9</v>", "<v>x</v>", "<v/>", "")),
        (r' r="[A-Z]+[0-9]+"', (' r="XFD1048576"', ' r="A0"', ' r="ZZZZZZZZ1"', "", ' r="1A"',
                                ' r="A99999999999"')),
        (r'<row r="[0-9]+"', ('<row r="1048576"', '<row r="0"', '<row r="99999999999"', "<row")),
        (r' t="[a-z]+"', (' t="e"', ' t="b"', ' t="d"', ' t="n"', ' t="?"', "", ' t="inlineStr"')),
        (r"<t[ >]", ('<t xml:space="no" ', "<t><r>", "<rPh><t>")),
        (r"</row>", ('<c r="C2"><f>HYPERLINK("http://x")</f></c></row>', "")),
    ))  # fmt: skip
    found = list(re.finditer(pattern, text))
    if not found:
        return False
    at = draw.choice(found)
    parts[name] = (text[: at.start()] + draw.choice(news) + text[at.end() :]).encode()
    return True


def _strings(parts: Parts, draw: Random) -> bool:
    name = _named(parts, "sharedStrings")
    if name is None:
        return False
    text = parts[name].decode()
    found = list(re.finditer(r"<si>.*?</si>", text, re.DOTALL))
    if not found:
        return False
    at = draw.choice(found)
    plain = draw.choice([cell for cell in CELLS if cell.isprintable() and "<" not in cell])
    new = draw.choice(("", "<si/>", at[0] * 500, f"<si><t>{plain.replace('&', '')}</t></si>"))
    parts[name] = (text[: at.start()] + new + text[at.end() :]).encode()
    return True


def _entry(path: Path, draw: Random) -> bool:
    """Sizes, flags and methods in the archive's directory."""
    data = bytearray(path.read_bytes())
    starts = [match.start() for match in re.finditer(b"PK\x01\x02|PK\x03\x04|PK\x05\x06", data)]
    if not starts:
        return False
    at = draw.choice(starts) + draw.randrange(4, 30)
    if at + 4 > len(data):
        return False
    data[at : at + 4] = draw.choice(
        (b"\0\0\0\0", b"\xff\xff\xff\xff", b"\1\0\0\0", b"\x63\0\x63\0")
    )
    path.write_bytes(data)
    return True


MUTATIONS = {
    "workbook without a part": _on_parts(_lose_part),
    "workbook with another part": _on_parts(_add_part),
    "workbook with a bomb": _on_parts(_swell),
    "XML of a workbook changed": _on_parts(_xml),
    "cell of a workbook changed": _on_parts(_cells),
    "shared strings changed": _on_parts(_strings),
    "archive's directory changed": _entry,
}
