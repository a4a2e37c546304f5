"""OBI-Bench's deciphering: pictures of characters and a table of what they mean."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from keju.benchmarks.obi_bench.readers.deciphering import tier_of
from keju.datasets.validate import validate
from keju.errors import DataError
from tests.support.released import obi_deciphering, picture, put, table


def test_each_picture_is_asked_what_and_how_and_only_what_has_an_answer(
    read, tmp_path: Path
) -> None:
    obi_deciphering(tmp_path / "HUST-OBS")
    done = read("obi-deciphering", tmp_path / "HUST-OBS")
    answers = {(item.metadata["character"], item.query): item.answer for item in done.items}
    assert answers["王", "What"] == "It means king."
    assert answers["王", "How"] == ""
    assert {item.metadata["character"]: item.metadata["subset"] for item in done.items} == {
        "王": "pictograph", "雨": "tier-1", "子": "tier-3",
    }  # fmt: skip
    assert done.items[0].group == "HUST-OBS/王"
    assert done.notes == ("HUST-OBS: 3 images; the paper has 40",)
    assert list(validate(done.path)) == []


@pytest.mark.parametrize(
    ("frequency", "tier"),
    [(501, "tier-1"), (500, "tier-2"), (101, "tier-2"), (100, "tier-3"), (11, "tier-3"), (10, "")],
)
def test_tiers_begin_above_their_bound(frequency: int, tier: str) -> None:
    assert tier_of(frequency) == tier


def test_the_papers_numbers_are_drawn_where_asked_for(read, tmp_path: Path) -> None:
    src = tmp_path / "EVOBC"
    rows = [(f"{n}.png", f"means {n}", "pictograph" if n < 40 else "ideogram") for n in range(70)]
    table(src / "descriptions.csv", ("image", "description", "subset"), *rows)
    for number in range(70):
        put(src / f"{number}.png", picture(number))
    done = read("obi-deciphering", src, as_paper="yes")
    subsets = Counter(item.metadata["subset"] for item in done.items if item.query == "What")
    assert subsets == {"pictograph": 28, "ideogram": 22}
    assert done.manifest.made["drawn"] == "yes"
    table(src / "descriptions.csv", ("image", "description", "subset"), *rows[:50])
    with pytest.raises(DataError, match=r"10 images of subset ideogram, but the paper has 22"):
        read("obi-deciphering", src, as_paper="yes")


def test_radicals_are_drawn_whole_with_their_variants(read, tmp_path: Path) -> None:
    src = tmp_path / "OBI Component 20"
    rows = [
        (f"{r}-{v}.png", f"radical {r}", f"r{r}", "radical") for r in range(20) for v in range(6)
    ]
    table(src / "descriptions.csv", ("image", "description", "character", "subset"), *rows)
    for number, row in enumerate(rows):
        put(src / str(row[0]), picture(number))
    done = read("obi-deciphering", src, as_paper="yes")
    what = Counter(item.metadata["character"] for item in done.items if item.query == "What")
    assert sorted(what.values()) == [5] * 10
