"""Strata, hardest items and missed options, over answers whose right ones are known."""

from __future__ import annotations

from types import SimpleNamespace

import msgspec
import pytest

from keju.analysis.breakdowns import breakdowns
from keju.analysis.difficulty import difficulty, option_errors
from keju.analysis.run_set import load_runs
from keju.items import ImageRef, Item, Response, Score
from keju.runs import RunFolder, RunManifest
from keju.scoring import score_run

OPTIONS = ("唐", "宋")
WRONG = {("openai:m", "T7", 4), ("openai:m", "T7", 5), ("openai:n", "T7", 5), ("openai:n", "T5", 0)}


@pytest.fixture(scope="module")
def run_set(tmp_path_factory):
    """Two models and a baseline that is always wrong, eight questions in each of two tasks."""
    run = RunFolder(tmp_path_factory.mktemp("breakdowns") / "strata")
    items = [
        Item(
            id=f"{task}-{n}", benchmark="MCS-Bench", task=task, options=OPTIONS,
            answer="A" if n < 4 else "B", group=f"book {n // 2}",
            images=(ImageRef(path="x", sha256="x", width=500 * (1 + n % 2), height=1000, size=1),),
            metadata={
                "file": f"{task}/{n}.jpg", "dynasty": "唐" if n < 4 else "宋", "place": "one",
            },
        )
        for task in ("T5", "T7")
        for n in range(8)
    ]  # fmt: skip
    run.write_items(items)
    models = ["openai:m", "openai:n", "baseline:chance"]
    run.write_manifest(
        RunManifest(
            keju="0", dataset="d", dataset_version="1", dataset_hash="h",
            models={name: {} for name in models},
        )
    )  # fmt: skip
    for model in models:
        for task in ("T5", "T7"):
            path = run.responses_path(model, task)
            path.parent.mkdir(parents=True, exist_ok=True)
            lines = []
            for n in range(8):
                right, wrong = ("A", "B") if n < 4 else ("B", "A")
                missed = model == "baseline:chance" or (model, task, n) in WRONG
                response = Response(
                    key=f"{model}{task}{n}", item=f"{task}-{n}", model=model,
                    benchmark="MCS-Bench", task=task, status="answered",
                    text=wrong if missed else right,
                )  # fmt: skip
                lines.append(msgspec.json.encode(response))
            path.write_bytes(b"\n".join(lines) + b"\n")
    score_run(run)
    return load_runs([run.path])


def test_a_stratum_has_its_items_the_mean_of_the_models_and_each_models_value(run_set):
    tables = {(table["task"], table["kind"]): table for table in breakdowns(run_set)}
    rows = {row[0]: row for row in tables["T7", "dynasty"]["rows"]}
    assert (rows["宋 Song"].items, rows["宋 Song"].mean) == (4, 0.625)
    assert rows["宋 Song"].values == [0.5, 0.75, 0.0]
    assert rows["唐 Tang"].mean == 1
    assert (rows["宋 Song"].low, rows["宋 Song"].high) == (None, None)  # four books are too few
    assert [row[0] for row in tables["T7", "dynasty"]["rows"]] == ["宋 Song", "唐 Tang"]
    assert ("T7", "place") not in tables


def test_a_kind_that_names_each_item_has_no_table(run_set):
    kinds = list(dict.fromkeys(table["kind"] for table in breakdowns(run_set)))
    assert kinds == ["dynasty", "group", "resolution"]


def test_over_all_tasks_a_stratum_is_held_against_the_tasks_own_means(run_set):
    tables = {(table["task"], table["kind"]): table for table in breakdowns(run_set)}
    rows = {row[0]: row for row in tables["", "dynasty"]["rows"]}
    assert rows["宋 Song"][1] == 8
    assert rows["宋 Song"][2] == pytest.approx(-0.0625)
    assert rows["唐 Tang"][2] == pytest.approx(0.0625)
    sizes = tables["", "resolution"]["rows"]
    assert [row[0] for row in sizes] == ["0.25 to 1 megapixels", "1 to 4 megapixels"]


def test_the_hardest_item_is_the_one_furthest_below_its_task(run_set):
    found = difficulty(run_set)
    first = found.items[0]
    assert (first.id, first.value, first.below) == ("T7-5", 0.0, -0.75)
    assert (first.nothing, first.models, first.best_value) == (2, 2, 0.0)
    assert found.left_out == []
    assert [tuple(each) for each in found.spreads] == [
        ("T5", 8, 7, 7, 0, 0), ("T7", 8, 6, 6, 1, 1),
    ]  # fmt: skip


def test_missed_options_stand_beside_how_often_they_are_true(run_set):
    table = next(table for table in option_errors(run_set) if table["task"] == "T7")
    assert table["rows"] == [
        ["唐", 4, [0.0, 0.0, 1.0], "", 3, [0.0, 0.0, 1.0]],
        ["宋", 4, [0.5, 0.25, 1.0], "唐 (3)", 0, [0.5, 0.25, 1.0]],
    ]


def scored(model: str, book: int, top: float, bottom: float, metric: str, n: int = 0) -> Score:
    return Score(
        key="k", item=f"{book}-{n}", model=model, benchmark="MCS-Bench",
        task="T3" if metric == "F1" else "T7", protocol="strict", metric=metric,
        value=top / bottom, group=f"book {book:02}",
        stats={"numerator": top, "denominator": bottom},
    )  # fmt: skip


def stub(scores: list[Score]) -> SimpleNamespace:
    """The parts of a `RunSet` that breakdowns use, with one item in another dynasty."""
    task = scores[0].task
    names = dict.fromkeys((score.item, score.group) for score in scores)
    items = {
        (task, "", name): Item(id=name, benchmark="MCS-Bench", task=task, answer="A",
                               group=group, metadata={"dynasty": "宋", "place": "x"})
        for name, group in names
    }  # fmt: skip
    models = list(dict.fromkeys(score.model for score in scores))
    other = (task, "", "other")
    items[other] = Item(id="other", benchmark="MCS-Bench", task=task, metadata={"dynasty": "唐"})
    more = [scored(model, 99, 1, 1, scores[0].metric) for model in models]
    more = [msgspec.structs.replace(score, item="other", group="other") for score in more]
    return SimpleNamespace(
        mains={"strict": {(task, ""): [*scores, *more]}}, items=items, models=models,
        by_model={model: SimpleNamespace(role="") for model in models},
    )  # fmt: skip


def row_of(scores: list[Score]) -> list[object]:
    (table,) = (each for each in breakdowns(stub(scores)) if each["kind"] == "dynasty")
    return next(row for row in table["rows"] if row[0] == "宋 Song")


def test_the_interval_is_that_of_the_mean_over_models_that_is_printed():
    """Fault 3 of the study: F1 of .845 and .14 printed 49.3 (23.6 to 24.6).

    The second model writes ten times as much, so that sums over both are nearly its own.
    """
    scores = []
    for book in range(12):
        scores.append(scored("a", book, 84.5 + (book % 2) - 0.5, 100, "F1"))
        scores.append(scored("b", book, 140 + 2 * (book % 3) - 2, 1000, "F1"))
    _, items, mean, low, high, values, *_ = row_of(scores)
    assert (items, values) == (12, [0.845, 0.14])
    assert mean == 0.4925
    assert low < mean < high
    assert low > 0.48
    assert high < 0.51


def test_a_model_with_a_tenth_of_the_items_has_its_full_weight_in_the_interval():
    scores = [scored("a", book, float(n < 2), 1, "Acc", n) for book in range(12) for n in range(10)]
    scores += [scored("b", book, float(book != 0), 1, "Acc", 0) for book in range(12)]
    _, _, mean, low, high, values, *_ = row_of(scores)
    assert values == pytest.approx([0.2, 11 / 12], abs=1e-4)
    assert mean == pytest.approx((0.2 + 11 / 12) / 2, abs=1e-4)
    assert low < mean < high
    assert low > 0.3  # pooled over items it was 18 to 30 %
    few = [score for score in scores if score.model == "a" or score.group < "book 05"]
    assert row_of(few)[3:5] == (None, None)  # the second model has five books
