"""OBI-Bench recognition in both protocols."""

import json

import pytest

from keju.definitions.references import NO_BOXES
from keju.items import Box, ImageRef
from keju.scoring import aggregate, score_answer
from tests.support.score_json import to_json

TASK = "recognition"


def by_metric(pair):
    return {(score.protocol, score.metric): score for score in score_answer(*pair)}


def task_metrics(pairs, protocol):
    (result,) = aggregate([score for pair in pairs for score in score_answer(*pair, (protocol,))])
    return {each.metric: each for each in result.tasks[0].metrics}


def boxes(*rows):
    return tuple(Box(x0=a, y0=b, x1=c, y1=d) for a, b, c, d in rows)


@pytest.fixture
def ask(make):
    """A pair of one query: ``ask(query, answer, text, …)``."""
    return lambda query, answer, text, **kw: make(TASK, answer, text, query=query, **kw)


@pytest.fixture
def vectors(shared):
    return json.loads((shared / "golden" / "obi_public.json").read_text("utf-8"))


def test_every_count_has_the_reference_error(vectors, ask):
    pairs = []
    for number, row in enumerate(vectors["how"]):
        pairs.append(ask("How", str(row["truth"]), str(row["pred"]), name=str(number)))
        found = by_metric(pairs[-1])
        assert found["official", "MRE"].value == pytest.approx(row["rel_error"], abs=1e-12)
        clipped = 1 - min(1, row["rel_error"])
        assert found["strict", "CountAcc"].value == pytest.approx(clipped, abs=1e-12)
    mre = task_metrics(pairs, "official")["MRE"].value
    assert mre == pytest.approx(vectors["mre"], abs=1e-9)


def test_every_set_of_boxes_has_the_reference_overlap(vectors, ask):
    for row in vectors["where"]:
        pair = ask("Where", "", json.dumps(row["pred"]), boxes=boxes(*row["gt"]))
        found = by_metric(pair)
        for protocol in ("official", "strict"):
            value = found[protocol, "mIoU"].value
            assert value == pytest.approx(row["miou_max"], abs=1e-9)


def test_yes_or_no_is_the_first_word_officially_and_the_answer_in_strict(ask):
    found = by_metric(ask("Yes-or-No", "Yes", "There is no doubt. Answer: Yes"))
    assert found["official", "Acc"].value == 0
    assert found["strict", "BalancedAcc"].value == 1


def test_no_word_for_either_is_wrong_and_counted(ask):
    found = by_metric(ask("Yes-or-No", "No", "It is hard to tell."))
    assert found["official", "Acc"].value == found["strict", "BalancedAcc"].value == 0
    assert found["strict", "BalancedAcc"].verdict == "unparsable"


def test_balanced_accuracy_is_the_mean_of_both_recalls(ask):
    truths, said = ["Yes"] * 8 + ["No"] * 2, ["Yes"] * 9 + ["No"]
    pairs = [
        ask("Yes-or-No", truth, text, name=str(number))
        for number, (truth, text) in enumerate(zip(truths, said, strict=True))
    ]
    balanced = task_metrics(pairs, "strict")["BalancedAcc"]
    assert balanced.value == pytest.approx((1 + 0.5) / 2)
    assert balanced.note == ""
    assert task_metrics(pairs, "official")["Acc"].value == pytest.approx(0.9)


def test_a_failure_is_wrong_in_its_own_class(ask):
    pairs = [
        ask("Yes-or-No", "Yes", "Yes", name="a"),
        ask("Yes-or-No", "No", "", name="b", status="failed"),
    ]
    balanced = task_metrics(pairs, "strict")["BalancedAcc"]
    assert (balanced.value, balanced.without_failures) == (0.5, 1)


def test_a_set_without_negatives_is_flagged_as_one_sided(ask):
    scores = score_answer(*ask("Yes-or-No", "Yes", "Yes"))
    for protocol, metric in (("official", "Acc"), ("strict", "BalancedAcc")):
        note = to_json(scores)[protocol]["notes"]["recognition/Yes-or-No"][metric]
        assert note.startswith("one-sided: the true answer is always yes")


def test_no_number_is_an_error_of_one(ask):
    found = by_metric(ask("How", "12", "I see many characters."))
    assert found["official", "MRE"].value == found["strict", "MedRE"].value == 1
    assert found["strict", "CountAcc"].value == 0


def test_the_median_is_not_moved_by_one_wild_count(ask):
    pairs = [ask("How", "10", text, name=text) for text in ("11", "12", "100000")]
    found = task_metrics(pairs, "strict")
    assert found["MedRE"].value == pytest.approx(0.2)
    assert found["MedRE"].item_mean > 3000
    assert found["CountAcc"].value == pytest.approx((0.9 + 0.8) / 3)


def test_without_an_answer_the_boxes_are_counted(ask):
    pair = ask("How", "", "2", boxes=boxes((0, 0, 1, 1), (2, 2, 3, 3)))
    assert by_metric(pair)["official", "MRE"].value == 0


def test_f1_of_boxes_sums_over_pictures(ask):
    near = boxes((0, 0, 10, 10))
    pairs = [
        ask("Where", "", "[0, 0, 10, 10]", boxes=near, name="a"),
        ask("Where", "", "[[0, 0, 10, 7]]", boxes=near, name="b"),
        ask("Where", "", "none", boxes=near, name="c"),
    ]
    found = task_metrics(pairs, "strict")
    # IoU 0.7 counts at .5, .55, .6, .65 and .7, so half of the thresholds; five boxes in all.
    assert found["F1_IoU"].value == pytest.approx(2 * (1 + 0.5) / 5)
    assert found["mIoU"].value == pytest.approx(1.7 / 3)


def test_boxes_in_shares_of_the_side_are_read_by_the_declared_convention(ask, monkeypatch):
    item, response = ask(
        "Where",
        "",
        "[250, 100, 500, 200]",
        boxes=boxes((100, 500, 200, 1000)),
        images=(ImageRef(path="p", sha256="0", width=1000, height=2000, size=1),),
    )
    query = next(each for each in _queries() if each.name == "Where")
    declared = type(query)(**{f: getattr(query, f) for f in query.__struct_fields__}
                           | {"box_convention": "yxyx-1000"})  # fmt: skip
    monkeypatch.setattr("keju.scoring.scoring_sample.query_of", lambda item: declared)
    assert by_metric((item, response))["strict", "mIoU"].value == pytest.approx(1)


def _queries():
    from keju.definitions import task

    return task(TASK).queries


def test_what_the_item_lacks_is_said(ask):
    assert "true boxes" in by_metric(ask("Where", NO_BOXES, "[1,2,3,4]"))["strict", "mIoU"].reason
    assert "not a number" in by_metric(ask("How", "many", "3"))["strict", "CountAcc"].reason
    assert "neither" in by_metric(ask("Yes-or-No", "月", "Yes"))["official", "Acc"].reason


def test_an_answer_mostly_in_chinese_is_flagged(ask):
    verdicts = [
        by_metric(ask("What", "The image shows a bone.", text))["official", "cosine"].verdict
        for text in (
            "图中是一块甲骨。",
            "It shows the character 月.",
            "龟甲 (a turtle shell) 上的甲骨文字",
        )
    ]
    assert verdicts == ["off-language", "ok", "off-language"]


def test_an_answer_in_the_language_of_a_chinese_truth_is_not_flagged(make):
    pair = make("deciphering", "月亮", "月亮", query="What")
    assert by_metric(pair)["strict", "chrF"].verdict == "ok"
