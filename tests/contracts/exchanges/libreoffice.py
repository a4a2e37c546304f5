"""Review and rating sheets through LibreOffice: opened, saved as XLSX, filled in, saved as CSV."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from keju.building.reviewing.sheets import COLUMNS
from keju.datasets.readers.tables import sheet_lines
from tests.support.contract_review import by_item, decided, drafts, exported, read_back
from tests.support.contract_sheets import (
    expected_ratings,
    fill_ratings,
    fill_review,
    rated_run,
    ratings,
    sampled,
)
from tests.support.contracting import Contract, Exchanged, compared

OPENED = "CSV:44,34,76,1,,0,false,true"
"""How a CSV is opened: comma, quotes, UTF-8, from line 1, special numbers made dates and so on."""

SAVED = {
    "comma.csv": "csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,true,false",
    "semicolon.csv": "csv:Text - txt - csv (StarCalc):59,34,76,1,,0,false,true,false",
    "tab.txt": "txt:Text - txt - csv (StarCalc):9,34,65535,1,,0,false,true,false",
}
"""Forms in which a sheet is saved; the last is UTF-16."""


def version(contract: Contract) -> str:
    """What soffice prints of itself."""
    return contract.call("soffice", "--version").split()[1]


def exchange(contract: Contract) -> Iterator[Exchanged]:
    """A review sheet and a rating sheet, opened as a spreadsheet does and saved in four forms."""
    data = drafts(contract.work / "data")
    sheet = contract.work / "review.csv"
    exported(contract, data, sheet)
    expected = decided(data)
    book = _book(contract, sheet)
    fill_review(book, expected, [item.id for item in data.items()])
    for file in _forms(contract, book):
        detail = f"{len(expected)} verdicts equal; {_altered(sheet, file)} cells were altered"
        found = by_item(read_back(file, data))
        yield compared(f"review sheet, saved as {file.name}: verdicts", expected, found, detail)
        contract.keep(f"review/{file.name}", file.read_bytes())
    opened = rated_run(contract.work / "rated")
    sheet = contract.work / "ratings.csv"
    sampled(opened, sheet)
    book = _book(contract, sheet)
    fill_ratings(book, opened)
    for file in _forms(contract, book):
        what = f"rating sheet, saved as {file.name}: scores"
        yield compared(what, expected_ratings(), ratings(file, opened))
        contract.keep(f"ratings/{file.name}", file.read_bytes())


def _book(contract: Contract, sheet: Path) -> Path:
    """The sheet as a workbook, in a folder of its own."""
    out = contract.work / f"{sheet.stem}-book"
    _convert(contract, sheet, out, "xlsx", f"--infilter={OPENED}")
    return (out / f"{sheet.stem}.xlsx").rename(out / "book.xlsx")


def _forms(contract: Contract, book: Path) -> Iterator[Path]:
    """The workbook as LibreOffice saves it, once as a workbook and in each form of text."""
    again = book.parent / "again"
    _convert(contract, book, again, "xlsx")
    yield again / "book.xlsx"
    for name, form in SAVED.items():
        _convert(contract, book, again, form)
        yield (again / f"book{Path(name).suffix}").rename(again / name)


def _convert(contract: Contract, file: Path, out: Path, form: str, *options: str) -> None:
    home = (contract.work / "office").as_uri()
    contract.call(
        "soffice", f"-env:UserInstallation={home}", "--headless", *options,
        "--convert-to", form, "--outdir", out, file,
    )  # fmt: skip


def _altered(sheet: Path, file: Path) -> int:
    """How many of the cells that were exported have another text in a sheet that came back."""
    before, after = _cells(sheet), _cells(file)
    return sum(cell != after.get(place, "") for place, cell in before.items() if cell)


def _cells(file: Path) -> dict[tuple[int, int], str]:
    rows = enumerate(sheet_lines(file, COLUMNS))
    return {(row, column): cell for row, line in rows for column, cell in enumerate(line.cells)}
