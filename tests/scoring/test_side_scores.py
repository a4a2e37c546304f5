"""A side of a comparison keeps the scores that are compared, and counts the others."""

from __future__ import annotations

from msgspec.structs import replace

from keju.items import Score
from keju.scoring.side_scores import SideScores, select_shared


def score(item, value=1.0, **fields):
    known = {
        "key": "k", "model": "m", "benchmark": "mcs-bench", "task": "T1", "protocol": "strict",
        "metric": "CharAcc", "group": f"book of {item}",
        "stats": {"numerator": value or 0.0, "denominator": 2.0},
    }  # fmt: skip
    return Score(
        item=item, value=value, reason="" if value is not None else "empty", **known | fields
    )


def test_main_metrics_are_kept_and_errors_under_strict():
    metrics = ("CharAcc", "CER_recognition", "CER_layout", "F1")
    scores = [score("a", metric=metric) for metric in metrics]
    side = SideScores("strict", scores)
    assert [len(side.of("T1", "", metric).places) for metric in metrics] == [1, 1, 1, 0]
    official = SideScores("official", [replace(each, protocol="official") for each in scores])
    assert [len(official.of("T1", "", metric).places) for metric in metrics] == [0, 0, 0, 0]
    assert official.tasks == side.tasks == {"T1"}


def test_scores_of_the_other_protocol_count_as_reasons_alone():
    side = SideScores("strict", [score("a", None, protocol="official", task="T2")])
    assert (side.tasks, side.reasons) == (set(), {"empty"})


def test_a_later_score_of_an_item_replaces_the_one_before():
    side = SideScores("strict", [score("a", 0.5), score("b", 1.0), score("a", 0.25)])
    one = side.of("T1", "", "CharAcc")
    kept = select_shared(one, one)
    assert (kept.groups, kept.items) == (["book of a", "book of b"], 2)
    assert [stats["numerator"] for stats in kept.first] == [0.25, 1.0]
    again = SideScores("strict", [score("a", None), score("a", 0.5), score("b", None)])
    assert again.of("T1", "", "CharAcc").unscored == {("b", 1): "empty"}
    assert again.of("T1", "", "CharAcc").all_places == {("a", 1), ("b", 1)}


def test_shared_scores_have_the_order_of_the_first_side():
    one = SideScores("strict", map(score, "cab")).of("T1", "", "CharAcc")
    other = SideScores("strict", [score("a", 0.5), score("c", 0.25), score("d")])
    shared = select_shared(one, other.of("T1", "", "CharAcc"))
    assert shared.groups == ["book of c", "book of a"]
    assert [stats["numerator"] for stats in shared.second] == [0.25, 0.5]
    assert select_shared(one, other.of("T2", "", "CharAcc")) is None


def test_items_that_are_not_compared_are_counted_once():
    scores = [score("a"), score("b"), score("b", protocol="official")]
    side = SideScores("strict", scores, among={("T1", "", "a")})
    assert side.dropped == {("T1", "", "b")}
    assert (side.count_dropped("MCS-Bench"), side.count_dropped("OBI-Bench")) == (1, 0)
    assert side.items_of("MCS-Bench") == {("T1", "", "a")}
    assert list(side.of("T1", "", "CharAcc").places) == [("a", 1)]
