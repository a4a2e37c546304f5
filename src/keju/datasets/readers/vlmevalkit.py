"""FORMAT ``vlmevalkit-tsv``: VLMEvalKit's tables, with the images in or beside them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Annotated

from msgspec import Meta
from msgspec.structs import replace

from keju.datasets.readers.base import Detection, Reader, files_under
from keju.datasets.readers.cells import blanks_of
from keju.datasets.readers.listing import Listing
from keju.datasets.readers.mapped import read_mapped
from keju.datasets.readers.mapping import Columns, Table, as_tuple, read_mapping
from keju.datasets.readers.tables import rows
from keju.datasets.store import DatasetWriter
from keju.definitions import task, tasks
from keju.errors import DataError, UsageError
from keju.settings import Settings
from keju.texts import _, n_

LAYOUT = """\
SRC                       a .tsv file, or a folder with .tsv files in it
  T7.tsv                  index, question, answer, and image or image_path; where there are: hint,
                          A, B, C, D …, category, l2-category
An image is base64, a list of base64, or the index of the row that has it; image_path is a path or a
list of paths, from the table's folder or its folder images on. Say the task of its questions:
--option task=T7"""

_PRESET = Path(__file__).parent / "presets/vlmevalkit-tsv.toml"
_NEEDED = frozenset({"index", "question", "answer"})
_IMAGES = frozenset({"image", "image_path"})


class VLMEvalKitSettings(Settings, frozen=True, kw_only=True):
    """The settings of the import: facts that VLMEvalKit's tables do not state."""

    task: Annotated[str, Meta(description="the task that the table's questions are")] = ""
    query: Annotated[str, Meta(description="the query, where the task has several, e.g. What")] = ""
    images: Annotated[
        Path | None,
        Meta(description="the folder that image_path starts from, if it is not that of the table"),
    ] = None


def read_vlmevalkit(
    src: Path, writer: DatasetWriter, settings: VLMEvalKitSettings
) -> Iterator[str]:
    """Read VLMEvalKit's rows as items with verbatim prompts.

    Raises:
        UsageError: the task is not given, or there is none of that name.
        DataError: a table without rows or without a column, an image that is missing or broken.
    """
    files = [src] if src.is_file() else list(files_under(src, {"tsv"}))
    if not files:
        raise DataError(
            "expected a .tsv file, or a folder with .tsv files; found none",
            file=src,
            hint="See: keju data formats vlmevalkit-tsv",
        )
    if not settings.task:
        raise UsageError("{}: give the task of its questions: --option task=T7", files[0])
    columns: set[str] = set()
    for file in files:
        head = [row.cells for row in islice(rows(file), 1)]
        missing = sorted(_NEEDED.difference(*head)) if head else []
        if head and not _IMAGES & set(head[0]):
            missing.append("image or image_path")
        if missing:
            raise DataError(
                "no column {}; found {}",
                missing[0],
                ", ".join(list(head[0])[:20]),
                file=file,
                hint="Name the columns as VLMEvalKit does",
            )
        columns.update(*head)
    mapping = read_mapping(_PRESET)
    constants = {"task": task(settings.task).id, "query": settings.query}
    fields = {role: _existing(names, columns) for role, names in mapping.fields.items()}
    mapping = replace(
        mapping,
        tables=(Table(path="*.tsv"),),
        fields={role: names for role, names in fields.items() if names},
        metadata={name: each for name, each in mapping.metadata.items() if name in columns},
        constants={role: text for role, text in constants.items() if text},
        ignored=("*.csv", "*.json*", "*.ndjson", "*.parquet", "*.xlsx"),
    )
    yield from read_mapped(src, writer, mapping, images=settings.images)


def detect_vlmevalkit(listing: Listing) -> Detection | None:
    """Recognise VLMEvalKit's columns; the task is the file's name if that is a task's id."""
    files = listing.ending("tsv")
    heads = [listing.records(file, 1) for file in files[:50]]
    fitting = [table for table in heads if table and set(table[0]) >= _NEEDED]
    fitting = [table for table in fitting if set(table[0]) & _IMAGES]
    if not fitting:
        return None
    what = n_(
        "{n} table with VLMEvalKit's columns", "{n} tables with VLMEvalKit's columns", len(files)
    )
    if len(fitting) < len(heads):
        others = len(heads) - len(fitting)
        return Detection(0.6, what, missing=_("the columns of VLMEvalKit in {} .tsv files", others))
    stems = {file.stem for file in files}
    name = stems.pop() if len(stems) == 1 else ""
    if any(each.id == name for each in tasks()):
        return Detection(0.95, _("{}, task {}", what, name), {"task": name})
    return Detection(0.95, what, missing=_("the task of the questions: --option task=T7"))


READER = Reader(
    "vlmevalkit-tsv",
    "VLMEvalKit's TSV",
    LAYOUT,
    read_vlmevalkit,
    VLMEvalKitSettings,
    detect_vlmevalkit,
)


def _existing(names: Columns, columns: set[str]) -> Columns:
    """The columns and templates of a role that a table has."""
    return tuple(name for name in as_tuple(names) if set(blanks_of(name) or [name]) <= columns)
