"""``keju judge`` from the command line, against a server that judges by rule."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from typer.exceptions import TyperException

from keju.cli import app
from keju.errors import KejuError
from keju.judging.answers import grading_requests
from tests.judging.test_rubrics import SHIPPED
from tests.support.judged import GOOD, JUDGE


@pytest.fixture
def keju(context, capsys):
    """Runs the command in this process: its output, after its exit status was checked."""

    def go(*args: object, status: int = 0) -> str:
        found = app(["judge", *map(str, args)], standalone_mode=False)
        assert (found or 0) == status
        return capsys.readouterr().out

    return go


def test_the_whole_way(context, answers, keju, chat):
    judge = ["--model", JUDGE, "--base-url", chat.url]
    asked = list(grading_requests(answers, context.folder.rubrics))
    context.rule(asked, lambda request: "分数：8" if GOOD in request.item else '{"score": 3}')
    planned = json.loads(keju("grade", "run", *judge, "--plan", "--json"))
    assert sum(row["calls"] for row in planned["rows"]) == 14
    assert chat.stats()["requests"] == 0

    graded = json.loads(keju("grade", "run", *judge, "--json"))
    means = {(row["model"], row["task"]): row["mean"] for row in graded["tasks"]}
    assert means[GOOD, "T2"] == means[GOOD, "T6"] == 8
    assert sorted(means.values()) == [2.25, 2.25, 8, 8]
    assert chat.stats()["requests"] == 14
    # What is stored is shown without a judge, and the judge costs nothing a second time.
    assert json.loads(keju("grade", "run", "--json")) == graded
    table = keju("grade", "run", *judge)
    assert "2.25" in table
    assert "1 not answered" in table
    assert chat.stats()["requests"] == 14

    keju("sample", "run", "-o", "sheet.csv", "--per-task", "3")
    with Path("sheet.csv").open(encoding="utf-8-sig", newline="") as stream:
        rows = list(csv.DictReader(stream))
    with Path("Li.csv").open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, rows[0])
        writer.writeheader()
        writer.writerows({**row, "rater": "Li", "score": 5} for row in rows)
    aligned = json.loads(keju("align", "run", "Li.csv", "--json"))
    overall = next(row for row in aligned["tasks"] if not row["task"])
    assert overall["answers"] == 6
    assert overall["measures"]["mae"]["value"] == pytest.approx(2 + 2 * 0.25)
    assert "Compared with the mean of all raters" in keju("align", "run", "Li.csv")


def test_a_judge_is_asked_with_the_fields_that_a_run_has(context, chat, keju):
    chat.plan(images=True, says="分数：8")
    keju(
        "grade", "run", "--model", JUDGE, "--base-url", chat.url, "--task", "T2",
        "--extra-body", 'chat_template_kwargs={"enable_thinking": false}',
        "--extra-body", "min_p=0.1",
    )  # fmt: skip
    bodies = [json.loads(body) for body in chat.stats()["bodies"]]
    assert bodies
    for body in bodies:
        assert (body["min_p"], body["temperature"]) == (0.1, 0.0)
        assert body["chat_template_kwargs"] == {"enable_thinking": False}
    assert context.folder.judges()[JUDGE]["extra_body.min_p"] == "0.1"


def test_grades_with_the_page_text_are_kept_apart(context, chat, keju):
    arguments = ["grade", "run", "--model", JUDGE, "--base-url", chat.url, "--task", "T2"]
    arguments.append("--json")
    Path("with-text.toml").write_text(f"page_text = true\n{SHIPPED}", "utf-8")
    text = context.folder.run.items()[0].transcription
    for option, says in (([], "分数：8"), (["--rubrics", "with-text.toml"], "**分数：6/10**")):
        chat.plan(images=True, says=says)
        graded = json.loads(keju(*arguments, *option))
        assert graded["tasks"][0]["mean"] == float(says.strip("*分数：/10"))
        assert ("-page-text-" in graded["tasks"][0]["signature"]) == bool(option)
        shown = [json.loads(body)["messages"][0]["content"] for body in chat.stats()["bodies"]]
        assert any(f"【原文（图中文字）】\n{text}" in each for each in shown) == bool(option)


def test_a_probe_of_a_judge_that_always_says_the_same(chat, keju):
    chat.plan(says="分数：9")
    assert "padded" in keju(
        "probe", "run", "--model", JUDGE, "--base-url", chat.url, "--limit", "2"
    )
    probed = json.loads(
        keju("probe", "run", "--model", JUDGE, "--base-url", chat.url, "--limit", "2", "--json")
    )
    verdicts = {each["probe"]: each["verdict"] for each in probed["results"]}
    # Four groups are too few for an interval, so a change is never more than possible.
    assert verdicts["another"] == "not sure"
    assert (verdicts["plea"], verdicts["padded"]) == ("sound", "sound")


def test_money_ends_the_judging_before_it_is_spent(chat, keju, tmp_path):
    chat.plan(says="分数：9")
    prices = tmp_path / "prices.toml"
    prices.write_text(
        'currency = "USD"\n[[models]]\nnames = ["judge"]\ninput = 10.0\noutput = 10.0\n'
    )
    # Each reply counts 1,012 tokens; the fourth would not fit.
    keju(
        "grade", "run", "--model", JUDGE, "--base-url", chat.url, "--prices", prices,
        "--max-cost", "0.04",
        "--max-tokens", "50", "--concurrency", "1", status=1,
    )  # fmt: skip
    assert chat.stats()["requests"] == 3


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["grade", "nothing"], "nothing: not a run"),
        (["grade", "run", "--model", "ppocr"], "ppocr cannot judge"),
        (["grade", "run", "--model", "openai:a", "--model", "openai:a"], "is given twice"),
        (["grade", "run", "--task", "T5"], "have none for T5"),
        (["grade", "run", "--rubrics", "none.toml"], "no such file of rubrics"),
        (["grade", "run", "--only", "none.csv"], "none.csv: no such file"),
        (["grade", "run", "--repeats", "0"], "greater than or equal to 1"),
        (["probe", "run"], "Missing"),
        (["align", "run", "none.csv"], "none.csv: no such file"),
        (["sample", "run"], "Missing"),
    ],
)
def test_wrong_use_is_one_line(keju, args, says):
    with pytest.raises((KejuError, TyperException), match=says):
        keju(*args)
