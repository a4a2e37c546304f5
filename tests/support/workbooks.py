"""XLSX workbooks written part by part, so that tests can damage each part."""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from string import ascii_uppercase
from xml.sax.saxutils import escape

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_KIND = "application/vnd.openxmlformats-officedocument.spreadsheetml"


def write_workbook(path: Path, rows: Iterable[Sequence[object]], *, shared: bool = True) -> Path:
    """Write a table as the first sheet, texts in the table of shared strings or inline."""
    strings: list[str] = []

    def cell(place: str, value: object) -> str:
        if isinstance(value, bool):
            return f'<c r="{place}" t="b"><v>{int(value)}</v></c>'
        if isinstance(value, int | float):
            return f'<c r="{place}" t="n"><v>{value}</v></c>'
        text = escape(str(value))
        if not shared:
            return f'<c r="{place}" t="inlineStr"><is><t xml:space="preserve">{text}</t></is></c>'
        strings.append(text)
        return f'<c r="{place}" t="s"><v>{len(strings) - 1}</v></c>'

    body = "".join(
        f'<row r="{number}">'
        + "".join(
            cell(f"{ascii_uppercase[at]}{number}", value)
            for at, value in enumerate(row)
            if value not in {"", None}
        )
        + "</row>"
        for number, row in enumerate(rows, start=1)
    )
    return write_parts(path, [sheet_of(body)], strings)


def sheet_of(body: str, dimension: str = "A1") -> str:
    """The XML of a sheet."""
    return (
        f'<worksheet xmlns="{MAIN}"><dimension ref="{dimension}"/>'
        f"<sheetData>{body}</sheetData></worksheet>"
    )


def write_parts(path: Path, sheets: Sequence[str], strings: Sequence[str] = ()) -> Path:
    """Write a workbook with these sheets (called S1, S2 …) and shared strings, given as XML."""
    numbers = range(1, len(sheets) + 1)
    parts = {f"/xl/worksheets/sheet{n}.xml": f"{_KIND}.worksheet+xml" for n in numbers}
    parts |= {
        "/xl/workbook.xml": f"{_KIND}.sheet.main+xml",
        "/xl/sharedStrings.xml": f"{_KIND}.sharedStrings+xml",
    }
    overrides = "".join(f'<Override PartName="{p}" ContentType="{k}"/>' for p, k in parts.items())
    listed = "".join(f'<sheet name="S{n}" sheetId="{n}" r:id="rId{n}"/>' for n in numbers)
    targets = [(f"rId{n}", "worksheet", f"worksheets/sheet{n}.xml") for n in numbers]
    targets.append(("rId0", "sharedStrings", "sharedStrings.xml"))
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as pack:
        pack.writestr(
            "[Content_Types].xml",
            f'<Types xmlns="{_PACKAGE}/content-types"><Default Extension="rels" '
            f'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
            f'<Default Extension="xml" ContentType="application/xml"/>{overrides}</Types>',
        )
        pack.writestr("_rels/.rels", _relations([("rId1", "officeDocument", "xl/workbook.xml")]))
        pack.writestr(
            "xl/workbook.xml",
            f'<workbook xmlns="{MAIN}" xmlns:r="{_OFFICE}"><sheets>{listed}</sheets></workbook>',
        )
        pack.writestr("xl/_rels/workbook.xml.rels", _relations(targets))
        for number, sheet in enumerate(sheets, start=1):
            pack.writestr(f"xl/worksheets/sheet{number}.xml", sheet)
        table = "".join(f'<si><t xml:space="preserve">{each}</t></si>' for each in strings)
        pack.writestr("xl/sharedStrings.xml", f'<sst xmlns="{MAIN}">{table}</sst>')
    return path


def _relations(targets: Iterable[tuple[str, str, str]]) -> str:
    each = "".join(
        f'<Relationship Id="{name}" Type="{_OFFICE}/{kind}" Target="{target}"/>'
        for name, kind, target in targets
    )
    return f'<Relationships xmlns="{_PACKAGE}/relationships">{each}</Relationships>'
