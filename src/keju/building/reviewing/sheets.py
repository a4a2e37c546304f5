"""Review in a spreadsheet: one row per item, with empty columns for a person's decision.

The same columns are available as CSV and as JSON lines; a file of `Verdict` lines is read as well.
Each scale of the form has a column, whose head contains its question and the meaning of its marks.
The exported columns must come back unchanged: a person writes into the columns after them.
"""

from __future__ import annotations

import csv
import io
import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import msgspec

from keju.building.drafting.templates import known_of
from keju.building.review_form import OTHER_FORM, ReviewForm, Scale
from keju.building.reviewing.returned_cells import Returned, converted, sheet_seal
from keju.building.reviewing.verdicts import Decision, Verdict, seal_of
from keju.datasets.readers.base import source_text
from keju.datasets.readers.records import JsonObject, Place
from keju.datasets.readers.tables import Row, delimited, read_table, separator_of
from keju.datasets.store import Dataset
from keju.errors import DataError
from keju.files import FORMULA, write_atomic
from keju.items import Item
from keju.messages import message

SUFFIXES = (".csv", ".tsv", ".txt", ".jsonl", ".xlsx")
"""Permitted suffixes of a returned sheet; spreadsheets write "Unicode text" as .txt."""

_SHOWN = ("item", "seal", "task", "query", "images", "question", "options", "answer",
          "also_accepted", "transcription", "notes")  # fmt: skip
_ASKED = ("decision", "new_question", "new_options", "new_answer", "new_transcription", "reason",
          "person")  # fmt: skip
COLUMNS = (*_SHOWN, *_ASKED)
_ANSWERED_IN = {name: f"new_{name}" for name in _SHOWN if f"new_{name}" in _ASKED}

_WORDS: Mapping[str, Decision] = {
    "accept": "accept", "accepted": "accept", "ok": "accept", "接受": "accept", "通过": "accept",
    "mend": "mend", "mended": "mend", "修改": "mend",
    "reject": "reject", "rejected": "reject", "拒绝": "reject", "拒絕": "reject",
}  # fmt: skip
"""Words that people write for a decision."""


_MARK = "mark: "


def mark_head(scale: Scale, asks_zh: str = "") -> str:
    """The head of a scale's column; on import its first part, up to the bar, is enough.

    Args:
        scale: the scale.
        asks_zh: the question in Chinese, where that is an earlier wording.
    """
    marks = ", ".join(map(scale.said, range(1, len(scale.marks) + 1)))
    return f"{_MARK}{scale.name} | {scale.asks} {asks_zh or scale.asks_zh} {marks}"


def _heads(scale: Scale) -> list[str]:
    """Every head by which a scale's column is recognised, including those of earlier versions."""
    earlier = [mark_head(scale, each.asks_zh) for each in scale.earlier]
    return [f"{_MARK}{scale.name}", mark_head(scale), *earlier]


def write_sheet(dataset: Dataset, items: Sequence[Item], file: Path, form: ReviewForm) -> None:
    """Write items for review as CSV, or as JSON lines if the file has that suffix.

    Images stay in the dataset; their column contains paths relative to the sheet's directory. Lists
    have one line per entry in their cell. A text that a spreadsheet would read as a formula gets an
    apostrophe before it, which `read_sheet` removes.
    """
    heads = [mark_head(scale) for scale in form.scale]
    root = os.path.relpath(dataset.path.resolve(), file.parent.resolve())
    rows = [
        _shown(item, root) | {"seal": sheet_seal(item)} | dict.fromkeys((*_ASKED, *heads), "")
        for item in items
    ]
    if file.suffix == ".jsonl":
        write_atomic(file, (msgspec.json.encode(row) + b"\n" for row in rows))
        return
    text = io.StringIO()
    writer = csv.DictWriter(text, (*COLUMNS, *heads), lineterminator="\r\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({name: _guarded(cell) for name, cell in row.items()})
    # The byte order mark tells spreadsheets that the file is UTF-8.
    write_atomic(file, "\ufeff" + text.getvalue())


def _shown(item: Item, root: str = "") -> dict[str, str]:
    """The columns that show an item; `root` is the path of the dataset with its images."""
    return {
        "item": item.id,
        "seal": seal_of(item),
        "task": item.task,
        "query": item.query,
        "images": "\n".join((PurePosixPath(root) / ref.path).as_posix() for ref in item.images),
        "question": item.question,
        "options": "\n".join(item.options),
        "answer": item.answer,
        "also_accepted": "\n".join(item.also_accepted),
        "transcription": item.transcription or "",
        "notes": "\n\n".join(f"{name}: {text}" for name, text in known_of(item).items()),
    }


def _guarded(cell: str) -> str:
    return "'" + cell if cell.startswith((*FORMULA, "'")) else cell


def read_sheet(
    file: Path, items: Mapping[str, Item], person: str, form: ReviewForm
) -> list[Verdict]:
    """The verdicts in a sheet or in a file of verdicts; rows without a decision are skipped.

    Args:
        file: JSON lines, or a table with commas, semicolons or tabs between cells, in UTF-8 or in
            UTF-16 with a byte order mark.
        items: the exported items, by id.
        person: the reviewer, where rows do not name one.
        form: the scales of the marks.

    Raises:
        DataError: a column is missing, an exported cell was changed, a decision or a mark is
            unknown, or a row is not valid.
    """
    return list(_verdicts(file, items, person, form))


def _verdicts(
    file: Path, items: Mapping[str, Item], person: str, form: ReviewForm
) -> Iterator[Verdict]:
    returned, changed = Returned(items), list[_Changed]()
    suffix = file.suffix.casefold()
    for place, cells in read_table(file) if suffix in {".jsonl", ".xlsx"} else _table(file):
        if "task" not in cells and "decision" in cells and file.suffix == ".jsonl":
            found: Verdict | None = _converted(cells, place)
        else:
            text = _row_text(cells, place, returned)
            if text["item"] in items:
                shown = {name: text[name] for name in _SHOWN if name in cells}
                changed += _changed(items[text["item"]], shown, place)
            found = _from_row(text, cells, place, person, form)
        if found is None:
            continue
        if fault := form.fault(found.marks):
            raise DataError(fault, file=file, item=f"{place.item}, {found.item}", hint=OTHER_FORM)
        if fault := found.fault():
            raise DataError(
                fault,
                file=file,
                item=f"{place.item}, {found.item}",
                hint=message("building.review-again"),
            )
        yield found
    if changed:
        raise _of_changed(file, changed)


def _table(file: Path) -> list[Row]:
    """The rows of a table, in any separator and encoding of a spreadsheet."""
    text = source_text(file)
    separator = separator_of(file, text, COLUMNS)
    rows = list(delimited(file, io.StringIO(text, newline=""), separator))
    if not rows:
        raise DataError(message("building.sheet-without-lines"), file=file)
    return rows


def _converted(cells: JsonObject, place: Place) -> Verdict:
    try:
        return msgspec.convert(cells, Verdict)
    except msgspec.ValidationError as error:
        raise DataError(
            message("building.sheet-not-a-verdict", error=error), file=place.file, item=place.item
        ) from None


def _row_text(cells: JsonObject, place: Place, returned: Returned) -> dict[str, str]:
    """The cells of a row as text, item and seal as they were exported.

    Raises:
        DataError: a column is missing, or a cell is not text.
    """
    if "annotation_id" in cells:
        raise DataError(message("building.label-studio-csv"), file=place.file)
    missing = [name for name in ("item", "decision", "seal") if name not in cells]
    if missing:
        raise DataError(
            message("building.review-no-column", column=missing[0]),
            file=place.file,
            item=place.item,
        )
    quoted = place.file.suffix != ".jsonl"
    text = {name: _text(cells, name, place, quoted=quoted) for name in COLUMNS}
    text["item"], text["seal"] = returned.names(text["item"], text["seal"])
    return text


def _from_row(
    text: Mapping[str, str], cells: JsonObject, place: Place, person: str, form: ReviewForm
) -> Verdict | None:
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
        given = message("building.a-new-text") if told else message("building.a-mark")
        raise DataError(
            message("building.not-a-decision", given=said[:40])
            if said
            else message("building.no-decision", given=given),
            file=place.file,
            item=place.item,
        )
    if not text["seal"]:
        raise DataError(
            message("building.sheet-no-seal"), file=place.file, item=f"{place.item}, {text['item']}"
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


class _Changed(NamedTuple):
    """An exported cell that a person, or a spreadsheet, has changed."""

    place: Place
    item: str
    name: str


def _changed(item: Item, cells: Mapping[str, str], place: Place) -> Iterator[_Changed]:
    """The changes in the exported cells of an item, which would be lost as edits.

    An item that has itself changed since is left to the check of seals.
    """
    shown = _shown(item)
    if cells["seal"] not in {shown["seal"], ""}:
        return
    for name, cell in cells.items():
        if name != "seal" and not _same(name, cell, shown[name]):
            yield _Changed(place, item.id, name)


_MOST_NAMED = 8


def _of_changed(file: Path, changed: Sequence[_Changed]) -> DataError:
    """One error for all changed cells of a sheet, row by row."""
    first = changed[0]
    own = _ANSWERED_IN.get(first.name)
    if len(changed) == 1:
        return DataError(
            message("building.column-changed", name=first.name),
            file=file,
            item=f"{first.place.item}, {first.item}",
            hint=message("building.write-in-own-column", own=own, name=first.name)
            if own
            else message("building.leave-as-exported", name=first.name),
        )
    rows: dict[str, list[str]] = defaultdict(list)
    for each in changed:
        rows[f"{each.place.item}, {each.item}"].append(each.name)
    named = [f"{row}: {', '.join(names)}" for row, names in rows.items()]
    more = (
        message("building.more-rows", count=len(named) - _MOST_NAMED)
        if len(named) > _MOST_NAMED
        else ""
    )
    return DataError(
        message(
            "building.cells-changed",
            count=len(changed),
            named="; ".join(named[:_MOST_NAMED]),
            more=more,
        ),
        file=file,
    )


def _same(name: str, cell: str, shown: str) -> bool:
    """Whether a cell is as exported, except for a spreadsheet's changes to spaces and numbers."""
    ours, theirs = ([line.strip() for line in text.strip().split("\n")] for text in (shown, cell))
    if name == "images":  # the sheet may have moved; a picture's name is its hash
        ours, theirs = ([PurePosixPath(line).name for line in lines] for lines in (ours, theirs))
    return ours == theirs or converted(cell, shown)


def _marks(cells: JsonObject, place: Place, form: ReviewForm) -> dict[str, int]:
    """The marks in a row, in the form's order."""
    columns = {head: scale for scale in form.scale for head in _heads(scale)}
    given: dict[str, int] = {}
    for head, value in cells.items():
        if not head.startswith(_MARK):
            continue
        if head not in columns:
            raise DataError(
                message("building.column-of-other-form", column=head[:60]),
                file=place.file,
                item=place.item,
                hint=OTHER_FORM,
            )
        scale, told = columns[head], "" if value is None else str(value).strip()
        mark = scale.mark_of(told)
        if told and mark is None:
            raise DataError(
                message(
                    "building.sheet-not-a-mark",
                    given=told[:40],
                    name=scale.name,
                    count=len(scale.marks),
                ),
                file=place.file,
                item=place.item,
            )
        if mark is not None and given.setdefault(scale.name, mark) != mark:
            raise DataError(
                message("building.two-marks", name=scale.name), file=place.file, item=place.item
            )
    return {scale.name: given[scale.name] for scale in form.scale if scale.name in given}


def _text(cells: JsonObject, name: str, place: Place, *, quoted: bool) -> str:
    value = cells.get(name) or ""
    if not isinstance(value, str):
        raise DataError(message("building.not-a-text", name=name), file=place.file, item=place.item)
    plain = value.replace("\r\n", "\n")
    return (
        plain[1:] if quoted and plain.startswith("'") and plain[1:2] in {*FORMULA, "'"} else plain
    )
