"""Presets say how a paper asked; what the user gives goes before them."""

import json
from pathlib import Path

import pytest

from keju.errors import UsageError
from keju.models import Decoding
from keju.running import preset


def test_mcs_bench_is_asked_as_its_paper_says(shared: Path) -> None:
    printed = json.loads((shared / "published/mcs_task_registry.json").read_text())["inference"]
    decoding = preset("mcs-bench").decoding(Decoding())
    assert decoding.temperature == printed["temperature"]
    assert decoding.top_p == printed["top_p"]
    assert decoding.top_k == printed["top_k"]
    assert decoding.max_tokens == printed["max_sequence_length"]


def test_obi_bench_asks_as_often_as_its_paper(shared: Path) -> None:
    printed = json.loads((shared / "published/obi_registry.json").read_text())
    assert preset("obi-bench").rounds == printed["rounds_averaged"]


def test_what_is_given_goes_before_a_preset() -> None:
    decoding = preset("mcs-bench").decoding(Decoding(temperature=0.0, max_tokens=64))
    assert (decoding.temperature, decoding.top_k, decoding.max_tokens) == (0.0, 50, 64)


def test_an_unknown_preset_names_those_there_are() -> None:
    with pytest.raises(UsageError, match=r"no preset 'mcs'.*mcs-bench.*obi-bench"):
        preset("mcs")
