"""MCS-Bench's Table 8: whose column an engine's reading is in, and what a difference is of."""

from __future__ import annotations

from statistics import fmean

import pytest

from keju.analysis.run_set import load_runs
from keju.analysis.same_models import SameAs, check_same_as
from keju.errors import UsageError
from keju.items import Item
from keju.reporting.paper_table_inputs import input_tables
from tests.support.answered import answered_run

PIPELINE = "ocr+llm:ppocr+openai:q"
ITEMS = [
    Item(id=f"t{n}", benchmark="MCS-Bench", task="T2", answer="天地玄黃，宇宙洪荒。"[n:])
    for n in range(4)
]


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """A pipeline on images, and its text model on the true text."""
    folder = tmp_path_factory.mktemp("inputs")
    image = answered_run(folder / "image", ITEMS, {PIPELINE: 0.7})
    text = answered_run(folder / "text", ITEMS, {"openai:q": 0.9}, settings={"gold-text": 0.0})
    return [image, text]


def shown(runs, *declared: SameAs):
    run_set = load_runs(runs)
    check_same_as(declared, run_set)
    (table,) = input_tables(run_set, published=True, same_as=declared)
    names = [heading.name for heading in table.headings]
    return {
        (row.source, row.model): dict(zip(names, (cell.value for cell in row.cells), strict=True))
        for row in table.rows
    }


def bleu(run) -> str:
    """The mean official BLEU of the one model of a run, in percent."""
    scores = load_runs([run]).scores
    values = [s.value for s in scores if (s.protocol, s.metric) == ("official", "BLEU")]
    assert len(values) == len(ITEMS)
    return f"{100 * fmean(values):.2f}"


def test_pp_ocrv6_is_not_the_papers_paddleocr(runs):
    rows = shown(runs)
    own = rows["this run", "openai:q"]
    assert own["T2@PaddleOCR:BLEU"] == "–"
    assert own["T2@PP-OCRv6:BLEU"] == bleu(runs[0])
    assert own["T2@GT:BLEU"] == bleu(runs[1])
    printed = rows["paper", "Qwen2.5-7B-Instruct"]
    assert printed == {
        "T2@GT:BLEU": "16.84", "T2@KanDianGuji:BLEU": "14.77", "T2@PaddleOCR:BLEU": "6.76",
        "T2@PP-OCRv6:BLEU": "–",
    }  # fmt: skip
    assert not any(source == "difference" for source, _ in rows)


def test_a_declared_model_has_a_difference_on_the_same_inputs(runs):
    rows = shown(runs, SameAs("openai:q", "Qwen2.5-7B-Instruct"))
    own, found = rows["this run", "openai:q"], rows["difference", "openai:q − Qwen2.5-7B-Instruct"]
    assert found["T2@GT:BLEU"] == f"{float(own['T2@GT:BLEU']) - 16.84:+.2f}"
    assert found["T2@PP-OCRv6:BLEU"] == found["T2@PaddleOCR:BLEU"] == "–"


def test_a_declared_engine_is_in_the_papers_column(runs):
    rows = shown(runs, SameAs("ppocr", "PaddleOCR"))
    own = rows["this run", "openai:q"]
    assert own["T2@PaddleOCR:BLEU"] == bleu(runs[0])
    assert "T2@PP-OCRv6:BLEU" not in own


def test_a_model_is_not_two_of_one_paper(runs):
    declared = [SameAs("openai:q", name) for name in ("GPT-4o", "Gemini-2.0-Flash")]
    with pytest.raises(UsageError, match="already declared to be GPT-4o of MCS-Bench"):
        shown(runs, *declared)
