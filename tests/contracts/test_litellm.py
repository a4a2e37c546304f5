"""What LiteLLM's proxy replies where keju must wait or stop."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.contract_servers import Playback
from tests.support.contract_trial import item_of, run, trial
from tests.support.contracting import RECORDED


def record(name: str):
    return json.loads((RECORDED / "litellm" / name).read_text("utf-8"))


@pytest.mark.parametrize(
    ("name", "words"),
    [("wrong-model", "no model of this name"), ("wrong-key", "does not take the key")],
)
def test_a_wrong_name_or_key_has_its_hint(tmp_path: Path, name: str, words: str):
    notes = record(f"{name}.json")
    item = item_of(notes[0]["request"]["text"])
    with Playback(notes) as server:
        said = run(
            trial(tmp_path / "d", (item,)), tmp_path / "r", f"openai:{server.model}",
            "--base-url", server.url, code=1,
        )  # fmt: skip
    assert words in " ".join(said.split())
