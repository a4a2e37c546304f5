"""FORMAT ``obi-recognition``: images of oracle bones with boxes around the characters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from keju.benchmarks.obi_bench.readers.blank_tables import described_images
from keju.benchmarks.obi_bench.readers.descriptions import NAME, descriptions_in
from keju.benchmarks.obi_bench.readers.item_list import listed_paths
from keju.benchmarks.obi_bench.readers.recognition_detection import detect_recognition
from keju.benchmarks.obi_bench.readers.settings import RecognitionSettings
from keju.benchmarks.obi_bench.readers.sources import (
    BENCHMARK,
    Found,
    draw_order,
    image_id,
    items_of_queries,
    note_unlike_print,
    pictures_in,
    record_sources,
    sources_in,
)
from keju.datasets.readers.base import (
    Reader,
    Tables,
    join_names,
    source_bytes,
)
from keju.datasets.readers.boxes import (
    Annotations,
    Drawn,
    annotations_in,
    fit_boxes,
    is_ambiguous,
    read_canvas,
)
from keju.datasets.store import DatasetWriter
from keju.errors import DataError, UsageError, number_of
from keju.items import Box, Item
from keju.texts import _, n_

LAYOUT = """\
SRC/                          one source, or a folder for each: O2BR, YinQiWenYuan_detection
  images/bone001.jpg          the images, in folders as deep as you like
  annotations/bone001.xml     the boxes, in one of the forms below
  descriptions.csv            if there is one: image, description, the answer to What
  negatives/tree.jpg          if there are: images without any inscription
Boxes are read as
  bone001.json                YinQiWenYuan's: {"img_name": …, "ann": [[x1, y1, x2, y2, 1.0], …]}
  bone001.xml                 Pascal VOC, as LabelImg writes it
  bone001.json                labelme's: rectangles, and the boxes around polygons
  labels/bone001.txt          YOLO's: class, middle and size as shares; or outlines
  instances_train.json        COCO's, one file or several: images, annotations with bbox
  annotations.json            Create ML's, as LabelImg writes it
  via_project.json            VIA's project, or its annotations as JSON or CSV
  boxes.csv                   one line a box: image, xmin, ymin, xmax, ymax, or x, y, width, height
                              (also .tsv, .json); without column names: path,x1,y1,x2,y2,class
An annotation belongs to the image of its own name, wherever that is: beside it, or in a parallel
tree (images/train, labels/train). A folder with several forms needs --option form=NAME.
Each image is asked What, Yes-or-No, How and Where; one of negatives is asked Yes-or-No alone.
Boxes are in pixels of the image turned upright by EXIF. Where the annotation gives the size of the
image as stored, its boxes are turned with the image; where the size does not show it (none, or EXIF
only flips the image or turns it by 180 degrees), they are read as drawn on the upright image, and a
note counts such images.
The authors offer the test images of OBI-Bench on a network drive (README of
zijianchen98/OBI-Bench, 2025-03-21); its layout was not seen. O2BR was annotated with LabelImg
(paper, B.1.2), which writes Pascal VOC, YOLO or Create ML."""

_TASK = "recognition"
_NEGATIVES = "negatives"


def read_recognition(
    src: Path, writer: DatasetWriter, settings: RecognitionSettings
) -> Iterator[str]:
    """Read images with boxes: four items an image, one for a negative.

    The count of boxes answers How, the boxes Where. An image is its own group.

    Raises:
        UsageError: both a list and a sample are given, or a name for a column that a table of boxes
            does not have.
        DataError: no images or boxes, an image without boxes (unless skipped or a negative), a
            box outside its image or without area, a file that is not as its form says, a listed
            image that is missing.
    """
    if settings.items and settings.sample:
        raise UsageError("options items and sample: give one of them")
    found = sources_in(src, _TASK, settings.source)
    every = [path for each in found for path in pictures_in(each)]
    wanted = listed_paths(settings.items, src, every) if settings.items else None
    drawn_as = {"items": len(wanted)} if wanted is not None else {}
    sample = settings.sample or "all"
    record_sources(writer, found, seed=settings.seed, sample=sample, **drawn_as)
    for each in found:
        yield from _read_source(each, writer, settings, wanted)


def _read_source(
    found: Found, writer: DatasetWriter, settings: RecognitionSettings, wanted: list[Path] | None
) -> Iterator[str]:
    every = pictures_in(found)
    annotations = annotations_in(found.folder, every, settings)
    yield from (f"{found.source.name}: {note}" for note in annotations.notes)
    if wanted is not None:
        inside = set(every)
        every = [path for path in wanted if path in inside]
    parts = _sort_images(found, every, annotations, settings)
    if parts.skipped:
        yield (
            f"skipped {number_of(len(parts.skipped), 'image')} without boxes: "
            f"{join_names(_names(found, parts.skipped))}"
        )
    chosen = _sampled(found, parts.boxed, settings)
    what = _What(descriptions_in(found.folder, settings.descriptions), settings.description, found)
    fit = _Fit(settings.skip_faulty)
    asked_about = [path for path in chosen if _add(found, writer, path, annotations, what, fit)]
    negatives = _sampled(found, parts.negatives, settings)
    for path in negatives:
        _add_negative(found, writer, path)
    yield from fit.notes(found.source.name)
    yield from note_unlike_print(found, len(asked_about))
    yield from what.note(asked_about)
    if not negatives:
        yield (
            f"{found.source.name}: no {_NEGATIVES}, so a model that always says yes is right in "
            "Yes-or-No, as in the paper"
        )


class _Parts(NamedTuple):
    """The images of a source: with boxes, negatives, and those that are skipped."""

    boxed: list[Path]
    negatives: list[Path]
    skipped: list[Path]


def _sort_images(
    found: Found, every: list[Path], annotations: Annotations, settings: RecognitionSettings
) -> _Parts:
    """Sort the images.

    Raises:
        DataError: boxes on an image of negatives; images without boxes, if neither option is set.
    """
    boxes = annotations.of
    negatives = [path for path in every if _NEGATIVES in path.relative_to(found.folder).parts[:-1]]
    if drawn_on := [path for path in negatives if boxes.get(path)]:
        raise DataError(
            "boxes on images of {}: {}",
            _NEGATIVES,
            join_names(_names(found, drawn_on)),
            file=found.folder,
            hint=_("Remove the boxes, or move the images out of {}", _NEGATIVES),
        )
    boxed = [path for path in every if boxes.get(path)]
    bare = [path for path in every if path not in {*negatives, *boxed}]
    if settings.without_boxes == "negative":
        return _Parts(boxed, negatives + bare, [])
    if bare and not settings.skip_missing:
        files = annotations.files
        names = (
            f"{name} (nothing in {files[path].name})" if path in files else name
            for name, path in zip(_names(found, bare), bare, strict=True)
        )
        raise DataError(
            n_(
                "{n:,} image without boxes: {}",
                "{n:,} images without boxes: {}",
                len(bare),
                join_names(names),
                hint=_(
                    "Draw them; or say that they have no characters: --option "
                    "without-boxes=negative, or a folder {}; or skip them: --option "
                    "skip-missing=yes",
                    _NEGATIVES,
                ),
            ),
            file=found.folder,
        )
    return _Parts(boxed, negatives, bare)


class _Fit:
    """Puts boxes inside their images, and counts what was changed."""

    def __init__(self, skip_faulty: bool) -> None:
        self._skip_faulty = skip_faulty
        self._counts: Counter[str] = Counter()
        self._emptied: list[str] = []

    def boxes(self, path: Path, data: bytes, drawn: list[Drawn]) -> tuple[Box, ...]:
        """The boxes of an image; empty where all were skipped."""
        canvas = read_canvas(data, path)
        found = fit_boxes(drawn, canvas, skip_faulty=self._skip_faulty)
        self._counts.update(clipped=found.clipped, skipped=found.skipped, twice=found.twice)
        if is_ambiguous(drawn[0], canvas):
            self._counts["turned"] += 1
        if not found.boxes:
            self._emptied.append(path.name)
        return found.boxes

    def notes(self, source: str) -> Iterator[str]:
        """One line for each kind of change."""
        lines = {
            "clipped": ("box", "boxes", "clipped that left the image by a pixel or less"),
            "skipped": ("box", "boxes", "skipped without area or outside the image"),
            "twice": ("box", "boxes", "listed twice and counted once"),
            "turned": (
                "image",
                "images",
                "turned by EXIF, whose annotation does not show on which image it was drawn: "
                "boxes are read as drawn on the upright image",
            ),
        }
        for kind, (one, many, line) in lines.items():
            if count := self._counts[kind]:
                yield f"{source}: {number_of(count, one, many)} {line}"
        if self._emptied:
            yield (
                f"{source}: dropped {number_of(len(self._emptied), 'image')} whose boxes "
                "were all skipped: "
                f"{join_names(self._emptied)}"
            )


class _What:
    """Where the answer to What comes from."""

    def __init__(self, described: Mapping[Path, str], description: str, found: Found) -> None:
        self._described = described
        self._otherwise = description or found.source.describes
        self._name = "" if description else found.source.name

    def of(self, path: Path) -> str:
        """The answer for an image; empty where there is none."""
        return self._described.get(path, "") or self._otherwise

    def note(self, chosen: list[Path]) -> Iterator[str]:
        """How many images have no description of their own."""
        ours = [path for path in chosen if not self._described.get(path)]
        if empty := sum(not each for each in self._described.values()):
            total = len(self._described)
            yield f"{self._name or NAME}: {empty} of {total} rows have no description"
        if ours and not self._otherwise:
            yield (
                f"{self._name}: {number_of(len(ours), 'image is', 'images are')} not asked "
                "What: nothing describes them"
            )
        elif ours and self._name:
            yield (
                f"{self._name}: What is held to keju's own description for "
                f"{number_of(len(ours), 'image')}, "
                "since the paper prints none; give yours with --option description=TEXT"
            )


def _add(
    found: Found,
    writer: DatasetWriter,
    path: Path,
    annotations: Annotations,
    what: _What,
    fit: _Fit,
) -> bool:
    """Add the items of an image; False where none of its boxes is left."""
    data = source_bytes(path)
    inside = fit.boxes(path, data, annotations.of[path])
    if not inside:
        return False
    pattern = _pattern(found, writer, path, data)
    answers = {"What": what.of(path), "Yes-or-No": "yes", "How": str(len(inside)), "Where": ""}
    for item in items_of_queries(pattern):
        if item.query == "What" and not answers["What"]:
            continue
        where = inside if item.query == "Where" else ()
        writer.add(replace(item, answer=answers[item.query], boxes=where))
    return True


def _add_negative(found: Found, writer: DatasetWriter, path: Path) -> None:
    pattern = _pattern(found, writer, path, source_bytes(path))
    for item in items_of_queries(pattern, "Yes-or-No"):
        writer.add(replace(item, answer="no"))


def _pattern(found: Found, writer: DatasetWriter, path: Path, data: bytes) -> Item:
    """An item of an image, which is stored, without its query and answer."""
    ref = writer.add_image(data, str(path))
    return Item(
        id=image_id(found, path),
        benchmark=BENCHMARK,
        task=_TASK,
        images=(ref,),
        group=ref.sha256,
        metadata=found.source.about | {"file": path.relative_to(found.folder).as_posix()},
    )


def _sampled(found: Found, paths: list[Path], settings: RecognitionSettings) -> list[Path]:
    """As many of the images as the option says, in their order; all that a list names."""
    if settings.items:
        return paths
    most = settings.sample or len(paths)
    names = {path.relative_to(found.folder).as_posix(): path for path in paths}
    chosen = draw_order(names, settings.seed, found.source.name)[:most]
    return [names[name] for name in sorted(chosen)]


def _names(found: Found, paths: list[Path]) -> list[str]:
    return [path.relative_to(found.folder).as_posix() for path in paths]


READER = Reader(
    "obi-recognition",
    "OBI-Bench's recognition: images with boxes",
    LAYOUT,
    read_recognition,
    RecognitionSettings,
    detect_recognition,
    tables=Tables("descriptions of images", described_images),
)
