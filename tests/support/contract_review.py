"""The drafts that go to programs of review, and what two people decide about them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import count
from pathlib import Path

import polars as pl
from msgspec.structs import replace

from keju.building.reviewing.forms import read_review
from keju.building.reviewing.verdicts import Corrections, Verdict, compute_seal
from keju.datasets.store import Dataset, DatasetWriter
from keju.items import Box, Item
from tests.support.commanding import keju
from tests.support.contracting import Contract
from tests.support.making import picture

PERSON = "li@example.org"
SECOND = "wang@example.org"

BOXES = (Box(x0=2, y0=3.5, x1=11.25, y1=20), Box(x0=12.3, y0=1, x1=23, y1=9.75))

_COMMON = {"benchmark": "MCS-Bench", "draft": True}
_ITEMS = (
    Item(id="001", task="T1", answer="天地\n玄黃，𠀀", transcription="天地\n玄黃，𠀀", **_COMMON),
    Item(id="1/2", task="T5", question="=1+1?\n何書", answer="B", transcription="子曰",
         options=("1/2", "3-4", "007", "50%"), **_COMMON),
    Item(id="3-4", task="T21", question="畫中有幾隻鳥？", answer="007", **_COMMON),
    Item(id="50%", task="T21", question="年月日？", answer="1926-03-04", **_COMMON),
    Item(id="1e5", task="T21", question='He said "是", 1,5; 2', answer="TRUE", **_COMMON),
    Item(id="where1", benchmark="OBI-Bench", task="recognition", query="Where", boxes=BOXES,
         draft=True),
    Item(id="where2", benchmark="OBI-Bench", task="recognition", query="Where", boxes=BOXES[:1],
         draft=True),
)  # fmt: skip
_TEXT_ONLY = "1/2"
_NUMBER = re.compile("[0-9]+(?:e[0-9]+)?")


def drafts(path: Path) -> Dataset:
    """Drafts: a page, a choice of text alone, short answers, boxes on two images.

    Ids, answers and one seal are such as spreadsheets take for numbers, dates or formulas.
    """
    with DatasetWriter(
        path, name="drafts", version="1", licence="CC0-1.0", source="made by the tests"
    ) as writer:
        for number, item in enumerate(_ITEMS, start=1):
            if item.id == _TEXT_ONLY:
                writer.add(item)
                continue
            shown = replace(item, images=(writer.add_image(picture(number), item.id),))
            writer.add(_with_numeric_seal(shown) if item.id == "3-4" else shown)
    return Dataset.open(path)


def _with_numeric_seal(item: Item) -> Item:
    tries = (replace(item, also_accepted=(str(number),)) for number in count())
    return next(each for each in tries if _NUMBER.fullmatch(compute_seal(each)))


def decided(dataset: Dataset, person: str = PERSON) -> dict[str, Verdict]:
    """What the first person decides about each item but the last, which is skipped."""
    seals = {item.id: compute_seal(item) for item in dataset.items()}
    verdicts = (
        Verdict(item="001", person=person, decision="correct",
                corrections=Corrections(answer="天地\n玄黃宇宙，𠀀"), reason="缺二字",
                seal=seals["001"]),
        Verdict(item="1/2", person=person, decision="accept", marks={"correct": 5},
                seal=seals["1/2"]),
        Verdict(item="3-4", person=person, decision="correct",
                corrections=Corrections(answer="008"), seal=seals["3-4"]),
        Verdict(item="50%", person=person, decision="accept", seal=seals["50%"]),
        Verdict(item="1e5", person=person, decision="reject", reason="=模糊; \"no\", 1/2",
                seal=seals["1e5"]),
        Verdict(item="where1", person=person, decision="accept", seal=seals["where1"]),
    )  # fmt: skip
    return {each.item: each for each in verdicts}


def exported(contract: Contract, dataset: Dataset, out: Path, *options: object) -> None:
    """`keju build review export` as a command.

    Raises:
        RuntimeError: it is refused.
    """
    done = keju("build", "review", "export", dataset.path, "--out", out, *options)
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])


def decided_second(dataset: Dataset, person: str = SECOND) -> dict[str, Verdict]:
    """What the second person decides: other than the first about 001 and 50%."""
    seals = {item.id: compute_seal(item) for item in dataset.items()}
    moved = Box(x0=6, y0=12, x1=18, y1=24)
    alike = [replace(decided(dataset, person)[name], reason="")
             for name in ("1/2", "3-4", "1e5", "where1")]  # fmt: skip
    verdicts = (
        *alike,
        Verdict(item="001", person=person, decision="accept", seal=seals["001"]),
        Verdict(item="50%", person=person, decision="reject", seal=seals["50%"]),
        Verdict(item="where2", person=person, decision="correct",
                corrections=Corrections(boxes=(*BOXES[:1], moved)), seal=seals["where2"]),
    )  # fmt: skip
    return {each.item: each for each in verdicts}


STATES = {
    "001": "disputed", "1/2": "accepted", "3-4": "mended", "50%": "disputed", "1e5": "rejected",
    "where1": "accepted", "where2": "open",
}  # fmt: skip
"""What becomes of the items if two people must say the same."""


def read_back(file: Path, dataset: Dataset, person: str = PERSON) -> list[Verdict]:
    """The verdicts in a file that came back, through keju's reader."""
    return read_review(file, {item.id: item for item in dataset.items()}, person)


def by_item(verdicts: Iterable[Verdict]) -> dict[str, Verdict]:
    """Verdicts of one person by item."""
    return {each.item: each for each in verdicts}


def states(out: Path) -> dict[str, str]:
    """What became of each item, from the table of a reviewed dataset."""
    rows = pl.read_parquet(out / "tables" / "decided.parquet").to_dicts()
    return {row["item"]: row["state"] for row in rows}
