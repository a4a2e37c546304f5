"""FORMAT ``pages``: page images, each with its text in a ``.txt`` of the same name."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from msgspec.structs import replace

from keju.benchmarks import prompt_of, task
from keju.datasets.readers.base import (
    Detection,
    Options,
    Reader,
    check_name,
    files_under,
    flag,
    image_files,
    listed,
    source_bytes,
    source_text,
)
from keju.datasets.readers.listing import Listing
from keju.datasets.store import DatasetWriter
from keju.errors import DataError, UsageError
from keju.items import Item

LAYOUT = """\
SRC/                      a folder, with folders in it as deep as you like
  book1/page001.jpg       an image: jpg, png, tif, webp, jp2, gif or bmp
  book1/page001.txt       its text, UTF-8, one line a column, in reading order
The folder of a page is its group (the unit of independence), so keep one book in one folder."""

OPTIONS = {
    "task": "the task that the text answers (default page_level_ocr; T1 for MCS-Bench's OCR)",
    "skip-missing": "yes: leave out images without text and texts without image (default no)",
}


def read_pages(src: Path, writer: DatasetWriter, options: Options) -> Iterator[str]:
    """Read a folder of page images with their texts, one item a page.

    Raises:
        UsageError: the task is unknown or its prompt needs more than an image.
        DataError: no folder, no images, an image or a text without its partner (unless skipped),
            two images of one name, a name or text that is not UTF-8, an empty text, a broken image.
    """
    if not src.is_dir():
        raise DataError("expected a folder of images with .txt files", file=src)
    kind = task(options.get("task", "page_level_ocr"))
    pattern = Item(id="page", benchmark=kind.benchmark, task=kind.id, query=kind.queries[0].name)
    try:
        prompt_of(pattern)
    except DataError as error:
        raise UsageError(f"format pages gives no more than an image and a text: {error}") from None
    pairs, alone = _pairs(src)
    if alone and not flag(options, "skip-missing"):
        raise DataError(
            f"{len(alone)} files without their partner: {listed(alone)}",
            file=src,
            mend="Add the missing .txt or image, or leave them out: --option skip-missing=yes",
        )
    if not pairs:
        raise DataError("expected images with .txt files of the same name; found none", file=src)
    for image, text in pairs:
        _add(writer, src, image, text, pattern)
    if alone:
        yield f"left out {len(alone)} files without their partner: {listed(alone)}"


def detect_pages(listing: Listing) -> Detection | None:
    """Recognise images that have a .txt file of the same name."""
    texts = {path.with_suffix("") for path in listing.ending("txt")}
    stems = {path.with_suffix("") for path in listing.images}
    paired = sorted(texts & stems)
    if not paired or not listing.src.is_dir() or _numbers_alone(listing, paired[:5]):
        return None
    alone = len(stems - texts)
    missing = (
        f"the .txt file of {alone} of {len(stems)} images (or skip them: --option skip-missing=yes)"
        if alone
        else ""
    )
    options = {"skip-missing": "yes"} if texts - stems else {}
    what = f"{len(paired)} page image{'s'[: len(paired) > 1]} with a .txt file of the same name"
    return Detection(0.9 * len(paired) / len(stems), what, options, missing)


def _numbers_alone(listing: Listing, stems: list[PurePosixPath]) -> bool:
    """Whether the texts contain only numbers: the boxes of YOLO, not transcriptions."""
    texts = [listing.text(stem.with_suffix(".txt")) for stem in stems]
    return all(set(text) <= set("0123456789.-e \r\n\t") for text in texts)


READER = Reader("pages", "page images with .txt files", LAYOUT, read_pages, OPTIONS, detect_pages)


def _add(writer: DatasetWriter, src: Path, image: Path, text: Path, pattern: Item) -> None:
    page = image.relative_to(src)
    check_name(page.as_posix(), image)
    answer = source_text(text).strip("\n\t ")
    if not answer:
        raise DataError("the text is empty", file=text, mend="Write it, or take the page out")
    ref = writer.add_image(source_bytes(image), str(image))
    writer.add(
        replace(
            pattern,
            id=page.with_suffix("").as_posix(),
            images=(ref,),
            answer=answer,
            transcription=answer,
            group=page.parent.as_posix() if page.parent.parts else src.resolve().name,
            metadata={"file": page.as_posix()},
        )
    )


def _pairs(src: Path) -> tuple[list[tuple[Path, Path]], list[str]]:
    """Images with their texts, and the names of files that stand alone."""
    texts = {path.with_suffix(""): path for path in files_under(src, {"txt"})}
    images: dict[Path, Path] = {}
    for path in image_files(src):
        if other := images.get(path.with_suffix("")):
            raise DataError(
                f"two images for one text: {other.name} and {path.name}",
                file=path.parent,
                mend="Keep one of them",
            )
        images[path.with_suffix("")] = path
    pairs = [(image, texts[stem]) for stem, image in images.items() if stem in texts]
    alone = [image for stem, image in images.items() if stem not in texts]
    alone += [text for stem, text in sorted(texts.items()) if stem not in images]
    return pairs, [path.relative_to(src).as_posix() for path in alone]
