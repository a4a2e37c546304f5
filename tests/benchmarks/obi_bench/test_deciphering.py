"""OBI-Bench's deciphering: pictures of characters and a table of what they mean."""

from __future__ import annotations

from pathlib import Path

import pytest

from keju.benchmarks.obi_bench.readers.characters import tier_of
from keju.datasets.validate import validate
from tests.support.released import obi_deciphering


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
