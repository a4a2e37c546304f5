"""Images that EXIF turns, with boxes, and TIFF files whose frames are not all pages."""

from __future__ import annotations

import base64
import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageDraw, TiffImagePlugin

from keju.datasets.readers import import_dataset
from keju.datasets.store import Dataset
from keju.datasets.writers import export_dataset
from keju.images import open_image, probe_image, thumbnail, upright_file
from keju.items import Item
from tests.support.released import put
from tests.support.turned import MARK, ORIENTATION, marked, stored, upright_page

NEW_SUBFILE_TYPE, SUBFILE_TYPE = 254, 255

FORMS = {
    "jpg": ("JPEG", {"quality": 95}),
    "tif": ("TIFF", {}),
    "lzw.tif": ("TIFF", {"compression": "tiff_lzw"}),
    "xmp.tif": ("TIFF by XMP", {}),
    "png": ("PNG", {}),
    "webp": ("WEBP", {"lossless": True}),
}
ALL = [(form, orientation) for form in FORMS for orientation in range(1, 9)]


def read(name: str, src: Path, **options: str) -> tuple[list[Item], tuple[str, ...], Dataset]:
    out = src.parent / f"{src.name}-out"
    about = {"licence": "CC0-1.0", "source": "s"}
    done = import_dataset(name, src, out, name="n", version="1", **about, options=options)
    dataset = Dataset.open(out)
    return dataset.items(), done.notes, dataset


def coco(name: str, size: tuple[int, int], box: tuple[int, int, int, int]) -> str:
    left, top, right, bottom = box
    shown = {"id": 1, "file_name": name, "width": size[0], "height": size[1]}
    drawn = {"id": 1, "image_id": 1, "category_id": 1}
    drawn["bbox"] = [left, top, right - left, bottom - top]
    return json.dumps(
        {"images": [shown], "annotations": [drawn], "categories": [{"id": 1, "name": "c"}]}
    )


@pytest.mark.parametrize(("form", "orientation"), ALL)
def test_boxes_stay_on_what_they_were_drawn_on(form, orientation, tmp_path):
    """Drawn on the upright image, or, where the size shows it, on the stored one."""
    kind, options = FORMS[form]
    data = stored(orientation, kind, **options)
    facts = probe_image(data, name="p")
    assert (facts.width, facts.height, facts.turned) == (300, 200, orientation > 1)
    assert marked(open_image(data, name="p")) == MARK
    drawn_on = {"upright": ((300, 200), MARK)}
    if orientation >= 5:
        # The image as a program shows it that ignores EXIF.
        plain = Image.open(io.BytesIO(stored(orientation, "PNG")))
        drawn_on["stored"] = (plain.size, marked(plain))
    for way, (size, box) in drawn_on.items():
        put(tmp_path / way / f"bone.{form}", data)
        put(tmp_path / way / "instances.json", coco(f"bone.{form}", size, box))
        items, notes, dataset = read("obi-recognition", tmp_path / way, description="x")
        (item,) = [item for item in items if item.query == "Where"]
        found = item.boxes[0]
        assert (found.x0, found.y0, found.x1, found.y1) == MARK, way
        assert marked(open_image(dataset.image_bytes(item.images[0]), name="p")) == MARK
        assert any("turned by EXIF" in note for note in notes) == (2 <= orientation <= 4)


@pytest.mark.parametrize(("form", "orientation"), ALL)
def test_an_upright_copy_is_upright_for_every_program(form, orientation):
    kind, options = FORMS[form]
    data = stored(orientation, kind, **options)
    copy = upright_file(data, name="p")
    assert (copy == data) == (orientation == 1)
    plain = Image.open(io.BytesIO(copy))
    assert plain.format == Image.open(io.BytesIO(data)).format
    assert plain.getexif().get(ORIENTATION, 1) == 1
    assert (plain.size, marked(plain)) == ((300, 200), MARK)
    assert marked(open_image(copy, name="p")) == MARK
    small = Image.open(io.BytesIO(thumbnail(data, name="p", max_side=150)))
    assert small.size == (150, 100)


def test_an_upright_copy_of_a_tiff_does_not_begin_with_a_thumbnail():
    copy = Image.open(io.BytesIO(upright_file(tiff((QUARTER, {NEW: 1}), (PAGE, {})), name="p")))
    assert (copy.size, copy.n_frames) == (PAGE.size, 1)


def test_vlmevalkit_gets_images_that_fit_the_boxes(tmp_path):
    put(tmp_path / "src/bone.jpg", stored(6, "JPEG", quality=95))
    put(tmp_path / "src/instances.json", coco("bone.jpg", (300, 200), MARK))
    *_, dataset = read("obi-recognition", tmp_path / "src", description="x")
    export_dataset("vlmevalkit-tsv", dataset.path, tmp_path / "tables")
    csv.field_size_limit(1 << 30)
    tables = list((tmp_path / "tables").glob("*.tsv"))
    assert tables
    for table in tables:
        for row in csv.DictReader(table.open(encoding="utf-8"), delimiter="\t"):
            plain = Image.open(io.BytesIO(base64.b64decode(row["image"])))
            assert (plain.size, marked(plain)) == ((300, 200), MARK)


@pytest.mark.parametrize("mode", ["1", "L", "P", "RGBA", "CMYK", "I;16"])
def test_an_upright_copy_keeps_the_kind_of_pixels(mode):
    image = Image.new("I;16", (30, 20), 4000) if mode == "I;16" else Image.new(mode, (30, 20))
    out = io.BytesIO()
    image.save(out, "TIFF", tiffinfo={ORIENTATION: 6})
    copy = Image.open(io.BytesIO(upright_file(out.getvalue(), name="p")))
    assert (copy.mode, copy.size) == (mode, (20, 30))


def columns(number: int, size: tuple[int, int] = (600, 800)) -> Image.Image:
    """A page with columns of strokes, of another text for each number."""
    draw = np.random.default_rng(number)
    image = Image.new("L", (600, 800), 235)
    pen = ImageDraw.Draw(image)
    for left in range(40, 560, 60):
        for top in range(40, 740, 50):
            for _ in range(6):
                x, y = left + draw.integers(0, 40), top + draw.integers(0, 40)
                pen.line((x, y, x + draw.integers(-18, 18), y + draw.integers(-18, 18)), 30, 4)
    return image if size == image.size else image.resize(size, Image.Resampling.LANCZOS)


def title(number: int, size: tuple[int, int] = (600, 800)) -> Image.Image:
    """A page with three characters."""
    draw = np.random.default_rng(number)
    image = Image.new("L", (600, 800), 235)
    pen = ImageDraw.Draw(image)
    for _ in range(3):
        x, y = draw.integers(40, 500), draw.integers(40, 700)
        for _ in range(6):
            x0, x1, y0, y1 = draw.integers(0, 40, 4)
            pen.line((x + x0, y + y0, x + x1, y + y1), 30, 4)
    return image.resize(size)


def tiff(*frames: tuple[Image.Image, dict[int, int]]) -> bytes:
    """A TIFF of these frames with their tags."""
    out = io.BytesIO()
    with TiffImagePlugin.AppendingTiffWriter(out, new=True) as writer:
        for image, tags in frames:
            image.save(writer, "TIFF", tiffinfo=tags)
            writer.newFrame()
    return out.getvalue()


NEW, OLD = NEW_SUBFILE_TYPE, SUBFILE_TYPE
PAGE = columns(1)
HALF, QUARTER = PAGE.resize((300, 400)), PAGE.resize((150, 200))
BLANK = Image.new("L", PAGE.size, 235)

FRAMES = {
    "a pyramid": ([(PAGE, {}), (HALF, {NEW: 1}), (QUARTER, {NEW: 1})], 1),
    "a pyramid, by the old tag": ([(PAGE, {OLD: 1}), (HALF, {OLD: 2})], 1),
    "a pyramid of which nothing is marked": ([(PAGE, {}), (HALF, {}), (QUARTER, {})], 3),
    "a thumbnail first": ([(QUARTER, {NEW: 1}), (PAGE, {})], 1),
    "a page and its mask": ([(PAGE, {}), (Image.new("1", PAGE.size, 1), {NEW: 4})], 1),
    "two pages": ([(PAGE, {}), (columns(2), {})], 2),
    "two pages, marked as such": ([(PAGE, {NEW: 2}), (columns(2), {NEW: 2})], 2),
    "the same page twice": ([(PAGE, {}), (PAGE.copy(), {})], 2),
    "another page of half the size": ([(PAGE, {}), (columns(2, (300, 400)), {})], 2),
    "a title of half the size": ([(PAGE, {}), (title(1), {}), (title(2, (300, 400)), {})], 3),
    "blank pages of two sizes": ([(BLANK, {}), (BLANK.resize((300, 400)), {})], 2),
    "two pages with their copies": (
        [(PAGE, {}), (HALF, {NEW: 1}), (columns(2), {}), (columns(2, (300, 400)), {NEW: 1})], 2,
    ),
    "nothing but copies": ([(PAGE, {NEW: 1}), (HALF, {NEW: 1})], 1),
}  # fmt: skip


@pytest.mark.parametrize("kind", FRAMES)
def test_reduced_copies_and_masks_in_a_tiff_are_no_pages(kind, tmp_path):
    frames, pages = FRAMES[kind]
    data = tiff(*frames)
    put(tmp_path / "src/book/p.tif", data)
    items, _, dataset = read("pages", tmp_path / "src", texts="no")
    names = ["book/p"] if pages == 1 else [f"book/p/{number:03}" for number in range(1, pages + 1)]
    assert [item.id for item in items] == names
    shown_frames = [image for image, tags in frames if tags.get(NEW, 2) == 2 and tags.get(OLD) != 2]
    for item, wanted in zip(items, shown_frames or [PAGE], strict=False):
        shown = open_image(dataset.image_bytes(item.images[0]), name="p").convert("L")
        assert shown.size == (item.images[0].width, item.images[0].height)
        shown = shown.resize((300, 400), Image.Resampling.BOX)
        small = wanted.resize((300, 400), Image.Resampling.BOX)
        assert np.abs(np.asarray(shown, float) - np.asarray(small, float)).mean() < 4
    assert probe_image(data, name="p").frames == pages


def test_each_page_of_a_tiff_is_turned_by_its_own_orientation(tmp_path):
    frames = [(upright_page(), {}), *[
        (Image.open(io.BytesIO(stored(n, "PNG"))).convert("RGB"), {ORIENTATION: n})
        for n in range(2, 9)
    ]]  # fmt: skip
    put(tmp_path / "src/book/p.tif", tiff(*frames))
    items, _, dataset = read("pages", tmp_path / "src", texts="no")
    found = [open_image(dataset.image_bytes(item.images[0]), name="p") for item in items]
    assert [(image.size, marked(image)) for image in found] == [((300, 200), MARK)] * 8
