"""The pages of PDF files as images: embedded scans as they are, other pages rendered."""

from __future__ import annotations

import ctypes
import io
import math
from collections.abc import Collection, Iterator
from pathlib import Path

import pypdfium2 as pdfium
from PIL import Image
from pypdfium2 import raw

from keju.datasets.readers._page_image import MOST_PAGES, PageImage
from keju.datasets.readers.time_limit import check_time
from keju.errors import DataError
from keju.images import MAX_PIXELS

MOST_PIXELS = 100_000_000
"""Pixels of a rendered page: A4 at 900 dpi."""

USUAL_DPI = 300

_MOST_OBJECTS = 10_000
_ONE_PERCENT = 0.01
_INVISIBLE = raw.FPDF_TEXTRENDERMODE_INVISIBLE


def pdf_length(file: Path, data: bytes) -> int:
    """The number of pages.

    Raises:
        DataError: it is damaged, encrypted or empty, or has more than `MOST_PAGES`.
    """
    document = _opened(file, data)
    try:
        return len(document)
    finally:
        document.close()


def pdf_images(
    file: Path, data: bytes, wanted: Collection[int], dpi: int | None
) -> Iterator[tuple[int, PageImage]]:
    """The images of some pages, numbered from 1.

    A page that is one upright JPEG or JPEG 2000 image gives that file, byte for byte; another page
    that is one image is rendered at the resolution of that image; all others at `USUAL_DPI`. Text
    that an OCR program put invisibly over a scan does not count.

    Args:
        file: the PDF's name, for errors.
        data: its bytes.
        wanted: the numbers of the pages.
        dpi: render every page at this resolution.

    Raises:
        DataError: as `pdf_length`, or a page is damaged or has too many pixels.
    """
    document = _opened(file, data)
    try:
        for number in sorted(wanted):
            check_time()
            try:
                page = document[number - 1]
                try:
                    yield number, _image_of(file, page, number, dpi)
                finally:
                    page.close()
            except (pdfium.PdfiumError, ValueError, MemoryError, OSError) as error:
                raise DataError(
                    f"not readable: {error}",
                    file=file,
                    item=f"page {number}",
                    mend="Repair the PDF, e.g. with qpdf, or give its pages as images",
                ) from None
    finally:
        document.close()


def _opened(file: Path, data: bytes) -> pdfium.PdfDocument:
    try:
        document = pdfium.PdfDocument(data)
    except pdfium.PdfiumError as error:
        if "password" in str(error).casefold():
            raise DataError(
                "the PDF is encrypted", file=file, mend="Remove the password, e.g. qpdf --decrypt"
            ) from None
        raise DataError(
            f"not readable as a PDF: {error}",
            file=file,
            mend="Fetch the file again, or repair it, e.g. with qpdf",
        ) from None
    pages = len(document)
    if 1 <= pages <= MOST_PAGES:
        return document
    document.close()
    wrong = f"the PDF has {pages:,} pages; at most {MOST_PAGES:,} are read" if pages else "no pages"
    raise DataError(wrong, file=file, mend="Split the file, or give its pages as images")


def _image_of(file: Path, page: pdfium.PdfPage, number: int, dpi: int | None) -> PageImage:
    scan = _scan_of(file, page, number)
    if scan and dpi is None and (embedded := _embedded(page, scan)):
        return PageImage(embedded, "embedded")
    width, height = page.get_size()
    if scan and dpi is None:
        across, down = scan.get_px_size()
        longer = max(across, down)
        scale = longer / max(width, height) * (1 - 1e-9)  # Sizes are rounded up.
    else:
        scale = (dpi or USUAL_DPI) / 72
    if not (math.isfinite(width * height) and width * height * scale**2 <= MOST_PIXELS):
        raise DataError(
            f"a page of {width / 72:.0f} x {height / 72:.0f} inches has "
            f"{width * height * scale**2 / 1e6:,.0f} megapixels at {scale * 72:.0f} dpi; at most "
            f"{MOST_PIXELS // 1_000_000} are rendered",
            file=file,
            item=f"page {number}",
            mend="Give a lower resolution: --option dpi=NUMBER",
        )
    out = io.BytesIO()
    page.render(scale=scale).to_pil().convert("RGB").save(out, "PNG")
    return PageImage(out.getvalue(), f"{scale * 72:.0f} dpi")


def _scan_of(file: Path, page: pdfium.PdfPage, number: int) -> pdfium.PdfImage | None:
    """The image that fills the page, if nothing else is visible on it.

    Raises:
        DataError: an image of the page has more than `MAX_PIXELS`.
    """
    found: pdfium.PdfImage | None = None
    alone = True
    for count, each in enumerate(page.get_objects(max_depth=4)):
        if count > _MOST_OBJECTS:
            return None
        if isinstance(each, pdfium.PdfImage):
            across, down = each.get_px_size()
            if across * down > MAX_PIXELS:
                raise DataError(
                    f"an image of {across} x {down} pixels is too large",
                    file=file,
                    item=f"page {number}",
                    mend="Give the pages as images",
                )
            alone, found = found is None, each
        elif each.type != raw.FPDF_PAGEOBJ_TEXT or (
            raw.FPDFTextObj_GetTextRenderMode(each) != _INVISIBLE
        ):
            alone = alone and each.type == raw.FPDF_PAGEOBJ_FORM
        if not alone:
            found = None
            break
    return found if alone and found and _fills(page, found) else None


def _fills(page: pdfium.PdfPage, image: pdfium.PdfImage) -> bool:
    left, bottom, right, top = page.get_cropbox()
    bounds = image.get_bounds()
    slack = _ONE_PERCENT * max(right - left, top - bottom)
    return all(
        abs(edge - wanted) <= slack
        for edge, wanted in zip(bounds, (left, bottom, right, top), strict=True)
    )


def _embedded(page: pdfium.PdfPage, image: pdfium.PdfImage) -> bytes | None:
    """The file of an image that is shown upright and in its own colours; else None."""
    a, b, c, d, *_ = image.get_matrix().get()
    upright = a > 0 and d > 0 and abs(b) < _ONE_PERCENT * a and abs(c) < _ONE_PERCENT * d
    filters = image.get_filters()
    if page.get_rotation() or not upright or filters not in (["DCTDecode"], ["JPXDecode"]):
        return None
    data = bytes(ctypes.string_at(buffer, len(buffer)) if (buffer := image.get_data()) else b"")
    try:
        with Image.open(io.BytesIO(data), formats=("JPEG", "JPEG2000")) as opened:
            plain = opened.mode in {"L", "RGB"} and opened.size == image.get_px_size()
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombWarning):
        return None
    return data if plain else None
