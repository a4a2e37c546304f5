"""Transcriptions of a run as files of pages: PAGE-XML, ALTO, hOCR or text, with index.csv.

::

    DIR/  index.csv · <name>.xml (.hocr, .txt), one per image · <name>.<ext>, with images

index.csv is written last and lists every image of every transcription item, with or without a file.
Items and responses are in `RecordList`, so that a run of a million pages fits in memory.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path, PurePath, PurePosixPath
from typing import NamedTuple

from keju import __version__
from keju.datasets.line_kinds import FLOW
from keju.datasets.page_names import page_stems
from keju.datasets.store import Dataset
from keju.datasets.writers.pages import PAGE_FORMS, PageLine, clean, page_lines
from keju.definitions import query_of
from keju.errors import DataError, UsageError, number_of, shortened
from keju.files import cell_text, write_atomic
from keju.images import EXTENSIONS, upright_file
from keju.items import ImageRef, Item, Line, Response, variant_of
from keju.layout import page_text
from keju.local_paths import check_local
from keju.runs import RecordList, RunFolder, RunManifest, StoredItems
from keju.text import answer_part
from keju.texts import _

_ENGINES = ("rapidocr", "tesseract")
"""Keys of a model's identity that are versions of engines."""

_PATH = re.compile(r"[/\\.~]|[A-Za-z]:[/\\]")
_OF_IMAGE = re.compile(r"([1-9][0-9]{0,3})-")


class PageRow(NamedTuple):
    """One row of index.csv: an image of an item, and the result of its export.

    `status` is one of

    - ``lines``: each line has a position;
    - ``some-lines``: lines without a valid position are text without coordinates;
    - ``text-only``: the response has no positions, so that the file has the text without
      coordinates;
    - ``empty``: the engine found no text; the file is a page without text;
    - ``undivided``: the response is one text for several images; no file;
    - ``failed``, ``filtered``: there is no answer; no file;
    - ``missing``: there is no response; no file.
    """

    item: str
    image: str
    page: int
    file: str
    status: str
    lines: int
    replaced: int
    note: str


class PagesExport(NamedTuple):
    """The numbers of written files, of rows by status, and of replaced characters."""

    model: str
    files: int
    statuses: dict[str, int]
    replaced: int


def export_pages(
    run: Path,
    form: str,
    out: Path,
    *,
    model: str = "",
    images: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> PagesExport:
    """Write one model's transcriptions of a run in a form of `PAGE_FORMS`, one file per image.

    They are those of the setting ``image`` in the first script and round of the run. `model` may be
    empty where the run has only one. `images` also writes copies of the images, upright; `progress`
    is called after each item with the number of finished items and that of all items.

    Raises:
        UsageError: the run or the model does not exist, the run has several models and none is
            selected, it has nothing to export, `out` is not empty, or the dataset with the images
            is not found.
        DataError: the run is damaged, an image is missing or altered, or the disk is full.
    """
    if form not in PAGE_FORMS:
        raise UsageError("{!r} is not a form of pages. Forms: {}", form, ", ".join(PAGE_FORMS))
    folder = RunFolder.open(run)
    manifest = folder.manifest()
    models, wordings = list(manifest.models), manifest.wordings
    if not model and len(models) == 1:
        model = models[0]
    if model not in models:
        raise UsageError(
            "{}: name one model of the run with --model: {}", run, ", ".join(models) or _("none")
        )
    wording = "released" if "released" in wordings else wordings[0]
    wanted = ("image", manifest.scripts[0], wording)
    items = StoredItems(
        item
        for item in folder.iter_items()
        if item.images and query_of(item).form == "transcription"
    )
    if not any(folder.responses_path(model, task).is_file() for task in items.tasks):
        raise UsageError("{}: {} has no responses to tasks of transcription", run, model)
    dataset = folder.dataset() if images else None
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UsageError("-o {}: exists and is not an empty directory. Choose another -o", out)
    check_local(out)
    out.mkdir(parents=True, exist_ok=True)
    # Responses are in another order than the items; with their lines each takes 40 KB of memory.
    responses, place_of = RecordList(Response, most=1_000), array("q", [-1]) * len(items)
    for response in folder.responses(model, items.tasks):
        place = items.place_of(response)
        is_wanted = response.round == 1 and variant_of(response) == wanted
        if place is not None and is_wanted and place_of[place] < 0:
            place_of[place] = len(responses)
            responses.append(response)
    writer = _PageWriter(out, form, _engine(manifest, model), _time(manifest), dataset)
    stems = page_stems(items)
    files, replaced, statuses = 0, 0, Counter[str]()

    def table() -> Iterator[bytes]:
        nonlocal files, replaced
        yield codecs.BOM_UTF8 + _csv_line(PageRow._fields)
        for count, (item, stored) in enumerate(zip(items, place_of, strict=True), start=1):
            response = responses[stored] if stored >= 0 else None
            for row in writer.write(item, [next(stems) for _image in item.images], response):
                files += bool(row.file)
                replaced += row.replaced
                statuses[row.status] += 1
                yield _csv_line(row)
            if progress:
                progress(count, len(items))

    write_atomic(out / "index.csv", table())
    return PagesExport(model, files, dict(statuses), replaced)


class _PageWriter(NamedTuple):
    """Writes pages into a directory, with copies of their images from `dataset` if it is given."""

    out: Path
    form: str
    engine: tuple[str, str]
    created: str
    dataset: Dataset | None

    def write(
        self, item: Item, stems: Sequence[str], response: Response | None
    ) -> Iterator[PageRow]:
        """Write a file for each image of an item, if its response has a text for each."""
        status, note = _status_of(response)
        parts = _divided(response, len(item.images)) if response and not status else []
        if not (status or parts):
            status, note = "undivided", f"one text for {number_of(len(item.images), 'image')}"
        for place, (ref, stem) in enumerate(zip(item.images, stems, strict=True)):
            ending = PurePosixPath(ref.path).suffix.casefold().lstrip(".")
            image = f"{stem}.{ending if ending in EXTENSIONS else 'img'}"
            row = PageRow(item.id, image, place + 1, "", status, 0, 0, note)
            yield self._page(row, ref, stem, *parts[place]) if parts else row

    def _page(
        self, row: PageRow, ref: ImageRef, stem: str, answer: Sequence[Line], text: str
    ) -> PageRow:
        form = PAGE_FORMS[self.form]
        lines = page_lines(answer, ref.width, ref.height)
        rows = re.split(r"\r\n|\r|\n", text) if text else []
        written = [line.text for line in answer] if form.template and answer else rows
        if not lines:
            lines = [PageLine(clean(text)) for text in rows if text.strip()]
        if form.template:
            data = form.write(
                lines,
                image=row.image,
                width=ref.width,
                height=ref.height,
                number=row.page,
                engine=self.engine[0],
                version=self.engine[1],
                exporter=f"keju {__version__}",
                created=self.created,
            )
        else:
            data = "".join(f"{clean(text)}\n" for text in rows).encode()
        file = f"{stem}{form.suffix}"
        _write(self.out / file, data)
        if self.dataset is not None:
            # Many programs ignore the EXIF orientation, and the coordinates are upright.
            image = upright_file(self.dataset.image_bytes(ref), name=ref.path)
            _write(self.out / row.image, image)
        placed = [bool(line.outline) for line in lines]
        status = (
            "empty" if not placed
            else "lines" if all(placed)
            else "some-lines" if any(placed)
            else "text-only"
        )  # fmt: skip
        replaced = sum(
            char != safe for line in written for char, safe in zip(line, clean(line), strict=True)
        )
        return row._replace(file=file, status=status, lines=len(lines), replaced=replaced)


def _status_of(response: Response | None) -> tuple[str, str]:
    """The status of pages without a file, which is empty of a response, and a note."""
    if response is None:
        return "missing", "no response"
    if response.status in {"failed", "filtered"}:
        error = response.error
        why = f"{error.kind}: {error.message}" if error else response.finish_reason
        return response.status, clean(shortened(why, 200))
    return "", "the response was cut off" if response.status == "truncated" else ""


def _divided(response: Response, images: int) -> list[tuple[Sequence[Line], str]]:
    """A response's lines and text for each image of its item; empty where they cannot be divided.

    Engines number the lines of several images ``2-7``: the seventh line of the second image.
    """
    if images == 1:
        text = response.text if response.lines else answer_part(response.text)
        return [(response.lines, text)]
    if not response.lines:
        return [] if response.text.strip() else [((), "")] * images
    parts: list[list[Line]] = [[] for _ in range(images)]
    for line in response.lines:
        prefix = _OF_IMAGE.match(line.id)
        if not prefix or int(prefix[1]) > images:
            return []
        parts[int(prefix[1]) - 1].append(line)
    return [(part, page_text([line for line in part if line.kind in FLOW])) for part in parts]


def _engine(manifest: RunManifest, model: str) -> tuple[str, str]:
    """The engine's name, without the directories of its weights or declaration, and its version."""
    identity = manifest.models[model]
    versions = (identity[name].removeprefix(f"{name} ") for name in _ENGINES if name in identity)
    kind, colon, rest = model.partition(":")
    rest = PurePath(rest.replace("\\", "/")).name if _PATH.match(rest) else rest
    return clean(f"{kind}{colon}{rest}"), clean(next(versions, ""))


def _time(manifest: RunManifest) -> str:
    """When the run was made, in UTC; now where it does not record it."""
    try:
        created = datetime.fromisoformat(manifest.created)
    except ValueError:
        created = datetime.now(UTC)
    return created.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _write(path: Path, data: bytes) -> None:
    # Not `write_atomic`: forcing each of many small files to disk takes longer than making it, and
    # index.csv shows that all are there.
    try:
        path.write_bytes(data)
    except OSError as error:
        raise DataError(
            "cannot be written: {}", error.strerror or error, file=path, hint="Choose another place"
        ) from None


def _csv_line(cells: Iterable[object]) -> bytes:
    line = io.StringIO()
    safe = (cell_text(cell) if isinstance(cell, str) else cell for cell in cells)
    csv.writer(line, lineterminator="\n").writerow(safe)
    return line.getvalue().encode()
