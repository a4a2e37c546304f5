"""FORMAT ``ancientdoc``: AncientDoc's JSON lines with page images, or the same as parquet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path, PurePosixPath

from msgspec.structs import replace

from keju.benchmarks import Task, tasks
from keju.datasets.readers._strata import Books, as_printed, books_in, unprinted
from keju.datasets.readers.base import Options, Reader, files_under, flag, listed, plain_file
from keju.datasets.readers.json_records import lines_in
from keju.datasets.readers.records import (
    Field,
    JsonObject,
    Pictures,
    Place,
    image_roots,
    map_fields,
    text_of,
)
from keju.datasets.store import DatasetWriter
from keju.datasets.table import frame_of
from keju.errors import DataError, shortened
from keju.items import ImageRef, Item

LAYOUT = """\
SRC                       a .jsonl or .parquet file, or a folder with such files in it
  data.jsonl              one object a line: image, task, question, answer
  CLASS/BOOK/PAGE.jpg     the images; the path in "image" says class and book
  data/*.parquet          or the same columns as parquet, the image inside (bytes and path)
This is the layout of the authors' GitHub README. Their release on Hugging Face has another one,
imgs/CATEGORY/BOOK/page_N.png and one wide label.csv, which keju does not read.
The task is an id (page_level_ocr …), the paper's name (Page-level OCR …) or a Chinese one.
Columns category, book, dynasty, script are taken where there are; of books also from a table:
--option books=FILE.csv   with the columns book, dynasty, script"""

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

OPTIONS = {
    "field.NAME": f"the field that holds the NAME, which is one of: {', '.join(FIELDS)}",
    "images": "the folder that the image paths start from, if it is not that of the .jsonl file",
    "books": "a CSV with the columns book, dynasty, script",
    "skip-missing": "yes: leave out questions whose image is missing (default no)",
}

BENCHMARK = "AncientDoc"

_ALIASES = {
    "page_level_ocr": ("OCR", "Page OCR", "页面识别", "页级OCR", "文字识别"),
    "vernacular_translation": ("Translation", "白话文翻译", "文白翻译", "现代文翻译"),
    "reasoning_qa": ("Reasoning QA", "推理型问答", "推理类问答"),
    "knowledge_qa": ("Knowledge QA", "知识型问答", "知识类问答"),
    "linguistic_variant_qa": ("Linguistic Variants QA", "语言变体类问答", "语体问答"),
}
"""Our guesses at other spellings; the released ones are the ids' or the paper's."""


def read_ancientdoc(src: Path, writer: DatasetWriter, options: Options) -> Iterator[str]:
    """Read AncientDoc's questions word for word; the book is the group.

    The answer of a page's OCR question becomes the transcription of all questions on that page.

    Raises:
        UsageError: a field is mapped that this format has not, or `images` is no folder.
        DataError: no JSON lines, a field, an image or a column missing, an unknown task, a name
            that leads out of the folder.
    """
    files = [src] if src.is_file() else list(files_under(src, {"jsonl", "parquet"}))
    if not files:
        raise DataError(
            "expected a .jsonl file, or a folder with .jsonl files; found none",
            file=src,
            mend="See: keju data formats",
        )
    books = books_in(options)
    items: list[Item] = []
    notes: list[str] = []
    for file in files:
        pictures = Pictures(writer, image_roots(src, file, options))
        items += _items(file, options, pictures, writer)
        if not flag(options, "skip-missing"):
            pictures.raise_if_missing(file)
        if left_out := list(pictures.missing):
            notes.append(f"left out questions on {len(left_out)} pages: {listed(left_out)}")
    for item in _numbered(items):
        writer.add(_with_book(item, books))
    yield from notes
    yield from _notes(items, books)


READER = Reader(
    "ancientdoc", "AncientDoc's JSON lines with page images", LAYOUT, read_ancientdoc, OPTIONS
)


def _items(
    file: Path, options: Options, pictures: Pictures, writer: DatasetWriter
) -> Iterator[Item]:
    records = _records(file)
    if not records:
        raise DataError("no lines", file=file, mend="Fetch the file again")
    fields = map_fields(file, records, FIELDS, options)
    for number, record in enumerate(records, start=1):
        place = Place(file, f"record {number}")
        inside = record.get(fields["image"])
        if isinstance(inside, Mapping | bytes):
            name, ref = _embedded(inside, place, writer)
        else:
            name = text_of(record, fields["image"], place)
            found = pictures.store(name, place)
            if found is None:
                continue
            ref = found
        yield replace(_item(record, fields, name, place), images=(ref,))


def _records(file: Path) -> list[JsonObject]:
    """The lines of a file; of parquet one file is in memory at a time."""
    if file.suffix.casefold() == ".parquet":
        return frame_of(plain_file(file)).to_dicts()
    return lines_in(file)


def _embedded(
    inside: Mapping[object, object] | bytes, place: Place, writer: DatasetWriter
) -> tuple[str, ImageRef]:
    """The name and image of a cell that holds the image itself."""
    cell = inside if isinstance(inside, Mapping) else {"bytes": inside}
    data, name = cell.get("bytes"), cell.get("path")
    if not isinstance(data, bytes):
        raise DataError(
            "the image is not in it", file=place.file, item=place.item, mend="Fetch the file again"
        )
    ref = writer.add_image(data, f"{place.file}: {place.item}")
    if not (isinstance(name, str) and name):
        return f"{ref.sha256}.jpg", ref
    if _page(name).name in {"", ".."}:
        raise DataError(
            f"the image's path {shortened(name)!r} names no file",
            file=place.file,
            item=place.item,
            mend="Write CLASS/BOOK/PAGE.jpg, or leave the path empty",
        )
    return name, ref


def _page(name: str) -> PurePosixPath:
    return PurePosixPath(name.replace("\\", "/"))


def _item(record: JsonObject, fields: Mapping[str, str], name: str, place: Place) -> Item:
    kind = _task(text_of(record, fields["task"], place), place)
    question = text_of(record, fields["question"], place)
    if not question.strip():
        raise DataError(
            "the question is empty", file=place.file, item=place.item, mend="Write the question"
        )
    page = _page(name)
    *_, category, book = ("", "", *page.parent.parts)
    said = {
        role: text_of(record, fields.get(role), place).strip()
        for role in ("category", "book", "dynasty", "script")
    }
    category, book = as_printed("category", said["category"] or category), said["book"] or book
    metadata = {"page": page.as_posix(), "category": category, "book": book} | {
        kind: as_printed(kind, said[kind]) for kind in ("dynasty", "script")
    }
    return Item(
        id=text_of(record, fields.get("id"), place),
        benchmark=kind.benchmark,
        task=kind.id,
        question=question,
        verbatim=True,
        answer=text_of(record, fields["answer"], place),
        group="/".join(part for part in (category, book) if part),
        metadata={key: value for key, value in metadata.items() if value},
    )


def _numbered(items: list[Item]) -> Iterator[Item]:
    """Items with an id each, made of page, task and number; transcriptions from the OCR answers."""
    texts = {item.images[0].sha256: item.answer for item in items if item.task == "page_level_ocr"}
    asked: Counter[tuple[str, str]] = Counter()
    for item in items:
        page = PurePosixPath(item.metadata["page"]).with_suffix("").as_posix()
        asked[page, item.task] += 1
        ref = item.images[0]
        yield replace(
            item,
            id=item.id or f"{page}#{item.task}-{asked[page, item.task]}",
            group=item.group or ref.sha256,
            transcription=texts.get(ref.sha256),
        )


def _with_book(item: Item, books: Books) -> Item:
    book = books.get(item.metadata.get("book", ""), {})
    return replace(item, metadata=item.metadata | dict(book)) if book else item


def _notes(items: list[Item], books: Books) -> Iterator[str]:
    bare = sorted({item.metadata["page"] for item in items if "book" not in item.metadata})
    if bare:
        yield f"{len(bare)} pages lie in no book's folder, so each is a group: {listed(bare)}"
    here = {item.metadata["book"] for item in items if "book" in item.metadata}
    if books and (untold := sorted(here - set(books))):
        yield f"the table of books has no row for {len(untold)} books: {listed(untold)}"
    yield from unprinted(items)


@cache
def _names() -> dict[str, Task]:
    names: dict[str, Task] = {}
    for kind in tasks():
        if kind.benchmark == BENCHMARK:
            for name in (kind.id, kind.name_en, kind.name_zh, *_ALIASES.get(kind.id, ())):
                names[_plain(name)] = kind
    return names


def _plain(name: str) -> str:
    return "".join(char for char in name.casefold() if char.isalnum())


def _task(name: str, place: Place) -> Task:
    kind = _names().get(_plain(name))
    if kind is None:
        ids = ", ".join(dict.fromkeys(found.id for found in _names().values()))
        raise DataError(
            f"unknown task {name[:40]!r}; expected one of {ids}, or the paper's names",
            file=place.file,
            item=place.item,
            mend="See: keju tasks",
        )
    return kind
