"""FORMAT ``obi-recognition``: images of oracle bones with boxes around the characters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal

from msgspec import Meta
from msgspec.structs import replace

from keju.benchmarks.obi_bench.readers.descriptions import read_descriptions
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

_PRESET = preset("recognition")

_NEGATIVES = "negatives"
"""The folder of images without any inscription."""


class RecognitionSettings(BoxSettings, frozen=True, kw_only=True):
    """The options of ``obi-recognition``."""

    source: SourceName = ""
    description: Annotated[
        str,
        Meta(description="the answer to What for every image that descriptions.csv does not name"),
    ] = ""
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
        UsageError: a name is given for a column that a table of boxes does not have.
        DataError: no images or boxes, an image without boxes (unless skipped or a negative), a
            box outside its image or without area, a file that is not as its form says.
    """
    places = sources_in(src, _PRESET.task, settings.source)
    facts = {"seed": settings.seed, "sample": settings.sample or "all"}
    record_sources(writer, places, facts)
    for place in places:
        yield from _read_source(place, writer, settings)


def _read_source(
    place: SourceFolder, writer: DatasetWriter, settings: RecognitionSettings
) -> Iterator[str]:
    source, paths = place.source.name, list(images_in(place).values())
    annotations = annotations_in(place.folder, paths, settings)
    yield from (_("{}: {}", source, note) for note in annotations.notes)
    boxed, negatives, skipped = _sort_images(place, paths, annotations, settings)
    if skipped:
        yield n_(
            "skipped {n:,} image without boxes: {}",
            "skipped {n:,} images without boxes: {}",
            len(skipped),
            join_names(map(place.name_of, skipped)),
        )
    table = read_descriptions(place) or {}
    described = {path: line.cells["description"] for path, line in table.items()}
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
    for note in _changes(counts):
        if note.number:
            yield _("{}: {}", source, note)
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


def _changes(counts: Mapping[str, int]) -> tuple[Text, ...]:
    """Notes on the changes of boxes that were counted."""
    return (
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
        id=f"{place.source.name}/{place.name_of(path)}",
        benchmark=BENCHMARK,
        task=_PRESET.task,
        images=(ref,),
        group=ref.sha256,
        metadata=place.source.about | {"file": place.name_of(path)},
    )
    for item in items_of_queries(pattern, *answers):
        inside = boxes if item.query == "Where" else ()
        writer.add(replace(item, answer=answers[item.query], boxes=inside))


def _sort_images(
    place: SourceFolder,
    paths: Iterable[Path],
    annotations: Annotations,
    settings: RecognitionSettings,
) -> tuple[list[Path], list[Path], list[Path]]:
    """The images with boxes, the negatives, and those that are skipped.

    Raises:
        DataError: boxes on an image of negatives; images without boxes, if neither option is set.
    """
    boxed, negatives, skipped = list[Path](), list[Path](), list[Path]()
    for path in paths:
        name, has_boxes = place.name_of(path), bool(annotations.of.get(path))
        is_negative = _NEGATIVES in name.split("/")[:-1]
        if is_negative and has_boxes:
            raise DataError(
                "boxes on images of {}: {}",
                _NEGATIVES,
                name,
                file=place.folder,
                hint=_("Remove the boxes, or move the images out of {}", _NEGATIVES),
            )
        if has_boxes:
            boxed.append(path)
        elif is_negative or settings.without_boxes == "negative":
            negatives.append(path)
        else:
            skipped.append(path)
    if skipped and not settings.skip_missing:
        files = annotations.files
        names = (
            place.name_of(path) + (f" (nothing in {files[path].name})" if path in files else "")
            for path in skipped
        )
        raise DataError(
            n_(
                "{n:,} image without boxes: {}",
                "{n:,} images without boxes: {}",
                len(skipped),
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
    return boxed, negatives, skipped


def _sampled(
    place: SourceFolder, paths: Sequence[Path], settings: RecognitionSettings
) -> list[Path]:
    """As many of the images as the option says, in the order of names."""
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
    is_named = source is not None and source.task == _PRESET.task
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
        sources_in(listing.src, _PRESET.task, options.get("source", ""))
    except (DataError, UsageError) as error:
        return Detection(fit / 2, what, missing=_("other folders ({})", error))
    return Detection(fit, what, options)


READER = Reader(
    "obi-recognition",
    _PRESET.what,
    _PRESET.layout,
    read_recognition,
    RecognitionSettings,
    detect_recognition,
)
