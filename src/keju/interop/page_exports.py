"""Transcriptions of a run as files of pages: PAGE-XML, ALTO, hOCR or text, with index.csv.

::

    DIR/  index.csv · <name>.xml (.hocr, .txt), one per image · <name>.<ext>, with images

index.csv is written last and lists every image of every transcription item, with or without a file.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path, PurePath, PurePosixPath
from typing import NamedTuple

from keju import __version__
from keju.datasets.line_kinds import FLOW
from keju.datasets.page_names import PageOf, page_stems
from keju.datasets.store import Dataset
from keju.datasets.writers.pages import PAGE_FORMS, PageForm
from keju.datasets.writers.pages.page import (
    Cleaner,
    Engine,
    PageContent,
    page_lines,
    regions_of,
    rows_as_lines,
)
from keju.definitions import query_of
from keju.errors import UsageError, did_you_mean, nearest_names, number_of, shortened
from keju.files import cell_text, write_atomic
from keju.images import EXTENSIONS, upright_file
from keju.items import Item, Line, Response
from keju.layout import page_text
from keju.local_paths import check_local
from keju.runs import RunFolder, RunManifest
from keju.text import answer_part
from keju.texts import _, noun

LARGEST = 1_000_000
"""Maximum characters and outline points of an item; larger ones are not written. XML parsers reject
a text of 10 MB."""

INDEX = "index.csv"

_ENGINES = ("rapidocr", "tesseract")
_PROGRAMS = (*_ENGINES, "onnxruntime", "openvino", "transformers", "torch")
"""Keys of a model's identity that are versions of programs."""

_PATH = re.compile(r"[/\\.~]|[A-Za-z]:[/\\]")
_OF_IMAGE = re.compile(r"([1-9][0-9]{0,3})-")

Progress = Callable[[int, int], None]
"""A function that is called with the number of finished items and the number of all items."""


class PageRow(NamedTuple):
    """One row of index.csv: an image of an item, and the result of its export.

    `status` is one of

    - ``lines``: each line has a position;
    - ``some-lines``: lines without a valid position are text without coordinates;
    - ``text-only``: the response has no positions, so that the file has the text without
      coordinates;
    - ``empty``: the engine found no text; the file is a page without text;
    - ``undivided``: the response is one text for several images; no file;
    - ``too-large``: the response is larger than `LARGEST`; no file;
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
    """The numbers of written files and of images, rows by status, replaced characters."""

    model: str
    files: int
    statuses: dict[str, int]
    replaced: int
    images: int


def export_pages(
    run: Path,
    form: str,
    out: Path,
    *,
    model: str = "",
    script: str = "",
    round_: int = 1,
    images: bool = False,
    progress: Progress | None = None,
) -> PagesExport:
    """Write one model's transcriptions of a run in a form of `PAGE_FORMS`, one file per image.

    `model` and `script` may be empty where the run has only one. `images` also writes copies of the
    images, upright; `progress` is called after each item.

    Raises:
        UsageError: the run or the model does not exist, the run has several models or scripts and
            none is selected, it has nothing to export, `out` is not empty, or the dataset with the
            images is not found.
        DataError: the run is damaged, or an image is missing or altered.
    """
    if form not in PAGE_FORMS:
        raise UsageError("{!r} is not a form of pages. Forms: {}", form, ", ".join(PAGE_FORMS))
    folder = RunFolder.open(run)
    manifest = folder.manifest()
    chosen = _chosen(manifest, run, model, script, round_)
    items = [
        item for item in folder.items() if item.images and query_of(item).form == "transcription"
    ]
    tasks = sorted({item.task for item in items})
    if not any(folder.responses_path(chosen.model, task).is_file() for task in tasks):
        raise UsageError("{}: {} has no responses to tasks of transcription", run, chosen.model)
    dataset = folder.dataset() if images else None
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UsageError("-o {}: exists and is not an empty directory. Choose another -o", out)
    check_local(out)
    out.mkdir(parents=True, exist_ok=True)
    writer = _Writer(out, PAGE_FORMS[form], _engine(manifest, chosen.model), _time(manifest))
    writer.dataset = dataset
    rows = writer.write_pages(items, folder.responses(chosen.model, tasks), chosen, progress)
    write_atomic(out / INDEX, _index(rows))
    return PagesExport(
        chosen.model,
        sum(bool(row.file) for row in rows),
        dict(Counter(row.status for row in rows)),
        sum(row.replaced for row in rows),
        writer.images,
    )


class _ResponseSelection(NamedTuple):
    """The selected responses of a run."""

    model: str
    script: str
    wording: str
    round: int

    def has(self, response: Response) -> bool:
        own = response.script, response.wording, response.round
        return response.setting == "image" and own == (self.script, self.wording, self.round)


class _Part(NamedTuple):
    """The part of a response that belongs to one image."""

    lines: tuple[Line, ...]
    text: str


class _Writer:
    """Writes pages into a directory; `images` counts the copies of images."""

    def __init__(self, out: Path, form: PageForm, engine: Engine, created: str) -> None:
        self.dataset: Dataset | None = None
        self.images = 0
        self._out = out
        self._form = form
        self._engine = engine
        self._created = created
        self._stems: dict[tuple[str, str], list[str]] = {}

    def write_pages(
        self,
        items: Sequence[Item],
        responses: Iterable[Response],
        chosen: _ResponseSelection,
        progress: Progress | None,
    ) -> list[PageRow]:
        """Write a file for each image of each response; return rows in the items' order."""
        pages = [
            PageOf(item, number, len(item.images))
            for item in items
            for number in range(1, len(item.images) + 1)
        ]
        for page, stem in zip(pages, page_stems(pages), strict=True):
            self._stems.setdefault((page.item.task, page.item.id), []).append(stem)
        waiting = {(item.task, item.id): item for item in items}
        rows: dict[tuple[str, str], list[PageRow]] = {}
        for response in responses:
            place = response.task, response.item
            if chosen.has(response) and (item := waiting.pop(place, None)):
                rows[place] = self._item(item, response)
                if progress:
                    progress(len(rows), len(items))
        for place, item in waiting.items():
            rows[place] = self._without_file(item, "missing", "no response")
        return [row for item in items for row in rows[item.task, item.id]]

    def _item(self, item: Item, response: Response) -> list[PageRow]:
        if response.status in {"failed", "filtered"}:
            error = response.error
            why = f"{error.kind}: {error.message}" if error else response.finish_reason
            return self._without_file(item, response.status, why)
        if _size(response) > LARGEST:
            why = f"more than {LARGEST:,} characters and outline points"
            return self._without_file(item, "too-large", why)
        parts = _divided(response, len(item.images))
        if parts is None:
            why = f"one text for {number_of(len(item.images), 'image')}"
            return self._without_file(item, "undivided", why)
        note = "the response was cut off" if response.status == "truncated" else ""
        return [self._page(item, number, part, note) for number, part in enumerate(parts, start=1)]

    def _page(self, item: Item, number: int, part: _Part, note: str) -> PageRow:
        stem, image = self._names(item, number)
        ref = item.images[number - 1]
        cleaner, unused = Cleaner(), Cleaner()
        rows = (cleaner if self._form.of_text else unused).rows(part.text)
        own = unused if self._form.of_text else cleaner
        lines = page_lines(part.lines, ref.width, ref.height, own)
        lines = lines or rows_as_lines(own.rows(part.text))
        page = PageContent(
            image=image,
            width=ref.width,
            height=ref.height,
            number=number,
            regions=regions_of(lines),
            text="\n".join(rows),
            engine=self._engine,
            exporter=f"keju {__version__}",
            created=self._created,
        )
        file = f"{stem}{self._form.suffix}"
        _write_new(self._out / file, self._form.write(page))
        if self.dataset is not None:
            # Many programs ignore the EXIF orientation, and the coordinates are upright.
            data = upright_file(self.dataset.image_bytes(ref), name=ref.path)
            _write_new(self._out / image, data)
            self.images += 1
        placed = [bool(line.outline) for line in lines]
        status = (
            "empty" if not placed
            else "lines" if all(placed)
            else "some-lines" if any(placed)
            else "text-only"
        )  # fmt: skip
        return PageRow(item.id, image, number, file, status, len(lines), cleaner.replaced, note)

    def _without_file(self, item: Item, status: str, why: str) -> list[PageRow]:
        note = Cleaner().line(shortened(why, 200))
        return [
            PageRow(item.id, self._names(item, number)[1], number, "", status, 0, 0, note)
            for number in range(1, len(item.images) + 1)
        ]

    def _names(self, item: Item, number: int) -> tuple[str, str]:
        """The name of a page's file without suffix, and that of its image."""
        stem = self._stems[item.task, item.id][number - 1]
        ending = PurePosixPath(item.images[number - 1].path).suffix.casefold().lstrip(".")
        return stem, f"{stem}.{ending if ending in EXTENSIONS else 'img'}"


def _chosen(
    manifest: RunManifest, run: Path, model: str, script: str, round_: int
) -> _ResponseSelection:
    """The responses of a run to export."""
    one = _one_of(list(manifest.models), model, run, "models", "--model")
    prompts = _one_of(manifest.scripts, script, run, "scripts", "--script")
    if not 1 <= round_ <= manifest.rounds:
        raise UsageError("--round {}: not in {}. Its rounds: 1 to {}", round_, run, manifest.rounds)
    wordings = manifest.wordings
    return _ResponseSelection(
        one, prompts, "released" if "released" in wordings else wordings[0], round_
    )


def _one_of(known: Sequence[str], given: str, run: Path, what: str, option: str) -> str:
    if given in known:
        return given
    listed = ", ".join(known) or _("none")
    if given:
        raise UsageError(
            "{} {}: not in {}.{} Its {}: {}",
            option,
            given,
            run,
            did_you_mean(nearest_names(given, known)),
            noun(what),
            listed,
        )
    if len(known) != 1:
        raise UsageError(
            "{} has {} {}. Choose one with {}: {}", run, len(known), noun(what), option, listed
        )
    return known[0]


def _size(response: Response) -> int:
    lines = sum(1 + len(line.text) + len(line.polygon) for line in response.lines)
    return len(response.text) + lines


def _divided(response: Response, images: int) -> list[_Part] | None:
    """A response's lines and text for each image of its item; None where they cannot be divided.

    Engines number the lines of several images ``2-7``: the seventh line of the second image.
    """
    if images == 1:
        text = response.text if response.lines else answer_part(response.text)
        return [_Part(response.lines, text)]
    if not response.lines:
        return None if response.text.strip() else [_Part((), "")] * images
    parts: list[list[Line]] = [[] for _ in range(images)]
    for line in response.lines:
        found = _OF_IMAGE.match(line.id)
        if not found or int(found[1]) > images:
            return None
        parts[int(found[1]) - 1].append(line)
    return [
        _Part(tuple(part), page_text([line for line in part if line.kind in FLOW]))
        for part in parts
    ]


def _engine(manifest: RunManifest, model: str) -> Engine:
    """The engine's name in files: without the directories of its weights or declaration."""
    identity = manifest.models[model]
    versions = {
        name: identity[name].removeprefix(f"{name} ") for name in _PROGRAMS if name in identity
    }
    own = next((versions[name] for name in _ENGINES if name in versions), "")
    settings = [f"{name} {value}" for name, value in versions.items()]
    if order := identity.get("reading_order"):
        settings.append(f"reading order: {order}")
    kind, colon, rest = model.partition(":")
    rest = PurePath(rest.replace("\\", "/")).name if _PATH.match(rest) else rest
    words = (f"{kind}{colon}{rest}", own, ", ".join(settings))
    return Engine(*map(Cleaner().line, words))


def _time(manifest: RunManifest) -> str:
    """When the run was made, in UTC; now where it does not record it."""
    try:
        made = datetime.fromisoformat(manifest.created)
    except ValueError:
        made = datetime.now(UTC)
    return made.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _write_new(path: Path, data: bytes) -> None:
    with path.open("xb") as stream:
        stream.write(data)


def _index(rows: Iterable[PageRow]) -> Iterator[bytes]:
    """The rows as CSV in UTF-8 with a byte order mark, which spreadsheets need."""
    buffer = io.StringIO()
    table = csv.writer(buffer, lineterminator="\n")
    table.writerow(PageRow._fields)
    yield codecs.BOM_UTF8
    for row in rows:
        table.writerow([cell_text(cell) if isinstance(cell, str) else cell for cell in row])
        yield buffer.getvalue().encode("utf-8", "replace")
        buffer.seek(0)
        buffer.truncate()
