"""Presets say how a paper asked; what the user gives goes before them."""

import json
from pathlib import Path

import pytest

from keju.errors import UsageError
from keju.models import Decoding, ModelOptions
from keju.running import preset
from keju.running.presets import preset_of
from tests.support.commanding import keju
from tests.support.making import make_dataset


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


def test_a_preset_claims_no_dtype_and_says_how_a_model_is_asked_otherwise() -> None:
    paper = preset("mcs-bench")
    asked = ModelOptions(decoding=paper.decoding(Decoding())).asked_for
    identity = {"kind": "openai", **asked}
    assert identity["dtype"] == "unknown"
    assert list(paper.differences(identity)) == ["dtype is unknown (paper: bf16)"]
    declared = {**identity, "dtype": "bf16"}
    assert list(paper.differences(declared)) == []
    assert list(paper.differences(declared, ["top_k"])) == ["top_k was not sent (paper: 50)"]
    other = {**declared, "temperature": "0.0"}
    assert list(paper.differences(other)) == ["temperature is 0.0 (paper: 0.8)"]
    assert list(paper.differences({"kind": "ppocr"})) == []
    assert preset_of("MCS-Bench") == paper
    assert preset_of("AncientDoc") is None


@pytest.mark.parametrize("more", [(), ("--plan",)])
def test_the_rounds_of_obi_bench_are_refused_for_a_dataset_without_its_items(
    tmp_path: Path, more: tuple[str, ...]
) -> None:
    dataset = make_dataset(tmp_path / "d", pages=2)
    words = ("--model", "baseline:chance", "--preset", "obi-bench", "--out", tmp_path / "r")
    done = keju("run", dataset, *words, *more)
    assert done.returncode == 2
    assert "has no item of OBI-Bench" in done.stderr
    assert not (tmp_path / "r").exists()
