"""Layouts that no preset of OBI-Bench covers: each is refused, and one option imports it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from keju.errors import DataError, UsageError
from tests.support.layouts import obi_characters as trees
from tests.support.released import picture, put


def flat(src: Path) -> Path:
    """All images in one folder, named after their class."""
    for place, label in enumerate(trees.CODES):
        for number in range(5):
            put(src / f"HWOBC/{label}_{number}.png", picture(10 * place + number))
    return src / "HWOBC"


def suffixed(src: Path) -> Path:
    """The images of a class in a folder below the one that is called after it."""
    for place, label in enumerate(trees.CODES):
        for number in range(5):
            put(src / f"HWOBC/{label}/crops/{number}.png", picture(10 * place + number))
    return src / "HWOBC"


def copies_alone(src: Path) -> Path:
    """Of EVOBC only the folder OBC, whose images a release has twice."""
    trees.images(src / "EVOBC", {f"OBC/{name}": n for name, n in trees.EVOBC_IMAGES.items()})
    return src / "EVOBC"


@pytest.mark.parametrize(
    ("form", "write", "paths", "classes"),
    [
        ("obi-classification", flat, "(?P<class>[^_]+)_.*", set(trees.CODES)),
        ("obi-classification", suffixed, "(?P<class>[^/]+)/crops/.*", set(trees.CODES)),
        ("obi-deciphering", copies_alone, "OBC/(?P<class>[^/]+)/.*", {"00001", "00002", "00003"}),
    ],
)
def test_one_option_reads_other_paths(
    read, tmp_path: Path, form: str, write: Callable[[Path], Path], paths: str, classes: set[str]
):
    src = write(tmp_path)
    options = {"classes": "4"} if form == "obi-classification" else {}
    with pytest.raises(DataError) as refused:
        read(form, src, **options)
    assert refused.value.file
    assert refused.value.hint
    done = read(form, src, paths=paths, **options)
    assert {item.metadata["class"] for item in done.items} == classes


@pytest.mark.parametrize(
    ("paths", "says"), [("(", "not a regular expression"), (".*/.*", "has no group")]
)
def test_an_expression_that_cannot_be_used_is_refused(read, tmp_path: Path, paths: str, says: str):
    with pytest.raises(UsageError, match=says):
        read("obi-classification", flat(tmp_path), paths=paths)


def test_an_image_that_fits_no_expression_is_named(read, tmp_path: Path):
    src = trees.class_folders("HWOBC", trees.CODES)(tmp_path)
    with pytest.raises(DataError, match=r"060011_0.*fits no expression .*--option paths="):
        read("obi-classification", src, paths="(?P<class>001[^/]+)/.*")
