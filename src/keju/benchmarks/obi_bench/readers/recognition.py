"""FORMAT ``obi-recognition``: images of oracle bones with boxes around the characters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

from msgspec import Meta
from msgspec.structs import replace

from keju.benchmarks.obi_bench.readers.descriptions import read_descriptions
from keju.benchmarks.obi_bench.readers.lists import ItemList, NamedImages
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
from keju.datasets.readers.box_fitting import fit_boxes, is_ambiguous, read_canvas
from keju.datasets.readers.boxes import (
    NAMES,
    Annotations,
    BoxSettings,
    annotations_in,
    recognise_boxes,
)
from keju.datasets.readers.listing import Listing
from keju.datasets.readers.pages.page_items import xml_roots
from keju.datasets.store import DatasetWriter
from keju.errors import DataError, UsageError
from keju.items import Box, Item
from keju.texts import Text, _, join_parts, n_

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
    images = [list(images_in(place).values()) for place in places]
    facts: dict[str, object] = {"seed": settings.seed, "sample": settings.sample or "all"}
    listed: Iterable[Path] = chain(*images)
    if settings.items:
        listed = NamedImages(src, listed).listed(settings.items)
        facts["items"] = len(listed)
    listed_paths = list(listed)
    record_sources(writer, places, facts)
    for place, paths in zip(places, images, strict=True):
        annotations = annotations_in(place.folder, paths, settings)
        yield from (_("{}: {}", place.source.name, note) for note in annotations.notes)
        sample = list(filter(set(paths).__contains__, listed_paths))
        yield from _read_source(place, writer, settings, sample, annotations)


def _read_source(
    place: SourceFolder,
    writer: DatasetWriter,
    settings: RecognitionSettings,
    paths: Sequence[Path],
    annotations: Annotations,
) -> Iterator[str]:
    source = place.source.name
    boxed, negatives, skipped = _sort_images(place, paths, annotations, settings)
    if skipped:
        yield n_(
            "skipped {n:,} image without boxes: {}",
            "skipped {n:,} images without boxes: {}",
            len(skipped),
            join_names(map(place.name_of, skipped)),
        )
    table = read_descriptions(place) or []
    described = {line.path: line.cells["description"] for line in table}
    shared = settings.description or place.source.describes
    counts: Counter[str] = Counter()
    images: list[Path] = []
    dropped: list[Path] = []
    for path in _sampled(place, boxed, settings):
        boxes, data = annotations.of[path], source_bytes(path)
        canvas = read_canvas(data, path)
        fitted = fit_boxes(boxes, canvas, skip_faulty=settings.skip_faulty)
        counts.update(clipped=fitted.clipped, skipped=fitted.skipped, twice=fitted.twice)
        counts["turned"] += is_ambiguous(boxes[0], canvas)
        if not fitted.boxes:
            dropped.append(path)
            continue
        images.append(path)
        what = described.get(path) or shared
        answers = {"Yes-or-No": "yes", "How": str(len(fitted.boxes)), "Where": ""}
        answers = ({"What": what} if what else {}) | answers
        _add_items(place, writer, path, data, answers, fitted.boxes)
    for path in _sampled(place, negatives, settings):
        _add_items(place, writer, path, source_bytes(path), {"Yes-or-No": "no"})
    yield from (_("{}: {}", source, note) for note in _changes(counts))
    if dropped:
        yield n_(
            "{}: dropped {n:,} image whose boxes were all skipped: {}",
            "{}: dropped {n:,} images whose boxes were all skipped: {}",
            len(dropped),
            source,
            join_names(path.name for path in dropped),
        )
    yield from note_unlike_print(place.source, len(images))
    if empty := sum(not text for text in described.values()):
        yield _("{}: {} of {} rows have no description", source, empty, len(described))
    bare = sum(not described.get(path) for path in images)
    if bare and not shared:
        yield n_(
            "{}: {n:,} image is not asked What: nothing describes them",
            "{}: {n:,} images are not asked What: nothing describes them",
            bare,
            source,
        )
    elif bare and not settings.description:
        yield n_(
            "{}: What is held to keju's own description for {n:,} image, since the paper prints "
            "none; give yours with --option description=TEXT",
            "{}: What is held to keju's own description for {n:,} images, since the paper prints "
            "none; give yours with --option description=TEXT",
            bare,
            source,
        )
    if not negatives:
        yield _(
            "{}: no {}, so a model that always says yes is right in Yes-or-No, as in the paper",
            source,
            _NEGATIVES,
        )


def _changes(counts: Mapping[str, int]) -> Iterator[Text]:
    """Notes on the changes of boxes that were counted."""
    notes = (
        n_(
            "{n:,} box clipped that left the image by a pixel or less",
            "{n:,} boxes clipped that left the image by a pixel or less",
            counts["clipped"],
        ),
        n_(
            "{n:,} box skipped without area or outside the image",
            "{n:,} boxes skipped without area or outside the image",
            counts["skipped"],
        ),
        n_(
            "{n:,} box listed twice and counted once",
            "{n:,} boxes listed twice and counted once",
            counts["twice"],
        ),
        n_(
            "{n:,} image turned by EXIF, whose annotation does not show on which image it was "
            "drawn: boxes are read as drawn on the upright image",
            "{n:,} images turned by EXIF, whose annotation does not show on which image it was "
            "drawn: boxes are read as drawn on the upright image",
            counts["turned"],
        ),
    )
    return (note for note in notes if note.number)


def _add_items(
    place: SourceFolder,
    writer: DatasetWriter,
    path: Path,
    data: bytes,
    answers: Mapping[str, str],
    boxes: tuple[Box, ...] = (),
) -> None:
    """Add the items of the queries that have an answer; Where is answered by the boxes."""
    ref = writer.add_image(data, str(path))
    pattern = Item(
        id=place.id_of(path),
        benchmark=BENCHMARK,
        task=_TASK,
        images=(ref,),
        group=ref.sha256,
        metadata=place.source.about | {"file": place.name_of(path)},
    )
    for item in items_of_queries(pattern, *answers):
        inside = boxes if item.query == "Where" else ()
        writer.add(replace(item, answer=answers[item.query], boxes=inside))


class _Parts(NamedTuple):
    """The images of a source: with boxes, negatives, and those that are skipped."""

    boxed: list[Path]
    negatives: list[Path]
    skipped: list[Path]


def _sort_images(
    place: SourceFolder,
    paths: Iterable[Path],
    annotations: Annotations,
    settings: RecognitionSettings,
) -> _Parts:
    """Sort the images.

    Raises:
        DataError: boxes on an image of negatives; images without boxes, if neither option is set.
    """
    parts = _Parts([], [], [])
    for path in paths:
        boxes = annotations.of.get(path)
        name = place.name_of(path)
        if _NEGATIVES in name.split("/")[:-1]:
            if boxes:
                raise DataError(
                    "boxes on images of {}: {}",
                    _NEGATIVES,
                    name,
                    file=place.folder,
                    hint=_("Remove the boxes, or move the images out of {}", _NEGATIVES),
                )
            parts.negatives.append(path)
        elif boxes:
            parts.boxed.append(path)
        elif settings.without_boxes == "negative":
            parts.negatives.append(path)
        else:
            parts.skipped.append(path)
    if parts.skipped and not settings.skip_missing:
        files = annotations.files
        names = (
            place.name_of(path) + (f" (nothing in {files[path].name})" if path in files else "")
            for path in parts.skipped
        )
        raise DataError(
            n_(
                "{n:,} image without boxes: {}",
                "{n:,} images without boxes: {}",
                len(parts.skipped),
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
    return parts


def _sampled(
    place: SourceFolder, paths: Sequence[Path], settings: RecognitionSettings
) -> Sequence[Path]:
    """As many of the images as the option says, in the order of names; all that a list names."""
    if settings.items:
        return paths
    names = {place.name_of(path): path for path in paths}
    sample = draw_order(names, settings.seed, place.source.name)[: settings.sample or len(names)]
    return [names[name] for name in sorted(sample)]


_FIT = {"yinqiwenyuan": 1.0, "table": 0.8, "via": 0.85}
_USUAL_FIT = 0.9
_NAMED_FIT = 0.6
"""For images in a folder that is called after a source, without any boxes."""

_AYNU = "YinQiWenYuan_detection"


def detect_recognition(listing: Listing) -> Detection | None:
    """Recognise images with boxes in one of the forms of `NAMES`, by the beginnings of files."""
    if not listing.src.is_dir() or not listing.images:
        return None
    forms = recognise_boxes(listing.files, listing.text, listing.images).forms
    if "voc" in forms and not xml_roots(listing)["annotation"]:
        del forms["voc"]
    source = source_called(listing.src.resolve().name)
    is_named = source is not None and source.task == _TASK
    images = n_("{n:,} image", "{n:,} images", len(listing.images))
    if not forms:
        what = _("{} of {}, without boxes", images, listing.src.name)
        missing = _("the boxes, as {}", ", ".join(NAMES.values()))
        return Detection(_NAMED_FIT, what, missing=missing) if is_named else None
    counts = [
        n_("{n:,} file of {}", "{n:,} files of {}", len(paths), NAMES[form])
        for form, paths in forms.items()
    ]
    what = _("{} with boxes: {}", images, join_parts(counts))
    fit = max(_FIT.get(form, _USUAL_FIT) for form in forms)
    options = {} if is_named or set(forms) != {"yinqiwenyuan"} else {"source": _AYNU}
    try:
        sources_in(listing.src, _TASK, options.get("source", ""))
    except (DataError, UsageError) as error:
        return Detection(fit / 2, what, missing=_("other folders ({})", error))
    return Detection(fit, what, options)


READER = Reader(
    "obi-recognition",
    preset(_TASK).what,
    preset(_TASK).layout,
    read_recognition,
    RecognitionSettings,
    detect_recognition,
)
