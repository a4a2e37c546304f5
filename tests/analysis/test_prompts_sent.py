"""The report shows each prompt as it was sent: in its script, setting and wording."""

from __future__ import annotations

import msgspec
import pytest

from keju.analysis.prompts_sent import prompts_sent
from keju.analysis.run_set import load_runs
from keju.datasets.store import DatasetWriter
from keju.definitions import prompt_of
from keju.items import Item
from keju.reporting.item_browser import Browser
from keju.running import Selection, run
from keju.runs import RunFolder
from keju.scoring import score_run
from keju.text import in_script
from keju.words import Words
from tests.support.making import picture

READING = "師說"


@pytest.fixture
def page(tmp_path):
    """A dataset of one question about a page, and a model that answers A."""
    with DatasetWriter(
        tmp_path / "set", name="mine", version="1", licence="CC0-1.0", source="the test"
    ) as writer:
        image = writer.add_image(picture(100), "page")
        writer.add(
            Item(id="q", benchmark="MCS-Bench", task="T7", images=(image,), options=("唐", "宋"),
                 answer="A", transcription=READING)
        )  # fmt: skip
    (tmp_path / "one.jsonl").write_bytes(msgspec.json.encode({"item": "q", "text": "A"}))
    return tmp_path


def run_set(folder, **asked):
    run(folder / "set", [f"replay:{folder / 'one.jsonl'}"], folder / "run",
        selection=Selection(**asked))  # fmt: skip
    score_run(RunFolder.open(folder / "run"))
    return load_runs([folder / "run"])


def test_a_prompt_in_traditional_characters_is_shown_in_them(page):
    found = run_set(page, scripts=("traditional",))
    (asked,) = found.asked
    (prompt,), sent = prompts_sent(asked, found)
    released = prompt_of(asked.item)
    assert prompt.text == in_script(released, "traditional") != released
    assert (prompt.variants, sent) == ("", True)
    ((item,),) = Browser(found, Words()).chunks
    assert item["question"] == prompt.text
    assert "prompts" not in item
    assert "unsent" not in item


def test_two_prompts_are_shown_with_their_variants(page):
    found = run_set(page, scripts=("released", "traditional"), settings=("image", "gold-ocr"))
    (asked,) = found.asked
    prompts, _ = prompts_sent(asked, found)
    assert [each.variants for each in prompts] == [
        "image · released", "image · traditional", "gold-ocr · released", "gold-ocr · traditional",
    ]  # fmt: skip
    assert [READING in each.text for each in prompts] == [False, False, True, True]
    ((item,),) = Browser(found, Words()).chunks
    assert len(item["prompts"]) == 4
