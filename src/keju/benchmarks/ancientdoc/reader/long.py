"""AncientDoc's records of one question each: image, task, question, answer (the GitHub README)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath

from keju.benchmarks.ancientdoc.reader.images import page_path
from keju.benchmarks.ancientdoc.reader.items import STRATA, make_item, task_named
from keju.datasets.newlines import Newlines
from keju.datasets.readers.import_log import import_log
from keju.datasets.readers.metadata import metadata_of, other_metadata
from keju.datasets.readers.records import Field, Pictures, Place, map_fields, text_of
from keju.datasets.readers.tables import Row
from keju.datasets.store import DatasetWriter
from keju.errors import shortened
from keju.items import ImageRef, Item
from keju.texts import _

FIELDS = {
    "image": Field(("image", "image_path", "img")),
    "task": Field(("task", "task_type", "type")),
    "question": Field(("question", "prompt", "query")),
    "answer": Field(("answer", "response", "gt")),
    "id": Field(("id",), required=False),
    "category": Field(("category", "class"), required=False),
    "book": Field(("book", "title"), required=False),
    "dynasty": Field(("dynasty",), required=False),
    "script": Field(("script",), required=False),
}


def long_items(
    file: Path,
    rows: Sequence[Row],
    pictures: Pictures,
    writer: DatasetWriter,
    newlines: Newlines,
    given: Mapping[str, str],
) -> Iterator[Item]:
    """The items of a table with one question per record, without those whose image is missing.

    Raises:
        UsageError: a field is mapped that this form does not have.
        DataError: a field is missing, a task unknown, a question empty, an image's name leads out
            of its folder.
    """
    records = [row.cells for row in rows]
    fields = map_fields(file, records, FIELDS, given)
    for role, field in fields.items():
        import_log().used(role, field)
    unknown = dict.fromkeys(key for record in records for key in record)
    others = other_metadata(records, [key for key in unknown if key not in fields.values()])
    for place, cells in rows:
        inside = cells.get(fields["image"])
        if isinstance(inside, Mapping | bytes):
            name, ref = embedded(inside, place, writer)
        else:
            name = text_of(cells, fields["image"], place)
            found = pictures.store(name, place)
            if found is None:
                continue
            ref = found
        task = task_named(text_of(cells, fields["task"], place), place)
        question = newlines.convert(text_of(cells, fields["question"], place))
        if not question.strip():
            raise place.error(_("the question is empty", hint="Write the question"))
        answer = newlines.convert(text_of(cells, fields["answer"], place))
        known = metadata_of(cells, others)
        known |= {"page": page_path(page_of(name)).as_posix()}
        known |= {
            role: text_of(cells, fields.get(role), place)
            for role in ("id", *STRATA)
            if role in fields
        }
        yield make_item(task, question, answer, ref, known)


def embedded(
    inside: Mapping[object, object] | bytes, place: Place, writer: DatasetWriter
) -> tuple[str, ImageRef]:
    """The name and image of a cell that contains the image itself.

    Raises:
        DataError: it does not, or its path names no file.
    """
    cell = inside if isinstance(inside, Mapping) else {"bytes": inside}
    data, name = cell.get("bytes"), cell.get("path")
    if not isinstance(data, bytes):
        raise place.error(_("the image is not in it", hint="Fetch the file again"))
    ref = writer.add_image(data, f"{place.file}: {place.item}")
    if not (isinstance(name, str) and name):
        return f"{ref.sha256}.jpg", ref
    if page_of(name).name in {"", ".."}:
        raise place.error(
            _(
                "the image's path {!r} names no file",
                shortened(name),
                hint="Write CLASS/BOOK/PAGE.jpg, or leave the path empty",
            )
        )
    return name, ref


def page_of(name: str) -> PurePosixPath:
    """The path of a page as the source writes it, with either kind of slash."""
    return PurePosixPath(name.replace("\\", "/"))
