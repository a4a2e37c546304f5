"""FORMAT ``vlmevalkit-tsv``: VLMEvalKit's tables, with the images in or beside them."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Mapping
from pathlib import Path
from string import ascii_uppercase
from typing import Annotated, TextIO

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from keju.datasets.readers.base import Detection, Reader, files_under, source_bytes
from keju.datasets.readers.encodings import HEAD, UTF_8, codec_of
from keju.datasets.readers.image_lookup import image_below
from keju.datasets.readers.import_log import import_log
from keju.datasets.readers.letters import known_letter, letter_of
from keju.datasets.readers.listing import Listing
from keju.datasets.readers.option_lines import insert_options
from keju.datasets.readers.records import Place, image_roots, text_of
from keju.datasets.readers.tables import MAX_CELL, Row, delimited
from keju.datasets.store import DatasetWriter
from keju.datasets.vlmevalkit import HEADS, OURS, build_row, parse_item
from keju.definitions import Task, options_in, query_of, task, tasks
from keju.errors import DataError, UsageError, shortened
from keju.items import ImageRef, Item
from keju.settings import Settings
from keju.texts import _, n_

LAYOUT = """\
SRC                       a .tsv file, or a folder with .tsv files in it
  T7.tsv                  index, question, answer, and image or image_path; where there are: hint,
                          A, B, C, D …, category, l2-category
An image is base64, a list of base64, or the index of the row that has it; image_path is a path or a
list of paths, from the table's folder or its folder images on. A table that keju exported gives
the same items again; of any other, say the task: --option task=T7"""


class VLMEvalKitSettings(Settings, frozen=True, kw_only=True):
    """The settings of the import: facts that VLMEvalKit's tables do not state."""

    task: Annotated[
        str,
        Meta(description="the task that the table's questions are, where keju did not write it"),
    ] = ""
    query: Annotated[str, Meta(description="the query, where the task has several, e.g. What")] = ""
    images: Annotated[
        Path | None,
        Meta(description="the folder that image_path starts from, if it is not that of the table"),
    ] = None


_SHORTEST = 64
"""Minimum length of an image in a cell; a shorter one is the index of the row with the image, as in
VLMEvalKit."""


def read_vlmevalkit(src: Path, writer: DatasetWriter, settings: VLMEvalKitSettings) -> list[str]:
    """Read VLMEvalKit's rows as items: with verbatim prompts, or exactly as exported by keju.

    Raises:
        UsageError: a table needs its task and none is given, or there is none of that name.
        DataError: a table without rows or without a column, a row whose columns contradict one
            another, an image that is missing, broken or not base64.
    """
    files = [src] if src.is_file() else list(files_under(src, {"tsv"}))
    if not files:
        raise DataError(
            "expected a .tsv file, or a folder with .tsv files; found none",
            file=src,
            hint="See: keju data formats vlmevalkit-tsv",
        )
    for file in files:
        images = _Images(writer, image_roots(src, file, settings.images))
        count = 0
        for row in _rows(file):
            refs = images.of(row)
            writer.add(_item(row, refs, settings))
            count += 1
        if not count:
            raise DataError("the table has no rows", file=file, hint="Fetch the file again")
    return []


def detect_vlmevalkit(listing: Listing) -> Detection | None:
    """Recognise VLMEvalKit's columns; the task is the file's name if that is a task's id."""
    files = listing.ending("tsv")
    heads = [listing.records(file, 1) for file in files[:50]]
    fitting = [set(rows[0]) for rows in heads if rows and set(rows[0]) >= _NEEDED]
    fitting = [columns for columns in fitting if columns & {"image", "image_path"}]
    if not fitting:
        return None
    what = n_(
        "{n} table with VLMEvalKit's columns", "{n} tables with VLMEvalKit's columns", len(files)
    )
    if len(fitting) < len(heads):
        others = len(heads) - len(fitting)
        return Detection(0.6, what, missing=_("the columns of VLMEvalKit in {} .tsv files", others))
    if all("keju" in columns for columns in fitting):
        return Detection(1.0, _("{}, written by keju", what))
    stems = {file.stem for file in files}
    name = stems.pop() if len(stems) == 1 else ""
    if any(each.id == name for each in tasks()):
        return Detection(0.95, _("{}, task {}", what, name), {"task": name})
    return Detection(0.95, what, missing=_("the task of the questions: --option task=T7"))


_NEEDED = frozenset({"index", "question", "answer"})

READER = Reader(
    "vlmevalkit-tsv",
    "VLMEvalKit's TSV",
    LAYOUT,
    read_vlmevalkit,
    VLMEvalKitSettings,
    detect_vlmevalkit,
)


def _rows(file: Path) -> Iterator[Row]:
    """The rows of a table, streamed, since tables of a gigabyte are usual."""
    if not file.is_file():
        raise DataError("not a regular file", file=file, hint="Replace it by the file itself")
    try:
        with file.open(encoding=_encoding(file), newline="") as lines:
            separator = "\t" if file.suffix == ".tsv" else ","
            for row in delimited(file, _bounded(file, lines), separator):
                _check_columns(row)
                yield row
    except UnicodeDecodeError as error:
        raise DataError(
            "the text is not {} throughout",
            error.encoding,
            file=file,
            hint="Name its encoding: --option encoding=NAME, or convert it to UTF-8",
        ) from None


def _bounded(file: Path, lines: TextIO) -> Iterator[str]:
    """The lines of a table, with limited length."""
    for number, line in enumerate(iter(lambda: lines.readline(MAX_CELL), ""), start=1):
        if len(line) == MAX_CELL:
            raise DataError(
                "a line of more than {} million characters",
                MAX_CELL >> 20,
                file=file,
                item=f"line {number}",
                hint="Fetch the file again",
            )
        yield line


def _encoding(file: Path) -> str:
    """The codec of a table, from its beginning; reported if it is not UTF-8."""
    with file.open("rb") as stream:
        head = stream.read(HEAD)
    codec = codec_of(head, file, import_log().encoding)
    if codec != UTF_8:
        import_log().decoded(file, codec)
    return codec


def _check_columns(row: Row) -> None:
    cells = row.cells
    missing = [head for head in ("index", "question", "answer") if head not in cells]
    if not {"image", "image_path"} & set(cells):
        missing.append("image or image_path")
    if missing:
        raise DataError(
            "no column {}; found {}",
            missing[0],
            ", ".join(list(cells)[:20]),
            file=row.place.file,
            hint="Name the columns as VLMEvalKit does",
        )


class _Images:
    """The images of a table, by row; a row may refer to another's."""

    def __init__(self, writer: DatasetWriter, roots: list[Path]) -> None:
        self._writer = writer
        self._roots = list(dict.fromkeys(roots))
        self._by_index: dict[str, tuple[ImageRef, ...]] = {}

    def of(self, row: Row) -> tuple[ImageRef, ...]:
        """The images of a row, stored in the dataset.

        Raises:
            DataError: there are none, or one is missing, broken or not base64.
        """
        place = row.place
        index = text_of(row.cells, "index", place).strip()
        cell = text_of(row.cells, "image", place).strip()
        names = text_of(row.cells, "image_path", place).strip()
        if cell and len(cell) < _SHORTEST and not cell.startswith("["):
            if cell not in self._by_index:
                raise place.error(
                    _("no row {!r} above it has an image", cell, hint="Add its image")
                )
            refs = self._by_index[cell]
        elif cell:
            refs = tuple(self._decoded(each, place) for each in _listed(cell))
        elif names:
            refs = tuple(self._read(each, place) for each in _listed(names))
        else:
            refs = ()
        if not refs:
            raise place.error(_("the row has no image", hint="Fill image or image_path"))
        self._by_index[index] = refs
        return refs

    def _decoded(self, text: str, place: Place) -> ImageRef:
        try:
            data = base64.b64decode(text, validate=True)
        except (binascii.Error, ValueError):
            raise place.error(
                _("its image is not valid base64", hint="Fetch the file again")
            ) from None
        return self._writer.add_image(data, f"{place.file}: {place.item}")

    def _read(self, name: str, place: Place) -> ImageRef:
        path = image_below(self._roots, name, file=place.file, item=place.item)
        if path is None:
            raise place.error(
                _(
                    "the image {!r} is missing",
                    shortened(name),
                    hint="Give its folder: --option images=FOLDER",
                )
            )
        return self._writer.add_image(source_bytes(path), str(path))


def _listed(cell: str) -> list[str]:
    """One text, or the texts of a list written as JSON or, as by pandas, in single quotes."""
    if not (cell.startswith("[") and cell.endswith("]")):
        return [cell]
    for form in (cell, cell.replace("'", '"')):
        try:
            return msgspec.json.decode(form, type=list[str])
        except msgspec.MsgspecError:
            continue
    return [cell]


def _item(row: Row, refs: tuple[ImageRef, ...], settings: VLMEvalKitSettings) -> Item:
    place, cells = row
    said = {head: text_of(cells, head, place) for head in cells}
    if written := said.get("keju", ""):
        item = parse_item(written, f"{place.file}: {place.item}")
        _must_agree(item, said, place)
        return replace(item, images=refs)
    if not settings.task:
        raise UsageError("{}: give the task of its questions: --option task=T7", place.file)
    return _foreign(said, refs, task(settings.task), settings.query, place)


def _must_agree(item: Item, said: Mapping[str, str], place: Place) -> None:
    """Check that the visible columns and the item of a row agree; otherwise one was edited."""
    expected = build_row(item)
    visible = [head for head in (*HEADS, *ascii_uppercase) if head not in {"index", "image", *OURS}]
    apart = [head for head in visible if said.get(head, "") != expected.get(head, "")]
    if apart:
        raise place.error(
            _(
                "{} and the item in the column keju are not the same",
                ", ".join(apart),
                hint="Change both, or remove the column keju and give the task: --option task=T7",
            )
        )


def _foreign(
    said: Mapping[str, str], refs: tuple[ImageRef, ...], kind: Task, query: str, place: Place
) -> Item:
    index, question = said["index"].strip(), said["question"].strip()
    if not index:
        raise place.error(_("the row has no index", hint="Number the rows"))
    if not question:
        raise place.error(_("the question is empty", hint="Write the question"))
    pattern = Item(id=index, benchmark=kind.benchmark, task=kind.id, query=query)
    letters = query_of(pattern).form == "letter"
    choices = _choices(said, place) if letters else ()
    asked = "\n".join(part for part in (said.get("hint", "").strip(), question) if part)
    if choices:
        asked = insert_options(asked, choices, kind)
    answer, shown = said["answer"], choices or (options_in(asked) if letters else ())
    heads = ("category", "l2-category")
    return replace(
        pattern,
        images=refs,
        question=asked,
        verbatim=True,
        options=choices,
        answer=_letter(answer, shown, place) if shown else answer,
        group=refs[0].sha256,
        metadata={head: said[head] for head in heads if said.get(head, "")},
    )


def _letter(answer: str, choices: tuple[str, ...], place: Place) -> str:
    """The letter of an answer, which counts before the text of an option."""
    alone = letter_of(answer, ("",) * len(choices))
    letters = {*ascii_uppercase[: len(choices)]}
    return alone if alone in letters else known_letter(answer, choices, place)


def _choices(said: Mapping[str, str], place: Place) -> tuple[str, ...]:
    """The options from A on; a gap is an error, because it would change the letters after it."""
    cells = [said.get(letter, "") for letter in ascii_uppercase]
    filled = [number for number, cell in enumerate(cells) if cell.strip()]
    choices = cells[: filled[-1] + 1] if filled else []
    if len(filled) < len(choices):
        gap = next(number for number, cell in enumerate(choices) if not cell.strip())
        letter, last = ascii_uppercase[gap], ascii_uppercase[filled[-1]]
        raise place.error(
            _(
                "option {} is empty, but {} is not",
                letter,
                last,
                hint=_("Fill column {}, or move the options and the answer's letter up", letter),
            )
        )
    return tuple(choices)
