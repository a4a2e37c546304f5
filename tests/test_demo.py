"""The demo goes the whole way, with the real OCR engine."""

from __future__ import annotations

import io
import socket

import pytest
from rich.console import Console

from keju.datasets import mini
from keju.datasets.store import Dataset
from keju.demo import MODELS, demonstrate
from keju.runs import RunFolder
from keju.scoring import aggregate, score_run


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo") / "run"
    refused = []

    def refuse(self, address):
        refused.append(address)
        raise OSError("no network in this test")

    shown = io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", refuse)
        report = demonstrate(folder, Console(file=shown, width=100))
    assert not refused
    return folder, report, shown.getvalue()


@pytest.mark.slow
def test_every_item_has_an_answer_from_each_model_that_can_give_one(demo):
    folder, _, _ = demo
    items = [item for item in Dataset.open(mini.path()).items() if item.split == "test"]
    responses = list(RunFolder.open(folder).responses())
    pages = [item for item in items if not item.options]
    questions = [item for item in items if item.options]
    count = {name: sum(each.model == name for each in responses) for name in MODELS}
    assert count["ppocr"] == len(pages) >= 12
    assert count["baseline:chance"] == count["baseline:majority"] == len(questions) >= 12
    assert count["baseline:copy"] == len(items)
    assert all(each.status == "answered" for each in responses)


@pytest.mark.slow
def test_the_engine_reads_clean_pages_and_struggles_with_worn_ones(demo):
    folder, _, _ = demo
    rates = [
        score.value
        for score in score_run(RunFolder.open(folder))
        if score.model == "ppocr" and score.metric == "CER" and score.protocol == "strict"
    ]
    assert min(rates) <= 0.05
    assert max(rates) >= 0.5


@pytest.mark.slow
def test_echoing_the_prompt_earns_everything_officially_and_nothing_strictly(demo):
    folder, _, _ = demo
    scores = score_run(RunFolder.open(folder))
    found = {
        (result.protocol, each.task): each.main.value
        for result in aggregate(scores)
        if result.model == "baseline:copy"
        for each in result.tasks
    }
    assert found["official", "T7"] == 1.0
    assert found["strict", "T7"] == 0.0


@pytest.mark.slow
def test_it_ends_with_the_report_and_a_summary(demo):
    _, report, text = demo
    assert report.is_file()
    assert str(report) in text.replace("\n", "")
    assert "synthetic" in text
    for name in ("ppocr", "T1", "T7", "page_level_ocr"):
        assert name in text
