"""FORMAT ``obi-recognition``: images of oracle bones with boxes around the characters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Annotated, Literal, NamedTuple

from msgspec import Meta
from msgspec.structs import replace

from keju.benchmarks.obi_bench.readers.descriptions import NAME, read_descriptions
from keju.benchmarks.obi_bench.readers.lists import ItemList, NamedImages, read_list
from keju.benchmarks.obi_bench.readers.sources import (
    BENCHMARK,
    Seed,
    SourceFolder,
    SourceName,
    draw_order,
    images_in,
    items_of_queries,
    note_unlike_print,
    preset,
    record_sources,
    source_called,
    sources_in,
)
from keju.datasets.readers.base import Detection, Reader, join_names, source_bytes
from keju.datasets.readers.boxes import (
    NAMES,
    Annotations,
    BoxSettings,
    Drawn,
    annotations_in,
    fit_boxes,
    is_ambiguous,
    read_canvas,
)
from keju.datasets.readers.boxes.recognising import Recognised, recognise_boxes
from keju.datasets.readers.listing import Listing
from keju.datasets.readers.pages.xml_roots import xml_roots
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
_NEGATIVES = preset(_TASK).negatives


class RecognitionSettings(BoxSettings, frozen=True, kw_only=True):
    """The options of ``obi-recognition``."""

    source: SourceName = ""
    description: Annotated[
        str,
        Meta(description="the answer to What for every image that descriptions.csv does not name"),
    ] = ""
    items: ItemList = None
    sample: Annotated[
        int | None,
        Meta(description="this many images of each source, drawn (default all)", ge=1),
    ] = None
    seed: Seed = "0"
    without_boxes: Annotated[
        Literal["error", "negative"],
        Meta(
            description="negative: images without boxes are negatives, as in folders of YOLO "
            "(default error)"
        ),
    ] = "error"


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
    places = sources_in(src, _TASK, settings.source)
    images = [images_in(place) for place in places]
    wanted = _listed(settings.items, src, images) if settings.items else None
    facts: dict[str, object] = {"seed": settings.seed, "sample": settings.sample or "all"}
    if wanted is not None:
        facts["items"] = len(wanted)
    record_sources(writer, places, facts)
    for place, paths in zip(places, images, strict=True):
        yield from _read_source(place, writer, settings, list(paths.values()), wanted)


def _listed(file: Path, src: Path, images: Sequence[Mapping[str, Path]]) -> list[Path]:
    """The images that a list names, in its order.

    Raises:
        DataError: a name fits no image or several, is listed twice, or a line has two names.
    """
    paths = [path for by_name in images for path in by_name.values()]
    return [image.path for image in NamedImages(src, paths).listed(read_list(file))]


def _read_source(
    place: SourceFolder,
    writer: DatasetWriter,
    settings: RecognitionSettings,
    every: list[Path],
    wanted: list[Path] | None,
) -> Iterator[str]:
    annotations = annotations_in(place.folder, every, settings)
    yield from (f"{place.source.name}: {note}" for note in annotations.notes)
    if wanted is not None:
        inside = set(every)
        every = [path for path in wanted if path in inside]
    parts = _sort_images(place, every, annotations, settings)
    if parts.skipped:
        yield (
            f"skipped {number_of(len(parts.skipped), 'image')} without boxes: "
            f"{join_names(_names(place, parts.skipped))}"
        )
    chosen = _sampled(place, parts.boxed, settings)
    described = {line.path: line.cells["description"] for line in read_descriptions(place) or ()}
    what = _What(described, settings.description, place)
    fit = _Fit(settings.skip_faulty)
    asked_about = [path for path in chosen if _add(place, writer, path, annotations, what, fit)]
    negatives = _sampled(place, parts.negatives, settings)
    for path in negatives:
        _add_negative(place, writer, path)
    yield from fit.notes(place.source.name)
    yield from note_unlike_print(place.source, len(asked_about))
    yield from what.note(asked_about)
    if not negatives:
        yield (
            f"{place.source.name}: no {_NEGATIVES}, so a model that always says yes is right in "
            "Yes-or-No, as in the paper"
        )


class _Parts(NamedTuple):
    """The images of a source: with boxes, negatives, and those that are skipped."""

    boxed: list[Path]
    negatives: list[Path]
    skipped: list[Path]


def _sort_images(
    place: SourceFolder, every: list[Path], annotations: Annotations, settings: RecognitionSettings
) -> _Parts:
    """Sort the images.

    Raises:
        DataError: boxes on an image of negatives; images without boxes, if neither option is set.
    """
    boxes = annotations.of
    negatives = [path for path in every if _NEGATIVES in path.relative_to(place.folder).parts[:-1]]
    if drawn_on := [path for path in negatives if boxes.get(path)]:
        raise DataError(
            "boxes on images of {}: {}",
            _NEGATIVES,
            join_names(_names(place, drawn_on)),
            file=place.folder,
            hint=_("Remove the boxes, or move the images out of {}", _NEGATIVES),
        )
    boxed = [path for path in every if boxes.get(path)]
    others = {*negatives, *boxed}
    bare = [path for path in every if path not in others]
    if settings.without_boxes == "negative":
        return _Parts(boxed, negatives + bare, [])
    if bare and not settings.skip_missing:
        files = annotations.files
        names = (
            f"{name} (nothing in {files[path].name})" if path in files else name
            for name, path in zip(_names(place, bare), bare, strict=True)
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
            file=place.folder,
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
        fitted = fit_boxes(drawn, canvas, skip_faulty=self._skip_faulty)
        self._counts.update(clipped=fitted.clipped, skipped=fitted.skipped, twice=fitted.twice)
        if is_ambiguous(drawn[0], canvas):
            self._counts["turned"] += 1
        if not fitted.boxes:
            self._emptied.append(path.name)
        return fitted.boxes

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

    def __init__(
        self, described: Mapping[Path, str], description: str, place: SourceFolder
    ) -> None:
        self._described = described
        self._otherwise = description or place.source.describes
        self._name = "" if description else place.source.name

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
    place: SourceFolder,
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
    pattern = _pattern(place, writer, path, data)
    answers = {"What": what.of(path), "Yes-or-No": "yes", "How": str(len(inside)), "Where": ""}
    for item in items_of_queries(pattern):
        if item.query == "What" and not answers["What"]:
            continue
        where = inside if item.query == "Where" else ()
        writer.add(replace(item, answer=answers[item.query], boxes=where))
    return True


def _add_negative(place: SourceFolder, writer: DatasetWriter, path: Path) -> None:
    pattern = _pattern(place, writer, path, source_bytes(path))
    for item in items_of_queries(pattern, "Yes-or-No"):
        writer.add(replace(item, answer="no"))


def _pattern(place: SourceFolder, writer: DatasetWriter, path: Path, data: bytes) -> Item:
    """An item of an image, which is stored, without its query and answer."""
    ref = writer.add_image(data, str(path))
    return Item(
        id=place.id_of(path),
        benchmark=BENCHMARK,
        task=_TASK,
        images=(ref,),
        group=ref.sha256,
        metadata=place.source.about | {"file": place.name_of(path)},
    )


def _sampled(place: SourceFolder, paths: list[Path], settings: RecognitionSettings) -> list[Path]:
    """As many of the images as the option says, in their order; all that a list names."""
    if settings.items:
        return paths
    most = settings.sample or len(paths)
    names = {place.name_of(path): path for path in paths}
    chosen = draw_order(names, settings.seed, place.source.name)[:most]
    return [names[name] for name in sorted(chosen)]


def _names(place: SourceFolder, paths: list[Path]) -> list[str]:
    return [place.name_of(path) for path in paths]


_FIT = {"yinqiwenyuan": 1.0, "table": 0.8, "via": 0.85}
_USUAL_FIT = 0.9
_NAMED_FIT = 0.6
"""For images in a folder that is called after a source, without any boxes."""

_MOST_FILES, _MOST_BYTES = 5_000, 1 << 24
"""Annotation files that are read whole; of larger sources the first bytes decide."""

_AYNU = "YinQiWenYuan_detection"


def detect_recognition(listing: Listing) -> Detection | None:
    """Recognise images with boxes in one of the forms of `NAMES`.

    The annotations of a source of ordinary size are read, so that what is missing is reported.
    """
    if not listing.src.is_dir() or not listing.images:
        return None
    recognised = _recognised(listing)
    name = source_called(listing.src.resolve().name)
    named = bool(name and name.task == _TASK)
    if not recognised.forms:
        what = f"{number_of(len(listing.images), 'image')} of {listing.src.name}, without boxes"
        missing = f"the boxes, as {', '.join(NAMES.values())}"
        return Detection(_NAMED_FIT, what, missing=missing) if named else None
    counts = [
        f"{len(paths)} file{'s'[: len(paths) > 1]} of {NAMES[form]}"
        for form, paths in recognised.forms.items()
    ]
    what = f"{number_of(len(listing.images), 'image')} with boxes: {' and '.join(counts)}"
    fit = max(_FIT.get(form, _USUAL_FIT) for form in recognised.forms)
    options = {} if named or set(recognised.forms) != {"yinqiwenyuan"} else {"source": _AYNU}
    try:
        places = sources_in(listing.src, _TASK, options.get("source", ""))
    except (DataError, UsageError) as error:
        return Detection(fit / 2, what, missing=f"other folders ({error})")
    if not _is_small(listing, recognised):
        return Detection(fit, what, options)
    missing = ""
    for place in places:
        try:
            options |= _options_for(place)
        except DataError as error:
            missing = missing or f"a correction ({error.problem}; {error.hint})"
    return Detection(fit, what, options, missing)


def _recognised(listing: Listing) -> Recognised:
    """The forms of the files of a listing; XML counts where its root is VOC's."""
    recognised = recognise_boxes(listing.files, listing.text, listing.images)
    if "voc" in recognised.forms and not xml_roots(listing)["annotation"]:
        del recognised.forms["voc"]
    return recognised


def _is_small(listing: Listing, recognised: Recognised) -> bool:
    paths: list[PurePosixPath] = [path for each in recognised.forms.values() for path in each]
    if not listing.complete or len(paths) > _MOST_FILES:
        return False
    full = (listing.path(path) for path in paths)
    return sum(path.stat().st_size for path in full if path) <= _MOST_BYTES


def _options_for(place: SourceFolder) -> dict[str, str]:
    """The option that images without boxes need: YOLO writes no file, or an empty one, for them.

    Raises:
        DataError: the annotations are not readable, or images have none.
    """
    images = list(images_in(place).values())
    annotations = annotations_in(place.folder, images, BoxSettings())
    bare = [path for path in images if not annotations.of.get(path) and not _negative(path, place)]
    if not bare:
        return {}
    if annotations.form == "yolo" or all(path in annotations.files for path in bare):
        return {"without-boxes": "negative"}
    raise DataError(
        "{} of {} images have no boxes",
        len(bare),
        len(images),
        hint="Draw the boxes, or use --option skip-missing=yes or without-boxes=negative",
    )


def _negative(path: Path, place: SourceFolder) -> bool:
    return _NEGATIVES in path.relative_to(place.folder).parts[:-1]


READER = Reader(
    "obi-recognition",
    "OBI-Bench's recognition: images with boxes",
    LAYOUT,
    read_recognition,
    RecognitionSettings,
    detect_recognition,
)
