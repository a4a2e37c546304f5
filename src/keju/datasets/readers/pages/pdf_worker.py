"""The worker process that opens a PDF file.

A page can take hours to draw or crash the process, which cannot be prevented from inside. keju
starts this file as a script, sends one JSON line to its standard input, and reads answers from its
standard output: for each page, or for the file, a JSON line, and after it the bytes of an image.
"""

from __future__ import annotations

import contextlib
import ctypes
import io
import json
import math
import sys
from pathlib import Path

import pypdfium2 as pdfium
from PIL import Image, ImageChops
from pypdfium2 import raw

from keju.errors import DataError

MOST_PAGES = 10_000
"""Maximum number of pages of one file; a longer one must be split."""

MOST_PIXELS = 60_000_000
"""Maximum pixels of a rendered page: A4 at 700 dpi."""

_USUAL_DPI = 300
_MOST_OBJECTS = 10_000
_ONE_PERCENT = 0.01
_INVISIBLE = raw.FPDF_TEXTRENDERMODE_INVISIBLE

_ORIENTATION = 0x0112
_RENDERED_SIDE, _COMPARED_SIDE = 512, 64
_SAME_SHADE = 40
"""Maximum difference of the page and its image in any place, of 255, at `_COMPARED_SIDE` pixels.
Edges of text differ by 26 at most, since two programs reduce them."""


def main(file: str, pages: list[int], dpi: int | None, most_in_image: int) -> None:
    """Answer a request; after a problem, which is the last answer, end."""
    Image.MAX_IMAGE_PIXELS = None  # The limit comes with the request.
    _bound_memory()
    try:
        document = _opened(file)
        if not pages:
            _send({"pages": len(document)})
        for page in pages:
            method, data = _image_of(document, page, dpi, most_in_image)
            _send({"made": method}, data)
    except (DataError, MemoryError) as error:
        if isinstance(error, MemoryError):
            error = DataError("a page needs too much memory", hint="Give the pages as images")
        _send({"problem": error.template, "values": error.values, "hint": error.hint})


def _send(head: dict[str, object], data: bytes = b"") -> None:
    sys.stdout.buffer.write(json.dumps({**head, "size": len(data)}).encode() + b"\n" + data)
    sys.stdout.buffer.flush()


def _opened(file: str) -> pdfium.PdfDocument:
    try:
        document = pdfium.PdfDocument(Path(file).read_bytes())
    except pdfium.PdfiumError as error:
        if "password" in str(error).casefold():
            raise DataError(
                "the PDF is encrypted", hint="Remove the password, e.g. qpdf --decrypt"
            ) from None
        raise DataError(
            "not readable as a PDF: {}",
            str(error),
            hint="Fetch the file again, or repair it with qpdf",
        ) from None
    if not 0 < len(document) <= MOST_PAGES:
        raise DataError(
            "the PDF has {:,} pages; at most {:,} are read",
            len(document),
            MOST_PAGES,
            hint="Split the file, or give its pages as images",
        )
    return document


def _image_of(
    document: pdfium.PdfDocument, number: int, dpi: int | None, most_in_image: int
) -> tuple[str, bytes]:
    """How the image of a page was made, and its file."""
    try:
        with contextlib.closing(document[number - 1]) as page:
            scan = _scan_of(page, most_in_image)
            if scan and dpi is None and (embedded := _embedded(page, scan)):
                return "embedded", embedded
            return _rendered(page, scan, dpi)
    except (pdfium.PdfiumError, ValueError, OSError) as error:
        raise DataError(
            "not readable: {}",
            str(error),
            hint="Repair the PDF, e.g. with qpdf, or give its pages as images",
        ) from None


def _rendered(
    page: pdfium.PdfPage, scan: pdfium.PdfImage | None, dpi: int | None
) -> tuple[str, bytes]:
    width, height = page.get_size()
    if scan and dpi is None:
        across, down = scan.get_px_size()
        if page.get_rotation() in {90, 270}:
            across, down = down, across
        scale = max(across / width, down / height) * (1 - 1e-9)  # Sizes are rounded up.
    else:
        scale = (dpi or _USUAL_DPI) / 72
    if not (math.isfinite(width * height) and width * height * scale**2 <= MOST_PIXELS):
        raise DataError(
            "a page of {:.0f} x {:.0f} inches has {:,.0f} megapixels at {:.0f} dpi; at most {} are "
            "rendered",
            width / 72,
            height / 72,
            width * height * scale**2 / 1e6,
            scale * 72,
            MOST_PIXELS // 1_000_000,
            hint="Give a lower resolution: --option dpi=NUMBER",
        )
    out = io.BytesIO()
    page.render(scale=scale).to_pil().convert("RGB").save(out, "PNG")
    return f"{scale * 72:.0f} dpi", out.getvalue()


def _scan_of(page: pdfium.PdfPage, most: int) -> pdfium.PdfImage | None:
    """The image that fills the page, if nothing else is visible on it."""
    scan: pdfium.PdfImage | None = None
    for count, part in enumerate(page.get_objects(max_depth=4)):
        if count > _MOST_OBJECTS:
            return None
        if isinstance(part, pdfium.PdfImage):
            across, down = part.get_px_size()
            if across * down > most:
                raise DataError(
                    "an image of {} x {} pixels is too large",
                    across,
                    down,
                    hint="Give the pages as images",
                )
            if scan:
                return None
            scan = part
        elif part.type == raw.FPDF_PAGEOBJ_TEXT:
            if raw.FPDFTextObj_GetTextRenderMode(part) != _INVISIBLE:
                return None
        elif part.type != raw.FPDF_PAGEOBJ_FORM:
            return None
    if scan is None:
        return None
    left, bottom, right, top = page.get_cropbox()
    slack = _ONE_PERCENT * max(right - left, top - bottom)
    edges = zip(scan.get_bounds(), (left, bottom, right, top), strict=True)
    return scan if all(abs(edge - side) <= slack for edge, side in edges) else None


def _embedded(page: pdfium.PdfPage, image: pdfium.PdfImage) -> bytes | None:
    """The file of an image, if programs that open it show what the page shows; else None.

    A viewer ignores the EXIF orientation, and applies `Decode`, masks, clipping, notes and others.
    """
    filters = image.get_filters()
    if page.get_rotation() or filters not in (["DCTDecode"], ["JPXDecode"]):
        return None
    data = bytes(ctypes.string_at(buffer, len(buffer)) if (buffer := image.get_data()) else b"")
    try:
        with Image.open(io.BytesIO(data), formats=("JPEG", "JPEG2000")) as opened:
            plain = opened.mode in {"L", "RGB"} and opened.size == image.get_px_size()
            plain = plain and opened.getexif().get(_ORIENTATION, 1) == 1
            return data if plain and _looks_like(page, opened) else None
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombWarning):
        return None


def _looks_like(page: pdfium.PdfPage, image: Image.Image) -> bool:
    """Whether a page, rendered small, shows an image that is not decoded yet, in its shape."""
    width, height = page.get_size()
    if abs(width * image.height / (height * image.width) - 1) > 2 * _ONE_PERCENT:
        return False
    longer = max(width, height)
    scale = _COMPARED_SIDE / longer
    size = (max(1, round(width * scale)), max(1, round(height * scale)))
    image.draft(None, (_RENDERED_SIDE, _RENDERED_SIDE))
    shown = page.render(scale=_RENDERED_SIDE / longer).to_pil()
    both = [each.convert("RGB").resize(size, Image.Resampling.BOX) for each in (shown, image)]
    return max(ImageChops.difference(*both).tobytes()) <= _SAME_SHADE


def _bound_memory() -> None:
    """Limit the memory of this process, where the system supports it."""
    try:
        import resource  # noqa: PLC0415 - not on Windows
    except ImportError:
        return
    with contextlib.suppress(ValueError, OSError):  # macOS has the constant but no such limit
        resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))


if __name__ == "__main__":
    main(**json.loads(sys.stdin.readline()))
