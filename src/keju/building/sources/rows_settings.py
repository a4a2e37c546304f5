"""Settings of the source ``rows``, and their checks before anything is read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal

from msgspec import Meta, field

from keju.building.sources.base import SourceSettings
from keju.datasets.readers.tables import Row, read_table
from keju.definitions import Task, task
from keju.errors import ProblemsError, UsageError, unknown_name
from keju.settings import collect_errors
from keju.texts import _

_BLANK = re.compile(r"\{(\w+)\}")

AnswerIs = Literal["text", "letter", "option", "from-0", "from-1"]

Role = Literal[
    "id", "question", "answer", "answer_simplified", "transcription", "group", "image",
    "licence", "source", "page", "notes", "description", "keywords",
]  # fmt: skip
"""The roles of a column; licence and source are the row's own, where it has some.

Page names a saved web page, or several with | between, whose text becomes the item's notes; notes,
description and keywords are known facts about the image."""


LIST_ROLES = frozenset({"page", "keywords"})
"""Roles whose cells may contain a list."""


class RowsSettings(SourceSettings, frozen=True, kw_only=True):
    """A table in CSV, TSV, JSON, JSON lines, parquet or XLSX, and the roles of its columns."""

    path: Annotated[
        Path,
        Meta(
            description="Table file: CSV (with commas, semicolons or tabs), TSV, JSON, JSON lines, "
            "parquet or XLSX."
        ),
    ]
    task: Annotated[str, Meta(description="The task of all rows; or give kind and tasks.")] = ""
    kind: Annotated[str, Meta(description="Column with the kind of each row.")] = ""
    tasks: Annotated[
        dict[str, str], Meta(description="The task of each kind; rows of other kinds are dropped.")
    ] = field(default_factory=dict)
    columns: Annotated[dict[Role, str], Meta(description="The column of each part of an item.")] = (
        field(default_factory=dict)
    )
    fields: Annotated[
        dict[str, str], Meta(description="The column that fills each blank of the task's prompt.")
    ] = field(default_factory=dict)
    options: Annotated[
        tuple[str, ...],
        Meta(description="Columns of the options, or one column that contains a list."),
    ] = ()
    answer_is: Annotated[
        AnswerIs,
        Meta(
            description="Form of the answers to questions with options: letter, option (its "
            "text), from-0 or from-1."
        ),
    ] = "text"
    verbatim: Annotated[
        bool,
        Meta(
            description="Send the column question word for word, without the task's prompt. A "
            "question of a task with options contains them, unless options are given too."
        ),
    ] = False
    metadata: Annotated[
        tuple[str, ...], Meta(description="Columns that are copied to the metadata.")
    ] = ()
    images: Annotated[
        Path | None,
        Meta(description="Directory of the images; by default the directory of the file."),
    ] = None
    pages: Annotated[
        Path | None,
        Meta(description="Directory of the saved web pages that the column page names."),
    ] = None
    pages_licence: Annotated[
        str, Meta(description="Licence of web pages whose sidecar does not name one.")
    ] = ""
    pages_address: Annotated[
        str, Meta(description="Start of the address of web pages whose sidecar does not name one.")
    ] = ""


def check_settings(settings: RowsSettings) -> None:
    """Check the settings, and that the table has their columns.

    Raises:
        ProblemsError: all faults that were found.
    """
    faults: list[str] = []
    with collect_errors(faults):
        for kind in load_tasks(settings).values():
            faults += _list_unfilled(kind, settings)
    if settings.options and settings.answer_is == "text":
        faults.append(_("options requires answer_is: letter, option, from-0 or from-1"))
    if settings.images and not settings.images.is_dir():
        faults.append(_("images: {} is not a directory", settings.images))
    if ("page" in settings.columns) != bool(settings.pages):
        faults.append(
            _('web pages require both pages = "FOLDER" and columns = { page = "COLUMN" }')
        )
    elif settings.pages and not settings.pages.is_dir():
        faults.append(_("pages: {} is not a directory", settings.pages))
    with collect_errors(faults):
        check_columns(settings, read_table(settings.path))
    if faults:
        raise ProblemsError(faults)


def _list_unfilled(kind: Task, settings: RowsSettings) -> Iterator[str]:
    """List the placeholders of a task's prompt that no row can fill, with the key to set."""
    if settings.verbatim:
        if "question" not in settings.columns:
            yield _('verbatim requires columns = { question = "COLUMN" }')
        return
    filled = {"box_format", *settings.fields}
    if "question" in settings.columns:
        filled.add("question")
    if settings.options:
        filled.add("options")
    for blank in _BLANK.findall(kind.queries[0].template):
        if blank not in filled:
            key = {
                "question": 'columns = { question = "COLUMN" }',
                "options": 'options = ["COLUMN", …]',
            }.get(blank, f'fields = {{ {blank} = "COLUMN" }}')
            yield _("no column fills the blank {} of task {}. Set {}", f"{{{blank}}}", kind.id, key)


def load_tasks(settings: RowsSettings) -> dict[str, Task]:
    """The tasks by kind of row; one task for all rows has the kind "".

    Raises:
        UsageError: neither or both of task and kind are set, or a task is not known.
    """
    if bool(settings.task) == bool(settings.kind):
        raise UsageError("give either task, or kind with tasks")
    if settings.task:
        return {"": task(settings.task)}
    if not settings.tasks:
        raise UsageError("kind requires tasks: the task of each kind")
    return {kind: task(name) for kind, name in settings.tasks.items()}


def check_columns(settings: RowsSettings, rows: list[Row]) -> None:
    """Check that the rows have every column that the settings name.

    Raises:
        ProblemsError: the columns that are missing, each with the nearest name.
    """
    known = {name for row in rows for name in row.cells}
    wanted = [*settings.columns.values(), *settings.fields.values(), *settings.options]
    if missing := [
        _("{}: {}", settings.path, unknown_name(name, sorted(known), "column"))
        for name in [*wanted, *settings.metadata, *filter(None, [settings.kind])]
        if name not in known
    ]:
        raise ProblemsError(missing)
