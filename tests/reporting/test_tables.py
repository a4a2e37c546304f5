"""docs/tables.md says which of the papers' tables a run writes; here one writes them."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import polars as pl
import pytest

from keju.datasets import mini
from keju.datasets.store import Dataset
from keju.reporting.csv_export import write_csv
from keju.reporting.latex import slug, write_latex
from keju.reporting.page import write_report
from keju.running import Selection, run
from keju.runs import RunFolder
from keju.scoring import score_run
from keju.texts import using

PAGE = Path(__file__).parents[2] / "docs" / "tables.md"
ROW = re.compile(r"\| (MCS-Bench|AncientDoc|OBI-Bench) \| (Tables? [^|]+) \| ([^|]+) \| ([^|]+) \|")


def listed() -> dict[tuple[str, str], str]:
    """Every table that the page lists, and where it says that it comes from."""
    rows = ROW.findall(PAGE.read_text("utf-8"))
    return {(paper, table.strip()): source for paper, table, _, source in rows}


@pytest.fixture(scope="module")
def written(tmp_path_factory) -> Path:
    """The tables of one model that answered an item of every task, and T2 from the true text."""
    path = tmp_path_factory.mktemp("tables")
    said = {item.id: item.answer or "A" for item in Dataset.open(mini.path()).items()}
    lines = [msgspec.json.encode({"item": i, "text": text}) for i, text in said.items()]
    (path / "m.jsonl").write_bytes(b"\n".join(lines) + b"\n")
    model = f"replay:{path / 'm.jsonl'}"
    image, text = path / "image", path / "text"
    run(mini.path(), [model, "baseline:chance"], image, selection=Selection(limit=1))
    gold = Selection(limit=1, tasks=("T2",), settings=("gold-text",))
    run(mini.path(), [model], text, selection=gold)
    for each in (image, text):
        score_run(RunFolder.open(each))
    report = write_report([image, text], path / "r.html", published=True, picture_bytes=0)
    write_csv(report, path / "out")
    write_latex(report, path / "out")
    return path / "out"


def test_every_table_of_the_papers_is_listed_once():
    expected = {("MCS-Bench", f"Table {n}") for n in {*range(1, 29)} - {21, 22, 23, 24}}
    expected |= {("MCS-Bench", "Tables 21 to 24")}
    expected |= {("AncientDoc", f"Table {n}") for n in range(1, 13)}
    expected |= {("OBI-Bench", f"Table {n}") for n in range(1, 10)}
    assert set(listed()) == expected


def test_a_run_writes_the_tables_that_are_said_to_come_from_it(written):
    said = {
        f"{slug(paper)}-{slug(table)}"
        for (paper, table), source in listed().items()
        if source == "`keju report`"
    }
    assert len(said) == 36
    for suffix in ("csv", "tex"):
        assert {path.stem for path in written.glob(f"*-table-*.{suffix}")} == said


def test_own_and_printed_rows_stand_together_and_say_whose_they_are(written):
    own = {}
    for path in written.glob("*-table-*.csv"):
        table = pl.read_csv(path, infer_schema=False)
        assert set(table["source"]) <= {"this run", "paper", "recomputed"}
        assert "paper" in set(table["source"]), path.name
        own[path.stem] = table.filter(pl.col("source") == "this run")
    # One item of each task was answered: what has no row needs an encoder, or a judge.
    for name, table in own.items():
        metrics = {
            column.rpartition(":")[2]
            for column in table.columns[4:]
            if not column.endswith(" tasks")
        }
        encoded = metrics <= {"BS-F1", "GPT4oScore", "BERTScore"}
        smaller = name in {f"obi-bench-table-{n}" for n in (3, 4, 5)}  # galleries of another size
        assert bool(table.height) is not smaller or encoded, name
    assert sum(table.height > 0 for table in own.values()) > 22
    given = own["mcs-bench-table-8"]
    assert list(given["T2@GT:BLEU"].drop_nulls()) == ["100.00"]
    assert list(own["mcs-bench-table-2"]["n_task"])[:2] == ["7", "8"]


def test_the_ocr_mean_is_over_the_tasks_of_transcription(written):
    table = pl.read_csv(written / "mcs-bench-table-4.csv", infer_schema=False)
    for row in table.filter(pl.col("source") == "this run").iter_rows(named=True):
        values = [row[f"{name}:CR"] for name in ("T1", "T8", "T26", "T28", "T30", "T37")]
        if all(values) and row["OCR:CR"]:
            mean = sum(map(float, values)) / 6
            assert float(row["OCR:CR"]) == pytest.approx(mean, abs=0.01)
            break
    else:
        pytest.fail("no row of the run has all six tasks")


@pytest.mark.parametrize("published", [False, True])
def test_tables_are_in_english_in_every_language_of_the_terminal(scored_run, tmp_path, published):
    found = []
    for language in ("en", "zh"):
        folder = tmp_path / language
        with using(language):
            report = write_report(
                [scored_run], folder / "r.html", language="en", published=published
            )
            paths = [report.page, *write_csv(report, folder), *write_latex(report, folder)]
        found.append({path.name: path.read_bytes() for path in paths})
    english, chinese = found
    assert len(english) > 4
    assert chinese == english
