"""The step ``standardise-texts``: what it changes, and what it must never touch."""

from __future__ import annotations

from pathlib import Path

import polars as pl
from msgspec.structs import replace

from keju.building.engine import Engine
from keju.building.running import StepCall, run_step
from keju.building.standardising.texts import STEP, TextSettings, standardise_item
from keju.datasets.store import Dataset
from keju.definitions.prompts import options_in
from keju.items import Item
from tests.support.making import make_dataset, page_item

MCQ = Item(
    id="mcq", benchmark="MCS-Bench", task="T5", question='"愠"的意思是?', fields={"term": "愠"},
    options=("羞愧,慚愧", "怨怒"), answer="B",
)  # fmt: skip
OCR = page_item("ocr", answer="天地,玄黃.", verbatim=True, question="識別,圖中文字?")
MARKED = Item(id="marked", benchmark="MCS-Bench", task="T3", answer="學而時習之,不亦說乎?")
TOLD = Item(id="told", benchmark="MCS-Bench", task="T2", answer="這本書,講的是學問.")


def test_marks_are_mended_where_they_are_ours():
    assert standardise_item(MCQ, TextSettings()).question == "“愠”的意思是？"
    assert standardise_item(MCQ, TextSettings()).options == ("羞愧，慚愧", "怨怒")
    assert standardise_item(MARKED, TextSettings()).answer == "學而時習之，不亦說乎？"
    assert standardise_item(MCQ, TextSettings(punctuation=False)).question == MCQ.question


def test_what_a_picture_shows_stays():
    new = standardise_item(OCR, TextSettings(script="simplified"))
    assert new.answer == OCR.answer


def test_an_imported_question_is_standardised_in_both_scripts():
    assert standardise_item(OCR, TextSettings()).question == "識別，圖中文字？"
    assert standardise_item(OCR, TextSettings(script="simplified")).question == "识别，图中文字？"
    simple = page_item("s", answer="天", verbatim=True, question="识别图中的文字.(竖排)")
    traditional = standardise_item(simple, TextSettings(script="traditional"))
    assert traditional.question == "識別圖中的文字。（豎排）"
    english = page_item("e", answer="天", verbatim=True, question="Read it, please.")
    assert standardise_item(english, TextSettings(script="traditional")) == replace(
        english, answer_simplified="天"
    )


def test_a_question_that_was_released_in_a_script_is_not_converted():
    both = page_item(
        "b", answer="天", verbatim=True, question="头发的颜色是?",
        question_in={"simplified": "头发的颜色是?", "traditional": "髮色爲何?"},
    )  # fmt: skip
    new = standardise_item(both, TextSettings(script="traditional"))
    assert new.question == new.question_in["traditional"] == "髮色爲何？"
    assert new.question_in["simplified"] == "头发的颜色是？"


def test_the_options_of_a_verbatim_question_stay_those_of_the_item():
    asked = Item(
        id="v", benchmark="MCS-Bench", task="T5", verbatim=True, answer="B",
        question='"愠"的意思是? A.羞愧,惭愧 B.怨怒,发怒', options=("羞愧,惭愧", "怨怒,发怒"),
    )  # fmt: skip
    for script in ("as-is", "traditional"):
        new = standardise_item(asked, TextSettings(script=script))
        assert options_in(new.question) == new.options != asked.options


def test_answers_get_their_simplified_form_as_the_official_script_makes_it():
    assert standardise_item(TOLD, TextSettings()).answer_simplified == "这本书，讲的是学问。"
    assert standardise_item(MCQ, TextSettings()).answer_simplified == "B"
    given = Item(id="g", benchmark="MCS-Bench", task="T2", answer="後", answer_simplified="后.")
    assert standardise_item(given, TextSettings()).answer_simplified == "后。"
    assert standardise_item(TOLD, TextSettings(simplified_answers=False)).answer_simplified == ""


def test_a_version_in_another_script_leaves_the_text_s_own_characters():
    simple = TextSettings(script="simplified")
    assert standardise_item(MCQ, simple).options == ("羞愧，惭愧", "怨怒")
    assert standardise_item(TOLD, simple).answer == "这本书，讲的是学问。"
    assert standardise_item(MARKED, simple).answer == "學而時習之，不亦說乎？"
    assert standardise_item(MCQ, simple).answer == "B"


def test_every_change_is_listed(tmp_path: Path):
    given = Dataset.open(make_dataset(tmp_path / "given", [MCQ, OCR, MARKED, TOLD]))
    run_step(StepCall(STEP, TextSettings(), given), tmp_path / "out", engine=Engine())
    rows = pl.read_csv(tmp_path / "out" / "tables" / "changes.csv").rows()
    assert ("mcq", "question", '"愠"的意思是?', "“愠”的意思是？") in rows
    assert {row[0] for row in rows} == {"mcq", "ocr", "marked", "told"}
    assert [row[1] for row in rows if row[0] == "ocr"] == ["question", "answer_simplified"]
    items = {item.id: item for item in Dataset.open(tmp_path / "out").items()}
    assert items["mcq"].provenance[-1].note == "question, answer_simplified, options"


def test_twice_is_as_once():
    for item in (MCQ, OCR, MARKED, TOLD):
        once = standardise_item(item, TextSettings(script="simplified"))
        assert standardise_item(once, TextSettings(script="simplified")) == once
