"""FORMAT ``obi-recognition``: images of oracle bones with boxes around the characters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Annotated

from msgspec import Meta

from keju.benchmarks.obi_bench.readers.sources import (
    Source,
    SourceSettings,
    add_items,
    by_source,
    images_in,
    note_unlike_print,
    read_descriptions,
    reader_of,
    store_image,
)
from keju.datasets.readers.base import join_names, source_bytes
from keju.datasets.readers.boxes import (
    annotations_in,
    box_notes,
    fit_boxes,
    read_canvas,
    recognise_boxes,
)
from keju.datasets.readers.listing import Listing
from keju.datasets.readers.pages.page_items import xml_roots
from keju.datasets.store import DatasetWriter
from keju.errors import DataError
from keju.texts import _, n_

_NEGATIVES = "negatives"
"""The folder of images without any inscription."""


class RecognitionSettings(SourceSettings, frozen=True, kw_only=True):
    """The options of ``obi-recognition``."""

    description: Annotated[str, Meta(description="the answer to What where no table has one")] = ""
    skip_faulty: Annotated[
        bool,
        Meta(description="yes: skip boxes without area or outside their image (default no)"),
    ] = False
    skip_missing: Annotated[
        bool,
        Meta(description="yes: skip images without boxes and boxes without image (default no)"),
    ] = False


def read_recognition(
    source: Source, writer: DatasetWriter, settings: RecognitionSettings
) -> Iterator[str]:
    """Read images with boxes: four items an image, one for a negative.

    The count of boxes answers How, the boxes Where. An image is its own group.

    Raises:
        DataError: no images or boxes, an image without boxes (unless skipped or a negative), a
            box outside its image or without area, a file that is not as its form says.
    """
    paths = sorted(images_in(source).values(), key=source.name_of)
    annotations = annotations_in(source.folder, paths, skip_missing=settings.skip_missing)
    yield from annotations.notes
    boxed = [path for path in paths if annotations.of.get(path)]
    negatives = [path for path in paths if _NEGATIVES in source.name_of(path).split("/")[:-1]]
    if boxed_negatives := set(negatives).intersection(boxed):
        raise DataError(
            "boxes on images of {}: {}",
            _NEGATIVES,
            join_names(sorted(map(source.name_of, boxed_negatives))),
            file=source.folder,
            hint=_("Remove the boxes, or move the images out of {}", _NEGATIVES),
        )
    if bare := sorted({*paths}.difference(boxed, negatives), key=source.name_of):
        files = annotations.files
        names = (
            source.name_of(path) + (f" (nothing in {files[path].name})" if path in files else "")
            for path in bare
        )
        note = n_(
            "{n:,} image without boxes: {}",
            "{n:,} images without boxes: {}",
            len(bare),
            join_names(names),
        )
        if not settings.skip_missing:
            hint = _(
                "Draw them; or move images without characters into a folder {}; or skip them: "
                "--option skip-missing=yes",
                _NEGATIVES,
            )
            raise DataError(note, file=source.folder, hint=hint)
        yield _("skipped {}", note)
    table = read_descriptions(source) or {}
    described = {path: cells["description"] for path, cells in table.items()}
    shared = settings.description or source.describes
    counts: Counter[str] = Counter()
    dropped: list[str] = []
    undescribed = 0
    for path in boxed:
        data = source_bytes(path)
        fitted = fit_boxes(
            annotations.of[path], read_canvas(data, path), skip_faulty=settings.skip_faulty
        )
        counts.update(fitted.counts)
        if not fitted.boxes:
            dropped.append(path.name)
            continue
        undescribed += not described.get(path)
        what = described.get(path) or shared
        answers = {"Yes-or-No": "yes", "How": str(len(fitted.boxes))}
        name, image = source.name_of(path), writer.add_image(data, str(path))
        add_items(writer, source, name, image, ({"What": what} if what else {}) | answers)
        add_items(writer, source, name, image, {"Where": ""}, boxes=fitted.boxes)
    for path in negatives:
        image = store_image(writer, path)
        add_items(writer, source, source.name_of(path), image, {"Yes-or-No": "no"})
    yield from box_notes(counts)
    if dropped:
        yield n_(
            "dropped {n:,} image whose boxes were all skipped: {}",
            "dropped {n:,} images whose boxes were all skipped: {}",
            len(dropped),
            join_names(dropped),
        )
    if not negatives:
        yield _(
            "no {}, so a model that always says yes is right in Yes-or-No, as in the paper",
            _NEGATIVES,
        )
    if undescribed and not shared:
        yield n_(
            "{n:,} image is not asked What: nothing describes them",
            "{n:,} images are not asked What: nothing describes them",
            undescribed,
        )
    elif undescribed and not settings.description:
        yield n_(
            "What is held to keju's own description for {n:,} image, since the paper prints none; "
            "give yours with --option description=TEXT",
            "What is held to keju's own description for {n:,} images, since the paper prints none; "
            "give yours with --option description=TEXT",
            undescribed,
        )
    yield from note_unlike_print(source, len(boxed) - len(dropped))


def _guess(listing: Listing) -> tuple[float, str]:
    """Recognise images with boxes by the beginnings of files."""
    forms, _unknown = recognise_boxes(listing.files, listing.text, listing.images)
    if "voc" in forms and not xml_roots(listing)["annotation"]:
        del forms["voc"]
    if set(forms) == {"yinqiwenyuan"}:
        return 1.0, "YinQiWenYuan_detection"
    # Tables of other data may have such columns too.
    return (0.8 if set(forms) == {"table"} else 0.9 if forms else 0.0), ""


READER = reader_of("recognition", RecognitionSettings, by_source(read_recognition), _guess)
