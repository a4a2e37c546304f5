"""Which settings of a model enter MCS-Bench's Tables 8 and 9, and Figure 5."""

from __future__ import annotations

from keju.analysis.run_set import load_runs
from keju.figures import of_run
from keju.items import Item
from keju.reporting.page import write_report
from keju.reporting.paper_table_inputs import input_tables
from keju.reporting.paper_tables import build_paper_tables
from tests.support.answered import answered_run

SETTINGS = {"image": 0.0, "own-ocr": 0.1, "gold-ocr": 0.2, "own-text": 0.3, "gold-text": 0.4}
MODEL, PIPELINE = "openai:m", "ocr+llm:ppocr+openai:m"
ITEMS = [
    Item(id=f"t{n}", benchmark="MCS-Bench", task="T2", answer="天地玄黃，宇宙洪荒。"[n:])
    for n in range(4)
]


def own_rows(table):
    shown = {
        row.model: [h.title for h, cell in zip(table.headings, row.cells, strict=True)
                    if cell.value not in ("", "–")]
        for row in table.rows if row.source == "this run"
    }  # fmt: skip
    return {model: titles for model, titles in shown.items() if titles}


def test_table_9_has_models_that_see_the_image_alone_and_table_8_texts_alone(tmp_path):
    skills = {MODEL: 0.4, PIPELINE: 0.4, "baseline:copy": 0.4}
    path = answered_run(tmp_path / "run", ITEMS, skills, settings=SETTINGS)
    run_set = load_runs([path])
    tables = {
        (each.benchmark, each.name): each
        for each in build_paper_tables(run_set, run_set.results, published=True)
    }
    assert set(own_rows(tables["MCS-Bench", "Table 9"])) == {f"{MODEL} · image"}
    (table,) = input_tables(run_set, published=True)
    assert own_rows(table) == {MODEL: ["T2 · GT", "T2 · PP-OCRv6"]}


def test_a_run_of_text_settings_has_no_table_9(tmp_path):
    path = answered_run(tmp_path / "run", ITEMS, {MODEL: 0.4}, settings={"gold-text": 0.0})
    run_set = load_runs([path])
    assert run_set.models == [f"{MODEL} · gold-text"]
    names = {each.name for each in build_paper_tables(run_set, run_set.results, published=True)}
    assert "Table 9" not in names


def test_figure_5_has_the_three_settings_of_the_paper(tmp_path):
    items = [
        Item(id=f"q{n}", benchmark="MCS-Bench", task="T5", options=("甲", "乙"), answer="A")
        for n in range(8)
    ]
    path = answered_run(tmp_path / "run", items, {MODEL: 0.4}, settings=SETTINGS)
    figures = of_run(write_report([path], tmp_path / "r.html", picture_bytes=0), ["settings"])
    assert [figure.of for figure in figures] == ["", "mcs-bench-official"]
    for figure in figures:
        assert [row["setting"] for row in figure.rows] == ["image", "own-ocr", "gold-ocr"]
