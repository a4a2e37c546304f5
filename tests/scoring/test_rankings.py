"""Tasks of pairs: what each pair was answered becomes one ranking an item."""

from __future__ import annotations

import csv
import json
from math import comb, isclose

import pytest

from keju.definitions import task
from keju.items import ImageRef, Item, Response
from keju.scoring import aggregate
from keju.scoring.score import score_samples
from keju.scoring.scoring_sample import ScoringSample


def gallery(candidates, relevant, *, query="How", task_id="retrieval", name="q1"):
    images = tuple(
        ImageRef(path=f"{place}.png", sha256=f"{place:064}", width=9, height=9, size=9)
        for place in range(candidates + 1)
    )
    return Item(
        id=name, benchmark="OBI-Bench", task=task_id, query=query, images=images, relevant=relevant
    )


def answered(item, texts, *, model="m", round_=1, status="answered"):
    return [
        ScoringSample(
            item,
            Response(
                key=f"{item.id}-{place}", item=item.id, model=model, benchmark=item.benchmark,
                task=item.task, query=item.query, status=status if text else "failed",
                text=text, candidate=place, round=round_,
            ),
        )
        for place, text in enumerate(texts, start=1)
    ]  # fmt: skip


def values(samples, protocol):
    return {
        score.metric: score.value
        for score in score_samples(samples, (protocol,))
        if score.reason == ""
    }


def test_golden_retrieval_is_reached_through_answers_in_words(shared):
    for place, golden in enumerate(
        json.loads((shared / "golden/obi_public.json").read_text())["retrieval"]
    ):
        scores, relevant = golden["scores"], golden["relevant"]
        item = gallery(len(scores), tuple(each + 1 for each in relevant), name=f"q{place}")
        found = values(answered(item, [f"Probability: {each}" for each in scores]), "official")
        assert isclose(found["Recall@1"], golden["recall@1_expected"], abs_tol=1e-12)
        assert isclose(found["Recall@3"], golden["recall@3_expected"], abs_tol=1e-12)
        assert isclose(found["Recall@10"], golden["recall@10_expected"], abs_tol=1e-12)
        assert isclose(found["Precision@5"], golden["precision@5_expected"], abs_tol=1e-12)
        assert "mAP@5" not in found


def test_items_that_search_for_one_image_are_one_unit():
    items = [gallery(2, (1,), name="q1"), gallery(3, (2,), name="q2")]
    samples = [sample for item in items for sample in answered(item, ["Probability: 1"] * 2)]
    assert {score.unit for score in score_samples(samples, ("strict",))} == {f"{0:064}"}


@pytest.mark.parametrize(
    ("right", "probabilities", "precision_at_5", "average_precision"),
    [
        ((1, 2), [0.9, 0.8, 0.7, 0.6, 0.5, 0.4], 0.4, 1.0),
        ((4, 5), [0.9, 0.8, 0.7, 0.6, 0.5, 0.4], 0.4, (1 / 4 + 2 / 5) / 2),
        ((1, 6), [0.9, 0.8, 0.7, 0.6, 0.5, 0.4], 0.2, (1 + 2 / 6) / 2),
        ((6,), [0.9, 0.8, 0.7, 0.6, 0.5, 0.4], 0.0, 1 / 6),
        # All tied: the expectation over the orders of two right ones among three.
        ((1, 2), [0.8, 0.8, 0.8], 0.4, (1 + 5 / 6 + (1 / 2 + 2 / 3) / 2) / 3),
        # Two tied for the first place, one of them right.
        ((1,), [0.8, 0.8, 0.1], 0.2, 0.75),
    ],
)
def test_precision_at_5_and_mean_average_precision_are_two_metrics(
    right, probabilities, precision_at_5, average_precision
):
    item = gallery(len(probabilities), right, task_id="retrieval")
    found = values(answered(item, [str(each) for each in probabilities]), "official")
    assert found["Precision@5"] == pytest.approx(precision_at_5)
    assert found["mAP"] == pytest.approx(average_precision)


def test_the_printed_map_at_5_fits_precision_and_not_average_precision(shared):
    """Ten queries with four relevant images: precision at 5 has steps of .02 up to .80."""
    with (shared / "published" / "obi_results_long.csv").open(encoding="utf-8") as stream:
        rows = [row for row in csv.DictReader(stream) if row["metric"] == "mAP@5"]
    printed = [float(row["value"]) for row in rows if "IJDH" in str(row)]
    assert len(printed) == 17
    assert all(isclose(value * 50, round(value * 50), abs_tol=1e-6) for value in printed)
    assert max(printed) == 0.8


def test_yes_or_no_is_the_expectation_over_the_orders_of_the_yeses():
    item = gallery(8, (2,), query="Yes-or-No", task_id="classification")
    said = ["Yes.", "Yes", "No", "no", "Yes, the same.", "No", "No", "No"]
    assert values(answered(item, said), "strict")["Acc@1"] == pytest.approx(1 / 3)
    assert values(answered(item, said), "official") == {"Acc@5": 1.0}
    all_yes = values(answered(item, ["Yes"] * 8), "official")
    assert all_yes["Acc@5"] == pytest.approx(1 - comb(7, 5) / comb(8, 5))
    assert values(answered(item, ["Yes"] * 8), "strict")["AUC"] == 0.5


def test_the_same_probability_for_all_earns_chance():
    item = gallery(10, (3, 7))
    found = values(answered(item, ["0.8"] * 10), "strict")
    assert found["Acc@1"] == pytest.approx(0.2)
    assert found["AUC"] == 0.5


def test_failed_and_unreadable_answers_rank_last_and_are_said():
    item = gallery(4, (1,))
    samples = answered(item, ["0.1", "", "perhaps, who knows", "0.05"])
    scores = [score for score in score_samples(samples, ("strict",)) if score.metric == "Acc@1"]
    assert scores[0].value == 1
    assert scores[0].stats["failed"] == 1
    assert scores[0].stats["unparsable"] == 1
    assert scores[0].extracted == "1 (0.1) > 4 (0.05) > 2 (–) = 3 (–)"
    (result,) = aggregate(scores)
    (metric,) = result.tasks[0].metrics
    assert metric.note == (
        "1 of 4 pairs have no answer, and the answers of 1 could not be extracted; "
        "these pairs rank last"
    )


def test_a_gallery_whose_requests_all_failed_earns_nothing():
    for query in ("How", "Yes-or-No"):
        scores = score_samples(answered(gallery(4, (1, 2), query=query), [""] * 4))
        assert {score.status for score in scores} == {"failed"}
        assert {score.value for score in scores} == {0.0}


def test_a_gallery_that_is_not_finished_is_unscored():
    item = gallery(5, (1,))
    (score, *_) = score_samples(answered(item, ["0.9", "0.1"]), ("strict",))
    assert score.value is None
    assert score.reason == "3 of 5 candidates have no response yet"


def test_a_relevant_candidate_that_is_not_there_is_named():
    (score, *_) = score_samples(answered(gallery(2, (7,)), ["0.9", "0.1"]), ("strict",))
    assert score.value is None
    assert "not among the item's images" in score.reason


def test_models_rounds_and_items_make_rankings_of_their_own():
    one, two = gallery(3, (1,), name="a"), gallery(3, (1,), name="b")
    right, wrong = ["0.9", "0", "0"], ["0", "0.9", "0.5"]
    samples = [
        *answered(one, right), *answered(two, wrong), *answered(one, wrong, model="n"),
        *answered(one, wrong, round_=2),
    ]  # fmt: skip
    found = {
        (score.model, score.item, score.round): score.value
        for score in score_samples(samples, ("strict",))
        if score.metric == "Acc@1"
    }
    assert found == {("m", "a", 1): 1, ("m", "b", 1): 0, ("n", "a", 1): 0, ("m", "a", 2): 0}


def test_every_metric_of_every_task_of_pairs_is_bound():
    for name in ("rejoining", "classification", "retrieval"):
        for query in task(name).queries:
            item = gallery(12, (1, 2), query=query.name, task_id=name)
            for score in score_samples(
                answered(item, ["Yes" if query.form == "yes-no" else "0.3"] * 12)
            ):
                assert score.value is not None, (name, query.name, score.metric)
                assert score.signature.startswith(f"{score.metric}|{score.protocol}|text:")
