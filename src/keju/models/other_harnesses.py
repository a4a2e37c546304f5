"""Result files of Inspect, lmms-eval and VLMEvalKit, read as answers to keju's items.

An item is found by its id: Inspect's sample id; the column ``id`` of VLMEvalKit's table (keju's
export writes it), else ``index``; lmms-eval's ``doc_id``, unless the task's own ``doc`` with an
``id`` was kept. ``index`` and ``doc_id`` may be row numbers (see `row_matching`). These files are
untrusted: pickles are not read, archives have size limits.
"""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct, convert, field
from msgspec.structs import replace

from keju.datasets.readers.records import Place
from keju.datasets.readers.tables import Row
from keju.datasets.readers.workbooks import Workbook
from keju.errors import DataError
from keju.files import decode_json
from keju.items import Failure, Line, Response, Status, Usage
from keju.texts import _

LONGEST_CELL = 32_767
"""Characters; a spreadsheet cuts longer cells, so that a cell of this length is truncated."""

_MOST_BYTES = 1 << 30
_WORKBOOK = "xl/workbook.xml"
_ATTACHED = "attachment://"


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


class ReplayedAnswer(Entry, kw_only=True):
    """One answer in a result file of another program.

    `by_row` is set where `item` may be a row number and not an id; `prompt` is then the text that
    the model was sent, where the file has it.
    """

    item: str
    text: str
    by_row: bool = False
    prompt: str = ""


class _Message(Struct):
    content: str | list[dict[str, Any]] = ""


class _Choice(Struct):
    message: _Message = field(default_factory=_Message)
    stop_reason: str = ""


class _Tokens(Struct):
    input_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None


class _Output(Struct):
    choices: list[_Choice] = []
    usage: _Tokens | None = None
    error: str | None = None


class _Error(Struct):
    message: str = ""


class _Metadata(Struct):
    """The metadata of a response that keju exports."""

    keju: Response | None = None


class _Sample(Struct):
    id: int | str
    epoch: int = 1
    output: _Output = field(default_factory=_Output)
    error: _Error | None = None
    attachments: dict[str, str] = {}
    metadata: _Metadata = field(default_factory=_Metadata)


class _Log(Struct):
    eval: dict[str, Any]
    samples: list[_Sample]


def inspect_log(data: bytes) -> list[ReplayedAnswer] | None:
    """The samples of an Inspect log in JSON; None if it is not one."""
    try:
        return _inspect_answers(decode_json(data, _Log).samples)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None


def archive(path: Path, data: bytes) -> list[ReplayedAnswer]:
    """An Inspect log (``.eval``) or a VLMEvalKit workbook (``.xlsx``).

    Raises:
        DataError: it is neither, or damaged.
    """
    with suppress(ImportError):
        import zipfile_zstd  # noqa: F401, PLC0415  Inspect packs so, and brings this along

    try:
        with zipfile.ZipFile(io.BytesIO(data)) as pack:
            if sum(each.file_size for each in pack.infolist()) > _MOST_BYTES:
                raise DataError("it would unpack to more than 1 GB", file=path)
            names = pack.namelist()
            if _WORKBOOK in names:
                return list(_workbook_answers(path, data))
            # Entries are named after items, some of which contain line breaks.
            samples = [name for name in names if re.fullmatch(r"(?s)samples/.+\.json", name)]
            if not samples:
                raise DataError("neither an Inspect log nor a workbook", file=path)
            return _inspect_answers([decode_json(pack.read(name), _Sample) for name in samples])
    except NotImplementedError:
        hint = _("Write it as JSON: inspect log convert --to json --output-dir DIR FILE")
        raise DataError(
            "compressed with a method that keju does not read", file=path, hint=hint
        ) from None
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError) as error:
        raise DataError("a damaged archive: {}", error, file=path) from None
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, ValueError) as error:
        raise DataError(
            "the file has the suffix of a log or table, but it is not one: {}", error, file=path
        ) from None


class Columns(NamedTuple):
    """The columns of a table of responses: the one that names the item, and the answer's."""

    name: str
    answer: str

    @property
    def by_row(self) -> bool:
        """Whether the names may be row numbers: VLMEvalKit's ``index``."""
        return self.name == "index"


_NAMES = ("id", "item", "index")
_ANSWERS = ("response", "output", "text")


def columns_of(heads: Collection[str]) -> Columns | None:
    """The columns of a table of responses; None where it does not have exactly one of each.

    ``prediction`` is the answer beside any other column. ``answer`` is the model's only where no
    other column can be it, since tables of questions have the reference there.
    """
    names = [name for name in _NAMES if name in heads]
    if {"id", "item"} <= set(names):
        return None
    answers = [name for name in _ANSWERS if name in heads]
    if "prediction" in heads:
        answers = ["prediction"]
    elif not answers and "answer" in heads:
        answers = ["answer"]
    return Columns(names[0], answers[0]) if names and len(answers) == 1 else None


def row_of(row: dict[str, Any], place: Place, columns: Columns | None = None) -> ReplayedAnswer:
    """A row of a table of responses.

    Raises:
        DataError: it names no item, or the answer is not text.
    """
    columns = columns or columns_of(row) or Columns("id", "prediction")
    by_row = columns.by_row
    name = row.get(columns.name)
    if name in (None, "") and columns.name == "id":
        name, by_row = row.get("index"), True
    if isinstance(name, float) and name.is_integer():
        name = int(name)
    text, thinking = row.get(columns.answer), row.get("thinking")
    if not isinstance(name, str | int) or name == "" or not isinstance(text, str | None):
        raise DataError(
            "a row needs id or index, and {}", columns.answer, file=place.file, item=place.item
        )
    prompt = row.get("question")
    return ReplayedAnswer(
        item=str(name),
        text=text or "",
        status="truncated" if text is not None and len(text) == LONGEST_CELL else None,
        thinking=thinking if isinstance(thinking, str) else "",
        by_row=by_row,
        prompt=prompt if isinstance(prompt, str) else "",
    )


def _workbook_answers(path: Path, data: bytes) -> Iterator[ReplayedAnswer]:
    """The rows of the first sheet of a workbook."""
    sheets = Workbook(path, data, formulas=True).sheets()
    lines = sheets[0].rows if sheets else []
    heads = [head.strip() for head in lines[0].cells] if lines else []
    rows = [
        Row(Place(path, f"line {number}"), dict(zip(heads, cells, strict=False)))
        for number, cells in lines[1:]
        if any(cells)
    ]
    return table_answers(path, heads, rows)


def table_answers(path: Path, heads: list[str], rows: Iterable[Row]) -> Iterator[ReplayedAnswer]:
    """The rows of a table of responses.

    Raises:
        DataError: its columns are not those of one, or a row has no answer to an item.
    """
    columns = columns_of(heads)
    if columns is None:
        named = ", ".join(heads[:20]) or _("none")
        raise DataError(
            "a table needs one column id, item or index, and one column prediction, response, "
            "output, text or answer; found {}",
            named,
            file=path,
            hint=(
                "docs/running.md lists the forms that are read. JSON lines need item and text, "
                "tables (.csv, .tsv, .xlsx, .parquet, .json) id and prediction"
            ),
        )
    yield from (row_of(cells, place, columns) for place, cells in rows)


def _inspect_answers(samples: list[_Sample]) -> list[ReplayedAnswer]:
    several = any(sample.epoch != 1 for sample in samples)
    return [_sample_answers(sample, several) for sample in samples]


def _own_answer(text: str, thinking: str, ours: Response) -> ReplayedAnswer:
    """A response that keju exported itself: everything but its text is in the metadata."""
    return replace(
        convert(ours, ReplayedAnswer, from_attributes=True),
        text=text,
        thinking=thinking,
        key="",
        task="",
    )


def _sample_answers(sample: _Sample, several: bool) -> ReplayedAnswer:
    choice = sample.output.choices[0] if sample.output.choices else _Choice()
    content = choice.message.content
    parts = content if isinstance(content, list) else [{"type": "text", "text": content}]
    texts = [_text_of(sample, part, "text") for part in parts if part.get("type") == "text"]
    thoughts = [_text_of(sample, p, "reasoning") for p in parts if p.get("type") == "reasoning"]
    if ours := sample.metadata.keju:
        return _own_answer("\n".join(texts), "\n".join(thoughts), ours)
    wrong = sample.error.message if sample.error else sample.output.error or ""
    if not wrong and not sample.output.choices:
        wrong = "the sample has no output"
    tokens = sample.output.usage or _Tokens()
    return ReplayedAnswer(
        item=str(sample.id),
        text="\n".join(texts),
        round=sample.epoch if several else None,
        thinking="\n".join(thoughts),
        finish_reason=choice.stop_reason,
        usage=Usage(
            input_tokens=tokens.input_tokens,
            output_tokens=tokens.output_tokens,
            thinking_tokens=tokens.reasoning_tokens,
        ),
        error=Failure(kind="failed-elsewhere", message=" ".join(wrong.split())[:300])
        if wrong
        else None,
    )


def _text_of(sample: _Sample, part: dict[str, Any], name: str) -> str:
    said = part.get(name)
    said = said if isinstance(said, str) else ""
    return sample.attachments.get(said.removeprefix(_ATTACHED), said)
