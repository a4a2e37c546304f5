"""One model in three settings, side by side over the same items."""

from __future__ import annotations

import msgspec
import pytest

from keju.analysis.input_settings import step_tables
from keju.analysis.run_set import load_runs
from keju.items import Item, Response, Usage
from keju.reporting.page import write_report
from keju.reporting.row_cells import step_cells
from keju.runs import RunFolder, RunManifest
from keju.scoring import score_run

RIGHT = {"image": 2, "own-ocr": 6, "gold-ocr": 10}


@pytest.fixture
def run(tmp_path):
    """Ten questions, of which a model gets 2, 6, 10 right; the true text is there for nine."""
    return made(tmp_path / "settings", "T7")


def made(path, *tasks):
    run = RunFolder(path)
    items = [
        Item(id=f"{task}-{n}", benchmark="MCS-Bench", task=task, options=("a", "b"), answer="A")
        for task in tasks
        for n in range(10)
    ]
    run.write_items(items)
    run.write_manifest(
        RunManifest(
            keju="0", dataset="d", dataset_version="1", dataset_hash="h",
            models={"openai:m": {}, "openai:n": {}},
        )
    )  # fmt: skip
    for task in tasks:
        file = run.responses_path("openai:m", task)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(
            b"".join(
                msgspec.json.encode(
                    Response(
                        key=f"{setting}{n}", item=f"{task}-{n}", model="openai:m",
                        benchmark="MCS-Bench", task=task, status="answered", setting=setting,
                        text="A" if n < right else "B",
                    )
                ) + b"\n"
                for setting, right in RIGHT.items()
                for n in range(10 if setting != "gold-ocr" else 9)
            )
        )  # fmt: skip
    reading = Response(
        key="r", item=f"{tasks[0]}-0", model="openai:m", benchmark="MCS-Bench", task="T1",
        status="answered", seconds=7.0, usage=Usage(output_tokens=40),
    )  # fmt: skip
    run.readings_path("openai:m").parent.mkdir()
    run.readings_path("openai:m").write_bytes(msgspec.json.encode(reading) + b"\n")
    score_run(run)
    return run.path


def test_what_was_read_first_counts_where_it_was_answered_from(run):
    by_model = load_runs([run]).by_model
    spent = {
        model_responses.setting: (model_responses.seconds, model_responses.output_tokens)
        for model_responses in by_model.values()
    }
    assert spent == {"image": (0, None), "own-ocr": (7, 40), "gold-ocr": (0, None)}


def test_every_number_of_a_row_is_over_the_items_that_all_settings_have(run):
    strict, official = step_tables(load_runs([run]))
    assert (strict.protocol, official.protocol) == ("strict", "official")
    assert strict.columns == [
        "image", "own-ocr", "gold-ocr", "image → own-ocr", "own-ocr → gold-ocr", "image → gold-ocr",
    ]  # fmt: skip
    (row,) = strict.rows
    assert row.items == 9
    assert [cell.value for cell in step_cells(row)] == [
        "22.2", "66.7", "100.0", "+44.4", "+33.3", "+77.8",
    ]  # fmt: skip
    assert [cell.note.rpartition("\n")[2] for cell in step_cells(row)[3:]] == [
        "not significant", "not significant", "significant",
    ]  # fmt: skip


def test_steps_are_significant_only_after_adjustment_over_the_whole_table(tmp_path):
    """Fault 9: p of each step alone decided, so that 18 % of tables without effect had a claim."""
    strict, _ = step_tables(load_runs([made(tmp_path / "two", "T5", "T7")]))
    assert strict.tests == 6
    for row in strict.rows:
        step = row.steps[2]
        assert (step.p, step.p_holm, step.better) == (2 / 2**7, 6 * 2 / 2**7, "")
        cell = step_cells(row)[5]
        assert cell.note.endswith("\nnot significant")
        assert cell.title == "p .094 (adjusted), paired randomisation over 9 groups"


def test_the_page_shows_the_settings_and_a_run_of_one_setting_has_no_such_part(
    run, scored_run, tmp_path
):
    write_report([run], tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text("utf-8")
    assert '<h2 id="steps">' in page
    assert "P values are adjusted over 3 differences: all that were tested under strict" in page
    write_report([scored_run], tmp_path / "report.html")
    assert '<h2 id="steps">' not in (tmp_path / "report.html").read_text("utf-8")
