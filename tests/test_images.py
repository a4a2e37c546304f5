"""What counts as a sound image, and how each kind becomes RGB."""

from __future__ import annotations

import io
import struct
import zlib
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from keju.errors import DataError
from keju.images import (
    MAX_PIXELS,
    MOST_FRAMES,
    decoding,
    open_header,
    open_image,
    probe_image,
    thumbnail,
)
from tests.support.image_bombs import framed_gif, framed_png, paged_tiff, scanned_jpeg, scans_of

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning:PIL", "ignore::RuntimeWarning:PIL")

NOISE = np.random.default_rng(7).integers(0, 256, (120, 160, 3), dtype=np.uint8)


def encoded(image: Image.Image, form: str, **options: object) -> bytes:
    out = io.BytesIO()
    image.save(out, form, **options)
    return out.getvalue()


def noise(form: str = "JPEG", **options: object) -> bytes:
    return encoded(Image.fromarray(NOISE), form, **options)


def png_of_size(width: int, height: int) -> bytes:
    """A PNG whose header promises that size and whose body holds almost nothing."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        return (
            struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        )

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(bytes(100)))
        + chunk(b"IEND", b"")
    )


def turned_jpeg(orientation: int) -> bytes:
    """160x120, its top left quarter black, the rest white, with an EXIF orientation."""
    picture = np.full((120, 160), 255, np.uint8)
    picture[:60, :80] = 0
    exif = Image.Exif()
    exif[0x0112] = orientation
    return encoded(Image.fromarray(picture), "JPEG", exif=exif)


@pytest.mark.parametrize(
    ("form", "extension"),
    [
        ("JPEG", "jpg"), ("PNG", "png"), ("TIFF", "tif"), ("WEBP", "webp"),
        ("JPEG2000", "jp2"), ("GIF", "gif"), ("BMP", "bmp"),
    ],
)  # fmt: skip
def test_each_format_is_known_by_its_content(form: str, extension: str) -> None:
    facts = probe_image(noise(form), name="page")
    assert facts[:3] == (extension, 160, 120)
    assert open_image(noise(form), name="page").mode == "RGB"


@pytest.mark.parametrize("form", ["JPEG", "PNG", "TIFF", "WEBP", "JPEG2000", "GIF", "BMP"])
@pytest.mark.parametrize("part", [0.02, 0.5, 0.9])
def test_a_truncated_image_is_refused(form: str, part: float) -> None:
    data = noise(form)
    with pytest.raises(DataError, match=r"page\.x: .*(truncated|not an image)"):
        probe_image(data[: int(len(data) * part)], name="page.x")


def test_a_png_whose_body_has_rotted_is_refused() -> None:
    data = bytearray(noise("PNG"))
    data[len(data) // 2] ^= 0x10
    with pytest.raises(DataError, match="truncated or damaged"):
        probe_image(bytes(data), name="page.png")


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "the file is empty"),
        (b"<!DOCTYPE html><html><body>404</body></html>", "a web page, not an image"),
        (b"\xef\xbb\xbf\n <HTML>", "a web page, not an image"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "XML"),
        (b"%PDF-1.7\n", "a PDF"),
        (b"version https://git-lfs.github.com/spec/v1\n", "Git LFS pointer"),
        (b"\xff\xd8\xff", "not an image|truncated"),
        (b"\x00" * 4096, "not an image in a format that keju reads"),
    ],
)
def test_what_is_no_image_is_named_for_what_it_is(data: bytes, says: str) -> None:
    for use in (probe_image, open_image):
        with pytest.raises(DataError, match=says) as caught:
            use(data, name="scan.jpg")
        assert str(caught.value).startswith("scan.jpg: ")
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("side", [20_001, 60_000, 2_000_000])
def test_a_decompression_bomb_is_refused_before_it_is_decoded(side: int) -> None:
    assert side * side > MAX_PIXELS
    for use in (probe_image, open_image):
        with pytest.raises(DataError, match="more than the limit of 400 megapixels"):
            use(png_of_size(side, side), name="bomb.png")


def test_a_scroll_of_more_than_pillows_own_limit_is_no_bomb() -> None:
    scroll = Image.new("1", (120_000, 1000), 1)
    assert probe_image(encoded(scroll, "PNG"), name="scroll")[:3] == ("png", 120_000, 1000)


def test_sixteen_bit_grey_is_scaled_and_not_clipped() -> None:
    grey = np.array([[0, 257, 32896, 65535]], np.uint16)
    for form in ("PNG", "TIFF"):
        opened = open_image(encoded(Image.fromarray(grey), form), name="g")
        assert np.asarray(opened)[0, :, 0].tolist() == [0, 1, 128, 255]


def test_float_and_32_bit_grey_are_stretched_over_their_range() -> None:
    for kind in (np.float32, np.int32):
        grey = np.array([[-100_000, 0, 100_000]], kind)
        opened = open_image(encoded(Image.fromarray(grey), "TIFF"), name="g")
        assert np.asarray(opened)[0, :, 0].tolist() == [0, 128, 255]


def test_transparency_is_laid_onto_white() -> None:
    rgba = np.array([[[255, 0, 0, 0], [255, 0, 0, 255], [0, 0, 0, 128]]], np.uint8)
    opened = np.asarray(open_image(encoded(Image.fromarray(rgba), "PNG"), name="a"))
    assert opened[0].tolist() == [[255, 255, 255], [255, 0, 0], [127, 127, 127]]
    grey = np.array([[[0, 0], [0, 255]]], np.uint8)
    opened = np.asarray(open_image(encoded(Image.fromarray(grey, "LA"), "PNG"), name="a"))
    assert opened[0].tolist() == [[255, 255, 255], [0, 0, 0]]


def test_a_palette_with_a_transparent_colour_is_laid_onto_white() -> None:
    palette = Image.new("P", (2, 1))
    palette.putpalette([10, 20, 30, 200, 0, 0])
    palette.putdata([0, 1])
    opened = np.asarray(open_image(encoded(palette, "PNG", transparency=0), name="p"))
    assert opened[0].tolist() == [[255, 255, 255], [200, 0, 0]]


def test_rgb_with_a_transparent_colour_is_laid_onto_white() -> None:
    image = Image.fromarray(np.array([[[1, 2, 3], [4, 5, 6]]], np.uint8))
    opened = np.asarray(open_image(encoded(image, "PNG", transparency=(1, 2, 3)), name="t"))
    assert opened[0].tolist() == [[255, 255, 255], [4, 5, 6]]


def test_bilevel_scans_keep_ink_black() -> None:
    image = Image.fromarray(np.array([[False, True]]))
    for form in ("PNG", "TIFF"):
        opened = np.asarray(open_image(encoded(image, form), name="b"))
        assert opened[0].tolist() == [[0, 0, 0], [255, 255, 255]]


def test_cmyk_is_not_inverted() -> None:
    white = Image.new("CMYK", (16, 16), (0, 0, 0, 0))
    for form in ("JPEG", "TIFF"):
        opened = np.asarray(open_image(encoded(white, form), name="c"))
        assert opened.min() >= 250


@pytest.mark.parametrize("orientation", range(1, 9))
def test_exif_orientation_turns_the_picture_and_its_size(orientation: int) -> None:
    corner = {1: (0, 0), 2: (0, -1), 3: (-1, -1), 4: (-1, 0)} | {
        5: (0, 0), 6: (0, -1), 7: (-1, -1), 8: (-1, 0),
    }  # fmt: skip
    data = turned_jpeg(orientation)
    facts = probe_image(data, name="t")
    opened = np.asarray(open_image(data, name="t"))
    assert (facts.width, facts.height) == ((160, 120) if orientation < 5 else (120, 160))
    assert opened.shape == (facts.height, facts.width, 3)
    assert facts.turned == (orientation != 1)
    black = [(y, x) for y in (0, -1) for x in (0, -1) if opened[y, x, 0] < 100]
    assert black == [corner[orientation]]


def test_broken_exif_does_not_spoil_a_sound_picture() -> None:
    data = encoded(Image.fromarray(NOISE), "JPEG", exif=b"Exif\x00\x00MM\x00\x2a\xff\xff\xff\xff")
    assert probe_image(data, name="e").width == 160
    assert open_image(data, name="e").size == (160, 120)


def test_pages_of_a_tiff_are_counted_and_the_first_is_used() -> None:
    first, second = Image.new("L", (30, 20), 0), Image.new("L", (50, 40), 255)
    data = encoded(first, "TIFF", save_all=True, append_images=[second])
    facts = probe_image(data, name="m")
    assert (facts.frames, facts.width) == (2, 30)
    assert open_image(data, name="m").size == (30, 20)


@pytest.mark.parametrize("form", ["JPEG", "PNG"])
def test_a_thumbnail_is_a_small_jpeg_of_the_same_shape(form: str) -> None:
    big = Image.fromarray(NOISE).resize((2000, 500))
    small = Image.open(io.BytesIO(thumbnail(encoded(big, form), name="t", max_side=200)))
    assert small.format == "JPEG"
    assert small.size == (200, 50)


def test_a_thumbnail_is_turned_upright_and_never_enlarged() -> None:
    small = Image.open(io.BytesIO(thumbnail(turned_jpeg(6), name="t", max_side=80)))
    assert small.size == (60, 80)
    assert small.getpixel((50, 5)) < (100, 100, 100)
    same = Image.open(io.BytesIO(thumbnail(noise("PNG"), name="t", max_side=900)))
    assert same.size == (160, 120)


def test_a_thread_of_a_scroll_keeps_at_least_a_pixel() -> None:
    thread = encoded(Image.new("L", (5000, 3)), "PNG")
    assert Image.open(io.BytesIO(thumbnail(thread, name="t", max_side=100))).size == (100, 1)


def test_one_changed_byte_anywhere_gives_a_picture_or_a_data_error() -> None:
    outcomes = []
    for form in ("JPEG", "PNG", "TIFF", "WEBP", "GIF"):
        data = encoded(Image.fromarray(NOISE[:24, :24]), form)
        for place in range(0, min(len(data), 700), 3):
            spoiled = bytearray(data)
            spoiled[place] ^= 0xFF
            with suppress(DataError):
                outcomes.append(probe_image(bytes(spoiled), name="x").width)
    assert 24 in outcomes


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (scanned_jpeg(8, 500), "more than 500 scans"),
        (scanned_jpeg(6000, 120), "more than 111 scans of 36 megapixels"),
        (framed_gif(MOST_FRAMES + 1), "more than 10,000 frames"),
        (framed_gif(MOST_FRAMES + 1, side=19_000), "more than 10,000 frames"),
        (framed_png(2**31 - 1), "more than 10,000 frames"),
        (paged_tiff(MOST_FRAMES + 1), "more than 10,000 frames"),
    ],
)
def test_an_image_that_takes_minutes_to_decode_is_refused(data: bytes, why: str) -> None:
    with pytest.raises(DataError, match=f"i: {why}"):
        probe_image(data, name="i")


@pytest.mark.parametrize(
    "open_it", [open_image, lambda data, name: thumbnail(data, name=name, max_side=9)]
)
def test_scans_are_counted_wherever_an_image_is_opened(open_it, tmp_path: Path) -> None:
    data = scanned_jpeg(8, 500)
    with pytest.raises(DataError, match="scans"):
        open_it(data, name="i")
    path = tmp_path / "i.jpg"
    path.write_bytes(data)
    with pytest.raises(DataError, match="scans"), decoding(path, "i"):
        open_header(path, name="i")


def test_a_progressive_image_of_an_encoder_is_sound() -> None:
    data = noise("JPEG", progressive=True)
    assert 5 < scans_of(data) <= 20
    assert probe_image(data, name="i").format == "jpg"
    many = scanned_jpeg(8, 400)
    assert 400 < scans_of(many) < 420
    assert probe_image(many, name="i").width == 8


def test_markers_within_a_comment_or_after_the_end_are_no_scans() -> None:
    data = noise("JPEG", progressive=True)
    comment = b"\xff\xda" * 1000
    held = data[:2] + b"\xff\xfe" + struct.pack(">H", len(comment) + 2) + comment + data[2:]
    assert probe_image(held + b"\xff\xda" * 1000, name="i").width == 160


def test_frames_are_counted_up_to_the_limit() -> None:
    assert probe_image(framed_gif(MOST_FRAMES), name="i").frames == MOST_FRAMES
    assert probe_image(paged_tiff(300), name="i").frames == 300
