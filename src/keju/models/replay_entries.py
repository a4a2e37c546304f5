"""`entries_in`: the entries of a response file of any supported format."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct, field

from keju.datasets.readers.tables import read_table
from keju.errors import DataError
from keju.items import Failure, Line, Status, Usage
from keju.messages import message
from keju.models.lmms_samples import LmmsSample, lmms_answers
from keju.models.other_harnesses import (
    FORMS,
    ReplayedAnswer,
    archive,
    columns_of,
    inspect_log,
    row_of,
    tab_separated,
)
from keju.text import read_content

_OLD_WORKBOOK = b"\xd0\xcf\x11\xe0"


class Entry(Struct):
    """A line of a file of responses. Only `item` and `text` are required; keju writes the rest.

    `authors` is set for rows of the authors' format; `task` is the task of such a row, since their
    IDs may be numbered within each task.
    """

    item: str | int
    text: str | None = None
    not_text: str = ""
    key: str = ""
    setting: str | None = None
    script: str | None = None
    wording: str | None = None
    round: int | None = None
    candidate: int = 0
    status: Status | None = None
    thinking: str = ""
    finish_reason: str = ""
    usage: Usage = field(default_factory=Usage)
    error: Failure | None = None
    lines: tuple[Line, ...] = ()
    decoding: dict[str, str] | None = None
    refused: tuple[str, ...] = ()
    authors: bool = False
    task: str = ""


def entries_in(path: Path, data: bytes) -> Iterator[Entry | ReplayedAnswer]:
    """The entries of a file of any supported format."""
    start = data[:4096].lstrip()
    if start.startswith(b"PK\x03\x04"):
        yield from archive(path, data)
    elif start.startswith(b"PAR1"):
        yield from _rows(path, [row.cells for row in read_table(path)])
    elif start.startswith(b"["):
        yield from _list(path, data)
    elif start.startswith(_OLD_WORKBOOK):
        raise DataError(message("models.old-excel"), file=path)
    elif path.suffix == ".pkl":
        raise DataError(message("models.pickle"), file=path)
    elif not start.startswith(b"{") and (separator := _separator(path, start)):
        yield from tab_separated(path, data.decode("utf-8", "replace"), separator)
    elif (log := inspect_log(data)) is not None:
        yield from log
    else:
        yield from _json_lines(path, data)


def _separator(path: Path, start: bytes) -> str:
    """The column separator of a text table; empty for a file of another kind."""
    line = start.partition(b"\n")[0].partition(b"\r")[0]
    if b"\t" in line:
        return "\t"
    if path.suffix.casefold() == ".csv":
        return ";" if line.count(b";") > line.count(b",") else ","
    return ""


def entry_of(answer: ReplayedAnswer) -> Entry:
    """The entry of a response in another program's file."""
    return Entry(
        item=answer.item,
        text=answer.text,
        setting=answer.setting,
        script=answer.script,
        wording=answer.wording,
        round=answer.round,
        candidate=answer.candidate,
        status=answer.status,
        thinking=answer.thinking,
        finish_reason=answer.finish_reason,
        usage=answer.usage,
        error=answer.error,
        not_text=answer.not_text,
        lines=answer.lines,
        decoding=answer.decoding,
        refused=answer.refused,
    )


def _json_lines(path: Path, data: bytes) -> Iterator[Entry | ReplayedAnswer]:
    ours, lmms = msgspec.json.Decoder(Entry), msgspec.json.Decoder(LmmsSample)
    samples: list[LmmsSample] = []
    for number, line in enumerate(data.split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            if b'"filtered_resps"' in line and b'"doc_id"' in line:
                samples.append(lmms.decode(line))
                samples[-1].to_answer()
            elif b'"text"' not in line and (row := _row_in(line)):
                yield row_of(row, path, number)
            else:
                yield ours.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, ValueError) as error:
            raise DataError(
                message("models.not-item-and-text", error=error), file=path, item=f"line {number}"
            ) from None
    yield from lmms_answers(samples)


def _row_in(line: bytes) -> dict[str, Any] | None:
    """The row of a table of responses in a line of JSON; None for any other line."""
    row = msgspec.json.decode(line)
    return row if isinstance(row, dict) and columns_of(row) else None


def _rows(path: Path, rows: list[dict[str, Any]]) -> Iterator[ReplayedAnswer]:
    """The rows of a table of responses.

    Raises:
        DataError: its columns are not those of one.
    """
    heads = list(rows[0]) if rows else []
    columns = columns_of(heads)
    if columns is None:
        raise DataError(
            message(
                "models.response-forms",
                forms=FORMS,
                heads=", ".join(heads[:20]) or message("models.none"),
            ),
            file=path,
        )
    yield from (row_of(row, path, number, columns) for number, row in enumerate(rows, start=1))


def _list(path: Path, data: bytes) -> Iterator[Entry | ReplayedAnswer]:
    """A list of objects: with ``ID`` and ``Response``, or a table such as VLMEvalKit's."""
    try:
        rows = msgspec.json.decode(data, type=list[dict[str, Any]])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise DataError(message("models.not-a-list-of-objects", error=error), file=path) from None
    for number, row in enumerate(rows, start=1):
        if "prediction" in row or ("ID" not in row and columns_of(row)):
            yield row_of(row, path, number)
            continue
        name = row.get("ID")
        if not isinstance(name, str | int):
            raise DataError(message("models.object-needs-id"), file=path, item=f"object {number}")
        if "Response" in row:
            content = read_content(row["Response"])
            yield Entry(
                item=name,
                text=content.text,
                not_text=content.not_text,
                authors=True,
                task=_task_of(row.get("Task_ID")),
            )


def _task_of(value: object) -> str:
    """The task of a ``Task_ID``: 7, "7", "T7" or 7.0; empty if it is none of these."""
    digits = str(value).strip().upper().removeprefix("T").removesuffix(".0")
    return f"T{int(digits)}" if digits.isascii() and digits.isdigit() and len(digits) < 4 else ""
