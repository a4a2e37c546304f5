"""The image of a PDF page is what viewers show, whatever its dictionaries say."""

from __future__ import annotations

import io
import zlib
from pathlib import Path

import numpy as np
import pypdfium2 as pdfium
import pytest
from PIL import Image, ImageDraw

from keju.datasets.readers import import_dataset
from keju.datasets.store import Dataset
from keju.images import open_image
from tests.support.pdfs import image_pdf
from tests.support.released import put

WHOLE = "q 300 0 0 400 0 0 cm /I Do Q"


def page(mode: str = "RGB", size: tuple[int, int] = (300, 400)) -> Image.Image:
    """A page with no symmetry: paper, columns of ink on the right, a red seal below."""
    image = Image.new("RGB", (300, 400), (235, 225, 205))
    pen = ImageDraw.Draw(image)
    for left in (250, 210, 170):
        pen.rectangle((left, 30, left + 18, 330 - left), fill=(30, 28, 26))
    pen.rectangle((30, 320, 80, 370), fill=(180, 40, 30))
    return image.resize(size).convert(mode)


def jpeg(image: Image.Image | None = None, orientation: int = 1, **options: object) -> bytes:
    exif = Image.Exif()
    exif[0x0112] = orientation
    out = io.BytesIO()
    if orientation > 1:
        options["exif"] = exif
    (image or page()).save(out, "JPEG", quality=92, **options)
    return out.getvalue()


def jpeg2000(image: Image.Image) -> bytes:
    out = io.BytesIO()
    image.save(out, "JPEG2000", quality_mode="dB", quality_layers=[45])
    return out.getvalue()


DCT = "/Filter /DCTDecode"
RGB, GREY = f"{DCT} /ColorSpace /DeviceRGB", f"{DCT} /ColorSpace /DeviceGray"
FLATE = "/Filter /FlateDecode"
INK = zlib.compress(bytes(np.packbits(np.asarray(page("L")) > 128, axis=1)))
FORM = "/Type /XObject /Subtype /Form /BBox [0 0 300 400] /Resources << /XObject << /I 5 0 R >> >>"
MASK = ("/Type /XObject /Subtype /Image /Width 2 /Height 2 /BitsPerComponent 8 "
        "/ColorSpace /DeviceGray")  # fmt: skip
NOTE = ("/Type /Annot /Subtype /Square /Rect [30 200 120 300] /C [1 0 0] /IC [1 1 0] /F 4 "
        "/AP << /N 7 0 R >>")  # fmt: skip

EMBEDDED = {
    "plain": image_pdf(jpeg()),
    "grey": image_pdf(jpeg(page("L")), image=GREY),
    "jpeg 2000": image_pdf(jpeg2000(page()), image="/Filter /JPXDecode"),
    "a decode array that changes nothing": image_pdf(jpeg(), image=f"{RGB} /Decode [0 1 0 1 0 1]"),
    "a form around it": image_pdf(jpeg(), content="/J Do", others=[(FORM, WHOLE.encode())]),
    "invisible text": image_pdf(jpeg(), content=f"{WHOLE} BT 3 Tr /F 30 Tf 50 300 Td (x) Tj ET"),
    "a link": image_pdf(
        jpeg(), page="/Annots [<< /Type /Annot /Subtype /Link /Rect [0 0 9 9] /Border [0 0 0] >>]"
    ),
}
RENDERED = {
    **{f"exif {n}": image_pdf(jpeg(orientation=n)) for n in range(2, 5)},
    **{
        f"exif {n}": image_pdf(
            jpeg(page().transpose(Image.Transpose.ROTATE_90), orientation=n),
            size=(400, 300), page="/MediaBox [0 0 400 300]", content="q 400 0 0 300 0 0 cm /I Do Q",
        )
        for n in range(5, 9)
    },
    "grey, inverted": image_pdf(jpeg(page("L")), image=f"{GREY} /Decode [1 0]"),
    "colour, inverted": image_pdf(jpeg(), image=f"{RGB} /Decode [1 0 1 0 1 0]"),
    "jpeg 2000, inverted": image_pdf(
        jpeg2000(page("L")), image="/Filter /JPXDecode /ColorSpace /DeviceGray /Decode [1 0]"
    ),
    "a range of grey": image_pdf(jpeg(page("L")), image=f"{GREY} /Decode [0 .4]"),
    "cmyk": image_pdf(jpeg(page("CMYK")), image=f"{DCT} /ColorSpace /DeviceCMYK"),
    "cmyk of adobe": image_pdf(
        jpeg(page("CMYK")), image=f"{DCT} /ColorSpace /DeviceCMYK /Decode [1 0 1 0 1 0 1 0]"
    ),
    "bilevel": image_pdf(INK, image=f"{FLATE} /ColorSpace /DeviceGray", bits=1),
    "bilevel, inverted": image_pdf(
        INK, image=f"{FLATE} /ColorSpace /DeviceGray /Decode [1 0]", bits=1
    ),
    "an image mask": image_pdf(INK, image=f"{FLATE} /ImageMask true", bits=1,
                               content=f"0 .2 .6 rg {WHOLE}"),
    "an image mask, inverted": image_pdf(
        INK, image=f"{FLATE} /ImageMask true /Decode [1 0]", bits=1, content=f"0 .2 .6 rg {WHOLE}"
    ),
    "a palette": image_pdf(
        INK, image=f"{FLATE} /ColorSpace [/Indexed /DeviceRGB 1 <C80000FFF0C0>]", bits=1
    ),
    "lab": image_pdf(
        zlib.compress(np.asarray(page().convert("RGB")).tobytes()),
        image=f"{FLATE} /ColorSpace [/Lab << /WhitePoint [.95 1 1.09] /Range [-100 100 -100 100] "
        ">>]",
    ),
    "lab as jpeg": image_pdf(
        jpeg(), image=f"{DCT} /ColorSpace [/Lab << /WhitePoint [.95 1 1.09] >>]"
    ),
    "a soft mask": image_pdf(
        jpeg(), image=f"{RGB} /SMask 6 0 R", others=[(MASK, b"\0\xff\xff\xff")]
    ),
    "a colour as mask": image_pdf(jpeg(page("L")), image=f"{GREY} /Mask [0 60]"),
    "turned by the page": image_pdf(jpeg(), page="/Rotate 90"),
    "turned by its matrix": image_pdf(jpeg(), content="q -300 0 0 -400 300 400 cm /I Do Q"),
    "mirrored": image_pdf(jpeg(), content="q -300 0 0 400 300 0 cm /I Do Q"),
    "upside down": image_pdf(jpeg(), content="q 300 0 0 -400 0 400 cm /I Do Q"),
    "mirrored by a form": image_pdf(
        jpeg(), content="q -1 0 0 1 300 0 cm /J Do Q", others=[(FORM, WHOLE.encode())]
    ),
    "cropped": image_pdf(jpeg(), page="/CropBox [100 50 300 400]"),
    "clipped": image_pdf(jpeg(), content=f"0 200 300 200 re W n {WHOLE}"),
    "stretched": image_pdf(jpeg(page(size=(300, 200))), size=(300, 200)),
    "faint": image_pdf(
        jpeg(), content=f"/G gs {WHOLE}", others=[("/Type /ExtGState /ca .4", b"")]
    ),
    "text over it": image_pdf(jpeg(), content=f"{WHOLE} BT /F 30 Tf 50 300 Td (text) Tj ET"),
    "a drawing over it": image_pdf(jpeg(), content=f"{WHOLE} 1 0 0 rg 40 200 90 90 re f"),
    "a note over it": image_pdf(
        jpeg(),
        page="/Annots [6 0 R]",
        others=[
            (NOTE, b""),
            ("/Type /XObject /Subtype /Form /BBox [0 0 90 100]", b"1 1 0 rg 0 0 9 9 re f"),
        ],
    ),
    "two tiles": image_pdf(
        jpeg(), content="q 300 0 0 200 0 0 cm /I Do Q q 300 0 0 200 0 200 cm /I Do Q"
    ),
    "with a margin": image_pdf(jpeg(), content="q 200 0 0 300 40 60 cm /I Do Q"),
}  # fmt: skip


def imported(data: bytes, folder: Path) -> tuple[Image.Image, str]:
    """The image of the page, and how it was made."""
    put(folder / "src/b.pdf", data)
    about = {"licence": "CC0-1.0", "source": "s"}
    import_dataset(
        "pages", folder / "src", folder / "out", name="n", version="1", **about,
        options={"texts": "no"},
    )  # fmt: skip
    dataset = Dataset.open(folder / "out")
    (item,) = dataset.items()
    shown = open_image(dataset.image_bytes(item.images[0]), name="b")
    assert shown.size == (item.images[0].width, item.images[0].height)
    return shown, item.metadata["page_image"]


@pytest.mark.parametrize("kind", [*EMBEDDED, *RENDERED])
def test_a_page_looks_as_viewers_show_it(kind, tmp_path):
    data = (EMBEDDED | RENDERED)[kind]
    shown, made = imported(data, tmp_path)
    with pdfium.PdfDocument(data) as document:
        wanted = document[0].render(scale=1).to_pil().convert("RGB")
    assert shown.width / shown.height == pytest.approx(wanted.width / wanted.height, rel=0.02)
    small = shown.resize((75, 100), Image.Resampling.BOX)
    wanted = wanted.resize((75, 100), Image.Resampling.BOX)
    assert np.abs(np.asarray(small, float) - np.asarray(wanted, float)).mean() < 4
    assert (made == "embedded") == (kind in EMBEDDED)
