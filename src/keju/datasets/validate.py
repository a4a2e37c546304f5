"""Validation of a dataset: errors, warnings and notices item by item, each with a hint."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from pathlib import Path

from keju.datasets.checks import Finding, SharedFindings, check_item, first_name
from keju.datasets.store import HASHED_HEAD, MANIFEST, Dataset, hashed_line
from keju.datasets.table import iter_items
from keju.errors import DataError
from keju.images import probe_image
from keju.items import ImageRef
from keju.texts import Text, _, n_

WORKERS = 2
"""Threads that hash and decode; each has one image, and Pillow decodes outside of Python's lock."""

_IMPORT_AGAIN = _("Import the dataset again")


def validate(path: Path) -> Iterator[Finding]:
    """Yield all findings about a dataset: about its items in their order, then about its images.

    Errors make scores wrong or runs fail; warnings should be checked; notices are about permitted
    but unusual properties. Only a few images are in memory at a time.

    Raises:
        UsageError: there is no dataset at that path.
    """
    digest, tasks, shared = hashlib.sha256(HASHED_HEAD), Counter[str](), SharedFindings()
    ids: set[str] = set()
    images: dict[str, tuple[ImageRef, str, int]] = {}
    try:
        dataset = Dataset.open(path)
        for number, item in enumerate(iter_items(dataset.items_path), start=1):
            digest.update(hashed_line(item))
            tasks[item.task] += 1
            name = item.id or _("item {}", number)
            if not item.id or item.id in ids:
                problem = _("another item has this id") if item.id else _("the item has no id")
                yield Finding.of("error", name, problem, _("Give every item its own id"))
            ids.add(item.id)
            for finding in check_item(item):
                if finding.severity == "error":
                    yield finding._replace(item=name)
                else:
                    shared.add(finding)
            shared.add_texts(item)
            for ref in item.images:
                first, first_item, uses = images.get(ref.path, (ref, item.id, 0))
                images[ref.path] = first, first_item, uses + 1
        packed = dataset.packed
    except DataError as error:
        yield Finding.of("error", error.file or str(path), error, _IMPORT_AGAIN)
        return
    for problem in _check_manifest(dataset, digest.hexdigest(), tasks, len(images)):
        yield Finding.of("error", MANIFEST, problem)
    yield from shared.list_all()
    yield from _check_images(dataset, images.values())
    for name in packed:
        if name not in images:
            problem = _("no item uses this row", hint="Export the dataset again")
            yield Finding.of("warning", name, problem)
    for file in sorted(dataset.images_dir.rglob("*")):
        inside = file.relative_to(dataset.path).as_posix()
        if inside not in images and not file.is_dir():
            yield Finding.of("warning", inside, _("no item uses this file", hint="Remove it"))


def _check_images(
    dataset: Dataset, images: Iterable[tuple[ImageRef, str, int]]
) -> Iterator[Finding]:
    """The findings about images, each with its first item and the number of items, in order."""
    with ThreadPoolExecutor(WORKERS) as pool:
        jobs = (
            pool.submit(_check_image, dataset, ref, first_name(name, uses))
            for ref, name, uses in images
        )
        waiting: list[Future[list[Finding]]] = list(islice(jobs, 2 * WORKERS))
        while waiting:
            yield from waiting.pop(0).result()
            waiting += islice(jobs, 1)


def _check_manifest(
    dataset: Dataset, items_hash: str, tasks: Counter[str], images: int
) -> Iterator[Text]:
    manifest = dataset.manifest
    if not manifest.licence.strip():
        yield _("no licence", hint="Write the licence into dataset.json")
    if not manifest.source.strip():
        yield _("no source", hint="Write the source into dataset.json")
    if items_hash != manifest.hash:
        yield _(
            "its hash differs from that of the items: they were changed after the import",
            hint="Import the changed items with: keju data import parquet, or import again",
        )
    items = tasks.total()
    if (manifest.items, manifest.images, manifest.tasks) != (items, images, dict(tasks)):
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
    hint = _IMPORT_AGAIN
    try:
        data = dataset.image_bytes(ref)
        hint = _("Replace it at its source")
        facts = probe_image(data, name=ref.path)
    except DataError as error:
        return [Finding.of("error", place, error, hint)]
    findings = []
    if (size := (facts.width, facts.height)) != (ref.width, ref.height):
        sizes = *size, ref.width, ref.height
        problem = _("{}x{} pixels, but the item has {}x{}", *sizes, hint=_IMPORT_AGAIN)
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
