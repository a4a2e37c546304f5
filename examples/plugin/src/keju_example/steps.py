"""Step ``crop-margins``: images without a share of their margins."""

from __future__ import annotations

from io import BytesIO
from typing import Annotated

from msgspec.structs import replace
from PIL import Image

import keju
from keju.plugins import Meta, Settings, StepContext


class CropSettings(Settings, frozen=True, kw_only=True):
    """What is cut off."""

    share: Annotated[
        float, Meta(description="Share of width and height cut off at each side.", gt=0, lt=0.5)
    ] = 0.05


@keju.step("crop-margins", summary="Cut the margins off every image.", settings=CropSettings)
def crop_margins(context: StepContext, settings: CropSettings) -> None:
    """Store every image without its margins; lines that belonged to the whole image are dropped."""
    for item in context.iter_items():
        images = []
        for ref in item.images:
            cropped = crop(context.dataset.image_bytes(ref), settings.share)
            images.append(context.writer.add_image(cropped, ref.path))
        context.keep(
            replace(item, images=tuple(images), lines=()), note=f"margins: {settings.share:g}"
        )


def crop(data: bytes, share: float) -> bytes:
    """An image without its margins, as PNG."""
    with Image.open(BytesIO(data)) as image:
        width, height = image.size
        left, top = round(width * share), round(height * share)
        out = BytesIO()
        image.crop((left, top, width - left, height - top)).save(out, "PNG")
    return out.getvalue()
