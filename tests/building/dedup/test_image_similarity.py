"""Copies are told from other pages of the same layout, drawn and real ones."""

from __future__ import annotations

import io
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import keju
from keju.building.dedup.image_hashes import (
    ImageFile,
    compute_hashes,
    find_near_hashes,
    render_grey,
)
from keju.building.dedup.image_similarity import SAME_IMAGE, measure_similarity
from tests.support.planted import COPIES, book_page, jpeg


def grey(data: bytes) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(data)).convert("L"), np.float32)


def filed(path: Path, data: bytes) -> ImageFile:
    path.write_bytes(data)
    with Image.open(path) as image:
        return ImageFile(str(path), *image.size)


@pytest.mark.parametrize("name", COPIES)
def test_a_copy_is_alike_and_its_hashes_bring_it_up(name, tmp_path):
    for seed in (1, 2):
        page = book_page(seed)
        one = filed(tmp_path / "one.jpg", jpeg(page))
        other = filed(tmp_path / "other.jpg", COPIES[name](page))
        found = measure_similarity(
            *(np.asarray(render_grey(each), np.float32) for each in (one, other))
        )
        assert found >= SAME_IMAGE + 0.05
        assert any(
            pairs.size
            for pairs, _ in find_near_hashes([compute_hashes(one).bits, compute_hashes(other).bits])
        )


def test_other_pages_of_the_same_layout_are_not_alike():
    pages = [grey(jpeg(book_page(seed))) for seed in range(4)]
    assert max(measure_similarity(*pair) for pair in combinations(pages, 2)) < SAME_IMAGE - 0.1


def test_a_page_turned_or_cropped_is_not_alike_to_another():
    page = grey(jpeg(book_page(1)))
    for name in ("turned by 1°", "cropped 3 % on every side"):
        assert measure_similarity(page, grey(COPIES[name](book_page(2)))) < SAME_IMAGE - 0.1


REAL = "data/open-guji"
RECODED = "data/real-pages/r01_jianmingmulu_ms.jpg"


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (f"{REAL}/06054854.cn_page_110.png", f"{REAL}/06054854.cn_page_111.png", False),
        (f"{REAL}/1.png", f"{REAL}/2.png", False),
        (f"{REAL}/3.png", f"{REAL}/4.png", False),
        (f"{REAL}/3.png", RECODED, True),
    ],
)
def test_real_pages_of_one_book_are_told_apart_and_a_recoded_one_is_known(shared, one, other, same):
    pictures = (
        np.asarray(render_grey(_picture(shared / name)), np.float32) for name in (one, other)
    )
    assert (measure_similarity(*pictures) >= SAME_IMAGE) == same


def test_two_things_drawn_from_one_model_stay_two():
    """Two bronzes of the bundled set differ in label, rust and wall."""
    folder = Path(keju.__file__).parent / "datasets/mini/data/images"
    bronzes = [
        grey(path.read_bytes())
        for name in ("29905f6d", "65d380f6")
        for path in folder.glob(f"{name}*")
    ]
    assert len(bronzes) == 2
    assert 0.8 < measure_similarity(*bronzes) < SAME_IMAGE


def _picture(path: Path) -> ImageFile:
    with Image.open(path) as image:
        return ImageFile(str(path), *image.size)


def test_blank_pages_and_odd_shapes_are_not_joined():
    blank = np.full((300, 200), 240, np.float32)
    assert measure_similarity(blank, blank) == -1
    page = grey(jpeg(book_page(1)))
    assert measure_similarity(page, page[: page.shape[0] // 2]) == -1
    assert measure_similarity(np.zeros((1, 1), np.float32), page) == -1


def test_small_pictures_are_compared_enlarged():
    draw = np.random.default_rng(1)
    marks = [
        np.kron(draw.integers(0, 2, (7, 7)), np.ones((4, 4))).astype(np.float32) * 200
        for _ in range(2)
    ]
    assert measure_similarity(marks[0], marks[0]) > 0.99
    assert measure_similarity(*marks) < SAME_IMAGE


def test_all_pairs_of_hashes_are_looked_at_across_blocks(monkeypatch):
    monkeypatch.setattr("keju.building.dedup.image_hashes._BLOCK", 7)
    draw = np.random.default_rng(2)
    bits = [draw.bytes(48) for _ in range(30)]
    bits += [bits[3], bits[29]]
    found = sorted(
        tuple(pair) for pairs, _ in find_near_hashes(bits, (0, 0, 0)) for pair in pairs.T.tolist()
    )
    assert found == [(3, 30), (29, 31)]


def test_a_long_scroll_keeps_its_strokes(tmp_path):
    scroll = Image.fromarray(np.random.default_rng(3).integers(0, 255, (60, 2400), dtype=np.uint8))
    small = render_grey(filed(tmp_path / "scroll.png", _png(scroll)))
    assert small.height >= 50


def _png(image: Image.Image) -> bytes:
    data = io.BytesIO()
    image.save(data, "PNG")
    return data.getvalue()
