"""A side of a comparison keeps the scores that are compared, and counts the others."""

from __future__ import annotations

from msgspec.structs import replace

from keju.items import Score
from keju.scoring import scores_frame
from keju.scoring.model_comparison import SideScores, compare_tasks


def score(item, value=1.0, **fields):
    known = {
        "key": "k", "model": "m", "benchmark": "mcs-bench", "task": "T1", "protocol": "strict",
        "metric": "CharAcc", "group": f"book of {item}",
        "stats": {"numerator": value or 0.0, "denominator": 2.0},
    }  # fmt: skip
    return Score(
        item=item, value=value, reason="" if value is not None else "empty", **known | fields
    )


def side(scores, protocol="strict", among=None):
    return SideScores(protocol, scores_frame(scores), among=among)


def items(rows):
    return rows["item"].to_list()


def test_main_metrics_are_kept_and_errors_under_strict():
    metrics = ("CharAcc", "CER_recognition", "CER_layout", "F1")
    scores = [score("a", metric=metric) for metric in metrics]
    strict = side(scores)
    assert [len(strict.of("T1", "", metric)) for metric in metrics] == [1, 1, 1, 0]
    official = side([replace(each, protocol="official") for each in scores], "official")
    assert [len(official.of("T1", "", metric)) for metric in metrics] == [0, 0, 0, 0]
    assert official.tasks == strict.tasks == {"T1"}


def test_scores_of_the_other_protocol_count_as_reasons_alone():
    only = side([score("a", None, protocol="official", task="T2")])
    assert (only.tasks, only.reasons) == (set(), {"empty"})


def test_a_later_score_of_an_item_replaces_the_one_before():
    one = side([score("a", 0.5), score("b", 1.0), score("a", 0.25)])
    other = side([score("b", 1.0), score("a", 0.5), score("c", 1.0)])
    (compared,) = compare_tasks(one, other)
    assert (compared.items, compared.groups) == (2, 2)
    assert (compared.first, compared.second) == (1.25 / 4, 1.5 / 4)
    again = side([score("a", None), score("a", 0.5), score("b", None)]).of("T1", "", "CharAcc")
    assert dict(zip(items(again), again["value"], strict=True)) == {"a": 0.5, "b": None}


def test_items_that_are_not_compared_are_counted_once():
    scores = [score("a"), score("b"), score("b", protocol="official")]
    only = side(scores, among={("T1", "", "a")})
    assert only.dropped == {("T1", "", "b")}
    alone = [only.count_alone(side([]), name) for name in ("MCS-Bench", "OBI-Bench")]
    assert alone == [2, 0]
    assert only.count_alone(only, "MCS-Bench") == 1
    assert items(only.of("T1", "", "CharAcc")) == ["a"]
