"""`detect_recognition`: recognises images with boxes, and the source that they are from."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from keju.benchmarks.obi_bench.readers.sources import Found, source_called, sources_in
from keju.datasets.readers.base import Detection, image_files
from keju.datasets.readers.boxes import NAMES, BoxSettings, annotations_in
from keju.datasets.readers.boxes.recognising import Recognised, recognise_boxes
from keju.datasets.readers.listing import Listing
from keju.datasets.readers.pages.xml_roots import xml_roots
from keju.errors import DataError, UsageError, number_of

_TASK = "recognition"
_NEGATIVES = "negatives"
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
        found = sources_in(listing.src, _TASK, options.get("source", ""))
    except (DataError, UsageError) as error:
        return Detection(fit / 2, what, missing=f"other folders ({error})")
    if not _is_small(listing, recognised):
        return Detection(fit, what, options)
    missing = ""
    for each in found:
        try:
            options |= _options_for(each)
        except DataError as error:
            missing = missing or f"a correction ({error.problem}; {error.hint})"
    return Detection(fit, what, options, missing)


def _recognised(listing: Listing) -> Recognised:
    """The forms of the files of a listing; XML counts where its root is VOC's."""
    found = recognise_boxes(listing.files, listing.text, listing.images)
    if "voc" in found.forms and not xml_roots(listing)["annotation"]:
        del found.forms["voc"]
    return found


def _is_small(listing: Listing, recognised: Recognised) -> bool:
    paths: list[PurePosixPath] = [path for each in recognised.forms.values() for path in each]
    if not listing.complete or len(paths) > _MOST_FILES:
        return False
    full = (listing.path(path) for path in paths)
    return sum(path.stat().st_size for path in full if path) <= _MOST_BYTES


def _options_for(found: Found) -> dict[str, str]:
    """The option that images without boxes need: YOLO writes no file, or an empty one, for them.

    Raises:
        DataError: the annotations are not readable, or images have none.
    """
    images = list(image_files(found.folder))
    annotations = annotations_in(found.folder, images, BoxSettings())
    bare = [path for path in images if not annotations.of.get(path) and not _negative(path, found)]
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


def _negative(path: Path, found: Found) -> bool:
    return _NEGATIVES in path.relative_to(found.folder).parts[:-1]
