"""The rows and cells of printed tables that a claim selects by names, patterns or groups."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase

from keju.errors import DataError
from keju.published.models import PublishedModel, published_model
from keju.published.printed_tables import PrintedTables
from keju.published.tables import Column

_GROUPS: dict[str, Callable[[PublishedModel], bool]] = {
    "@evaluated": lambda model: model.role == "evaluated",
    "@closed": lambda model: model.role == "evaluated" and model.kind == "closed-mllm",
    "@open": lambda model: model.role == "evaluated" and model.kind == "open-mllm",
    "@engines": lambda model: model.kind == "ocr",
}


def select_cells(
    paper: PrintedTables, of: str, rows: Sequence[str], without: Sequence[str]
) -> list[tuple[Column, str, float]]:
    """The cells of the columns `of` in some rows, as (column, row, number).

    Raises:
        DataError: no cell is selected, or a name is not in a column.
    """
    found = [
        (column, row, column.values[row])
        for column in paper.columns(of)
        for row in select_rows(paper, column, rows, without)
    ]
    if not found:
        raise DataError("no cell is selected", file=paper.benchmark, item=of)
    return found


def select_rows(
    paper: PrintedTables, column: Column, wanted: Sequence[str], without: Sequence[str] = ()
) -> list[str]:
    """The rows of a column with a number that are meant by names, patterns or groups.

    Raises:
        DataError: a name (not a pattern) is not in the column.
    """
    for name in (*wanted, *without):
        if name[0] != "@" and not set("*?") & set(name) and name not in column.values:
            raise DataError(
                "no number in this row", file=paper.benchmark, item=f"{column.place}, {name}"
            )
    return [
        row
        for row in column.values
        if any(_is_meant(paper, row, each) for each in wanted)
        and not any(_is_meant(paper, row, each) for each in without)
    ]


def _is_meant(paper: PrintedTables, row: str, wanted: str) -> bool:
    if not wanted.startswith("@"):
        return fnmatchcase(row, wanted)
    model = published_model(paper.benchmark, row)
    if wanted.startswith("@size "):
        low, high = map(float, wanted.removeprefix("@size ").split("-"))
        return model is not None and model.size_b is not None and low <= model.size_b <= high
    if wanted not in _GROUPS:
        raise DataError("no such group of rows", file=paper.benchmark, item=wanted)
    return model is not None and _GROUPS[wanted](model)
