"""Validation of a dataset: errors, warnings and notices item by item, each with a hint."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from typing import Literal, NamedTuple

from keju.datasets.checks import check_item, missing_part, text_only_notice, unscored_reason
from keju.datasets.newlines import has_literal_newline
from keju.datasets.packed import Packed
from keju.datasets.store import Dataset, items_hash, read_items
from keju.datasets.suspicious import extent_fault, length_on_image, suspicious_texts
from keju.datasets.unseen import unseen_characters
from keju.definitions import NO_REFERENCE, is_blank, query_of
from keju.definitions.blank import REASON as BLANK_PAGE
from keju.definitions.undeciphered import MARK
from keju.errors import DataError, number_of, printable
from keju.files import sha256_bytes
from keju.images import open_image, probe_image
from keju.ink import find_parts
from keju.items import UNKNOWN, ImageRef, Item

Severity = Literal["error", "warning", "notice"]

WORKERS = 2
"""Threads that hash and decode; each has one image, and Pillow decodes outside of Python's lock."""

_AGAIN = "Import the dataset again"


class Finding(NamedTuple):
    """One finding. As text it is one line."""

    severity: Severity
    item: str
    """The item's id, or the file if no item is affected."""
    problem: str
    hint: str

    def __str__(self) -> str:
        line = f"{self.severity}: {self.item}: {self.problem}. {self.hint}"
        return printable(" ".join(line.split()))


class _Picture(NamedTuple):
    """An image of the dataset, and the items that show it."""

    ref: ImageRef
    items: list[str]
    length: int
    """The expected number of characters in its text; 0 where that is not known."""
    blank: bool
    """Whether it is declared as a blank page."""

    @property
    def place(self) -> str:
        more = f" and {len(self.items) - 1} more" if len(self.items) > 1 else ""
        return f"{self.items[0]}{more}: {self.ref.path}"


def validate(path: Path) -> Iterator[Finding]:
    """Yield all findings about a dataset, in the order of its items.

    Errors make scores wrong or runs fail; warnings should be checked; notices are about permitted
    but unusual properties. Only a few images are in memory at a time.

    Raises:
        UsageError: there is no dataset at that path.
    """
    try:
        dataset = Dataset.open(path)
        items = read_items(dataset.items_path)
        packed = dataset.packed
    except DataError as error:
        place = error.file or str(path)
        yield Finding("error", place, error.problem, error.hint or f"{_AGAIN}.")
        return
    yield from _manifest(dataset, items)
    yield from _items(items)
    yield from _text_alone(items)
    yield from _awaited(items)
    yield from _unscored(items)
    yield from _literal_newlines(items)
    for item, problem, hint in suspicious_texts(items):
        yield Finding("warning", item, problem, hint)
    pictures = _pictures(items)
    yield from _images(dataset, pictures)
    yield from _strays(dataset, packed, pictures)


def _manifest(dataset: Dataset, items: list[Item]) -> Iterator[Finding]:
    manifest = dataset.manifest
    file = "dataset.json"
    for word, value in (("licence", manifest.licence), ("source", manifest.source)):
        if not value.strip():
            yield Finding("error", file, f"no {word}", f"Write the {word} into dataset.json.")
        elif value.strip().casefold() == UNKNOWN:
            yield Finding(
                "notice",
                file,
                f"the {word} is unknown, so no release can be made",
                f"Name it for the release: keju build release --{word} …",
            )
    if items_hash(items) != manifest.hash:
        yield Finding(
            "error",
            file,
            "its hash differs from that of the items: they were changed after the import",
            "Import the changed items with: keju data import parquet, or import again.",
        )
    images = len({ref.path for item in items for ref in item.images})
    tasks = dict(Counter(item.task for item in items))
    if (manifest.items, manifest.images, manifest.tasks) != (len(items), images, tasks):
        yield Finding(
            "error",
            file,
            f"it counts {number_of(manifest.items, 'item')} and "
            f"{number_of(manifest.images, 'image')}; there are "
            f"{len(items)} and {images}, or the counts by task differ",
            f"{_AGAIN}.",
        )


def _items(items: list[Item]) -> Iterator[Finding]:
    taken: set[str] = set()
    for number, item in enumerate(items, start=1):
        name = item.id or f"item {number}"
        if item.id in taken or not item.id:
            problem = "another item has this id" if item.id else "the item has no id"
            yield Finding("error", name, problem, "Give every item its own id.")
        taken.add(item.id)
        for field, codes in unseen_characters(item):
            problem = f"its {field} contains invisible characters: {codes}"
            yield Finding("warning", name, problem, "Remove them, and import again.")
        for flaw in check_item(item):
            yield Finding("error" if flaw.grave else "warning", name, flaw.problem, flaw.hint)


def _text_alone(items: list[Item]) -> Iterator[Finding]:
    """One notice for all items without an image that have the same consequence."""
    alone: dict[str, list[str]] = {}
    for item in items:
        if follows := text_only_notice(item):
            alone.setdefault(follows, []).append(item.id)
    for follows, names in alone.items():
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        yield Finding(
            "notice",
            f"{names[0]}{more}",
            f"text without an image, so {follows}",
            "Import again with the images beside it, if you have them.",
        )


def _awaited(items: list[Item]) -> Iterator[Finding]:
    """One notice for all drafts of a task that lack the same."""
    waiting: dict[tuple[str, str], list[str]] = {}
    for item in items:
        if what := missing_part(item):
            waiting.setdefault((item.task, what), []).append(item.id)
    for (name, what), names in waiting.items():
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        yield Finding(
            "notice",
            f"{names[0]}{more}",
            f"a draft of {name} without {what}",
            "Have a model draft it (keju build draft) or people write it (keju build review).",
        )


def _unscored(items: list[Item]) -> Iterator[Finding]:
    """One notice for all items without a reference, undeciphered characters or blank pages each."""
    found: dict[str, list[Item]] = {}
    for item in items:
        if reason := unscored_reason(item):
            found.setdefault(reason, []).append(item)
    for reason, some in found.items():
        more = f" and {len(some) - 1} more" if len(some) > 1 else ""
        problem, hint = (
            "an undeciphered character: models are asked, but their readings are not scored",
            "Add its description if a reading is established.",
        )
        if reason == BLANK_PAGE:
            problem = (
                f"a blank page ({len(some):,} of {len(items):,} items): only text "
                "that a model invents is counted"
            )
            hint = "If the page is blank, nothing needs to be done."
        elif reason == NO_REFERENCE:
            problem = (
                f"no reference ({len(some):,} of {len(items):,} items): "
                "models are asked, but their responses are not scored"
            )
            hint = "Import again with the answers, if you have them."
            if any(query_of(item).form == "text" for item in some):
                hint += f" For an undeciphered character, set the metadata {MARK} to no."
        yield Finding("notice", f"{some[0].id}{more}", problem, hint)


def _literal_newlines(items: list[Item]) -> Iterator[Finding]:
    """One warning per task for references with a literal backslash and n."""
    found: dict[str, list[str]] = {}
    for item in items:
        references = (item.answer, item.answer_simplified, item.transcription or "")
        if any(map(has_literal_newline, (*references, *item.also_accepted))):
            found.setdefault(item.task, []).append(item.id)
    for names in found.values():
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        yield Finding(
            "warning",
            f"{names[0]}{more}",
            r"the reference has a literal \n, so each n counts as a character",
            "Write line breaks instead. Some formats do so: --option newlines=literal.",
        )


def _pictures(items: list[Item]) -> dict[str, _Picture]:
    pictures: dict[str, _Picture] = {}
    for item in items:
        for ref in item.images:
            length = length_on_image(item)
            picture = pictures.setdefault(ref.path, _Picture(ref, [], length, is_blank(item)))
            picture.items.append(item.id)
            if length > picture.length:
                pictures[ref.path] = picture._replace(length=length)
    return pictures


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
            return [Finding("error", picture.place, "not a file", f"{_AGAIN}.")]
        size = path.stat().st_size
        data = path.read_bytes() if size == ref.size else b""
    except DataError as error:
        return [Finding("error", picture.place, error.problem, f"{_AGAIN}.")]
    except OSError as error:
        missing = "the image is missing" if isinstance(error, FileNotFoundError) else str(error)
        return [Finding("error", picture.place, missing, f"Put the file back, or {_AGAIN}.")]
    altered = ""
    if size != ref.size:
        altered = f"the image was altered: {size} bytes instead of {ref.size}"
    elif sha256_bytes(data) != ref.sha256:
        altered = "the image was altered: its SHA-256 differs"
    if altered:
        return [Finding("error", picture.place, altered, f"Put the original back, or {_AGAIN}.")]
    return list(_check_picture(data, picture))


def _check_picture(data: bytes, picture: _Picture) -> Iterator[Finding]:
    ref = picture.ref
    try:
        facts = probe_image(data, name=ref.path)
    except DataError as error:
        yield Finding("error", picture.place, error.problem, "Replace it at its source.")
        return
    if (facts.width, facts.height) != (ref.width, ref.height):
        yield Finding(
            "error",
            picture.place,
            f"{facts.width}x{facts.height} pixels, but the item has {ref.width}x{ref.height}",
            f"{_AGAIN}.",
        )
    if facts.frames > 1:
        yield Finding(
            "warning",
            picture.place,
            f"{number_of(facts.frames, 'page')} or frames in one file; OCR engines "
            "read only the first",
            "Store each page as a separate image.",
        )
    if facts.turned:
        yield Finding(
            "warning",
            picture.place,
            "EXIF rotates this image, and not every model applies that",
            "Store it upright.",
        )
    if picture.length or picture.blank:
        parts = find_parts(open_image(data, name=ref.path))
        if fault := extent_fault(picture.length, parts):
            yield Finding("warning", picture.place, *fault)


def _strays(dataset: Dataset, packed: Packed, pictures: dict[str, _Picture]) -> Iterator[Finding]:
    for name in packed:
        if name not in pictures:
            yield Finding("warning", name, "no item uses this row", "Export the dataset again.")
    if not dataset.images_dir.is_dir():
        return
    for path in sorted(dataset.images_dir.rglob("*")):
        inside = path.relative_to(dataset.path).as_posix()
        if inside not in pictures and not path.is_dir():
            yield Finding("warning", inside, "no item uses this file", "Remove it.")
