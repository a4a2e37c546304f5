"""Review in a spreadsheet: one row per item, with empty columns for a person's decision.

A sheet is a CSV file or a file of JSON lines with the same columns; a file of `Verdict` lines is
read as well. Each scale of the form has a column, whose head contains its question and the meaning
of its marks. The exported columns must come back unchanged; a person writes into the columns after
them.
"""

from __future__ import annotations

import csv
import io
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import msgspec

from keju.building.drafting.templates import collect_known_facts
from keju.building.review_form import ReviewForm, Scale
from keju.building.reviewing.returned_cells import RowMatcher, format_seal, is_converted
from keju.building.reviewing.verdicts import CORRECTIONS, Decision, Verdict, compute_seal
from keju.datasets.readers.records import JsonObject, Place
from keju.datasets.readers.tables import all_rows
from keju.datasets.store import Dataset
from keju.errors import DataError
from keju.files import FORMULA, relative_path, write_atomic
from keju.items import Item
from keju.texts import Text, _, n_

SUFFIXES = (".csv", ".tsv", ".txt", ".jsonl", ".xlsx")
"""Suffixes of returned sheets; spreadsheets save "Unicode text" as .txt."""

_ITEM_COLUMNS = (
    "item", "seal", "task", "query", "images", "question", "options", "answer", "also_accepted",
    "transcription", "notes",
)  # fmt: skip
_REVIEW_COLUMNS = (
    "decision", "new_question", "new_options", "new_answer", "new_transcription", "reason",
    "person",
)  # fmt: skip
COLUMNS = (*_ITEM_COLUMNS, *_REVIEW_COLUMNS)
_NEW_COLUMNS = {name: f"new_{name}" for name in _ITEM_COLUMNS if f"new_{name}" in _REVIEW_COLUMNS}

_WORDS: Mapping[str, Decision] = {
    word: decision
    for decision, words in {
        Decision.ACCEPT: ("accept", "accepted", "ok", "接受", "通过"),
        Decision.CORRECT: ("correct", "corrected", "改正", "修改"),
        Decision.REJECT: ("reject", "rejected", "拒绝", "拒絕"),
    }.items()
    for word in words
}
"""Words that people write for a decision."""


_MARK = "mark: "


def format_mark_head(scale: Scale) -> str:
    """The head of a scale's column. To read it, its first part, up to the bar, is enough."""
    marks = ", ".join(map(scale.format_mark, range(1, len(scale.marks) + 1)))
    return f"{_MARK}{scale.name} | {scale.asks} {scale.asks_zh} {marks}"


def _list_heads(scale: Scale) -> list[str]:
    """The heads by which a scale's column is recognised: its first part alone, or all of it."""
    return [f"{_MARK}{scale.name}", format_mark_head(scale)]


def write_sheet(dataset: Dataset, items: Sequence[Item], file: Path, form: ReviewForm) -> None:
    """Write items for review as CSV, or as JSON lines if the file's suffix is ``.jsonl``.

    Images are not copied; the column ``images`` contains paths relative to the sheet's directory.
    The cell of a list has one line per element. A text that a spreadsheet would read as a formula
    is escaped with an apostrophe, which `read_sheet` removes.
    """
    heads = [format_mark_head(scale) for scale in form.scale]
    root = relative_path(dataset.path, file.parent)
    rows = (
        _format_item(item, root)
        | {"seal": format_seal(item)}
        | dict.fromkeys((*_REVIEW_COLUMNS, *heads), "")
        for item in items
    )
    if file.suffix == ".jsonl":
        write_atomic(file, (msgspec.json.encode(row) + b"\n" for row in rows))
    else:
        write_atomic(file, _format_lines(rows, (*COLUMNS, *heads)))


def _format_lines(rows: Iterable[Mapping[str, str]], columns: Sequence[str]) -> Iterator[bytes]:
    """The lines of a CSV file, the header line first."""
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\r\n")
    # Without the byte order mark, spreadsheets do not read the file as UTF-8.
    text.write("\ufeff")
    writer.writeheader()
    for row in rows:
        writer.writerow({name: _guard_formula(cell) for name, cell in row.items()})
        yield text.getvalue().encode()
        text.seek(0)
        text.truncate()
    yield text.getvalue().encode()


def _format_item(item: Item, root: str = "") -> dict[str, str]:
    """The cells that show an item; `root` is the path of the dataset with its images."""
    return {
        "item": item.id,
        "seal": compute_seal(item),
        "task": item.task,
        "query": item.query,
        "images": "\n".join((PurePosixPath(root) / ref.path).as_posix() for ref in item.images),
        "question": item.question,
        "options": "\n".join(item.options),
        "answer": item.answer,
        "also_accepted": "\n".join(item.also_accepted),
        "transcription": item.transcription or "",
        "notes": "\n\n".join(f"{name}: {text}" for name, text in collect_known_facts(item).items()),
    }


def _guard_formula(cell: str) -> str:
    return "'" + cell if cell.startswith((*FORMULA, "'")) else cell


def read_sheet(
    file: Path, items: Mapping[str, Item], person: str, form: ReviewForm
) -> list[Verdict]:
    """Read the verdicts in a sheet or in a file of verdicts; rows without a decision are skipped.

    The file is JSON lines, or a table separated by commas, semicolons or tabs, in UTF-8, or in
    UTF-16 with a byte order mark. `person` is the reviewer of rows that do not name one.

    Raises:
        DataError: a column is missing, an exported cell was changed, a decision or a mark is
            unknown, or a row is not valid.
    """
    return list(_iterate_verdicts(file, items, person, form))


def _iterate_verdicts(
    file: Path, items: Mapping[str, Item], person: str, form: ReviewForm
) -> Iterator[Verdict]:
    matcher, changed = RowMatcher(items), list[_ChangedCell]()
    for place, cells in all_rows(file, COLUMNS):
        if "task" not in cells and "decision" in cells and file.suffix == ".jsonl":
            found: Verdict | None = _convert_verdict(cells, place)
        else:
            text = _read_cells(cells, place, matcher)
            if text["item"] in items:
                shown = {name: text[name] for name in _ITEM_COLUMNS if name in cells}
                changed += _find_changes(items[text["item"]], shown, place)
            found = _read_row(text, cells, place, person, form)
        if found is None:
            continue
        if fault := form.find_fault(found.marks) or found.find_fault():
            raise _error(fault, place, found.item)
        yield found
    if changed:
        raise _describe_changes(file, changed)


def _convert_verdict(cells: JsonObject, place: Place) -> Verdict:
    try:
        return msgspec.convert(cells, Verdict)
    except msgspec.ValidationError as error:
        raise _error(
            _("the row is not a valid verdict: {}", error, hint="Review the item again"), place
        ) from None


def _read_cells(cells: JsonObject, place: Place, matcher: RowMatcher) -> dict[str, str]:
    """The cells of a row as text, with the item's id and seal as they were exported.

    Raises:
        DataError: a column is missing, or a cell is not text.
    """
    if "annotation_id" in cells:
        raise DataError(
            "the file is a CSV export of Label Studio, which contains neither the boxes nor the "
            "reviewers",
            file=place.file,
            hint="Export as JSON",
        )
    missing = [name for name in ("item", "decision", "seal") if name not in cells]
    if missing:
        raise _error(
            _(
                "the column {!r} is missing",
                missing[0],
                hint="Use the sheet that `keju build review export` wrote",
            ),
            place,
        )
    quoted = place.file.suffix != ".jsonl"
    text = {name: _read_text(cells, name, place, quoted=quoted) for name in COLUMNS}
    text["item"], text["seal"] = matcher.match(text["item"], text["seal"])
    return text


def _read_row(
    text: Mapping[str, str], cells: JsonObject, place: Place, person: str, form: ReviewForm
) -> Verdict | None:
    word = text["decision"].strip()
    corrected = {
        name.removeprefix("new_"): value
        for name in _REVIEW_COLUMNS
        if name.startswith("new_") and (value := text[name]).strip()
    }
    marks = _read_marks(cells, place, form)
    if not word and not corrected and not marks:
        return None
    decision = _WORDS.get(word.casefold())
    if decision is None:
        given = _("a new text") if corrected else _("a mark")
        raise _error(
            _("{!r} is not a decision", word[:40], hint="Write `accept`, `correct` or `reject`")
            if word
            else _(
                "the row has {} but no decision",
                given,
                hint="Write `accept`, `correct` or `reject` in the column decision",
            ),
            place,
        )
    if not text["seal"]:
        raise _error(
            _(
                "the row has no seal, so the version of the item that was reviewed is unknown",
                hint="Restore the column seal as it was exported",
            ),
            place,
            text["item"],
        )
    corrections: dict[str, object] = dict(corrected)
    if "options" in corrected:
        lines = corrected["options"].splitlines()
        corrections["options"] = [line for line in lines if line.strip()]
    row: JsonObject = {
        "item": text["item"],
        "person": text["person"].strip() or person,
        "decision": decision,
        CORRECTIONS: corrections,
        "reason": text["reason"],
        "marks": marks,
        "seal": text["seal"],
    }
    return _convert_verdict(row, place)


class _ChangedCell(NamedTuple):
    """An exported cell that a person or a spreadsheet has changed."""

    place: Place
    item: str
    name: str


def _find_changes(item: Item, cells: Mapping[str, str], place: Place) -> Iterator[_ChangedCell]:
    """Find edits in the exported cells of an item, which keju would ignore.

    If the item itself has changed since the export, the check of its seal reports that instead.
    """
    shown = _format_item(item)
    if cells["seal"] not in {shown["seal"], ""}:
        return
    for name, cell in cells.items():
        if name != "seal" and not _is_unchanged(name, cell, shown[name]):
            yield _ChangedCell(place, item.id, name)


_MOST_NAMED = 8


def _describe_changes(file: Path, changed: Sequence[_ChangedCell]) -> DataError:
    """The error that lists all changed cells of a sheet, row by row."""
    first = changed[0]
    own = _NEW_COLUMNS.get(first.name)
    if len(changed) == 1:
        return DataError(
            "the exported cell in the column {} was changed",
            first.name,
            file=file,
            item=f"{first.place.item}, {first.item}",
            hint=_(
                "Restore the cell in {}. Write the correction in {}, with the decision `correct`",
                first.name,
                own,
            )
            if own
            else _("Restore the cell in {} as it was exported", first.name),
        )
    rows: dict[str, list[str]] = defaultdict(list)
    for each in changed:
        rows[f"{each.place.item}, {each.item}"].append(each.name)
    named = [f"{row}: {', '.join(names)}" for row, names in rows.items()]
    more = _("; and {} more rows", len(named) - _MOST_NAMED) if len(named) > _MOST_NAMED else ""
    return DataError(
        n_(
            "{n:,} exported cell was changed: {}{}",
            "{n:,} exported cells were changed: {}{}",
            len(changed),
            "; ".join(named[:_MOST_NAMED]),
            more,
            hint=(
                "Restore these cells. Write corrections in the columns new_…, with the decision "
                "`correct`"
            ),
        ),
        file=file,
    )


def _is_unchanged(name: str, cell: str, shown: str) -> bool:
    """Whether a cell is as exported, except for a spreadsheet's changes to spaces and numbers."""
    ours, theirs = ([line.strip() for line in text.strip().split("\n")] for text in (shown, cell))
    if name == "images":  # The sheet may have moved; the name of an image is its hash.
        ours, theirs = ([PurePosixPath(line).name for line in lines] for lines in (ours, theirs))
    return ours == theirs or is_converted(cell, shown)


def _read_marks(cells: JsonObject, place: Place, form: ReviewForm) -> dict[str, int]:
    """The marks in a row, in the form's order."""
    columns = {head: scale for scale in form.scale for head in _list_heads(scale)}
    given: dict[str, int] = {}
    for head, value in cells.items():
        if not head.startswith(_MARK):
            continue
        if head not in columns:
            raise _error(
                _(
                    "the column {!r} does not belong to this review form",
                    head[:60],
                    hint="Use the form that was exported: --scales FILE.toml",
                ),
                place,
            )
        scale, text = columns[head], "" if value is None else str(value).strip()
        mark = scale.parse_mark(text)
        if text and mark is None:
            count = len(scale.marks)
            raise _error(
                _(
                    "{!r} is not a mark of the scale {}",
                    text[:40],
                    scale.name,
                    hint=_("Write a number from 1 to {}, or nothing", count),
                ),
                place,
            )
        if mark is not None and given.setdefault(scale.name, mark) != mark:
            raise _error(
                _("the scale {} has two different marks", scale.name, hint="Keep one of them"),
                place,
            )
    return {scale.name: given[scale.name] for scale in form.scale if scale.name in given}


def _read_text(cells: JsonObject, name: str, place: Place, *, quoted: bool) -> str:
    value = cells.get(name) or ""
    if not isinstance(value, str):
        raise _error(_("the value of {!r} is not a text", name, hint="Write it in quotes"), place)
    plain = value.replace("\r\n", "\n")
    return (
        plain[1:] if quoted and plain.startswith("'") and plain[1:2] in {*FORMULA, "'"} else plain
    )


def _error(problem: Text, place: Place, item: str = "") -> DataError:
    """The error about a row, and about its item where that is known."""
    name = f"{place.item}, {item}" if item else place.item
    return DataError(problem, file=place.file, item=name)
