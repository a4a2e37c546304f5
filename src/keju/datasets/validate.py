"""Validation of a dataset: errors, warnings and notices item by item, each with a hint."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from pathlib import Path

from keju.datasets.checks import (
    CommonFindings,
    CopiedTexts,
    Finding,
    check_item,
    check_texts,
    first_name,
)
from keju.datasets.store import HASHED_HEAD, MANIFEST, Dataset, hashed_line
from keju.datasets.table import iter_items
from keju.errors import DataError
from keju.images import probe_image
from keju.items import ImageRef, Item
from keju.texts import Text, _, n_

WORKERS = 2
"""Threads that hash and decode; each has one image, and Pillow decodes outside of Python's lock."""


def validate(path: Path) -> Iterator[Finding]:
    """Yield all findings about a dataset: about its items in their order, then about its images.

    Errors make scores wrong or runs fail; warnings should be checked; notices are about permitted
    but unusual properties. Only a few images are in memory at a time.

    Raises:
        UsageError: there is no dataset at that path.
    """
    summary = _Summary()
    try:
        dataset = Dataset.open(path)
        for item in iter_items(dataset.items_path):
            yield from summary.add(item)
        packed = dataset.packed
    except DataError as error:
        place = error.file or str(path)
        yield Finding.of("error", place, error, _("Import the dataset again"))
        return
    for problem in _check_manifest(dataset, summary):
        yield Finding.of("error", MANIFEST, problem)
    yield from summary.common.list_all()
    yield from summary.copies.list_all()
    with ThreadPoolExecutor(WORKERS) as pool:
        jobs = (pool.submit(_check_image, dataset, *image) for image in summary.list_images())
        waiting: list[Future[list[Finding]]] = list(islice(jobs, 2 * WORKERS))
        while waiting:
            yield from waiting.pop(0).result()
            waiting += islice(jobs, 1)
    for name in packed:
        if name not in summary.images:
            problem = _("no item uses this row", hint="Export the dataset again")
            yield Finding.of("warning", name, problem)
    stored = dataset.images_dir.rglob("*") if dataset.images_dir.is_dir() else ()
    for file in sorted(stored):
        inside = file.relative_to(dataset.path).as_posix()
        if inside not in summary.images and not file.is_dir():
            yield Finding.of("warning", inside, _("no item uses this file", hint="Remove it"))


class _Summary:
    """Counts over all items, and findings that are reported once for many items."""

    def __init__(self) -> None:
        self.digest = hashlib.sha256(HASHED_HEAD)
        self.tasks: Counter[str] = Counter()
        self.images: dict[str, tuple[ImageRef, str]] = {}
        self.common = CommonFindings()
        self.copies = CopiedTexts()
        self._uses: Counter[str] = Counter()
        self._ids: set[str] = set()

    def add(self, item: Item) -> Iterator[Finding]:
        """Add the next item, and yield the errors of it."""
        self.digest.update(hashed_line(item))
        self.tasks[item.task] += 1
        name = item.id or _("item {}", self.tasks.total())
        if not item.id or item.id in self._ids:
            problem = _("another item has this id") if item.id else _("the item has no id")
            yield Finding.of("error", name, problem, _("Give every item its own id"))
        self._ids.add(item.id)
        for finding in (*check_item(item), *check_texts(item)):
            if finding.severity == "error":
                yield finding._replace(item=name)
            else:
                self.common.add(finding)
        self.copies.add(item)
        for ref in item.images:
            self.images.setdefault(ref.path, (ref, item.id))
            self._uses[ref.path] += 1

    def list_images(self) -> Iterator[tuple[ImageRef, str]]:
        """Yield the images, each with the items that show it."""
        for path, (ref, name) in self.images.items():
            yield ref, first_name(name, self._uses[path])


def _check_manifest(dataset: Dataset, summary: _Summary) -> Iterator[Text]:
    manifest = dataset.manifest
    if not manifest.licence.strip():
        yield _("no licence", hint="Write the licence into dataset.json")
    if not manifest.source.strip():
        yield _("no source", hint="Write the source into dataset.json")
    if summary.digest.hexdigest() != manifest.hash:
        yield _(
            "its hash differs from that of the items: they were changed after the import",
            hint="Import the changed items with: keju data import parquet, or import again",
        )
    items, images = summary.tasks.total(), len(summary.images)
    if (manifest.items, manifest.images, manifest.tasks) != (items, images, dict(summary.tasks)):
        yield _(
            "it counts {} and {}; there are {} and {}, or the counts by task differ",
            n_("{n:,} item", "{n:,} items", manifest.items),
            n_("{n:,} image", "{n:,} images", manifest.images),
            items,
            images,
            hint="Import the dataset again",
        )


def _check_image(dataset: Dataset, ref: ImageRef, items: str) -> list[Finding]:
    place = _("{}: {}", items, ref.path)
    hint = _("Import the dataset again")
    try:
        data = dataset.image_bytes(ref)
        hint = _("Replace it at its source")
        facts = probe_image(data, name=ref.path)
    except DataError as error:
        return [Finding.of("error", place, error, hint)]
    findings = []
    if (facts.width, facts.height) != (ref.width, ref.height):
        problem = _(
            "{}x{} pixels, but the item has {}x{}",
            facts.width,
            facts.height,
            ref.width,
            ref.height,
            hint="Import the dataset again",
        )
        findings.append(Finding.of("error", place, problem))
    if facts.frames > 1:
        problem = n_(
            "{n:,} page or frames in one file; OCR engines read only the first",
            "{n:,} pages or frames in one file; OCR engines read only the first",
            facts.frames,
            hint="Store each page as a separate image",
        )
        findings.append(Finding.of("warning", place, problem))
    if facts.turned:
        problem = _(
            "EXIF rotates this image, and not every model applies that", hint="Store it upright"
        )
        findings.append(Finding.of("warning", place, problem))
    return findings
