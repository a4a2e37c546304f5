"""Validation of a dataset: errors, warnings and notices item by item, each with a hint."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from typing import Literal, NamedTuple

from keju.datasets.checks import check_item, missing_part, text_only_notice, unscored_reason
from keju.datasets.finding_texts import hint_sentence, name_of_several
from keju.datasets.newlines import has_literal_newline
from keju.datasets.packed import Packed
from keju.datasets.store import Dataset, items_hash, read_items
from keju.datasets.suspicious import extent_fault, length_on_image, suspicious_texts
from keju.datasets.unseen import unseen_characters
from keju.definitions import NO_REFERENCE, is_blank, query_of
from keju.definitions.blank import REASON as BLANK_PAGE
from keju.definitions.undeciphered import MARK
from keju.errors import DataError, printable
from keju.files import sha256_bytes
from keju.images import open_image, probe_image
from keju.ink import find_parts
from keju.items import UNKNOWN, ImageRef, Item
from keju.messages import Message, message

Severity = Literal["error", "warning", "notice"]

WORKERS = 2
"""Threads that hash and decode; each has one image, and Pillow decodes outside of Python's lock."""


class Finding(NamedTuple):
    """One finding. As text it is one line."""

    severity: Severity
    item: str
    """The item's id, or the file if no item is affected."""
    problem: str
    hint: str

    def __str__(self) -> str:
        _, item, problem, hint = self
        if self.severity == "error":
            line = message("datasets.finding-error", item=item, problem=problem, hint=hint)
        elif self.severity == "warning":
            line = message("datasets.finding-warning", item=item, problem=problem, hint=hint)
        else:
            line = message("datasets.finding-notice", item=item, problem=problem, hint=hint)
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
        return f"{name_of_several(self.items)}: {self.ref.path}"


def _found(severity: Severity, item: str, problem: Message) -> Finding:
    return Finding(severity, item, problem, hint_sentence(problem))


def _import_again() -> str:
    return message("datasets.hint-sentence", hint=message("datasets.import-again"))


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
        yield Finding("error", place, error.problem, error.hint or _import_again())
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
    if not manifest.licence.strip():
        yield _found("error", file, message("datasets.dataset-without-licence"))
    elif manifest.licence.strip().casefold() == UNKNOWN:
        problem = message("datasets.licence-unknown")
        yield Finding("notice", file, problem, problem.hint)
    if not manifest.source.strip():
        yield _found("error", file, message("datasets.dataset-without-source"))
    elif manifest.source.strip().casefold() == UNKNOWN:
        problem = message("datasets.source-unknown")
        yield Finding("notice", file, problem, problem.hint)
    if items_hash(items) != manifest.hash:
        yield _found("error", file, message("datasets.hash-differs"))
    images = len({ref.path for item in items for ref in item.images})
    tasks = dict(Counter(item.task for item in items))
    if (manifest.items, manifest.images, manifest.tasks) != (len(items), images, tasks):
        yield _found(
            "error",
            file,
            message(
                "datasets.counts-differ", items=manifest.items, images=manifest.images,
                found_items=len(items), found_images=images,
            ),
        )  # fmt: skip


def _items(items: list[Item]) -> Iterator[Finding]:
    taken: set[str] = set()
    for number, item in enumerate(items, start=1):
        name = item.id or message("datasets.item-number", number=number)
        if not item.id:
            yield _found("error", name, message("datasets.found-item-without-id"))
        elif item.id in taken:
            yield _found("error", name, message("datasets.item-id-taken"))
        taken.add(item.id)
        for field, codes in unseen_characters(item):
            problem = message("datasets.item-invisible-characters", field=field, codes=codes)
            yield _found("warning", name, problem)
        for flaw in check_item(item):
            yield Finding("error" if flaw.grave else "warning", name, flaw.problem, flaw.hint)


def _text_alone(items: list[Item]) -> Iterator[Finding]:
    """One notice for all items without an image that have the same consequence."""
    alone: dict[str, list[str]] = {}
    for item in items:
        if follows := text_only_notice(item):
            alone.setdefault(follows, []).append(item.id)
    for follows, names in alone.items():
        problem = message("datasets.item-text-only", consequence=follows)
        yield _found("notice", name_of_several(names), problem)


def _awaited(items: list[Item]) -> Iterator[Finding]:
    """One notice for all drafts of a task that lack the same."""
    waiting: dict[tuple[str, str], list[str]] = {}
    for item in items:
        if what := missing_part(item):
            waiting.setdefault((item.task, what), []).append(item.id)
    for (name, what), names in waiting.items():
        if what == "boxes":
            problem = message("datasets.draft-without-boxes", task=name)
        else:
            problem = message("datasets.draft-without-answer", task=name)
        yield _found("notice", name_of_several(names), problem)


def _unscored(items: list[Item]) -> Iterator[Finding]:
    """One notice for all items without a reference, undeciphered characters or blank pages each."""
    found: dict[str, list[Item]] = {}
    for item in items:
        if reason := unscored_reason(item):
            found.setdefault(reason, []).append(item)
    for reason, some in found.items():
        count, total = len(some), len(items)
        if reason == BLANK_PAGE:
            problem = message("datasets.item-blank-page", count=count, total=total)
        elif reason != NO_REFERENCE:
            problem = message("datasets.item-undeciphered")
        elif any(query_of(item).form == "text" for item in some):
            problem = message(
                "datasets.item-no-reference-text", count=count, total=total, mark=MARK
            )
        else:
            problem = message("datasets.item-no-reference", count=count, total=total)
        yield _found("notice", name_of_several([item.id for item in some]), problem)


def _literal_newlines(items: list[Item]) -> Iterator[Finding]:
    """One warning per task for references with a literal backslash and n."""
    found: dict[str, list[str]] = {}
    for item in items:
        references = (item.answer, item.answer_simplified, item.transcription or "")
        if any(map(has_literal_newline, (*references, *item.also_accepted))):
            found.setdefault(item.task, []).append(item.id)
    for names in found.values():
        problem = message("datasets.item-literal-newline")
        yield _found("warning", name_of_several(names), problem)


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
            return [_found("error", picture.place, message("datasets.image-not-file"))]
        size = path.stat().st_size
        data = path.read_bytes() if size == ref.size else b""
    except DataError as error:
        return [Finding("error", picture.place, error.problem, _import_again())]
    except OSError as error:
        problem = message("datasets.finding-image-unreadable", error=error)
        if isinstance(error, FileNotFoundError):
            problem = message("datasets.image-gone")
        return [_found("error", picture.place, problem)]
    if altered := _find_change(ref, size, data):
        return [_found("error", picture.place, altered)]
    return list(_check_picture(data, picture))


def _find_change(ref: ImageRef, size: int, data: bytes) -> Message | None:
    """How a file differs from the image that was imported; None where it does not."""
    if size != ref.size:
        return message("datasets.image-size-altered", size=size, expected=ref.size)
    if sha256_bytes(data) != ref.sha256:
        return message("datasets.image-hash-altered")
    return None


def _check_picture(data: bytes, picture: _Picture) -> Iterator[Finding]:
    ref = picture.ref
    try:
        facts = probe_image(data, name=ref.path)
    except DataError as error:
        hint = message("datasets.hint-sentence", hint=message("datasets.replace-at-source"))
        yield Finding("error", picture.place, error.problem, hint)
        return
    if (facts.width, facts.height) != (ref.width, ref.height):
        problem = message(
            "datasets.image-other-pixels", width=facts.width, height=facts.height,
            item_width=ref.width, item_height=ref.height,
        )  # fmt: skip
        yield _found("error", picture.place, problem)
    if facts.frames > 1:
        problem = message("datasets.image-of-several-pages", count=facts.frames)
        yield _found("warning", picture.place, problem)
    if facts.turned:
        yield _found("warning", picture.place, message("datasets.image-rotated"))
    if picture.length or picture.blank:
        parts = find_parts(open_image(data, name=ref.path))
        if fault := extent_fault(picture.length, parts):
            yield _found("warning", picture.place, fault)


def _strays(dataset: Dataset, packed: Packed, pictures: dict[str, _Picture]) -> Iterator[Finding]:
    for name in packed:
        if name not in pictures:
            yield _found("warning", name, message("datasets.row-unused"))
    if not dataset.images_dir.is_dir():
        return
    for path in sorted(dataset.images_dir.rglob("*")):
        inside = path.relative_to(dataset.path).as_posix()
        if inside not in pictures and not path.is_dir():
            yield _found("warning", inside, message("datasets.file-unused"))
