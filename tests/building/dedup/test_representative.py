"""Which of several scans stands for the others."""

from __future__ import annotations

import itertools

import pytest

from keju.building.dedup.images import choose_representative
from keju.items import ImageRef


def scan(form: str, width: int, height: int, size: int) -> ImageRef:
    return ImageRef(path=f"images/x.{form}", sha256="x", width=width, height=height, size=size)


@pytest.mark.parametrize(
    "scans",
    [
        [scan("png", 1000, 1500, 900), scan("jpg", 1000, 1500, 400), scan("jpg", 1000, 1500, 90)],
        [scan("jpg", 1000, 1500, 400), scan("jpg", 1000, 1500, 90)],
        [scan("jpg", 1000, 1500, 400), scan("png", 500, 750, 900)],
        [scan("tif", 940, 1410, 900), scan("jpg", 1000, 1500, 400)],
        [scan("png", 1000, 1500, 900), scan("png", 990, 1500, 900), scan("webp", 1100, 1500, 999)],
    ],
    ids=["lossless", "bytes", "far larger", "crop", "pixels at last"],
)
def test_the_first_is_the_best_in_whatever_order_they_come(scans):
    for order in itertools.permutations(range(len(scans))):
        assert order[choose_representative(range(len(scans)), [scans[at] for at in order])] == 0


def test_of_equals_the_first():
    assert choose_representative([2, 1], [scan("png", 10, 10, 9)] * 3) == 1
