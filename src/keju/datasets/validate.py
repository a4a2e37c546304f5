"""Validation of a dataset: errors, warnings and notices item by item, each with a hint."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from keju.datasets.checks import (
    Finding,
    NameCount,
    as_sentence,
    check_item,
    missing_part,
    text_only_notice,
    unscored_reason,
    unseen_characters,
)
from keju.datasets.manifest import ItemsDigest
from keju.datasets.newlines import has_literal_newline
from keju.datasets.packed import Packed
from keju.datasets.store import Dataset
from keju.datasets.suspicious import SuspiciousTexts, extent_fault, length_on_image
from keju.datasets.table import iter_items
from keju.definitions import NO_REFERENCE, is_blank, query_of
from keju.definitions.references import BLANK_PAGE, DECIPHERED
from keju.errors import DataError
from keju.files import sha256_bytes
from keju.images import probe_image, probe_pixels
from keju.ink import count_parts
from keju.items import ImageRef, Item
from keju.texts import Text, _, n_

WORKERS = 2
"""Threads that hash and decode; each has one image, and Pillow decodes outside of Python's lock."""


class _Picture(NamedTuple):
    """An image of the dataset, and the items that show it."""

    ref: ImageRef
    items: NameCount
    length: int
    """The expected number of characters in its text; 0 where that is not known."""
    blank: bool
    """Whether it is declared as a blank page."""

    @property
    def place(self) -> str:
        return _("{}: {}", self.items.text, self.ref.path)


def _import_again() -> str:
    return as_sentence(_("Import the dataset again"))


def validate(path: Path) -> Iterator[Finding]:
    """Yield all findings about a dataset, in the order of its items.

    Errors make scores wrong or runs fail; warnings should be checked; notices are about permitted
    but unusual properties. Only a few images are in memory at a time.

    Raises:
        UsageError: there is no dataset at that path.
    """
    found = _Summary()
    try:
        dataset = Dataset.open(path)
        for item in iter_items(dataset.items_path):
            found.add(item)
        packed = dataset.packed
    except DataError as error:
        place = error.file or str(path)
        yield Finding("error", place, error.problem, error.hint or _import_again())
        return
    yield from _manifest(dataset, found)
    yield from _items(iter_items(dataset.items_path))
    yield from found.list_all()
    yield from _images(dataset, found.pictures)
    yield from _strays(dataset, packed, found.pictures)


class _Summary:
    """Findings that are reported once for many items, collected item by item."""

    def __init__(self) -> None:
        self.digest = ItemsDigest()
        self.tasks: Counter[str] = Counter()
        self.pictures: dict[str, _Picture] = {}
        self._alone: dict[str, NameCount] = {}
        self._waiting: dict[tuple[str, str], NameCount] = {}
        self._unscored: dict[str, NameCount] = {}
        self._unscored_text = False
        self._newlines: dict[str, NameCount] = {}
        self._texts = SuspiciousTexts()

    def add(self, item: Item) -> None:
        """Add the next item."""
        self.digest.add(item)
        self.tasks[item.task] += 1
        if follows := text_only_notice(item):
            self._alone.setdefault(follows, NameCount()).add(item.id)
        if what := missing_part(item):
            self._waiting.setdefault((item.task, what), NameCount()).add(item.id)
        if reason := unscored_reason(item):
            self._unscored.setdefault(reason, NameCount()).add(item.id)
            if reason == NO_REFERENCE and not self._unscored_text:
                self._unscored_text = query_of(item).form == "text"
        references = (item.answer, item.answer_simplified, item.transcription or "")
        if any(map(has_literal_newline, (*references, *item.also_accepted))):
            self._newlines.setdefault(item.task, NameCount()).add(item.id)
        self._texts.add(item)
        self._add_pictures(item)

    def list_all(self) -> Iterator[Finding]:
        """Yield the findings: one for all items with the same one."""
        for follows, names in self._alone.items():
            problem = _(
                "text without an image, so {}",
                follows,
                hint="Import again with the images beside it, if you have them",
            )
            yield Finding.of("notice", names.text, problem)
        for (name, what), names in self._waiting.items():
            hint = _(
                "Have a model draft it (keju build draft) or people write it (keju build review)"
            )
            if what == "boxes":
                problem = _("a draft of {} without boxes", name, hint=hint)
            else:
                problem = _("a draft of {} without answer", name, hint=hint)
            yield Finding.of("notice", names.text, problem)
        for reason, names in self._unscored.items():
            yield Finding.of("notice", names.text, self._describe_unscored(reason, names.count))
        for names in self._newlines.values():
            yield Finding.of(
                "warning",
                names.text,
                _(
                    "the reference has a literal \\n, so each n counts as a character",
                    hint="Write line breaks instead. Some formats do so: --option newlines=literal",
                ),
            )
        yield from self._texts.list_all()

    def _describe_unscored(self, reason: str, count: int) -> Text:
        """Why items are unscored: undeciphered characters, blank pages or no reference."""
        total = self.tasks.total()
        if reason == BLANK_PAGE:
            return _(
                "a blank page ({:,} of {:,} items): only text that a model invents is counted",
                count,
                total,
                hint="If the page is blank, nothing needs to be done",
            )
        if reason != NO_REFERENCE:
            return _(
                "an undeciphered character: models are asked, but their readings are not scored",
                hint="Add its description if a reading is established",
            )
        hint = _("Import again with the answers, if you have them")
        if self._unscored_text:
            hint = _(
                "Import again with the answers, if you have them. For an undeciphered "
                "character, set the metadata {} to no",
                DECIPHERED,
            )
        return _(
            "no reference ({:,} of {:,} items): models are asked, but their responses are not "
            "scored",
            count,
            total,
            hint=hint,
        )

    def _add_pictures(self, item: Item) -> None:
        if not item.images:
            return
        length, blank = length_on_image(item), is_blank(item)
        for ref in item.images:
            new = _Picture(ref, NameCount(), length, blank)
            picture = self.pictures.setdefault(ref.path, new)
            picture.items.add(item.id)
            if length > picture.length:
                self.pictures[ref.path] = picture._replace(length=length)


def _manifest(dataset: Dataset, found: _Summary) -> Iterator[Finding]:
    manifest = dataset.manifest
    file = "dataset.json"
    if not manifest.licence.strip():
        yield Finding.of("error", file, _("no licence", hint="Write the licence into dataset.json"))
    if not manifest.source.strip():
        yield Finding.of("error", file, _("no source", hint="Write the source into dataset.json"))
    if found.digest.hash != manifest.hash:
        yield Finding.of(
            "error",
            file,
            _(
                "its hash differs from that of the items: they were changed after the import",
                hint="Import the changed items with: keju data import parquet, or import again",
            ),
        )
    items, images = found.tasks.total(), len(found.pictures)
    if (manifest.items, manifest.images, manifest.tasks) != (items, images, dict(found.tasks)):
        yield Finding.of(
            "error",
            file,
            _(
                "it counts {} and {}; there are {} and {}, or the counts by task differ",
                n_("{n:,} item", "{n:,} items", manifest.items),
                n_("{n:,} image", "{n:,} images", manifest.images),
                items,
                images,
                hint="Import the dataset again"
            ),
        )  # fmt: skip


def _items(items: Iterable[Item]) -> Iterator[Finding]:
    taken: set[str] = set()
    for number, item in enumerate(items, start=1):
        name = item.id or _("item {}", number)
        if not item.id:
            yield Finding.of(
                "error", name, _("the item has no id", hint="Give every item its own id")
            )
        elif item.id in taken:
            yield Finding.of(
                "error", name, _("another item has this id", hint="Give every item its own id")
            )
        taken.add(item.id)
        for field, codes in unseen_characters(item):
            problem = _(
                "its {} contains invisible characters: {}",
                field,
                codes,
                hint="Remove them, and import again",
            )
            yield Finding.of("warning", name, problem)
        for flaw in check_item(item):
            yield flaw._replace(item=name)


def _images(dataset: Dataset, pictures: dict[str, _Picture]) -> Iterator[Finding]:
    """Check images in a few threads with a short queue, and yield findings in their order."""
    with ThreadPoolExecutor(WORKERS) as pool:
        jobs = (pool.submit(_check_image, dataset, picture) for picture in pictures.values())
        waiting: list[Future[list[Finding]]] = list(islice(jobs, 2 * WORKERS))
        while waiting:
            yield from waiting.pop(0).result()
            waiting += islice(jobs, 1)


def _check_image(dataset: Dataset, picture: _Picture) -> list[Finding]:
    ref = picture.ref
    try:
        if ref.path in dataset.packed:
            return list(_check_picture(dataset.image_bytes(ref), picture))
        path = dataset.image_path(ref)
        if path.exists() and not path.is_file():
            return [
                Finding.of("error", picture.place, _("not a file", hint="Import the dataset again"))
            ]
        size = path.stat().st_size
        data = path.read_bytes() if size == ref.size else b""
    except DataError as error:
        return [Finding("error", picture.place, error.problem, _import_again())]
    except OSError as error:
        problem = _("{}", error, hint="Put the file back, or import the dataset again")
        if isinstance(error, FileNotFoundError):
            problem = _(
                "the image is missing", hint="Put the file back, or import the dataset again"
            )
        return [Finding.of("error", picture.place, problem)]
    if altered := _find_change(ref, size, data):
        return [Finding.of("error", picture.place, altered)]
    return list(_check_picture(data, picture))


def _find_change(ref: ImageRef, size: int, data: bytes) -> Text | None:
    """How a file differs from the image that was imported; None where it does not."""
    if size != ref.size:
        return _(
            "the image was altered: {} bytes instead of {}",
            size,
            ref.size,
            hint="Put the original back, or import the dataset again",
        )
    if sha256_bytes(data) != ref.sha256:
        return _(
            "the image was altered: its SHA-256 differs",
            hint="Put the original back, or import the dataset again",
        )
    return None


def _check_picture(data: bytes, picture: _Picture) -> Iterator[Finding]:
    ref, image = picture.ref, None
    try:
        if picture.length or picture.blank:
            facts, image = probe_pixels(data, name=ref.path)
        else:
            facts = probe_image(data, name=ref.path)
    except DataError as error:
        hint = as_sentence(_("Replace it at its source"))
        yield Finding("error", picture.place, error.problem, hint)
        return
    if (facts.width, facts.height) != (ref.width, ref.height):
        problem = _(
            "{}x{} pixels, but the item has {}x{}",
            facts.width,
            facts.height,
            ref.width,
            ref.height,
            hint="Import the dataset again"
        )  # fmt: skip
        yield Finding.of("error", picture.place, problem)
    if facts.frames > 1:
        problem = n_(
            "{n:,} page or frames in one file; OCR engines read only the first",
            "{n:,} pages or frames in one file; OCR engines read only the first",
            facts.frames,
            hint="Store each page as a separate image",
        )
        yield Finding.of("warning", picture.place, problem)
    if facts.turned:
        yield Finding.of(
            "warning",
            picture.place,
            _("EXIF rotates this image, and not every model applies that", hint="Store it upright"),
        )
    if image and (fault := extent_fault(picture.length, count_parts(image))):
        yield Finding.of("warning", picture.place, fault)


def _strays(dataset: Dataset, packed: Packed, pictures: dict[str, _Picture]) -> Iterator[Finding]:
    for name in packed:
        if name not in pictures:
            yield Finding.of(
                "warning", name, _("no item uses this row", hint="Export the dataset again")
            )
    if not dataset.images_dir.is_dir():
        return
    for path in sorted(dataset.images_dir.rglob("*")):
        inside = path.relative_to(dataset.path).as_posix()
        if inside not in pictures and not path.is_dir():
            yield Finding.of("warning", inside, _("no item uses this file", hint="Remove it"))
