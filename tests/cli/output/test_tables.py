"""What the command line prints is never obeyed by the terminal nor read as markup."""

from __future__ import annotations

import io
import json

import pytest
from rich.cells import cell_len
from rich.console import Console

from keju.cli.app import print_json
from keju.cli.output.console import plain_table
from keju.cli.output.listings import stats_tables, tasks_tables
from keju.cli.output.score_tables import scores_tables, summary_lines
from keju.datasets import Dataset, mini
from keju.datasets.stats import stats
from keju.definitions import tasks
from keju.items import Item, Response
from keju.scoring import Tally, aggregate, score_answer, scores_frame
from keju.scoring.score import score_samples
from keju.scoring.scoring_sample import Defect, ScoringSample

HOSTILE = "\x1b[2J\x1b]0;t\x07[red]m[/red]:smile:\u202e"
SHOWN = "\\x1b[2J\\x1b]0;t\\x07[red]m[/red]:smile:\\u202e"


def printed(*things: object, width: int = 200) -> str:
    console = Console(file=io.StringIO(), width=width)
    console.print(*things)
    return console.file.getvalue()


@pytest.mark.parametrize("width", [200, 80, 60])
def test_a_number_is_never_cut_where_the_terminal_is_narrow(width: int):
    table = plain_table("model", "task", "calls", "images", "not asked", right=[2, 3])
    table.add_row("openai:good-7b · own-ocr", "T2 translation", "1,762", "12,928", "66: no " * 9)
    lines = printed(table, width=width).splitlines()
    assert max(map(cell_len, lines)) <= width
    assert any("1,762" in line and "12,928" in line for line in lines)


@pytest.mark.parametrize("place", ["heading", "cell"])
def test_the_words_of_a_table_are_shown_as_they_stand(place: str):
    table = plain_table(HOSTILE if place == "heading" else "model")
    table.add_row(HOSTILE if place == "cell" else "x")
    assert SHOWN in printed(table)
    assert not {"\x1b", "\x07", "\u202e"} & set(printed(table))


def test_a_models_name_from_a_file_is_shown_as_it_stands():
    item = Item(id="a", benchmark="MCS-Bench", task="T1", answer="天", answer_simplified="天")
    response = Response(
        key="k", item="a", model=HOSTILE, benchmark="MCS-Bench", task="T1", status="answered",
        text="天",
    )  # fmt: skip
    shown = printed(*scores_tables(aggregate(score_answer(item, response)), [HOSTILE]))
    assert "\x1b" not in shown
    assert "[red]m[/red]" in shown.replace("\n", "")


def test_the_table_of_numbers_says_its_units_and_what_the_reference_split_is():
    found = printed(*stats_tables(stats(mini.path())))
    assert "mean length in characters without white space" in found
    reference = sum(item.split == "reference" for item in Dataset.open(mini.path()).items())
    assert reference
    assert f"{reference} questions are in the reference split: labelled examples" in found


def test_json_is_utf8_on_any_terminal(capfdbinary: pytest.CaptureFixture[bytes]):
    print_json({"書": "𠀀"})
    assert json.loads(capfdbinary.readouterr().out.decode()) == {"書": "𠀀"}


def test_the_tasks_fit_eighty_columns_without_a_broken_word():
    listed = tasks()
    shown = printed(*tasks_tables(listed), width=80)
    assert max(cell_len(line) for line in shown.splitlines()) <= 80
    words = set(shown.split())
    for each in listed:
        assert {each.id, *each.name_zh.split(), *each.name_en.split()} <= words
        for query in each.queries:
            assert {query.form, *query.official[:1], *query.strict[:1]} <= words


def test_what_a_reader_of_a_value_must_know_stands_below_the_table():
    item = Item(id="a", benchmark="OBI-Bench", task="recognition", query="Yes-or-No", answer="Yes")
    response = Response(
        key="k", item="a", model="m", benchmark="OBI-Bench", task="recognition",
        query="Yes-or-No", status="answered", text="Yes",
    )  # fmt: skip
    shown = printed(*scores_tables(aggregate(score_answer(item, response)), ["m"]))
    assert shown.count("[1] 100.0") == 2
    assert "\n[1] one-sided: the true answer is always yes" in shown


def test_each_setting_has_its_own_column():
    item = Item(
        id="a", benchmark="MCS-Bench", task="T6", answer="天地玄黃", answer_simplified="天地玄黄"
    )
    samples = [
        ScoringSample(
            item,
            Response(
                key=f"{model}{setting}", item="a", model=model, benchmark="MCS-Bench", task="T6",
                status="answered", text=text, setting=setting,
            ),
        )
        for model, setting, text in (
            ("m", "image", "天地玄黃"), ("m", "gold-ocr", "天地"), ("n", "image", "天")
        )
    ]  # fmt: skip
    scores = score_samples(samples, ("official", "printed"))
    results = aggregate(score for score in scores if score.metric.startswith("ANLS"))
    shown = printed(*scores_tables(results, "mn"))
    assert "gold-ocr" in shown
    official, biten = (
        next(line.split()[-3:] for line in shown.splitlines() if name in line)
        for name in ("official ANLS", "printed ANLS_biten")
    )
    assert (official, biten) == (["100.0", "50.0", "25.0"], ["100.0", "0.0", "0.0"])


def test_what_is_unscored_is_said_once_a_reason_and_names_an_item():
    defects = [Defect(), Defect(answer="no text"), Defect(answer="no text")]
    samples = []
    for number, defect in enumerate(defects):
        item = Item(
            id=f"i{number}",
            benchmark="MCS-Bench",
            task="T3",
            answer="天，",
            answer_simplified="天，",
        )
        response = Response(
            key=item.id, item=item.id, model="m", benchmark="MCS-Bench", task="T3",
            status="answered", text="天，",
        )  # fmt: skip
        samples.append(ScoringSample(item, response, defect))
    summary = Tally([scores_frame(score_samples(samples))]).summary("m", {})
    (line,) = summary_lines([summary])
    assert line == (
        "unscored: F1, Precision, Recall, F1_macro of 2 responses (first: T3 i1): no text"
    )
    (line,) = summary_lines([summary, summary])
    assert "of 4 responses (first: T3 i1)" in line
