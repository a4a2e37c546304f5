"""The worker process that opens PDF files; it imports nothing of keju.

A page can take hours to draw or crash the process, which cannot be prevented from inside.
`PdfReader` starts this file as a script, sends one JSON line for each request to its standard
input, and reads answers from its standard output: a JSON line, and after it the bytes of an image.
"""

from __future__ import annotations

import contextlib
import ctypes
import io
import json
import math
import sys
from pathlib import Path
from typing import Any

import pypdfium2 as pdfium
from PIL import Image, ImageChops
from pypdfium2 import raw

_USUAL_DPI = 300
_MOST_OBJECTS = 10_000
_ONE_PERCENT = 0.01
_INVISIBLE = raw.FPDF_TEXTRENDERMODE_INVISIBLE
_WITHOUT_APPEARANCE = frozenset({raw.FPDF_ANNOT_LINK, raw.FPDF_ANNOT_POPUP})

_ORIENTATION = 0x0112
_RENDERED_SIDE, _COMPARED_SIDE = 512, 64
_SAME_SHADE = 40
"""Maximum difference of the page and its image in any place, of 255, at `_COMPARED_SIDE` pixels.
Edges of text differ by 26 at most, since two programs reduce them."""


class Fault(Exception):  # noqa: N818 - no sentence, but the name of one
    """An error in the file: its name in `pdf_pages`, and the values of its sentence."""

    def __init__(self, fault: str, *values: float | str) -> None:
        super().__init__(fault)
        self.fields = {"fault": fault, "values": values}


def main() -> None:
    """Answer requests until the input ends."""
    Image.MAX_IMAGE_PIXELS = None  # Limits come with each request.
    _bound_memory()
    worker = _Worker()
    for line in sys.stdin:
        data = b""
        try:
            head, data = worker.answer(json.loads(line))
        except Fault as fault:
            head = {**fault.fields, "of_page": worker.reads_page}
        except MemoryError:
            head = {"fault": "memory", "values": (), "of_page": worker.reads_page}
        sys.stdout.buffer.write(json.dumps({**head, "size": len(data)}).encode() + b"\n" + data)
        sys.stdout.buffer.flush()


class _Worker:
    """Keeps the last file open; `reads_page` says whether the file itself is readable."""

    def __init__(self) -> None:
        self.reads_page = False
        self._file = ""
        self._document: pdfium.PdfDocument | None = None

    def answer(self, request: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
        """The number of pages of a file, or the image of one of its pages."""
        self.reads_page = False
        if self._document is None or request["file"] != self._file:
            if self._document is not None:
                self._document.close()
            self._document = None
            self._document = _opened(Path(request["file"]), request["most_pages"])
            self._file = request["file"]
        if not request["page"]:
            return {"pages": len(self._document)}, b""
        self.reads_page = True
        try:
            page = self._document[request["page"] - 1]
            try:
                made, data = _image_of(page, request)
            finally:
                page.close()
        except (pdfium.PdfiumError, ValueError, OSError) as error:
            raise Fault("page", str(error)) from None
        return {"made": made}, data


def _opened(file: Path, most_pages: int) -> pdfium.PdfDocument:
    try:
        document = pdfium.PdfDocument(file.read_bytes())
    except pdfium.PdfiumError as error:
        if "password" in str(error).casefold():
            raise Fault("encrypted") from None
        raise Fault("file", str(error)) from None
    pages = len(document)
    if 1 <= pages <= most_pages:
        return document
    document.close()
    raise Fault("many pages", pages, most_pages) if pages else Fault("no pages")


def _image_of(page: pdfium.PdfPage, request: dict[str, Any]) -> tuple[str, bytes]:
    dpi, most = request["dpi"], request["most_pixels"]
    scan = _scan_of(page, request["most_in_image"])
    if scan and dpi is None and (embedded := _embedded(page, scan)):
        return "embedded", embedded
    width, height = page.get_size()
    if scan and dpi is None:
        across, down = scan.get_px_size()
        if page.get_rotation() in {90, 270}:
            across, down = down, across
        scale = max(across / width, down / height) * (1 - 1e-9)  # Sizes are rounded up.
    else:
        scale = (dpi or _USUAL_DPI) / 72
    if not (math.isfinite(width * height) and width * height * scale**2 <= most):
        megapixels = width * height * scale**2 / 1e6
        raise Fault(
            "large page", width / 72, height / 72, megapixels, scale * 72, most // 1_000_000
        )
    out = io.BytesIO()
    page.render(scale=scale).to_pil().convert("RGB").save(out, "PNG")
    return f"{scale * 72:.0f} dpi", out.getvalue()


def _scan_of(page: pdfium.PdfPage, most: int) -> pdfium.PdfImage | None:
    """The image that fills the page, if nothing else is visible on it."""
    found: pdfium.PdfImage | None = None
    alone = True
    for count, each in enumerate(page.get_objects(max_depth=4)):
        if count > _MOST_OBJECTS:
            return None
        if isinstance(each, pdfium.PdfImage):
            across, down = each.get_px_size()
            if across * down > most:
                raise Fault("large image", across, down)
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
    """The file of an image, if programs that open it show what the page shows; else None.

    A viewer ignores the EXIF orientation, and applies `Decode`, masks, clipping and others.
    """
    filters = image.get_filters()
    if page.get_rotation() or _has_notes(page) or filters not in (["DCTDecode"], ["JPXDecode"]):
        return None
    data = bytes(ctypes.string_at(buffer, len(buffer)) if (buffer := image.get_data()) else b"")
    try:
        with Image.open(io.BytesIO(data), formats=("JPEG", "JPEG2000")) as opened:
            plain = opened.mode in {"L", "RGB"} and opened.size == image.get_px_size()
            plain = plain and opened.getexif().get(_ORIENTATION, 1) == 1
            return data if plain and _looks_like(page, opened) else None
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombWarning):
        return None


def _has_notes(page: pdfium.PdfPage) -> bool:
    """Whether annotations may be visible on a page."""
    for number in range(raw.FPDFPage_GetAnnotCount(page)):
        note = raw.FPDFPage_GetAnnot(page, number)
        kind = raw.FPDFAnnot_GetSubtype(note)
        raw.FPDFPage_CloseAnnot(note)
        if kind not in _WITHOUT_APPEARANCE:
            return True
    return False


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
    main()
