"""Step ``standardise``: convert images to JPEG within a budget, and scale boxes and outlines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from math import isqrt
from typing import Annotated

import PIL
from msgspec import Meta, Struct
from msgspec.structs import replace

from keju.building.dropped import Dropped, write_dropped
from keju.building.standardising.pictures import (
    FOLDER,
    WHOLE,
    ImageJob,
    ImageTarget,
    StandardImage,
    standardise_image,
)
from keju.building.step import Settings, Step
from keju.building.step_context import StepContext
from keju.errors import DataError
from keju.items import Box, ImageRef, Item, Line
from keju.texts import _, n_

PIXEL_BUDGET = 1_365_984
"""The default budget, 1,365,984 pixels per image: that of a published benchmark."""

LEAST_PIXELS = 50_000
"""A budget below this number of pixels (about 220x220) must be confirmed: our reading."""


class StandardiseSettings(Settings, frozen=True):
    """The format and size of the images."""

    pixels: Annotated[
        int,
        Meta(
            description="Maximum pixels of an image: width x height, e.g. 1365984, not a side; "
            "0: no limit.",
            ge=0,
        ),
    ] = PIXEL_BUDGET
    tiny: Annotated[
        bool, Meta(description="Allow fewer than 50,000 pixels, at which pages are not legible.")
    ] = False
    quality: Annotated[int, Meta(description="JPEG quality, 1 to 95.", ge=1, le=95)] = 90
    recode: Annotated[
        bool, Meta(description="Encode JPEGs again that fit already, instead of copying them.")
    ] = False
    whole: Annotated[
        int,
        Meta(
            description="Maximum megapixels of an image that can only be decoded in one piece; "
            "each takes 4 to 20 MB of memory.",
            ge=1,
            le=WHOLE,
        ),
    ] = WHOLE

    def __post_init__(self) -> None:
        """Reject a budget that is probably meant as a side.

        Raises:
            ValueError: it is below `LEAST_PIXELS` and not confirmed.
        """
        if 0 < self.pixels < LEAST_PIXELS and not self.tiny:
            side = isqrt(self.pixels)
            raise ValueError(
                _(
                    "pixels = {0} is width x height, not a side: images of about {1}x{1}. Use at "
                    "least {2} (a side of 2000 is about 3000000), or set tiny if that is intended",
                    self.pixels,
                    side,
                    LEAST_PIXELS,
                )
            )


class ImageChange(Struct, frozen=True):
    """The result for an input image: a row of the table ``pictures``."""

    image: str
    form: str
    mode: str
    old_width: int
    old_height: int
    width: int
    height: int
    frames: int
    turned: bool
    new: bool
    error: str


def standardise_all(context: StepContext, settings: StandardiseSettings) -> None:
    """Standardise every image, and scale boxes and outlines on it by the same factor.

    An item with an image that cannot be converted is dropped and listed. Of several pages or frames
    the first is used, which is listed too.

    Raises:
        DataError: no item is left.
    """
    refs = list({ref.path: ref for item in context.dataset for ref in item.images}.values())
    rows = [ImageJob(context.image_name(ref), ref.path) for ref in refs]
    standardise = partial(
        standardise_image,
        measure=ImageTarget(settings.pixels, settings.quality, settings.recode, settings.whole),
        images=context.image_files(),
        scratch=context.engine.files(),
    )
    made = context.engine.map(FOLDER, rows, standardise, StandardImage)
    done = dict(zip((ref.path for ref in refs), made, strict=True))
    dropped = list(_keep_sound(context, done))
    if len(dropped) == len(context.dataset):
        raise DataError("no item has valid images. The first error: {}", dropped[0].reason)
    context.table("pictures", (_make_row(ref, done[ref.path]) for ref in refs), ImageChange)
    write_dropped(context.out, dropped)
    _report(context, made, settings.pixels, len(dropped))


def _keep_sound(context: StepContext, done: Mapping[str, StandardImage]) -> Iterator[Dropped]:
    """Keep the items whose images were converted, and yield the others."""
    for item in context.iter_items():
        broken = next((ref for ref in item.images if done[ref.path].error), None)
        if broken:
            yield Dropped(item.id, done[broken.path].error, item.task, broken.path)
            continue
        new = tuple(_store(context, ref, done[ref.path]) for ref in item.images)
        if new == item.images:
            context.keep(item)
        else:
            note = (
                f"{len(new)} pictures"
                if len(new) > 1
                else _describe_change(done[item.images[0].path])
            )
            context.keep(_scale(item, new), note=note, tool=f"Pillow {PIL.__version__}")


STEP = Step(
    "standardise",
    "Convert every image to an upright JPEG with a limited number of pixels.",
    StandardiseSettings,
    standardise_all,
)


def _report(context: StepContext, made: Sequence[StandardImage], pixels: int, dropped: int) -> None:
    several = sum(each.frames > 1 for each in made)
    count = sum(bool(each.file) for each in made)
    context.note(
        _(
            "{} of {} images converted, {} with several pages (the first is used)",
            count,
            len(made),
            several,
        )
    )
    if small := _count_much_smaller(made):
        context.note(
            _(
                "{} of {} images have less than half of their former width and height, because "
                "pixels = {} is width x height. See tables/pictures.csv",
                small,
                len(made),
                pixels,
            )
        )
    if dropped:
        context.note(
            n_(
                "{n:,} item dropped; for the reasons see tables/dropped.csv",
                "{n:,} items dropped; for the reasons see tables/dropped.csv",
                dropped,
            )
        )


def _count_much_smaller(made: Sequence[StandardImage]) -> int:
    """Count the images that lost more than half of their sides; 0 unless they are the majority."""
    sound = [each for each in made if not each.error]
    small = sum(2 * max(each.width, each.height) < max(each.old_width, each.old_height)
                for each in sound)  # fmt: skip
    return small if 2 * small > len(sound) else 0


def _store(context: StepContext, ref: ImageRef, made: StandardImage) -> ImageRef:
    if not made.file:
        return ref
    new = ImageRef(
        path=f"images/{made.sha256}.jpg",
        sha256=made.sha256,
        width=made.width,
        height=made.height,
        size=made.size,
    )
    if not context.writer.has_image(new):
        context.writer.link_image(context.fetch_scratch(made.file), new)
    return new


def _describe_change(made: StandardImage) -> str:
    turned = ", turned" if made.turned else ""
    return (
        f"{made.form} {made.mode} {made.old_width}x{made.old_height}{turned} to "
        f"jpg {made.width}x{made.height}"
    )


def _scale(item: Item, new: tuple[ImageRef, ...]) -> Item:
    """Set the images of an item, and scale its boxes and outlines as the first image."""
    across, down = new[0].width / item.images[0].width, new[0].height / item.images[0].height
    boxes = tuple(
        Box(x0=box.x0 * across, y0=box.y0 * down, x1=box.x1 * across, y1=box.y1 * down)
        for box in item.boxes
    )
    lines = tuple(_scale_line(line, across, down) for line in item.lines)
    return replace(item, images=new, boxes=boxes, lines=lines)


def _scale_line(line: Line, across: float, down: float) -> Line:
    return replace(line, polygon=tuple((x * across, y * down) for x, y in line.polygon))


def _make_row(ref: ImageRef, made: StandardImage) -> ImageChange:
    return ImageChange(
        image=ref.path,
        form=made.form,
        mode=made.mode,
        old_width=made.old_width or ref.width,
        old_height=made.old_height or ref.height,
        width=made.width,
        height=made.height,
        frames=made.frames,
        turned=made.turned,
        new=bool(made.file),
        error=made.error,
    )
