"""Layouts that no preset of OBI-Bench covers are refused with the path of an image."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from keju.errors import DataError
from tests.support.layouts import obi_characters as trees
from tests.support.released import picture, put


def flat(src: Path) -> Path:
    """All images in one folder, named after their class."""
    for place, label in enumerate(trees.CODES):
        for number in range(5):
            put(src / f"HWOBC/{label}_{number}.png", picture(10 * place + number))
    return src / "HWOBC"


def copies_alone(src: Path) -> Path:
    """Of EVOBC only the folder OBC, whose images a release has twice."""
    trees.images(src / "EVOBC", {f"OBC/{name}": n for name, n in trees.EVOBC_IMAGES.items()})
    return src / "EVOBC"


@pytest.mark.parametrize(
    ("form", "write", "path"),
    [
        ("obi-classification", flat, "001000_0.png"),
        ("obi-deciphering", copies_alone, "OBC/00001/00001_Book_OBC_1_3.jpg"),
    ],
)
def test_an_image_of_another_layout_is_named(
    read, tmp_path: Path, form: str, write: Callable[[Path], Path], path: str
):
    src = write(tmp_path)
    says = f"not one of the layout of .*keju data formats {form}"
    with pytest.raises(DataError, match=says) as refused:
        read(form, src)
    assert refused.value.file == str(src / path)
