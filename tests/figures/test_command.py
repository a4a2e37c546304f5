"""The command: what it draws of runs, datasets and the papers, and what it says where it can't."""

from __future__ import annotations

import csv
import json

import pytest
from typer.testing import CliRunner

from keju.cli import app
from keju.figures import drawing
from keju.figures.glyphs import missing
from keju.items import Item, Request
from keju.judging.answers import graded_answers, grading_requests
from keju.judging.prompting import read_rubrics
from keju.judging.store import JudgementFolder
from keju.runs import RunFolder
from tests.figures.conftest import TEXTS
from tests.support.answered import answered_run
from tests.support.judged import KEY, StepContext
from tests.support.serving import Chat

MODEL, STERN, OTHER = "openai:m", "openai:stern", "openai:騰"
SCORES = {"i1": (4, 3, 5), "i2": (8, 6, 8), "i3": (6, 5, 6), "i4": (9, 8, 3)}
"""What a person, the stern judge and the other one give to the answer to each item."""


def keju(*args: object, status: int = 0) -> str:
    done = CliRunner().invoke(app, [str(each) for each in args])
    if not status and "No installed font has these characters" in done.output:
        # All is drawn and written, and the status is 1: so it must be without a CJK font, only so.
        assert missing(["騰"])
        status = 1
    assert done.exit_code == status, done.output + repr(done.exception)
    return done.output


def test_a_run_is_drawn_and_what_it_does_not_allow_is_named_in_a_line(run, tmp_path):
    said = keju("figures", run, "-o", tmp_path / "f", "--which", "ranks", "--which", "settings")
    assert "settings: not drawn: no model answered in two of image, own-ocr, gold-ocr" in said
    files = {path.name for path in (tmp_path / "f").iterdir()}
    assert files == {
        f"ranks-mcs-bench-{protocol}.{suffix}"
        for protocol in ("official", "strict") for suffix in ("svg", "csv")
    }  # fmt: skip


def test_the_papers_models_stand_beside_the_runs(run, tmp_path):
    keju("figures", run, "-o", tmp_path, "--which", "heatmap", "--published")
    with (tmp_path / "heatmap-mcs-bench.csv").open(encoding="utf-8-sig") as table:
        rows = list(csv.DictReader(table))
    assert {row["source"] for row in rows} == {"this run", "paper"}
    assert {row["task"] for row in rows} == {"T1", "T7", "T16"}
    assert {row["model"].endswith("†") for row in rows if row["source"] == "paper"} == {True}


def test_a_dataset_and_the_papers_are_drawn(tmp_path):
    assert "strata: svg, csv" in keju("figures", "mini", "-o", tmp_path, "--which", "strata")
    assert "classes-classification-how: svg, csv" in keju(
        "figures", "published", "-o", tmp_path, "--which", "classes"
    )


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("published", "--which", "heatmaps"), "no figure 'heatmaps' of the printed tables. Did"),
        (("published", "--format", "svg,jpg"), "no format 'jpg'; there are svg, png, pdf"),
        (("published", "--format", ","), "--format names none of svg, png, pdf"),
        (("mini", "published"), "figures are of one dataset, of runs, or of published"),
        (("nowhere",), "nowhere"),
    ],
)
def test_wrong_use_is_one_line(args, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["figures", *args])
    assert done.exit_code != 0
    assert said in str(done.exception)
    assert not list(tmp_path.iterdir())


def test_nothing_to_draw_is_a_failure(run, tmp_path):
    said = keju("figures", run, "-o", tmp_path, "--which", "classes", status=1)
    assert "No figure can be drawn from these data" in said


def test_a_character_that_no_font_has_is_a_failure_and_named(run, tmp_path, monkeypatch):
    monkeypatch.setattr(drawing, "missing", lambda texts: "㖫" if "㖫" in " ".join(texts) else "")
    said = keju("figures", run, "-o", tmp_path, "--which", "standings", status=1)
    assert "No installed font has these characters" in said
    assert "㖫 (U+35AB)" in said
    assert (tmp_path / "standings-mcs-bench.svg").is_file()


@pytest.fixture
def rated(tmp_path) -> RunFolder:
    """A run of two open tasks, and `ratings.csv` with a person's scores of its answers."""
    items = [
        Item(id=name, benchmark="MCS-Bench", task=task, answer=text, transcription=text,
             question="何意？", group=group)
        for name, task, group, text in zip(
            SCORES, ("T2", "T2", "T6", "T6"), ("b1", "b1", "b2", "b2"), TEXTS, strict=True
        )
    ]  # fmt: skip
    opened = RunFolder.open(answered_run(tmp_path / "run", items, {MODEL: 1}))
    with (tmp_path / "ratings.csv").open("w", encoding="utf-8", newline="") as sheet:
        writer = csv.writer(sheet)
        writer.writerow(["answer_code", "rater", "score"])
        for answer in graded_answers(opened, read_rubrics()):
            writer.writerow([answer.code, "ann", SCORES[answer.item.id][0]])
    return opened


def grade(opened: RunFolder, chat: Chat) -> None:
    """Let both judges grade every answer."""
    rubrics = read_rubrics()
    judging = StepContext(chat, JudgementFolder(opened, rubrics))
    asked = list(grading_requests(graded_answers(opened, rubrics), rubrics))
    for place, judge in enumerate((STERN, OTHER), start=1):
        judging.rule(asked, lambda request, place=place: f"分数：{score_of(request, place)}")
        judging.ask(asked, judge)


def score_of(request: Request, place: int) -> int:
    return SCORES[json.loads(request.item)[1]][place]


def test_align_draws_its_scatters_with_the_statistics_it_prints(rated, chat, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    grade(rated, chat)
    said = keju("judge", "align", rated.path, tmp_path / "ratings.csv", "--figure", tmp_path / "f")
    names = {path.stem for path in (tmp_path / "f").glob("*.csv")}
    assert names == {"judges", "judges-t2", "judges-t6"}
    with (tmp_path / "f" / "judges.csv").open(encoding="utf-8-sig") as table:
        rows = list(csv.DictReader(table))
    points = [row for row in rows if row["part"] == "point" and row["judge"] == STERN]
    assert [(float(p["human"]), float(p["grade"])) for p in points] == [
        (4, 3), (8, 6), (6, 5), (9, 8),
    ]  # fmt: skip
    assert all(abs(float(p["x"]) - float(p["human"])) <= 0.18 for p in points)
    bias = next(r for r in rows if (r["judge"], r["measure"]) == (STERN, "bias"))
    assert float(bias["value"]) == 1.25
    assert "1.25" in said
    (line, end) = (r for r in rows if r["part"] == "line" and r["judge"] == STERN)
    slope = (float(end["y"]) - float(line["y"])) / (float(end["x"]) - float(line["x"]))
    assert slope == pytest.approx(0.9153, abs=1e-3)


def test_ratings_without_a_judge_draw_nothing_and_say_so(rated, tmp_path):
    sheet = tmp_path / "ratings.csv"
    said = keju("judge", "align", rated.path, sheet, "--figure", tmp_path / "f", status=1)
    assert "judges: not drawn: no judge graded answers that people rated" in said
