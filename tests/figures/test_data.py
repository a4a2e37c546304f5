"""What is drawn: the numbers of the tables, prepared by pure functions."""

from __future__ import annotations

import math
from itertools import pairwise
from statistics import fmean

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from keju.analysis.asked_items import Answer, AskedItem
from keju.analysis.difficulty import option_errors
from keju.analysis.input_settings import StepRow, StepTable, step_tables
from keju.analysis.run_set import RunSet
from keju.datasets import mini
from keju.datasets.stats import stats
from keju.figures import OfRun, Undrawn, catalogue, of_dataset, of_papers, of_run
from keju.figures.bars import classes as classes_of
from keju.figures.bars import option_rows, own_class_rows
from keju.figures.boxes import task_box_rows
from keju.figures.costs import cost_rows
from keju.figures.datasets import OfDataset
from keju.figures.heatmap import heatmap_rows
from keju.figures.parts import OWN_SOURCE, PAPER_SOURCE, apart, points
from keju.figures.settings import mean_rows, setting_rows
from keju.figures.specimens import specimen_rows
from keju.figures.standings import difference_rows, rank_rows, standing_rows
from keju.figures.task_values import Value, own_values, paper_values
from keju.formatting import percent
from keju.items import ImageRef, Item, Response, Score
from keju.published import SettingMean, published_tables
from keju.reporting.leaderboard_cells import overall_cell, rank_cell
from keju.words import Words


def value(model, number, *, task="T7", higher=True, source=OWN_SOURCE):
    return Value(model, source, "model", task, "", "", "Acc", number, higher)


def test_standings_are_the_leaderboards_numbers(source):
    (board,) = source.boards
    rows = {(row["model"], row["protocol"]): row for row in standing_rows(board)}
    shown = [standing for group in board.groups for standing in group.rows]
    assert len(rows) == 2 * len(shown) == 8
    for standing in shown:
        for place, protocol in enumerate(board.protocols):
            row, cell = rows[standing.model, protocol], overall_cell(standing.overall[place])
            assert f"{row['value']:.1f}" == cell.value
            bounds = standing.overall[place].bounds
            assert (row["low"], row["high"]) == tuple(map(points, bounds or (None, None)))
            assert row["label"] == f"{cell.value} ({row['tasks']}/{row['of']})" or not row["of"]


def test_the_best_by_strict_stands_first(source):
    rows = [row for row in standing_rows(source.boards[0]) if row["protocol"] == "strict"]
    assert [row["value"] for row in rows] == sorted((row["value"] for row in rows), reverse=True)


def test_ranks_are_the_leaderboards_ranks_and_baselines_have_none(source):
    (board,) = source.boards
    rows = {row["model"]: row for row in rank_rows(board, "strict")}
    place = list(board.protocols).index("strict")
    for group in board.groups:
        for standing in group.rows:
            cell = rank_cell(standing.ranks[place])
            if cell.value == "–":
                assert standing.model not in rows
            else:
                row = rows[standing.model]
                told = f"{row['rank']} {row['first']} to {row['last']}"
                assert told == f"{cell.value} {cell.note}"


def test_differences_are_those_of_the_means_and_framed_where_significant(source):
    rows = {(row["above"], row["below"]): row
            for row in difference_rows(source.boards[0], "strict")}  # fmt: skip
    means = {row["model"]: row["value"] for row in standing_rows(source.boards[0])
             if row["protocol"] == "strict"}  # fmt: skip
    assert len(rows) == 6
    for (one, other), row in rows.items():
        assert row["difference"] == pytest.approx(means[one] - means[other], abs=0.02)
        assert row["significant"] is (row["p"] <= 0.05)
        assert rows[other, one]["p"] == row["p"]


def test_the_heatmap_shows_the_values_of_the_task_tables(source):
    rows = heatmap_rows(own_values(source, "MCS-Bench", "strict"))
    found = {(row["model"], row["task"]): row["label"] for row in rows}
    for (model, protocol), result in source.run_set.results.items():
        for task in result.tasks if protocol == "strict" else ():
            assert found[model, task.task] == percent(task.metrics[0].value)


def test_min_max_is_per_task_and_turned_where_less_is_better():
    rows = heatmap_rows([
        value("a", 0.2), value("b", 0.6), value("c", 0.4),
        value("a", 0.1, task="T1", higher=False), value("b", 0.3, task="T1", higher=False),
    ])  # fmt: skip
    scaled = {(row["model"], row["task"]): row["scaled"] for row in rows}
    assert scaled == {
        ("a", "T7"): 0, ("b", "T7"): 1, ("c", "T7"): 0.5, ("a", "T1"): 1, ("b", "T1"): 0,
    }  # fmt: skip
    assert {row["column"] for row in rows} == {"T7", "T1 ↓"}


def test_a_task_on_which_all_are_alike_has_no_scale():
    assert {row["scaled"] for row in heatmap_rows([value("a", 0.5), value("b", 0.5)])} == {None}


def test_a_papers_model_is_named_as_such_even_beside_a_runs_of_its_name():
    rows = heatmap_rows([value("m", 0.1), value("m", 0.9, source=PAPER_SOURCE)])
    assert {row["model"]: row["source"] for row in rows} == {"m": "this run", "m †": "paper"}


def test_the_published_heatmap_is_tables_15_to_20_of_37_models():
    values = paper_values("MCS-Bench")
    assert len({each.model for each in values}) == 37
    assert {each.task for each in values} == {f"T{n}" for n in range(1, 38)}
    tables = published_tables("MCS-Bench")
    cell = tables["Table 16"].columns["T13:Acc"].values["GPT-4o"]
    (own,) = (each.value for each in values if (each.model, each.task) == ("GPT-4o", "T13"))
    assert math.isclose(own * 100, cell)


@given(st.lists(st.floats(0, 1), min_size=3, max_size=40))
def test_a_box_holds_numpys_quartiles_and_whiskers_end_at_models(numbers):
    rows = task_box_rows([value(f"m{n}", number) for n, number in enumerate(numbers)])
    box, *dots = rows
    percents = 100 * np.array(numbers)
    assert [box["q1"], box["median"], box["q3"]] == list(np.quantile(percents, (0.25, 0.5, 0.75)))
    reach = 1.5 * (box["q3"] - box["q1"])
    assert box["low"] in percents
    assert box["low"] >= box["q1"] - reach
    assert box["high"] in percents
    assert box["high"] <= box["q3"] + reach
    assert len(dots) == box["n"] == len(numbers)


def test_boxes_of_printed_domain_means_are_over_37_models_without_their_average():
    (domains,) = (each for each in of_papers(["boxes"]) if each.of == "mcs-bench-domains")
    boxes = [row for row in domains.rows if row["part"] == "box"]
    assert [row["n"] for row in boxes] == [37] * 7
    values = published_tables("MCS-Bench")["Table 3"].columns["Seal:mean"].values
    kept = [value for model, value in values.items() if model != "Average"]
    (seal,) = (row for row in boxes if row["column"] == "Seal")
    assert math.isclose(seal["median"], np.median(kept))


def test_two_models_make_no_box():
    assert task_box_rows([value("a", 0.1), value("b", 0.2)]) == []


def test_setting_bars_are_the_steps_tables_cells(made):
    items = [item for item in _letters() if item.task == "T7"]
    settings = {"image": -0.3, "own-ocr": 0.0, "gold-ocr": 0.3}
    source = made(items, {"openai:m": 0.5}, settings=settings)
    tables = list(step_tables(source.run_set))
    (strict,) = (table for table in tables if table.protocol == "strict")
    rows = setting_rows(tables)
    assert [row["label"] for row in rows] == [percent(value) for value in strict.rows[0].values]
    assert [row["setting"] for row in rows] == list(settings)


def test_figure_5_has_the_papers_metrics_and_their_mean(made):
    asked = [
        Item(id=f"{task}-{n}", benchmark="MCS-Bench", task=task, answer=text, group=f"g{n}")
        for task in ("T2", "T3", "T4")
        for n, text in enumerate(("天，地。玄黃、宇宙", "日，月。盈昃、辰宿"))
    ]
    settings = {"image": -1.0, "own-ocr": 1.0, "gold-ocr": 1.0}
    source = made(asked, {"openai:m": 0.5}, settings=settings)
    (official,) = [f for f in of_run(source, ["settings"]) if f.of == "mcs-bench-official"]
    assert [row["task"] for row in official.rows[::3]] == ["T2 BLEU", "T3 F1", "T4 F1"]
    assert [row["setting"] for row in official.rows[:3]] == list(settings)
    # Without T5 and T6 there is no mean of the five.
    assert not [row for row in official.rows if "mean" in row["task"]]


def test_figure_5s_mean_is_that_of_the_five_values():
    values = {
        "T2": (0.1, 0.2),
        "T3": (0.2, 0.3),
        "T4": (0.3, 0.5),
        "T5": (0.4, 0.6),
        "T6": (0.5, 0.9),
    }
    rows = [
        StepRow(task=name, name=name, metric="m", items=2, values=pair, steps=())
        for name, pair in values.items()
    ]
    table = StepTable("m", "official", ["image", "own-ocr", "image → own-ocr"], rows)
    form = SettingMean(tasks=tuple(values), mean="T2 to T6, mean", title="", caption="")
    means = [row["value"] for row in mean_rows([table], form) if row["task"] == "T2 to T6, mean"]
    assert means == pytest.approx([30, 50])
    rows[4] = rows[4]._replace(values=(0.5, None))
    means = [row["value"] for row in mean_rows([table], form) if row["task"] == "T2 to T6, mean"]
    assert means == pytest.approx([30])


def _letters(count=12):
    return [
        Item(id=f"q{n}", benchmark="MCS-Bench", task="T7", options=("甲", "乙"), answer="AB"[n % 2],
             group=f"g{n}")
        for n in range(count)
    ]  # fmt: skip


def test_option_errors_stand_with_how_often_the_option_is_true(source):
    tables = {table["task"]: table for table in option_errors(source.run_set)}
    figures = {f.of: f for f in of_run(source, ["options"])}
    assert set(figures) == {"t7", "t16"}
    first = tables["T7"]["rows"][0]
    rows = [row for row in figures["t7"].rows if row["option"] == first[0]]
    assert {row["times_true"] for row in rows} == {first[1]}
    known = dict(zip(source.run_set.models, first[2], strict=True))
    assert {row["model"]: row["error_rate"] for row in rows} == {
        model: round(100 * known[model], 4)
        for model in source.run_set.models
        if "base" not in model
    }


def test_the_papers_error_rate_of_an_option_is_that_of_official(source):
    (figure,) = (f for f in of_run(source, ["options"]) if f.of == "t7")
    wrong = {}
    for asked in source.run_set.asked:
        if asked.item.task == "T7":
            option = asked.item.options["ABCD".index(asked.item.answer)]
            for answer in asked.answers:
                for score in answer.scores:
                    if (score.protocol, score.metric) == ("official", "Acc"):
                        wrong.setdefault((option, answer.model), []).append(1 - score.value)
    for row in figure.rows:
        values = wrong[row["option"], row["model"]]
        assert row["official_error_rate"] == round(100 * sum(values) / len(values), 2)
    for option in {row["option"] for row in figure.rows}:
        rows = [row for row in figure.rows if row["option"] == option]
        for mean, rate in (("mean", "error_rate"), ("official_mean", "official_error_rate")):
            expected = pytest.approx(fmean(row[rate] for row in rows), abs=0.01)
            assert [row[mean] for row in rows] == [expected] * len(rows)
    drawn = figure.draw(figure.rows, Words("en")).to_dict()
    shown = [layer["encoding"]["x"]["field"] for layer in drawn["hconcat"][1]["layer"]]
    assert shown == ["mean", "official_mean", "error_rate"]
    none = [{**row, "official_error_rate": None, "official_mean": None} for row in figure.rows]
    drawn = figure.draw(none, Words("en")).to_dict()
    assert len(drawn["hconcat"][1]["layer"]) == 2


def test_the_mean_of_the_papers_error_rates_is_over_their_models():
    """Fig. 16 averages over the models; each protocol's mean is of its own rates."""
    models, strict = ["openai:m", "baseline:chance", "openai:n"], [0.5, 0.9, 0.3]
    rows = option_rows(
        {"task": "T13", "rows": [[name, 4, strict, "", 0, strict] for name in ("行书", "草书")]},
        models,
        ["openai:m", "openai:n"],
        {"task": "T13", "rows": [["行书", 4, [0.0, 0.8, 0.25], "", 0, [0.0, 0.8, 0.25]]]},
    )
    assert {(row["option"], row["mean"], row["official_mean"]) for row in rows} == {
        ("行书", 40.0, 12.5), ("草书", 40.0, None),
    }  # fmt: skip


def test_an_option_that_one_model_was_not_asked_keeps_its_count_and_mean(source):
    (figure,) = (f for f in of_run(source, ["options"]) if f.of == "t7")
    drawn = figure.draw(figure.rows[1:], Words("en")).to_dict()
    counts, rates = drawn["hconcat"]
    for part in (counts, rates["layer"][0]):
        assert "transform" not in part
        options = [row["option"] for row in drawn["datasets"][part["data"]["name"]]]
        assert options == list(dict.fromkeys(row["option"] for row in figure.rows))


def test_the_front_is_of_models_that_none_beats_in_both(source):
    rows = cost_rows(source, source.boards[0], "seconds")
    assert [row["cost"] for row in rows] == sorted(row["cost"] for row in rows)
    for row in rows:
        beaten = any(
            other["role"] != "baseline" and other["cost"] <= row["cost"]
            and other["value"] >= row["value"] and other is not row
            for other in rows
        )  # fmt: skip
        assert row["best"] == (not beaten and row["role"] != "baseline")


def test_a_curve_needs_two_numbers_of_classes(source):
    assert own_class_rows(source.run_set, "classification") == []


def test_the_published_curve_is_figure_3():
    (figure,) = of_papers(["classes"])
    shown = {(row["model"], row["classes"]): row["value"] for row in figure.rows}
    assert shown["GPT-4v †", 100] == 78.3
    assert len(shown) == 20


def test_side_by_side_tells_right_from_wrong_and_cuts_long_answers(source):
    asked = next(iter(source.run_set.asked))
    rows = specimen_rows(source, asked)
    heads = [row["text"] for row in rows if row["kind"] == "head"]
    values = {
        answer.model: score.value
        for answer in asked.answers
        for score in answer.scores
        if (score.protocol, score.metric) == ("strict", "Acc")
    }
    assert len(heads) == 3
    for head in heads:
        sign, name = head.split(" ", 1)
        assert sign == ("●" if values[name.split(" · ")[0]] == 1 else "○")


@given(st.lists(st.floats(0, 100), min_size=1, max_size=12), st.floats(0.1, 10))
def test_labels_are_put_apart_in_their_order(numbers, gap):
    places = apart(numbers, gap)
    for one, other in pairwise(np.argsort(numbers, kind="stable")):
        assert places[other] - places[one] >= gap - 1e-6


def test_labels_far_apart_stay_where_they_are():
    assert apart([1.0, 50.0, 90.0], 4) == [1.0, 50.0, 90.0]


def test_a_datasets_charts_are_its_statistics():
    found = stats(mini.path())
    source = OfDataset("mini", found)
    figures = {figure.kind: figure for figure in of_dataset(source)}
    assert set(figures) == set(catalogue.OF_DATASET)
    counts = {row["task"]: row["n_q"] for row in figures["questions"].rows}
    assert counts == dict(found.tasks.select("task", "n_q").iter_rows())
    dynasties = sum(r["count"] for r in figures["strata"].rows if r["stratum"] == "dynasty")
    of_dynasty = found.strata.filter(pl.col("stratum") == "dynasty")
    assert dynasties == of_dynasty["questions"].sum()


def test_the_papers_distributions_are_their_tables():
    figures = {f.name: f for f in of_papers(["questions", "strata", "pictures"])}
    assert sum(row["n_q"] for row in figures["questions-mcs-bench"].rows) == 6500
    pages = {row["name"]: row["count"] for row in figures["strata-ancientdoc"].rows}
    assert (pages["Ming"], pages["Art"]) == (1148, 234)


@pytest.mark.parametrize("kind", catalogue.OF_RUN)
def test_one_model_on_one_item_is_drawn_or_says_why(made, kind):
    source = made(_letters(1), {"openai:m": 1.0})
    for each in of_run(source, [kind]):
        assert not isinstance(each, Undrawn) or (each.why and "\n" not in each.why)
        if not isinstance(each, Undrawn):
            assert each.rows


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_what_is_no_number_is_not_drawn(number):
    assert points(number) is None


def test_a_runs_curve_is_its_accuracy_by_number_of_candidates():
    asked, scores = [], {4: [1.0, 1.0], 9: [1.0, 0.0]}
    for classes, values in scores.items():
        for n, each in enumerate(values):
            pictures = tuple(
                ImageRef(path=f"images/{k}.png", sha256=f"{k}", size=9, width=9, height=9)
                for k in range(classes + 1)
            )
            item = Item(id=f"{classes}-{n}", benchmark="OBI-Bench", task="classification",
                        query="How", images=pictures, relevant=(1,))  # fmt: skip
            score = Score(key="k", item=item.id, model="m", benchmark="OBI-Bench",
                          task="classification", query="How", protocol="official", metric="Acc@1",
                          value=each, stats={"numerator": each, "denominator": 1.0})  # fmt: skip
            response = Response(key="k", item=item.id, model="m", benchmark="OBI-Bench",
                                task="classification", query="How", status="answered")  # fmt: skip
            asked.append(AskedItem(item, None, [Answer("m", response, [score])]))
    run_set = RunSet(runs=[], by_model={}, asked=asked, not_asked={})
    found = own_class_rows(run_set, "classification")
    rows = {(row["classes"], row["value"], row["guessing"]) for row in found}
    assert rows == {(4, 100.0, 25.0), (9, 50.0, 11.1111)}
    (figure,) = classes_of(OfRun(run_set, []))
    told = {row["source"] for row in figure.rows}
    assert told == {"this run", "paper"}
