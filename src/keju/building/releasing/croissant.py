"""Croissant metadata of a release: a machine-readable description of its files.

Format: MLCommons Croissant 1.0. The `mlcroissant` library reads records with it; it is not needed
for writing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

from keju.datasets.packed import TABLES
from keju.datasets.store import ITEMS, PARTITIONED, DatasetManifest, find_items
from keju.datasets.table import PARTS
from keju.errors import number_of
from keju.files import sha256_file

FILE = "croissant.json"

_PARQUET = "application/x-parquet"
_PACKED = "image-tables"
_PARTS = "item-tables"


class _Column(NamedTuple):
    """A field of a record set; `inner` is the part taken from a nested column."""

    name: str
    what: str
    kind: str = "sc:Text"
    inner: str = ""
    many: bool = False


_ITEMS = "A question with its answer in each row; keju uses the other columns.", (
    _Column("id", "The item's id."),
    _Column("benchmark", "The benchmark of its task."),
    _Column("task", "The id of its task."),
    _Column("query", "The query of the task, if the task has several."),
    _Column("question", "The question; the whole prompt if verbatim is true."),
    _Column("verbatim", "Whether the question is the whole prompt.", "sc:Boolean"),
    _Column("options", "Of multiple choice, the options in the order of the letters.", many=True),
    _Column("answer", "The reference answer; of multiple choice its letter."),
    _Column("answer_simplified", "The answer in simplified characters, if given."),
    _Column("transcription", "The text of the image, if known."),
    _Column("group", "The unit of independence: a book, a plate, a bone."),
    _Column("split", "test, or reference: labelled examples that are not sent to models."),
    _Column("draft", "Proposed by a program and not accepted by a person.", "sc:Boolean"),
    _Column("images", "The paths of its images, as in the record set images.",
            inner="[*].path", many=True),
)  # fmt: skip
_PROMPTS = (
    "The complete prompts: each question in its task's template.",
    (
        _Column("id", "The item's id."),
        _Column("prompt", "The whole prompt."),
    ),
)
_IMAGES = (
    "The images of the items, each once, under the path that items give.",
    (
        _Column("path", "The path that items give."),
        _Column("image", "The image.", "sc:ImageObject", inner="bytes"),
    ),
)


def make_croissant(
    manifest: DatasetManifest,
    folder: Path,
    tables: Sequence[Path],
    *,
    url: str = "",
    date: str = "",
    citation: str = "",
) -> dict[str, object]:
    """Make the metadata of a release.

    The release contains its tables already; their hashes and sizes are recorded.
    """
    about: dict[str, object] = {
        "@context": json.loads(files(__package__).joinpath("croissant_context.json").read_text()),
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": manifest.name,
        "description": (
            f"{number_of(manifest.items, 'item')} over {number_of(manifest.images, 'image')}, "
            f"as a dataset of keju. Source: {manifest.source}"
        ),
        "license": manifest.licence,
        "version": manifest.version,
        "url": url or manifest.source,
        "identifier": f"sha256:{manifest.hash}",
    }
    about |= {"inLanguage": manifest.language} if manifest.language else {}
    about |= {"datePublished": date} if date else {}
    about |= {"citeAs": citation} if citation else {}
    items = {"fileObject": {"@id": ITEMS}}
    sets = []
    if find_items(folder).is_dir():
        items = {"fileSet": {"@id": _PARTS}}
        sets.append(
            _describe_files(
                _PARTS, "The items, in the order of the numbers.", f"{PARTITIONED}/{PARTS}"
            )
        )
    records = [
        _describe_records("items", _ITEMS, items),
        _describe_records("prompts", _PROMPTS, {"fileObject": {"@id": "prompts.parquet"}}),
    ]
    if manifest.images:
        sets.append(_describe_files(_PACKED, "The images, each once.", TABLES))
        records.append(_describe_records("images", _IMAGES, {"fileSet": {"@id": _PACKED}}))
    distribution = [*(_describe_file(path, folder) for path in tables), *sets]
    return about | {"distribution": distribution, "recordSet": records}


def _describe_file(path: Path, folder: Path) -> dict[str, object]:
    name = path.relative_to(folder).as_posix()
    return {
        "@type": "cr:FileObject",
        "@id": name,
        "name": name,
        "contentUrl": name,
        "encodingFormat": _PARQUET,
        "contentSize": f"{path.stat().st_size} B",
        "sha256": sha256_file(path),
    }


def _describe_files(name: str, what: str, pattern: str) -> dict[str, object]:
    return {
        "@type": "cr:FileSet",
        "@id": name,
        "name": name,
        "description": what,
        "encodingFormat": _PARQUET,
        "includes": pattern,
    }


def _describe_records(
    name: str, table: tuple[str, Sequence[_Column]], place: Mapping[str, object]
) -> dict[str, object]:
    """Describe a table by its description and columns, of which the first is the key."""
    what, columns = table
    return {
        "@type": "cr:RecordSet",
        "@id": name,
        "name": name,
        "description": what,
        "key": {"@id": f"{name}/{columns[0].name}"},
        "field": [_describe_field(name, column, place) for column in columns],
    }


def _describe_field(
    record_set: str, column: _Column, place: Mapping[str, object]
) -> dict[str, object]:
    source: dict[str, object] = {**place, "extract": {"column": column.name}}
    if column.inner:
        source["transform"] = {"jsonPath": column.inner}
    field: dict[str, object] = {
        "@type": "cr:Field",
        "@id": f"{record_set}/{column.name}",
        "name": column.name,
        "description": column.what,
        "dataType": column.kind,
        "source": source,
    }
    return field | ({"repeated": True} if column.many else {})
