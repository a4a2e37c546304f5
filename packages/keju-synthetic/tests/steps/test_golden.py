"""Typeset pages and fragments are the same bytes as before, where fonts and Pillow are the same."""

from __future__ import annotations

import hashlib
import io

import msgspec
import numpy as np
import PIL
import pytest
from PIL import Image

from keju.errors import PrerequisiteError
from keju.items import Line
from keju_synthetic.steps.set_type import PageJob, typeset_page
from keju_synthetic.steps.tear import FragmentSettings, PieceImage, fragment_piece
from keju_synthetic.typesetting import load_typeface

PILLOW = "13.0.0"
FONTS = {
    "song": "a5d4b046c127da3d7c72f98b46c41489cd29bf52abfdf18aba920903e920d4ac",
    "ming": "d6d2094f41339b1923568f6dbebefed98f8170a7397fb50cbeec55e83434ce17",
    "kai": "6e7b756bf723845e1494db161f0944c04fa8494f8e0ca4647b6cf655cd67d03a",
    "brush": "582f269574e71336f1ee8318664ff6cfafd84293b3267ddf39410015713c951e",
}
"""The SHA-256 of the first font of each typeface."""


def box(x0, y0, x1, y1, lean=0):
    return ((x0 - lean, y0), (x1 - lean, y0), (x1 + lean, y1), (x0 + lean, y1))


COLUMNS = ("天地玄黃宇宙洪荒", "日月盈昃辰宿列張", "寒來暑往，秋收冬藏", "閏餘成歲律呂調陽",
           "雲騰致雨露結為霜", "金生麗水玉出崑岡", "劍號巨闕珠稱夜光")  # fmt: skip
PAGE = (
    Line(id="t", text="千字文", polygon=box(900, 60, 1200, 150), kind="title"),
    *(
        Line(id=f"m{number}", text=text, polygon=box(x, 200, x + 90, 1000, lean=3))
        for number, (text, x) in enumerate(zip(COLUMNS, (1260, 1150, 1040, 520, 410, 300, 190),
                                               strict=True))
    ),
    Line(id="n1", text="地玄黃也", polygon=box(1306, 1010, 1350, 1300), kind="note"),
    Line(id="n2", text="廣大無極", polygon=box(1260, 1010, 1302, 1300), kind="note"),
    Line(id="h", text="眉批", polygon=box(200, 20, 240, 120), kind="head"),
    Line(id="c", text="卷一", polygon=box(760, 400, 800, 520), kind="centre"),
    Line(id="x", text="地\ue000玄", polygon=box(80, 200, 150, 600)),
    Line(id="o", text="上", polygon=box(1270, 300, 1340, 700)),
)  # fmt: skip

PAGES = {
    (
        "song",
        0.2,
        "colour",
        True,
        True,
    ): "09abe2268189781f947ca0a4a7b9da1e07a2852a1666044b8bd2caf8adfcfa6d",
    (
        "ming",
        0.5,
        "grey",
        True,
        False,
    ): "f5eba6ca47f3f14c5fae0432a061359164b4c13702a2dd91084c3fc4c3e0eb62",
    (
        "kai",
        0.7,
        "bitonal",
        False,
        True,
    ): "a28f4a7670d1f6dae77e7a691e7915b666a0f56cc0ce2462685a90c2a8293efe",
    (
        "brush",
        1.0,
        "colour",
        True,
        True,
    ): "57a948b5411efc403841199837d1fcb00949e94147ce420c92a4af7fcf5c12f2",
}
"""The SHA-256 of a page by typeface, difficulty, scan, frames and marks."""

PIECES = {
    (0, 2, 0.008, 0.16, 30.0): "ab249e4b72b347af0b45bd9c151380f75998658073a4d4d0edc14c8b96506123",
    (1, 3, 0.02, 0.05, 180.0): "58686b3e02e039ab3db061c6f5c7dd204bc1c88205e496aeb508d80f9475b6cc",
    (2, 6, 0.004, 0.3, 0.0): "5dc821a5e9168f82122052b9ecc8970c5233fd10388e885f728d1f93e99d9a40",
}
"""The SHA-256 of a broken piece by seed, parts, erosion, roughness and rotation."""


def digest(*parts: bytes) -> str:
    return hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in parts)).hexdigest()


def need_pillow() -> None:
    if PIL.__version__ != PILLOW:
        pytest.skip(f"the hashes are of Pillow {PILLOW}")


@pytest.mark.parametrize("look", PAGES, ids=lambda look: look[0])
def test_a_typeset_page_has_the_same_bytes(look):
    need_pillow()
    typeface, difficulty, scan, frames, marked = look
    try:
        fonts = load_typeface(typeface).list_records()
    except PrerequisiteError as error:
        pytest.skip(str(error))
    if fonts[typeface].sha256 != FONTS[typeface]:
        pytest.skip(f"the hash is of another version of {fonts[typeface].family}")
    page = typeset_page(
        PageJob(
            name="page", lines=msgspec.json.encode(PAGE), wide=1400, high=1400, typeface=typeface,
            difficulty=difficulty, scan=scan, frames=frames, marked=marked, pixels=250_000,
            quality=80, seed=7,
        )
    )  # fmt: skip
    unset = msgspec.json.encode((page.left_lines, page.left_texts, page.left_whys))
    assert digest(page.data, page.lines, unset) == PAGES[look]


@pytest.mark.parametrize("case", PIECES, ids=lambda case: f"{case[1]} parts")
def test_a_broken_piece_has_the_same_bytes(case, make_bone):
    need_pillow()
    seed, parts, erosion, rough, turn = case
    settings = FragmentSettings(parts=parts, erosion=erosion, rough=rough, turn=turn, side=300)
    piece = fragment_piece(PieceImage("b", make_bone(seed), [seed, 5]), settings)
    labels = np.asarray(Image.open(io.BytesIO(piece.labels))).tobytes()
    numbers = msgspec.json.encode((piece.affines, piece.lost, piece.neighbours, piece.page))
    assert digest(labels, *piece.pictures, numbers) == PIECES[case]
