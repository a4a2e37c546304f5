"""Images that EXIF turns are shown upright, so that boxes fit."""

from __future__ import annotations

import io
from http.client import HTTPConnection

import pytest
from PIL import Image

from keju.datasets.store import DatasetWriter
from keju.items import Box, Item
from tests.support.turned import MARK, marked, stored


@pytest.mark.parametrize("form", ["JPEG", "PNG", "WEBP", "TIFF"])
def test_images_are_sent_with_upright_pixels(form, serving, tmp_path):
    box = Box(**dict(zip(("x0", "y0", "x1", "y1"), map(float, MARK), strict=True)))
    with DatasetWriter(tmp_path / "d", name="d", version="1", licence="CC0-1.0",
                       source="made by the tests") as writer:  # fmt: skip
        ref = writer.add_image(stored(6, form), "p")
        writer.add(Item(id="p", benchmark="OBI-Bench", task="recognition", query="Where",
                        images=(ref,), boxes=(box,)))  # fmt: skip
    served = serving(tmp_path / "d", tmp_path / "run")
    link = HTTPConnection("127.0.0.1", served.port, timeout=30)
    cookie = f"keju-0={served.cookie('Li')}"
    link.request("GET", f"/image/{ref.sha256}", headers={"Cookie": cookie})
    plain = Image.open(io.BytesIO(link.getresponse().read()))
    assert (plain.size, plain.getexif().get(0x0112, 1)) == ((300, 200), 1)
    assert marked(plain) == pytest.approx(MARK, abs=1)
