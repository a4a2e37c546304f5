"""Images that EXIF turns, with a mark in a known place."""

from __future__ import annotations

import io

from PIL import Image, ImageDraw, ImageOps

ORIENTATION = 0x0112
MARK = (220, 20, 270, 60)
"""Where a black mark is on the upright image of 300x200 pixels."""


def upright_page() -> Image.Image:
    image = Image.new("RGB", (300, 200), (240, 230, 210))
    left, top, right, bottom = MARK
    ImageDraw.Draw(image).rectangle((left, top, right - 1, bottom - 1), fill=(0, 0, 0))
    return image


def stored(orientation: int, form: str, **options: object) -> bytes:
    """The page, stored so that EXIF must turn it upright."""
    back = {6: 8, 8: 6}.get(orientation, orientation)
    image = upright_page()
    image.getexif()[ORIENTATION] = back
    image = ImageOps.exif_transpose(image)
    exif = Image.Exif()
    exif[ORIENTATION] = orientation
    out = io.BytesIO()
    if form == "TIFF":
        image.save(out, form, tiffinfo={ORIENTATION: orientation}, **options)
    elif form == "TIFF by XMP":
        xmp = f'<rdf:Description tiff:Orientation="{orientation}"/>'.encode()
        image.save(out, "TIFF", tiffinfo={700: xmp}, **options)
    else:
        image.save(out, form, exif=exif, **options)
    return out.getvalue()


def marked(image: Image.Image) -> tuple[int, int, int, int] | None:
    """The bounding box of what is dark."""
    return image.convert("L").point(lambda value: 255 * (value < 100)).getbbox()
