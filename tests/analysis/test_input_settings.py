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
    run = RunFolder(tmp_path / "settings")
    items = [
        Item(id=f"q{n}", benchmark="MCS-Bench", task="T7", options=("a", "b"), answer="A")
        for n in range(10)
    ]
    run.write_items(items)
    run.write_manifest(
        RunManifest(
            keju="0", dataset="d", dataset_version="1", dataset_hash="h",
            models={"openai:m": {}, "openai:n": {}},
        )
    )  # fmt: skip
    path = run.responses_path("openai:m", "T7")
    path.parent.mkdir(parents=True)
    path.write_bytes(
        b"".join(
            msgspec.json.encode(
                Response(
                    key=f"{setting}{n}", item=f"q{n}", model="openai:m", benchmark="MCS-Bench",
                    task="T7", status="answered", setting=setting, text="A" if n < right else "B",
                )
            ) + b"\n"
            for setting, right in RIGHT.items()
            for n in range(10 if setting != "gold-ocr" else 9)
        )
    )  # fmt: skip
    reading = Response(
        key="r", item="q0", model="openai:m", benchmark="MCS-Bench", task="T1", status="answered",
        seconds=7.0, usage=Usage(output_tokens=40),
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


def test_the_page_shows_the_settings_and_a_run_of_one_setting_has_no_such_part(
    run, scored_run, tmp_path
):
    write_report([run], tmp_path / "report.html")
    assert '<h2 id="steps">' in (tmp_path / "report.html").read_text("utf-8")
    write_report([scored_run], tmp_path / "report.html")
    assert '<h2 id="steps">' not in (tmp_path / "report.html").read_text("utf-8")
