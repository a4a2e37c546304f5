"""FORMAT ``hisdoc``: M5HisDoc, and MTHv2 from which it takes pages: page images with text lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal

from msgspec import Meta
from msgspec.structs import replace

from keju.datasets.readers.base import Detection, Reader, join_names
from keju.datasets.readers.listing import Listing
from keju.datasets.readers.mapped import read_mapped
from keju.datasets.readers.mapping import read_mapping
from keju.datasets.readers.pages.page_items import TranscriptionTask, transcription_task
from keju.datasets.store import DatasetWriter
from keju.definitions import OWN_PAGE
from keju.settings import Settings
from keju.texts import _, n_

LAYOUT = """\
SRC/                          M5HisDoc, MTHv2, or one subset of them
  M5HisDoc_regular/           and M5HisDoc_hard/
    images/NAME.jpg           the pages
    label_textline/NAME.txt   a text line per line: x1,y1,x2,y2,x3,y3,x4,y4,TEXT
    label_char/NAME.txt       boxes of characters; not imported
  split_train.txt             and split_val.txt, split_test.txt: a NAME per line
  TKH/, MTH1000/, MTH1200/    MTHv2: img/ instead of images/, and TEXT before the coordinates"""

_PRESET = Path(__file__).parent / "presets/hisdoc.toml"


class HisDocSettings(Settings, frozen=True, kw_only=True):
    """Which pages of M5HisDoc or MTHv2 are imported, and how."""

    task: TranscriptionTask = OWN_PAGE
    split: Annotated[
        Literal["", "train", "val", "test"],
        Meta(
            description="train, val or test: the pages that split_train.txt … names "
            "(default all pages)"
        ),
    ] = ""
    order: Annotated[
        Literal["released", "geometry"],
        Meta(
            description="released: the order of the lines in the file; geometry (default released)"
        ),
    ] = "released"
    skip_missing: Annotated[
        bool,
        Meta(description="yes: skip pages whose image or text is missing (default no)"),
    ] = False


def read_hisdoc(src: Path, writer: DatasetWriter, settings: HisDocSettings) -> Iterator[str]:
    """Read one transcription item per page, with its lines and their outlines.

    Raises:
        UsageError: the task is unknown or is not a transcription task.
        DataError: no pages, a page without image or text (unless skipped), a line that does not
            have the layout, a broken image.
    """
    mapping = replace(
        read_mapping(_PRESET),
        constants={"task": transcription_task(settings.task).id},
        text_order="geometry" if settings.order == "geometry" else "file",
        only={"split": settings.split} if settings.split else {},
    )
    yield from read_mapped(src, writer, mapping, skip_missing=settings.skip_missing)


def detect_hisdoc(listing: Listing) -> Detection | None:
    """Recognise M5HisDoc or MTHv2 by directory names."""
    texts = [path for path in listing.ending("txt") if path.parent.name == "label_textline"]
    if not texts and any(path.parent.name == "label_char" for path in listing.ending("txt")):
        what = _("M5HisDoc with characters alone")
        return Detection(0.9, what, missing=_("the folder {}", "label_textline"))
    if not texts:
        return None
    images = {path.stem for path in listing.images if path.parent.name in {"images", "img"}}
    roots = Counter(path.parent.parent.name or listing.root.name for path in texts)
    what = n_(
        "M5HisDoc or MTHv2: {n:,} page with text lines in {}",
        "M5HisDoc or MTHv2: {n:,} pages with text lines in {}",
        len(texts),
        join_names(sorted(roots)),
    )
    return Detection(1, what, missing="" if images else _("the images, in images/ or img/"))


READER = Reader(
    "hisdoc",
    "page images with text lines of M5HisDoc or MTHv2",
    LAYOUT,
    read_hisdoc,
    HisDocSettings,
    detect_hisdoc,
)
