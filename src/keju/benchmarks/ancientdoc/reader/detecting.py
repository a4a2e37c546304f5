"""Recognition of AncientDoc: its wide table, its JSON lines, its images alone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

from keju.benchmarks.ancientdoc.reader.columns import wide_columns
from keju.benchmarks.ancientdoc.reader.images import FOLDER
from keju.benchmarks.ancientdoc.reader.items import is_task_name
from keju.benchmarks.ancientdoc.reader.tables import Kind, image_in, kind_of
from keju.datasets.readers.base import Detection, image_files
from keju.datasets.readers.listing import Listing, Record
from keju.datasets.values import canonical
from keju.errors import number_of
from keju.text import count_han

_SUFFIXES = ("csv", "tsv", "json", "jsonl", "ndjson", "xlsx", "parquet")
_MOST_TABLES = 20
_LONGEST = 10_000
"""Characters of a value in which Chinese ones are looked for."""
_TASK_FIELDS = ("task", "task_type", "type")
_PAGE = re.compile(r"page_\d+\.\w+\Z", re.IGNORECASE)
_IMAGES = "the images, imgs/CATEGORY/BOOK/page_N.png"
_HINT = (
    "label.csv with the questions and answers, beside imgs; --option without-answers=yes imports "
    "the images alone"
)


class _Found(NamedTuple):
    """A table that can be AncientDoc's, with its first records."""

    path: PurePosixPath
    records: list[Record]
    kind: Kind


def detect_ancientdoc(listing: Listing) -> Detection | None:
    """Recognise a source by its tables' columns and by folders named after categories."""
    found = [each for each in _tables(listing) if each.kind == "images" or _is_chinese(each)]
    for kind, detect in (("wide", _wide), ("long", _long), ("images", _images)):
        for table in found:
            if table.kind == kind and (detection := detect(listing, found, table)):
                return detection
    return _of_tree(listing) if not listing.ending(*_SUFFIXES) else None


def _is_chinese(table: _Found) -> bool:
    """Whether the first records of a table have Chinese characters."""
    said = (str(value)[:_LONGEST] for record in table.records for value in record.values()
            if isinstance(value, str | list | dict))  # fmt: skip
    return any(map(count_han, said))


def _tables(listing: Listing) -> Iterator[_Found]:
    for path in listing.ending(*_SUFFIXES)[:_MOST_TABLES]:
        records = listing.records(path)
        if records and (kind := kind_of(records)):
            yield _Found(path, records, kind)


def _wide(listing: Listing, found: Sequence[_Found], table: _Found) -> Detection:
    columns = wide_columns(dict.fromkeys(key for record in table.records for key in record))
    tasks = dict.fromkeys(asked.task for asked in columns.asked) if columns else {}
    sure = _categories(listing) or (
        table.path.name.casefold() == "label.csv" and _names_pages(table.records)
    )
    inside = bool(image_in(table.records[0])) or any(each.kind == "images" for each in found)
    here = listing.images or inside or _beside(listing)
    what = f"AncientDoc's table {table.path.name} ({', '.join(tasks)})"
    what += f" with {number_of(len(listing.images), 'image')}" if listing.images else ""
    return Detection(1 if sure else 0.6, what, missing="" if here else _IMAGES)


def _names_pages(records: Sequence[Record]) -> bool:
    """Whether a value of the first record is the name of a page, ``BOOKpage_N.png``."""
    return any(isinstance(value, str) and _PAGE.search(value) for value in records[0].values())


def _long(_listing: Listing, _found: Sequence[_Found], table: _Found) -> Detection | None:
    column = next((key for key in table.records[0] if key.casefold() in _TASK_FIELDS), "")
    if not all(is_task_name(record.get(column)) for record in table.records):
        return None
    return Detection(1, f"AncientDoc's questions, one per record, in {table.path.name}")


def _images(listing: Listing, _found: Sequence[_Found], table: _Found) -> Detection | None:
    if set(table.records[0]) != {"image"}:
        return None
    named = "ancientdoc" in f"{listing.src.resolve()}/{table.path}".casefold()
    what = f"images alone, as in the hub's automatic parquet ({table.path.name}); no answers"
    return Detection(0.8 if named else 0.5, what)


def _beside(listing: Listing) -> bool:
    """Whether there are images beside a table that is given alone."""
    return listing.src.is_file() and next(image_files(listing.root), None) is not None


def _of_tree(listing: Listing) -> Detection | None:
    known = _categories(listing)
    if not (known and any(path.parts[0] == FOLDER for path in listing.images)):
        return None
    what = f"AncientDoc's images in {known} categories ({len(listing.images)})"
    return Detection(0.9, what, missing=_HINT)


def _categories(listing: Listing) -> int:
    """The number of folders that are named after AncientDoc's categories."""
    names = {path.parts[-3] for path in listing.images if len(path.parts) > 2}
    return len({each.id for name in names if (each := canonical("category", name))})
