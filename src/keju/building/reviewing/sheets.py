"""Review in a spreadsheet: one line an item, with empty columns for what a person decides.

The same columns come as CSV and as JSON lines; a file of `Verdict` lines is read as well. Each
scale of the form has a column, whose head says what it asks and what its marks mean.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from keju.building.review_form import OTHER_FORM, ReviewForm, Scale
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


_MARK = "mark: "


def mark_head(scale: Scale) -> str:
    """The head of a scale's column; its first part, to the bar, is enough when it is read."""
    marks = ", ".join(map(scale.said, range(1, len(scale.marks) + 1)))
    return f"{_MARK}{scale.name} | {scale.asks} {scale.asks_zh} {marks}"


def write_sheet(items: Sequence[Item], file: Path, form: ReviewForm) -> None:
    """Write items for review as CSV, or as JSON lines where the file is called so.

    Lists stand a line each in their cell. A text that a spreadsheet would take for a formula gets
    an apostrophe before it, which `read_sheet` takes away.
    """
    heads = [mark_head(scale) for scale in form.scale]
    rows = [_row(item, heads) for item in items]
    if file.suffix == ".jsonl":
        write_atomic(file, (msgspec.json.encode(row) + b"\n" for row in rows))
        return
    text = io.StringIO()
    writer = csv.DictWriter(text, (*COLUMNS, *heads), lineterminator="\r\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({name: _guarded(cell) for name, cell in row.items()})
    # The mark at its head tells spreadsheets that the file is UTF-8.
    write_atomic(file, "\ufeff" + text.getvalue())


def _row(item: Item, heads: Sequence[str]) -> dict[str, str]:
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
    return shown | dict.fromkeys((*_ASKED, *heads), "")


def _guarded(cell: str) -> str:
    return "'" + cell if cell.startswith((*_FORMULA, "'")) else cell


def read_sheet(file: Path, person: str, form: ReviewForm) -> list[Verdict]:
    """The verdicts in a sheet or in a file of verdicts; lines without a decision are not reviewed.

    Args:
        file: CSV, TSV or JSON lines.
        person: whose sheet it is, where its lines don't say.
        form: the scales on which items were marked.

    Raises:
        DataError: a column is missing, a decision or a mark is none, or a line says what can't be.
    """
    return list(_verdicts(file, person, form))


def _verdicts(file: Path, person: str, form: ReviewForm) -> Iterator[Verdict]:
    for place, cells in read_table(file):
        if "task" not in cells and "decision" in cells and file.suffix == ".jsonl":
            found: Verdict | None = _converted(cells, place)
        else:
            found = _from_row(cells, place, person, form, quoted=file.suffix != ".jsonl")
        if found is None:
            continue
        if fault := form.fault(found.marks):
            raise DataError(fault, file=file, item=f"{place.item}, {found.item}", mend=OTHER_FORM)
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


def _from_row(
    cells: JsonObject, place: Place, person: str, form: ReviewForm, *, quoted: bool
) -> Verdict | None:
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
    marks = _marks(cells, place, form)
    if not said and not told and not marks:
        return None
    decision = _WORDS.get(said.casefold())
    if decision is None:
        given = "a new text" if told else "a mark"
        raise DataError(
            f"{said[:40]!r} is no decision" if said else f"{given}, but no decision",
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
        "marks": marks,
        "seal": text["seal"],
    }
    return _converted(row, place)


def _marks(cells: JsonObject, place: Place, form: ReviewForm) -> dict[str, int]:
    """The marks in a row, in the form's order."""
    columns = {f"{_MARK}{scale.name}": scale for scale in form.scale}
    columns |= {mark_head(scale): scale for scale in form.scale}
    given: dict[str, int] = {}
    for head, value in cells.items():
        if not head.startswith(_MARK):
            continue
        if head not in columns:
            raise DataError(
                f"the column {head[:60]!r} is of another form",
                file=place.file,
                item=place.item,
                mend=OTHER_FORM,
            )
        scale, told = columns[head], "" if value is None else str(value).strip()
        mark = scale.mark_of(told)
        if told and mark is None:
            raise DataError(
                f"{told[:40]!r} is no mark for {scale.name}",
                file=place.file,
                item=place.item,
                mend=f"Write a number from 1 to {len(scale.marks)}, or nothing",
            )
        if mark is not None and given.setdefault(scale.name, mark) != mark:
            raise DataError(
                f"two marks for {scale.name}", file=place.file, item=place.item, mend="Keep one"
            )
    return {scale.name: given[scale.name] for scale in form.scale if scale.name in given}


def _text(cells: JsonObject, name: str, place: Place, *, quoted: bool) -> str:
    value = cells.get(name) or ""
    if not isinstance(value, str):
        raise DataError(f"{name!r} is no text", file=place.file, item=place.item, mend="Write text")
    plain = value.replace("\r\n", "\n")
    return (
        plain[1:] if quoted and plain.startswith("'") and plain[1:2] in {*_FORMULA, "'"} else plain
    )
