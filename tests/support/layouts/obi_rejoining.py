"""OBI-Bench's rejoining: the same fragments and pairs in every plausible form."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from tests.support.layouts import Layout
from tests.support.released import obi_rejoining, picture, put, table

FRAGMENTS = ("b1/1", "b1/2", "b1/3", "b2/1", "b2/2")
PAIRS = (("b1/1", "b1/2"), ("b1/2", "b1/3"), ("b2/1", "b2/2"))

SOURCE = "OBI-rejoin"
REJOINVIG = "github.com/Wang-XingYi/RejoinViG (data/01_fragImge.py, src/data_utils.py)"


def fragments(src: Path, name: Callable[[str], str] = lambda name: f"{name}.png") -> None:
    for number, each in enumerate(FRAGMENTS):
        put(src / name(each), picture(number))


def flat(name: str) -> str:
    """The name of a fragment in one folder: ``00001_2`` for ``b1/2``."""
    return name.replace("b", "0000").replace("/", "_")


def in_one_folder(src: Path, suffix: str = "png") -> None:
    fragments(src, lambda name: f"{flat(name)}.{suffix}")


def other_columns(src: Path) -> None:
    fragments(src)
    table(src / "adjacency.csv", ("img1", "img2", "source_url"), *((*pair, "x") for pair in PAIRS))


def labelled(src: Path) -> None:
    fragments(src)
    apart = [("b1/1", "b1/3", 0), ("b1/3", "b1/1", 0)]
    joined = [(*pair, 1) for pair in PAIRS]
    table(src / "adjacency.csv", ("image1", "image2", "label"), *joined, *apart)


def text(src: Path) -> None:
    in_one_folder(src)
    put(src / "adjacency.txt", "".join(f"{flat(a)}.png {flat(b)}.png\n" for a, b in PAIRS))


def rejoinvig(src: Path) -> None:
    for number, each in enumerate(FRAGMENTS):
        put(src / f"Test/{flat(each)}.bmp", picture(number, form="BMP"))
    lines = []
    for a, b in PAIRS:
        lines += [
            f"{flat(a)}.bmp {flat(b)}.bmp 1 0 0 0 0",
            f"{flat(b)}.bmp {flat(a)}.BMP 0 1 0 0 0",
        ]
    lines.append(f"{flat('b1/1')}.bmp {flat('b2/1')}.bmp 0 0 0 0 1")
    put(src / "Test_full.txt", "\n".join(lines) + "\n")


def rejoinvig_canonical(src: Path) -> None:
    for number, each in enumerate(FRAGMENTS):
        put(src / f"{flat(each)}.bmp", picture(number, form="BMP"))
    rows = ((f"{flat(a)}.bmp", f"{flat(b)}.bmp") for a, b in PAIRS)
    table(src / "adjacency.csv", ("fragment", "adjoins"), *rows)


def mutual(src: Path) -> None:
    fragments(src)
    joins = {"b1/1": ["b1/2"], "b1/2": ["b1/1", "b1/3"], "b1/3": ["b1/2"],
             "b2/1": ["b2/2"], "b2/2": ["b2/1"]}  # fmt: skip
    put(src / "adjacency.json", json.dumps(joins))


def json_pairs(src: Path) -> None:
    fragments(src)
    put(src / "pairs.json", json.dumps([list(pair) for pair in PAIRS]))


def json_objects(src: Path) -> None:
    fragments(src)
    pairs = [{"a": f"{a}.png", "b": f"{b}.png", "match": True} for a, b in PAIRS]
    put(src / "annotations.json", json.dumps({"pairs": pairs}))


def tables_of_bones(src: Path) -> None:
    fragments(src)
    for bone in ("b1", "b2"):
        rows = ((a[3:], b[3:]) for a, b in PAIRS if a.startswith(bone))
        table(src / bone / "adjacency.csv", ("fragment", "adjoins"), *rows)


def one_folder_without_groups(src: Path) -> None:
    for number in range(4):
        put(src / f"{'甲乙丙丁'[number]}.png", picture(number))


def _into(write: Callable[[Path], None], source: str = SOURCE) -> Callable[[Path], Path]:
    def write_into(folder: Path) -> Path:
        write(folder / source)
        return folder / source

    return write_into


_NO_PAIRS = "expected adjacency.csv, a list of pairs"


def _layout(name: str, files: str, write: Callable[[Path], None], **more: object) -> Layout:
    given: dict[str, object] = {
        "source": "OBI-Bench: OBI-rejoin",
        "evidence": "assumed",
        "where": "",
        "canonical": "obi-rejoining: adjacency.csv",
        "reader": "obi-rejoining",
        "ignoring": ("metadata", "group"),
        "write": _into(write),
    }
    return Layout(  # type: ignore[arg-type]
        name=f"obi-rejoining: {name}", files=files, **(given | more)
    )


LAYOUTS = [
    _layout("adjacency.csv", "bone001/1.png; adjacency.csv: fragment, adjoins", obi_rejoining),
    _layout("adjacency of each fragment", 'adjacency.json: {"bone001/1": ["bone001/2"]}',
            mutual, missing=_NO_PAIRS),
    _layout("a table for each bone", "bone001/adjacency.csv", tables_of_bones),
    _layout("columns of other names", "adjacency.csv: img1, img2", other_columns),
    _layout("pairs with labels", "adjacency.csv: image1, image2, label (1 or 0)", labelled),
    _layout("adjacency.txt", "00001_1.png; adjacency.txt: two names a line", text),
    _layout("list of pairs", 'pairs.json: [["bone001/1", "bone001/2"]]', json_pairs,
            missing=_NO_PAIRS),
    _layout("list of objects", 'annotations.json: {"pairs": [{"a", "b", "match"}]}', json_objects,
            missing=_NO_PAIRS),
    _layout("RejoinViG in adjacency.csv", "00001_1.bmp; adjacency.csv", rejoinvig_canonical,
            canonical="obi-rejoining: RejoinViG in adjacency.csv"),
    _layout("RejoinViG", "Test/00001_1.bmp; Test_full.txt: two names, five numbers", rejoinvig,
            evidence="seen in code that reads the release", where=REJOINVIG,
            canonical="obi-rejoining: RejoinViG in adjacency.csv"),
    _layout("fragments alone", "甲.png", one_folder_without_groups,
            missing=_NO_PAIRS),
]  # fmt: skip
