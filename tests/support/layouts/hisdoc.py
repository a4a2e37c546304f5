"""Layouts of M5HisDoc, and of MTHv2 that it takes pages from."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.support.layouts import Layout
from tests.support.released import picture, put

_README = "https://github.com/HCIILAB/M5HisDoc (README: folders)"
_CODE = (
    "https://github.com/erniesg/if-letters-home-could-sing (lines and characters), "
    "https://github.com/jizhanpeng/guji-platform (splits)"
)
_MTH_CODE = "https://github.com/Dexin-Huang/palimpsest (reads label_textline of MTHv2)"

LINES = {
    "p1": (
        ("30,1,39,1,39,59,30,59", "學而時習之,不亦說乎"),
        ("20,1,29,1,29,59,20,59", "有朋自遠方來"),
    ),
    "p2": (("30,1,39,1,39,59,30,59", "天地玄黃"),),
}  # fmt: skip
"""Of each page its lines: four corners, and a text (one with a comma)."""


def page(root: Path, name: str, images: str = "images", *, text_first: bool = False) -> None:
    """Write one page: its image, and its lines in ``label_textline``."""
    rows = [
        f"{text},{corners}" if text_first else f"{corners},{text}" for corners, text in LINES[name]
    ]
    put(root / f"label_textline/{name}.txt", "\n".join(rows) + "\n")
    put(root / images / f"{name}.jpg", picture(int(name[1:]), form="JPEG"))


def whole(folder: Path) -> Path:
    """Both subsets with splits; the hard subset has the second page only."""
    root = folder / "M5HisDoc"
    page(root / "M5HisDoc_regular", "p1")
    page(root / "M5HisDoc_hard", "p2")
    put(root / "M5HisDoc_regular/label_char/p1.txt", "30,1,39,9,學\n30,10,39,19,而\n")
    put(root / "split_train.txt", "p2\n")
    put(root / "split_test.txt", "p1\n")
    put(root / "char_dict.txt", "學\n而\n")
    return root


def subset(folder: Path) -> Path:
    """One subset alone: its folder is imported."""
    root = folder / "M5HisDoc_regular"
    for name in LINES:
        page(root, name)
    return root


def mthv2(folder: Path) -> Path:
    """A corpus of MTHv2: ``img`` instead of ``images``, and the text before the coordinates."""
    for name in LINES:
        page(folder / "TKH", name, "img", text_first=True)
    return folder


def _without_lines(folder: Path) -> Path:
    put(folder / "M5HisDoc_regular/label_char/p1.txt", "30,1,39,9,學\n")
    put(folder / "M5HisDoc_regular/images/p1.jpg", picture(1, form="JPEG"))
    return folder


def _layout(name: str, files: str, where: str, write: Callable[[Path], Path]) -> Layout:
    evidence = "seen in code that reads the release" if where else "assumed"
    return Layout(
        name=name, source="M5HisDoc", files=files, evidence=evidence, where=where, reader="hisdoc",
        write=write,
    )  # fmt: skip


LAYOUTS = (
    _layout(
        "m5hisdoc: both subsets with splits",
        "M5HisDoc_regular|hard/{images,label_textline,label_char}/NAME; split_*.txt",
        f"{_README}; {_CODE}",
        whole,
    ),
    _layout(
        "m5hisdoc: one subset", "images/NAME.jpg; label_textline/NAME.txt",
        f"{_README}; {_CODE}", subset,
    ),
    _layout(
        "mthv2: text before the coordinates",
        "TKH|MTH1000|MTH1200/{img,label_textline}/NAME",
        _MTH_CODE,
        mthv2,
    )._replace(source="MTHv2", canonical="m5hisdoc: one subset", ignoring=("metadata",)),
    _layout(
        "m5hisdoc: characters alone", "images/NAME.jpg; label_char/NAME.txt",
        f"{_README}; {_CODE}", _without_lines,
    )._replace(missing="1 file is missing: M5HisDoc_regular/label_textline/p1.txt"),
)  # fmt: skip
