"""Small PDF and TIFF files, sound and hostile."""

from __future__ import annotations

import io
from collections.abc import Sequence

import pypdfium2 as pdfium
from PIL import Image


def pdf_of(scans: Sequence[bytes], *, rotation: int = 0, margin: float = 0) -> bytes:
    """A PDF whose pages are these JPEG files at 150 dpi, with a margin in points."""
    document = pdfium.PdfDocument.new()
    for data in scans:
        image = pdfium.PdfImage.new(document)
        image.load_jpeg(io.BytesIO(data), inline=True)
        width, height = (side * 72 / 150 for side in image.get_px_size())
        image.set_matrix(pdfium.PdfMatrix().scale(width, height).translate(margin, margin))
        page = document.new_page(width + 2 * margin, height + 2 * margin)
        page.insert_obj(image)
        page.gen_content()
        page.set_rotation(rotation)
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def raw_pdf(
    pages: int = 1, side: float = 72, content: bytes = b"0 0 36 36 re f", trailer: str = ""
) -> bytes:
    """A PDF written object by object; all its pages are the same one."""
    kids = " ".join(["3 0 R"] * pages)
    bodies = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Count {pages} /Kids [{kids}] >>".encode(),
        f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {side} {side}] /Contents 4 0 R >>".encode(),
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content),
    ]
    out = b"%PDF-1.4\n"
    places = []
    for number, body in enumerate(bodies, start=1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    size = len(bodies) + 1
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n%s" % (size, table)
    return out + b"trailer << /Size %d /Root 1 0 R %s >>\nstartxref\n%d\n%%%%EOF" % (
        size, trailer.encode(), start,
    )  # fmt: skip


ENCRYPTED = (
    "/Encrypt << /Filter /Standard /V 1 /R 2 /P -4 "
    f"/O <{'ab' * 32}> /U <{'cd' * 32}> >> /ID [<{'00' * 16}> <{'00' * 16}>]"
)


def tiff_of(images: Sequence[bytes]) -> bytes:
    """A TIFF with these images as frames."""
    first, *others = [Image.open(io.BytesIO(data)) for data in images]
    out = io.BytesIO()
    first.save(out, "TIFF", save_all=True, append_images=others)
    return out.getvalue()
