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
        _stream("", content),
    ]
    return _file(bodies, trailer)


def image_pdf(
    data: bytes,
    *,
    image: str = "/Filter /DCTDecode /ColorSpace /DeviceRGB",
    bits: int = 8,
    size: tuple[int, int] = (300, 400),
    content: str = "q 300 0 0 400 0 0 cm /I Do Q",
    page: str = "",
    others: Sequence[tuple[str, bytes]] = (),
) -> bytes:
    """A PDF of one page of 300x400 points with an image, as its dictionaries say.

    `others` are objects from number 6 on: a dictionary each and, unless empty, its stream.
    """
    about = f"/Type /XObject /Subtype /Image /Width {size[0]} /Height {size[1]}"
    about += f" /BitsPerComponent {bits} {image}"
    box = "" if "/MediaBox" in page else "/MediaBox [0 0 300 400]"
    bodies = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Count 1 /Kids [3 0 R] >>",
        f"<< /Type /Page /Parent 2 0 R {box} /Contents 4 0 R {page} /Resources "
        "<< /XObject << /I 5 0 R /J 6 0 R >> /ExtGState << /G 6 0 R >> /Font << /F << /Type /Font "
        "/Subtype /Type1 /BaseFont /Helvetica >> >> >> >>".encode(),
        _stream("", content.encode()),
        _stream(about, data),
        *(_stream(head, body) if body else f"<< {head} >>".encode() for head, body in others),
    ]
    return _file(bodies)


def _stream(about: str, content: bytes) -> bytes:
    return b"<< %s /Length %d >>\nstream\n%s\nendstream" % (about.encode(), len(content), content)


def _file(bodies: Sequence[bytes], trailer: str = "") -> bytes:
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
