"""`Paper`: what a benchmark's folder has of its paper, in ``published/`` beside the definition.

==============================  ===================================================================
``paper.toml``                  the keys of `Paper`; a benchmark without this file has no paper
``models.csv``                  the models that the paper tests (`keju.published.models`)
``metrics.csv``                 how it prints each metric (`keju.published.tables`)
``tables/table-N.csv``          each printed table (``figure-N.csv`` a figure's numbers)
``checks.toml``, ``claims.toml``  what is checked of the tables, and the claims of the text
==============================  ===================================================================
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

import msgspec
from msgspec import field

from keju.datasets.readers.records import place_words
from keju.datasets.readers.tables import Row, all_rows
from keju.definitions import definitions, folder_of, task
from keju.errors import UsageError, error_text
from keju.files import read_toml
from keju.items import Record
from keju.texts import _

S = TypeVar("S")

Kind = Literal["closed-mllm", "open-mllm", "llm", "ocr", "human"]

_FOLDER, _FILE = "published", "paper.toml"
_FIELD = re.compile(r"`(?:\$\.)?(\w+)`$")
"""The field at the end of msgspec's errors."""


class Summary(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Five lines on one paper: values not to use, values with another meaning, and reliable values.

    `version` is that of the audited text and tables, `terms` expands the names of metrics and
    tasks. Each has a Chinese version.
    """

    version: str
    version_zh: str
    terms: str
    terms_zh: str
    lines: tuple[str, ...]
    lines_zh: tuple[str, ...]


class Group(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A group of rows in printed tables: the models of a kind or a size, or those named."""

    tables: tuple[str, ...]
    title: str
    kind: Kind | None = None
    size_b: tuple[float, float] | None = None
    models: tuple[str, ...] = ()


class InputTable(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A printed table of text models that were given a text in place of the image.

    Its columns are the readings that were given; `reference` is that of the true text.
    """

    table: str
    task: str
    metric: str
    reference: str


class RunTables(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The printed tables that a report fills from a run.

    `shown` are the tables in their order; of these `supplements` are useful only with the paper's
    rows, and `direct` are of models that get the image. `notes` are remarks on printed values by
    table, `means` the benchmark's mean that a column prints. `data` are the tables of the data,
    each with the kind of its rows.
    """

    shown: tuple[str, ...] = ()
    supplements: tuple[str, ...] = ()
    direct: tuple[str, ...] = ()
    notes: dict[str, str] = field(default_factory=dict)
    means: dict[str, str] = field(default_factory=dict)
    data: dict[str, Literal["domain", "task", "source"]] = field(default_factory=dict)
    inputs: InputTable | None = None


class PrintedFigure(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A figure of printed tables, or of one column of one; `caption` explains it."""

    tables: tuple[str, ...]
    column: str = ""
    title: str = ""
    caption: str = ""


class SettingFigure(PrintedFigure, frozen=True, kw_only=True):
    """A figure by input setting; `inputs` are the names of the inputs, by the column's subset."""

    inputs: dict[str, str]


class StrataFigure(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A figure about the data: the tables of breakdowns, and the column with counts."""

    tables: dict[str, str]
    column: str


class SettingMean(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A figure of a run by input setting in the paper's form: its tasks, and their mean's name."""

    tasks: tuple[str, ...]
    mean: str
    title: str
    caption: str


class ClassFigure(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The table of accuracies by number of classes, and the task that they are of."""

    table: str
    task: str


class Figures(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The figures that the printed tables permit, by their kind.

    `lacking` is a note on values that the printed tables of tasks do not have. `boxes` is a table
    of domain means. `settings_of_run` is made from a run.
    """

    lacking: str = ""
    standings: PrintedFigure | None = None
    boxes: PrintedFigure | None = None
    settings: SettingFigure | None = None
    settings_of_run: SettingMean | None = None
    classes: ClassFigure | None = None
    judges: PrintedFigure | None = None
    questions: PrintedFigure | None = None
    strata: StrataFigure | None = None
    pictures: PrintedFigure | None = None


class Paper(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The metadata of a paper, apart from its models and tables.

    `models_table` is the paper's own table of models, in ``models-table-N.csv``; `sources_table`
    that of the sources of its tasks, in ``sources-table-N.csv``, and `methods` explains its names
    of methods. `scorer` is false
    where the authors published no program that scores. `short_names` are those of tasks on the
    pages of the audit. `summary` are the most important facts, `groups` are the groups of rows in
    its tables. `galleries` is the number of candidates of a query by task and source of the
    images: its tables are of these alone. `tables` and `figures` are those that reports and
    figures make of the printed numbers.
    """

    models_table: str = ""
    sources_table: str = ""
    methods: str = ""
    methods_zh: str = ""
    scorer: bool = True
    short_names: dict[str, str] = field(default_factory=dict)
    short_names_zh: dict[str, str] = field(default_factory=dict)
    summary: Summary | None = None
    groups: tuple[Group, ...] = ()
    galleries: dict[str, dict[str, int]] = field(default_factory=dict)
    tables: RunTables = field(default_factory=RunTables)
    figures: Figures = field(default_factory=Figures)


def papers() -> tuple[str, ...]:
    """The known benchmarks that have a paper's tables, in their order."""
    return tuple(each.name for each in definitions() if _place(each.name))


def paper(benchmark: str) -> Paper:
    """The stored data of a benchmark's paper.

    Raises:
        UsageError: the benchmark does not exist, or nothing is stored of its paper.
        DataError: a file of it is not valid.
    """
    return _read(_folder(benchmark))


@cache
def paper_galleries(task_id: str) -> Mapping[str, int]:
    """The paper's number of candidates of a query of a task, by source; empty if it has none.

    Raises:
        DataError: a file of the paper is not valid.
    """
    of = task(task_id).benchmark
    return paper(of).galleries.get(task_id, {}) if of in papers() else {}


def paper_file(benchmark: str, name: str) -> Path | None:
    """A file that is stored of a benchmark's paper; None if it is not there.

    Raises:
        UsageError: the benchmark does not exist, or nothing is stored of its paper.
    """
    path = _folder(benchmark) / name
    return path if path.is_file() else None


def table_files(benchmark: str) -> list[Path]:
    """The files of a benchmark's printed tables.

    Raises:
        UsageError: the benchmark does not exist, or nothing is stored of its paper.
    """
    return sorted(_folder(benchmark).joinpath("tables").glob("*.[cC][sS][vV]"))


def csv_rows(path: Path | None) -> list[Row]:
    """The rows of a CSV file by heading, each with its line; none without a file.

    Raises:
        DataError: as `all_rows`.
    """
    return all_rows(path) if path else []


def csv_records(
    path: Path | None, shape: type[S], name: Callable[[S], str], **more: object
) -> tuple[S, ...]:
    """The rows of a CSV file as records; empty cells are absent.

    Args:
        path: the file; none without one.
        shape: the record.
        name: what a record is about, which no other may be about.
        more: fields that every record has in addition to the columns.

    Raises:
        DataError: a row does not fit, or two have the same name.
    """
    rows = csv_rows(path)
    found = []
    for place, cells in rows:
        filled_cells = {name: text for name, text in cells.items() if text}
        try:
            found.append(msgspec.convert({**filled_cells, **more}, shape, strict=False))
        except msgspec.ValidationError as error:
            raise place.error(error_text(error), _allowed(shape, str(error))) from None
    check_distinct(rows, map(name, found), _("Remove one of the rows"))
    return tuple(found)


def _allowed(shape: type[Any], error: str) -> str | None:
    """The values of the field that an error names; None if they are not a list."""
    field_ = _FIELD.search(error)
    kind = get_type_hints(shape).get(field_[1]) if field_ else None
    if field_ is None or get_origin(kind) is not Literal:
        return None
    return _("{} is one of: {}", field_[1], ", ".join(get_args(kind)))


def check_distinct(rows: Iterable[Row], names: Iterable[str], hint: str) -> None:
    """Check that no row of a file has the name of another.

    Args:
        rows: the rows of the file.
        names: what each is about, e.g. ``metric 'CER'``.
        hint: the hint of the error.

    Raises:
        DataError: two rows have the same name.
    """
    lines: dict[str, object] = {}
    for row, name in zip(rows, names, strict=True):
        if name in lines:
            raise row.place.error(_("the {} is also in {}", name, lines[name]), hint)
        lines[name] = place_words(row.place.item)


@cache
def _read(folder: Path) -> Paper:
    return read_toml(folder / _FILE, Paper, what="what keju stores of a paper")


def _folder(benchmark: str) -> Path:
    found = _place(benchmark)
    if found is None:
        raise UsageError("no benchmark {!r}; there are {}", benchmark, ", ".join(papers()))
    return found


def _place(benchmark: str) -> Path | None:
    """The directory of a benchmark's paper; None if there is none."""
    beside = folder_of(benchmark)
    return _inside(beside) if beside else None


@cache
def _inside(beside: Path) -> Path | None:
    folder = beside / _FOLDER
    return folder if (folder / _FILE).is_file() else None
