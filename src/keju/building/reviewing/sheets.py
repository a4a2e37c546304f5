"""Review in a spreadsheet: one line an item, with empty columns for what a person decides.

The same columns come as CSV and as JSON lines; a file of `Verdict` lines is read as well.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from keju.building.reviewing.verdicts import Decision, Verdict, seal_of
from keju.datasets.readers.records import JsonObject, Place
from keju.datasets.readers.tables import read_table
from keju.errors import DataError
from keju.files import write_atomic
from keju.items import Item

_SHOWN = ("item", "seal", "task", "query", "images", "question", "options", "answer",
          "also_accepted", "transcription")  # fmt: skip
_ASKED = ("decision", "new_question", "new_options", "new_answer", "new_transcription", "reason",
          "person")  # fmt: skip
COLUMNS = (*_SHOWN, *_ASKED)

_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_WORDS: Mapping[str, Decision] = {
    "accept": "accept", "accepted": "accept", "ok": "accept", "接受": "accept", "通过": "accept",
    "mend": "mend", "mended": "mend", "修改": "mend",
    "reject": "reject", "rejected": "reject", "拒绝": "reject", "拒絕": "reject",
}  # fmt: skip
"""What people write for a decision."""


def write_sheet(items: Sequence[Item], file: Path) -> None:
    """Write items for review as CSV, or as JSON lines where the file is called so.

    Lists stand a line each in their cell. A text that a spreadsheet would take for a formula gets
    an apostrophe before it, which `read_sheet` takes away.
    """
    rows = [_row(item) for item in items]
    if file.suffix == ".jsonl":
        write_atomic(file, (msgspec.json.encode(row) + b"\n" for row in rows))
        return
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\r\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({name: _guarded(cell) for name, cell in row.items()})
    # The mark at its head tells spreadsheets that the file is UTF-8.
    write_atomic(file, "\ufeff" + text.getvalue())


def _row(item: Item) -> dict[str, str]:
    shown = {
        "item": item.id,
        "seal": seal_of(item),
        "task": item.task,
        "query": item.query,
        "images": "\n".join(ref.path for ref in item.images),
        "question": item.question,
        "options": "\n".join(item.options),
        "answer": item.answer,
        "also_accepted": "\n".join(item.also_accepted),
        "transcription": item.transcription or "",
    }
    return shown | dict.fromkeys(_ASKED, "")


def _guarded(cell: str) -> str:
    return "'" + cell if cell.startswith((*_FORMULA, "'")) else cell


def read_sheet(file: Path, person: str) -> list[Verdict]:
    """The verdicts in a sheet or in a file of verdicts; lines without a decision are not reviewed.

    Args:
        file: CSV, TSV or JSON lines.
        person: whose sheet it is, where its lines don't say.

    Raises:
        DataError: a column is missing, a decision is none, or a line says what can't be.
    """
    return list(_verdicts(file, person))


def _verdicts(file: Path, person: str) -> Iterator[Verdict]:
    for place, cells in read_table(file):
        if "task" not in cells and "decision" in cells and file.suffix == ".jsonl":
            found: Verdict | None = _converted(cells, place)
        else:
            found = _from_row(cells, place, person, quoted=file.suffix != ".jsonl")
        if found is None:
            continue
        if fault := found.fault():
            raise DataError(
                fault, file=file, item=f"{place.item}, {found.item}", mend="Review it again"
            )
        yield found


def _converted(cells: JsonObject, place: Place) -> Verdict:
    try:
        return msgspec.convert(cells, Verdict)
    except msgspec.ValidationError as error:
        raise DataError(
            f"no verdict: {error}", file=place.file, item=place.item, mend="Review it again"
        ) from None


def _from_row(cells: JsonObject, place: Place, person: str, *, quoted: bool) -> Verdict | None:
    missing = [name for name in ("item", "decision") if name not in cells]
    if missing:
        raise DataError(
            f"no column {missing[0]!r}",
            file=place.file,
            item=place.item,
            mend="Use the sheet that was written by: keju build review export",
        )
    text = {name: _text(cells, name, place, quoted=quoted) for name in COLUMNS}
    said = text["decision"].strip()
    told = {
        name.removeprefix("new_"): value
        for name in _ASKED
        if name.startswith("new_") and (value := text[name]).strip()
    }
    if not said and not told:
        return None
    decision = _WORDS.get(said.casefold())
    if decision is None:
        raise DataError(
            f"{said[:40]!r} is no decision" if said else "a new text, but no decision",
            file=place.file,
            item=place.item,
            mend="Write accept, mend or reject",
        )
    if "options" in told:
        lines: Iterable[str] = told.pop("options").splitlines()
        mended = {**told, "options": [line for line in lines if line.strip()]}
    else:
        mended = dict(told)
    row: JsonObject = {
        "item": text["item"],
        "person": text["person"].strip() or person,
        "decision": decision,
        "mended": mended,
        "reason": text["reason"],
        "seal": text["seal"],
    }
    return _converted(row, place)


def _text(cells: JsonObject, name: str, place: Place, *, quoted: bool) -> str:
    value = cells.get(name) or ""
    if not isinstance(value, str):
        raise DataError(f"{name!r} is no text", file=place.file, item=place.item, mend="Write text")
    plain = value.replace("\r\n", "\n")
    return (
        plain[1:] if quoted and plain.startswith("'") and plain[1:2] in {*_FORMULA, "'"} else plain
    )
