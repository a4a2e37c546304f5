"""Which pages are hard for most engines: one that fails on everything has no say."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from lxml import html

from keju.analysis.difficulty import ExcludedModels, difficulty
from keju.analysis.run_set import load_runs
from keju.datasets.store import DatasetWriter
from keju.items import Item
from keju.reporting.page import write_report
from keju.running import run
from keju.runs import RunFolder
from keju.scoring import score_run
from tests.support.making import picture

TEXT = "天地玄黃宇宙洪荒"
READ = {
    # p0 is hard for both good engines, p1 for one of them; the third reads p2 alone, and badly.
    "first": (TEXT[:4], TEXT, TEXT, TEXT),
    "second": (TEXT[:5], TEXT[:2], TEXT, TEXT),
    "failing": ("無", "無", TEXT[:3], "無"),
}


@pytest.fixture(scope="module")
def scored(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("hard")
    with DatasetWriter(
        folder / "set", name="mine", version="1", licence="CC0-1.0", source="the test"
    ) as writer:
        for place in range(4):
            image = writer.add_image(picture(100 + place), f"page {place}")
            writer.add(Item(id=f"p{place}", benchmark="pages", task="page_ocr", images=(image,),
                            answer=TEXT, group=f"book {place}"))  # fmt: skip
    for name, texts in READ.items():
        (folder / name).mkdir()
        for place, text in enumerate(texts):
            (folder / name / f"p{place}.txt").write_text(text, "utf-8")
    run(folder / "set", [f"replay:{name}={folder / name}" for name in READ], folder / "run")
    score_run(RunFolder.open(folder / "run"))
    return folder / "run"


def test_the_failing_engine_is_left_out_and_named(scored):
    found = difficulty(load_runs([scored]))
    assert found.left_out == [ExcludedModels("page_ocr", ["failing"])]
    # Means of the task: first 87.5, second 71.9. p0: 50 and 62.5; p1: 100 and 25, so that one
    # engine alone fails on p1.
    assert [(each.id, each.value, each.below) for each in found.items] == [
        ("p0", 0.5625, -0.09375),
    ]
    assert [(each.nothing, each.models) for each in found.items] == [(0, 2)]
    assert (found.items[0].best, found.items[0].best_value) == ("second", 0.625)


def test_the_page_says_who_is_left_out(scored, tmp_path):
    write_report([scored], tmp_path / "r.html")
    tree = html.fromstring((tmp_path / "r.html").read_text("utf-8"))
    after = tree.xpath("//h3[@id='hard']/following-sibling::p")
    assert after[1].text_content() == (
        "page_ocr: skipped because they fail on most of the task: failing"
    )
    assert after[0].text_content() == (
        "The difficulty of an item is the number of points by which the models score below "
        "their own means of the task (median over the models). One failing model therefore "
        "does not make an item difficult. Not counted are baselines, models whose mean of "
        "the task is less than half of the best model's, because they fail on most items, "
        "and models without a result on more than 10 % of the pages of a transcription task."
    )


def test_the_prompt_is_not_said_to_be_sent_where_only_engines_read(scored, tmp_path):
    write_report([scored], tmp_path / "out")
    text = (tmp_path / "out" / "items" / "0.js").read_text("utf-8")
    items = msgspec.json.decode(text[text.index(",") + 1 : text.rindex(")")])
    assert {each.get("unsent") for each in items} == {True}
