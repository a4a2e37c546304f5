"""YinQiWenYuan_detection's JSON: ``{"img_name": …, "ann": [[x1, y1, x2, y2, 1.0], …]}``.

Source: programs that read the release (``Train/b02519Z.json`` beside ``b02519Z.jpg``): the first
four values are the corners in pixels, in the order of Pascal VOC. Some draw only boxes whose fifth
value is 1.0; no program gives another value a meaning, so boxes with other values are imported too,
and counted in a note.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, cast

import msgspec

from keju.datasets.readers.boxes.collecting import Collector, Source
from keju.datasets.readers.boxes.model import Drawn, box_of_corners, decode_json
from keju.datasets.readers.records import Place
from keju.errors import number_of
from keju.messages import message

_Row = Annotated[list[object], msgspec.Meta(min_length=4)]


class _Bone(msgspec.Struct, frozen=True):
    ann: list[_Row]
    img_name: str | None = None


_SHAPE = cast("type[_Bone | list[_Bone]]", _Bone | list[_Bone])


def read_yinqiwenyuan(source: Source, found: Collector) -> list[str]:
    """Collect the boxes of one file for each image, or of a file with a list of such objects.

    Returns:
        A note on boxes whose fifth value is not 1.

    Raises:
        DataError: a file is not of the form above, or an image is missing.
    """
    odd = 0
    for file in source.files:
        bones = decode_json(file, _SHAPE)
        if isinstance(bones, _Bone):
            image = source.images.beside(file, bones.img_name or "")
            found.annotated(image, file)
            odd += _add(bones, image, Place(file, ""), found)
            continue
        for number, bone in enumerate(bones, start=1):
            odd += _read_listed(bone, Place(file, f"object {number}"), found)
    return (
        [f"{number_of(odd, 'box has', 'boxes have')} a fifth value other than 1, imported too"]
        if odd
        else []
    )


def _read_listed(bone: _Bone, place: Place, found: Collector) -> int:
    if not bone.img_name:
        raise place.error(message("datasets.img-name-missing"))
    image = found.image(bone.img_name, place)
    return 0 if image is None else _add(bone, image, place, found)


def _add(bone: _Bone, image: Path, place: Place, found: Collector) -> int:
    """Add the boxes of one image; returns how many have a fifth value that is not 1."""
    odd = 0
    for number, row in enumerate(bone.ann, start=1):
        item = f"{place.item}, ann {number}" if place.item else f"ann {number}"
        where = Place(place.file, item)
        found.add(image, Drawn(box_of_corners(row[:4], where), where))
        odd += len(row) > 4 and row[4] != 1
    return odd
