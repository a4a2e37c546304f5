"""Items of two datasets that have the same ids stay apart, wherever a report shows them."""

from __future__ import annotations

import subprocess
import sys
from itertools import permutations
from pathlib import Path
from statistics import fmean

import polars as pl
import pytest

from keju.analysis.breakdowns import breakdowns
from keju.analysis.galleries import galleries, other_galleries
from keju.analysis.other_data import other_data
from keju.analysis.run_set import load_runs
from keju.datasets.readers import import_dataset
from keju.datasets.stats import stats
from keju.figures.bars import own_class_rows
from keju.items import Item
from keju.published.run_audit import audit_run
from keju.reporting.csv_export import write_csv
from keju.reporting.page import write_report
from keju.reporting.paper_tables import build_paper_tables
from keju.running import Selection, run
from keju.runs import RunFolder
from keju.scoring import score_run
from tests.support.answered import answered_run
from tests.support.released import obi_deciphering, picture, put, table
from tests.support.stored_scores import read_scores

SOURCES = ("HWOBC", "Oracle-50K", "OBI125")
MODEL = "baseline:chance"


def imported(form: str, src: Path, out: Path, **options: str) -> None:
    import_dataset(
        form, src, out, name=out.name, version="1", licence="CC0-1.0", source="the test",
        options=options,
    )  # fmt: skip


def library(folder: Path, dynasty: str, right: float) -> Path:
    """A run over eight questions whose ids every library has."""
    items = [
        Item(
            id=f"q{n}", benchmark="MCS-Bench", task="T32", options=("a", "b"), answer="A",
            group=f"{dynasty} {n}", metadata={"dynasty": dynasty},
        )
        for n in range(8)
    ]  # fmt: skip
    return answered_run(folder, items, {"openai:m": right}, dataset_hash=dynasty, name=dynasty)


@pytest.fixture(scope="module")
def libraries(tmp_path_factory) -> list[Path]:
    folder = tmp_path_factory.mktemp("libraries")
    return [library(folder / "ming", "Ming", 1.0), library(folder / "song", "Song", 0.0)]


@pytest.mark.parametrize("turned", [False, True])
def test_a_breakdown_has_each_items_own_metadata(libraries, turned):
    run_set = load_runs(libraries[::-1] if turned else libraries)
    (found,) = (each for each in breakdowns(run_set) if each["kind"] == "dynasty")
    means = {row[0]: (row[1], row[2]) for row in found["rows"]}
    assert means == {"明 Ming": (8, 1.0), "宋 Song": (8, 0.0)}


def test_items_scores_and_rows_name_the_dataset_where_ids_coincide(libraries, tmp_path):
    report = write_report(libraries, tmp_path / "r.html", picture_bytes=0)
    ids = {asked.item.id for asked in report.run_set.asked}
    assert ids == {f"q{n} · {name}" for n in range(8) for name in ("Ming", "Song")}
    assert set(report.run_set.items) == {("T32", "", name) for name in ids}
    paths = {path.stem: path for path in write_csv(report, tmp_path / "csv")}
    rows = pl.read_csv(paths["items"])
    assert rows.group_by("item", "protocol", "metric").len()["len"].max() == 1
    assert set(rows.filter(pl.col("metric") == "Acc").group_by("dataset").len()["len"]) == {16}


def test_ids_of_one_dataset_stay_as_they_are(libraries):
    run_set = load_runs(libraries[:1])
    assert {asked.item.id for asked in run_set.asked} == {f"q{n}" for n in range(8)}


@pytest.fixture(scope="module")
def sweep(tmp_path_factory) -> dict[int, Path]:
    """Scored runs of 10, 20 and 30 classes of three sources, mixed, as OBI-Bench sweeps."""
    path = tmp_path_factory.mktemp("sweep")
    for place, source in enumerate(SOURCES):
        for each in range(10):
            for n in range(5):
                number = place * 50 + each * 5 + n
                put(path / f"src/{source}/c{each}/{n}.png", picture(number, (12, 12)))
    made = {}
    for classes in (10, 20, 30):
        data, folder = path / f"set{classes}", path / f"run{classes}"
        options = {"mixed": "yes", "classes": str(classes)}
        imported("obi-classification", path / "src", data, **options)
        run(data, [MODEL], folder)
        score_run(RunFolder.open(folder))
        made[classes] = folder
    return made


def accuracy(folder: Path) -> float:
    """Acc@1 of How, in percent, from the run's own scores."""
    scores = [
        s for f in RunFolder.open(folder).scores_dir.glob("*.parquet") for s in read_scores(f)
    ]
    return 100 * fmean(
        s.value
        for s in scores
        if (s.query, s.protocol, s.metric) == ("How", "official", "Acc@1") and s.value is not None
    )


def test_a_sweep_over_several_datasets_has_the_right_points_in_any_order(sweep):
    expected = {
        (MODEL, n): (pytest.approx(accuracy(folder), abs=1e-4), pytest.approx(100 / n, abs=1e-4))
        for n, folder in sweep.items()
    }
    for order in permutations(sweep):
        run_set = load_runs([sweep[n] for n in order])
        rows = own_class_rows(run_set, "classification")
        found = {(row["model"], row["classes"]): (row["value"], row["guessing"]) for row in rows}
        assert found == expected
        assert len(rows) == 3


def test_the_commands_draw_the_sweep_of_several_runs(sweep, tmp_path):
    runs = [str(sweep[n]) for n in (30, 10, 20)]
    command = [sys.executable, "-m", "keju", "figures", *runs, "--which", "classes"]
    subprocess.run([*command, "-o", str(tmp_path / "f")], check=True)
    rows = pl.read_csv(tmp_path / "f/classes-classification-how.csv")
    own = rows.filter(pl.col("source") == "this run").sort("classes")
    assert own["classes"].to_list() == [10, 20, 30]
    assert own["value"].to_list() == pytest.approx([accuracy(sweep[n]) for n in (10, 20, 30)])


def test_a_reduced_form_is_no_point_of_the_sweep(sweep, tmp_path):
    folder = tmp_path / "reduced"
    chosen = Selection(pairs="gallery=5,seed=0")
    run(sweep[30].parent / "set30", [MODEL], folder, selection=chosen)
    score_run(RunFolder.open(folder))
    rows = own_class_rows(load_runs([sweep[10], folder, sweep[20]]), "classification")
    assert [(row["model"], row["classes"]) for row in rows] == [(MODEL, 10), (MODEL, 20)]


def test_galleries_of_one_source_are_a_curve_that_names_it(sweep, tmp_path):
    folders = []
    for classes in (5, 8):
        data, folder = tmp_path / f"set{classes}", tmp_path / f"run{classes}"
        src = sweep[10].parent / "src/HWOBC"
        imported("obi-classification", src, data, classes=str(classes))
        run(data, [MODEL], folder)
        score_run(RunFolder.open(folder))
        folders.append(folder)
    rows = own_class_rows(load_runs([*sweep.values(), *folders]), "classification")
    assert {(row["model"], row["classes"]) for row in rows} == {
        (MODEL, 10), (MODEL, 20), (MODEL, 30), (f"{MODEL} · HWOBC", 5), (f"{MODEL} · HWOBC", 8),
    }  # fmt: skip


def test_two_runs_on_the_same_items_are_two_curves(sweep, tmp_path):
    again = tmp_path / "again"
    run(sweep[10].parent / "set10", [MODEL], again)
    score_run(RunFolder.open(again))
    rows = own_class_rows(load_runs([sweep[10], again, sweep[20]]), "classification")
    assert rows == []  # three runs, none of which has two numbers of classes


def test_mixed_and_smaller_galleries_do_not_enter_table_4(sweep):
    run_set = load_runs(list(sweep.values()))
    found = galleries(run_set)
    assert {(each.of, each.size) for each in found.values()} == {("mixed", n) for n in sweep}
    assert other_galleries(found) == found
    tables = build_paper_tables(run_set, run_set.results, published=True)
    (shown,) = (each for each in tables if each.name == "Table 4")
    assert {row.source for row in shown.rows} == {"paper"}
    (note,) = shown.notes
    assert "30 images (mixed)" in note
    assert "HWOBC 100" in note


def test_images_of_a_mixed_gallery_are_counted_under_their_own_source(sweep):
    found = stats(sweep[30].parent / "set30").sources
    assert dict(found.select("source", "images").iter_rows()) == dict.fromkeys(SOURCES, 50)


@pytest.mark.parametrize(("classes", "enters"), [(100, True), (99, False)])
def test_a_gallery_of_the_papers_size_enters_table_4(tmp_path, classes, enters):
    for each in range(classes):
        for n in range(5):
            put(tmp_path / f"HWOBC/c{each}/{n}.png", picture(each * 5 + n, (4, 4)))
    imported("obi-classification", tmp_path / "HWOBC", tmp_path / "set", classes=str(classes))
    run(tmp_path / "set", [MODEL], tmp_path / "run", selection=Selection(limit=3))
    score_run(RunFolder.open(tmp_path / "run"))
    run_set = load_runs([tmp_path / "run"])
    tables = build_paper_tables(run_set, run_set.results, published=True)
    (shown,) = (each for each in tables if each.name == "Table 4")
    own = [row for row in shown.rows if row.source == "this run"]
    assert bool(own) is enters
    assert bool(shown.notes) is not enters
    if own:
        heading = [each.name for each in shown.headings].index("classification/How@HWOBC:Acc@1")
        assert float(own[0].cells[heading].value) == pytest.approx(
            accuracy(tmp_path / "run"), abs=0.01
        )


def test_images_are_compared_with_images(tmp_path):
    """140 images, each asked What and How, are the paper's 140 and not 280."""
    for source, count in (("HUST-OBS", 40), ("EVOBC", 50), ("OBI Component 20", 50)):
        subsets = {"HUST-OBS": "tier-1", "EVOBC": "ideogram", "OBI Component 20": "radical"}
        rows = [(f"{n}.png", f"means {n}", subsets[source]) for n in range(count)]
        src = tmp_path / "src" / source
        table(src / "descriptions.csv", ("image", "description", "subset"), *rows)
        for n in range(count):
            put(src / f"{n}.png", picture(n + 100 * len(source), (9, 9)))
    imported("obi-deciphering", tmp_path / "src", tmp_path / "set")
    run(tmp_path / "set", ["baseline:copy"], tmp_path / "run")
    score_run(RunFolder.open(tmp_path / "run"))
    (line,) = other_data(load_runs([tmp_path / "run"]))
    assert "as many images of each task" in line
    found = {each.check for each in audit_run(tmp_path / "run").findings}
    assert "whole-tasks" not in found


def test_too_few_images_are_counted_as_images(tmp_path):
    obi_deciphering(tmp_path / "HUST-OBS")
    imported("obi-deciphering", tmp_path / "HUST-OBS", tmp_path / "set")
    run(tmp_path / "set", ["baseline:copy"], tmp_path / "run")
    score_run(RunFolder.open(tmp_path / "run"))
    (line,) = other_data(load_runs([tmp_path / "run"]))
    assert "deciphering 3 of 140 images" in line
    (finding,) = (e for e in audit_run(tmp_path / "run").findings if e.check == "whole-tasks")
    assert [(m.where, m.printed) for m in finding.mismatches] == [("deciphering", "3 images")]
