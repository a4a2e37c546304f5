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

from keju.datasets.manifest import ITEMS, PARTITIONED, find_items
from keju.datasets.packed import TABLES
from keju.datasets.parts import PARTS
from keju.datasets.store import DatasetManifest
from keju.errors import number_of
from keju.files import sha256_file

FILE = "croissant.json"

_PARQUET = "application/x-parquet"
_PACKED = "image-tables"
_PARTS = "item-tables"


class _Column(NamedTuple):
    """A field of the items' record set; `inner` is the part taken from a nested column."""

    name: str
    what: str
    kind: str = "sc:Text"
    inner: str = ""
    many: bool = False


_COLUMNS = (
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

    Args:
        manifest: of the dataset.
        folder: the release, which already contains the tables.
        tables: its parquet files; their hashes and sizes are recorded.
        url: where the dataset will be published; its source where that is unknown.
        date: of publication, ISO 8601.
        citation: how to cite it.
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
    packed = [_describe_image_tables()] if manifest.images else []
    items = find_items(folder)
    parts = [_describe_item_tables()] if items.is_dir() else []
    place = {"fileSet": {"@id": _PARTS}} if parts else {"fileObject": {"@id": ITEMS}}
    return about | {
        "distribution": [*(_describe_file(path, folder) for path in tables), *parts, *packed],
        "recordSet": [
            _describe_items(place),
            _describe_prompts(),
            *([_describe_images()] if packed else []),
        ],
    }


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


def _describe_image_tables() -> dict[str, object]:
    return {
        "@type": "cr:FileSet",
        "@id": _PACKED,
        "name": _PACKED,
        "description": "The images, each once.",
        "encodingFormat": _PARQUET,
        "includes": TABLES,
    }


def _describe_item_tables() -> dict[str, object]:
    return {
        "@type": "cr:FileSet",
        "@id": _PARTS,
        "name": _PARTS,
        "description": "The items, in the order of the numbers.",
        "encodingFormat": _PARQUET,
        "includes": f"{PARTITIONED}/{PARTS}",
    }


def _describe_items(place: Mapping[str, object]) -> dict[str, object]:
    fields = []
    for column in _COLUMNS:
        source: dict[str, object] = {
            **place,
            "extract": {"column": column.name},
        }
        if column.inner:
            source["transform"] = {"jsonPath": column.inner}
        field = _describe_field("items", column.name, column.what, column.kind, source)
        fields.append(field | ({"repeated": True} if column.many else {}))
    return {
        "@type": "cr:RecordSet",
        "@id": "items",
        "name": "items",
        "description": "A question with its answer in each row; keju uses the other columns.",
        "key": {"@id": "items/id"},
        "field": fields,
    }


def _describe_prompts() -> dict[str, object]:
    place = {"fileObject": {"@id": "prompts.parquet"}}
    return {
        "@type": "cr:RecordSet",
        "@id": "prompts",
        "name": "prompts",
        "description": "The complete prompts: each question in its task's template.",
        "key": {"@id": "prompts/id"},
        "field": [
            _describe_field("prompts", "id", "The item's id.", "sc:Text",
                   {**place, "extract": {"column": "id"}}),
            _describe_field("prompts", "prompt", "The whole prompt.", "sc:Text",
                   {**place, "extract": {"column": "prompt"}}),
        ],
    }  # fmt: skip


def _describe_images() -> dict[str, object]:
    place = {"fileSet": {"@id": _PACKED}}
    return {
        "@type": "cr:RecordSet",
        "@id": "images",
        "name": "images",
        "description": "The images of the items, each once, under the path that items give.",
        "key": {"@id": "images/path"},
        "field": [
            _describe_field("images", "path", "The path that items give.", "sc:Text",
                   {**place, "extract": {"column": "path"}}),
            _describe_field("images", "image", "The image.", "sc:ImageObject",
                   {**place, "extract": {"column": "image"}, "transform": {"jsonPath": "bytes"}}),
        ],
    }  # fmt: skip


def _describe_field(
    record_set: str, name: str, what: str, kind: str, source: dict[str, object]
) -> dict[str, object]:
    return {
        "@type": "cr:Field",
        "@id": f"{record_set}/{name}",
        "name": name,
        "description": what,
        "dataType": kind,
        "source": source,
    }
