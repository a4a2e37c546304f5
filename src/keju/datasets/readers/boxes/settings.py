"""`BoxSettings`: how the boxes of a directory are read, and `NAMES`, the formats of boxes."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from keju.settings import Settings

NAMES: dict[str, str] = {
    "voc": "Pascal VOC",
    "yinqiwenyuan": "YinQiWenYuan's JSON",
    "coco": "COCO",
    "labelme": "labelme",
    "createml": "Create ML",
    "via": "VIA",
    "yolo": "YOLO",
    "table": "a table",
}
"""The formats of boxes, by the value of the option ``form``."""

BoxForm = Literal["", "voc", "yinqiwenyuan", "coco", "labelme", "createml", "via", "yolo", "table"]
"""A format of boxes, as in `NAMES`; empty: the only one that is found."""

_FORM_HELP = f"the form of the boxes, where a folder has several: {', '.join(NAMES)}"


class BoxSettings(Settings, frozen=True, kw_only=True):
    """The form of the boxes of a directory, and which boxes are skipped."""

    form: Annotated[BoxForm, Meta(description=_FORM_HELP)] = ""
    boxes: Annotated[
        Literal["", "xyxy", "xywh"],
        Meta(
            description="of a table: xyxy: left, top, right, bottom; xywh: left, top, width, "
            "height (default by its columns; xyxy where it has no column names)"
        ),
    ] = ""
    field: Annotated[
        dict[str, str],
        Meta(
            description="the column of boxes.csv that has the NAME: image, left, top, right, bottom"
        ),
    ] = msgspec.field(default_factory=dict)
    skip_faulty: Annotated[
        bool,
        Meta(
            description="yes: skip boxes without area, or outside their image by more than a pixel "
            "(default no)"
        ),
    ] = False
    skip_missing: Annotated[
        bool,
        Meta(
            description="yes: skip images without boxes, and boxes of images that are missing "
            "(default no)"
        ),
    ] = False
