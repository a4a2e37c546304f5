"""Published results bear the catalogue's names and stand on the scale of a run's."""

import pytest

from keju.definitions import task
from keju.published import papers, published_values


def only(benchmark, model, **wanted):
    (found,) = {
        each.value
        for each in published_values(benchmark)
        if each.model.name == model and all(getattr(each, k) == v for k, v in wanted.items())
    }
    return found


def test_values_are_fractions():
    assert only("MCS-Bench", "GPT-4o", task="T1", metric="CR") == pytest.approx(0.2790)
    asked = {"task": "reasoning_qa"}
    assert only("AncientDoc", "GPT-4o", metric="BS-F1", **asked) == pytest.approx(0.7052)
    assert only("AncientDoc", "GPT-4o", metric="GPT4oScore", **asked) == pytest.approx(0.692)
    recall = {"task": "retrieval", "metric": "Recall@1", "subset": "OBC306"}
    assert only("OBI-Bench", "GPT-4v", query="How", **recall) == pytest.approx(0.205)


@pytest.mark.parametrize("benchmark", papers())
def test_metrics_are_those_that_a_run_gets_under_official(benchmark):
    # The paper's mAP@5 fits Precision@5, and Section 3.4 names mAP.
    papers_own = {"GPT4oScore", "mAP@5"}
    for each in published_values(benchmark):
        queries = {query.name: query.official for query in task(each.task).queries}
        assert each.metric in {*queries[each.query], *papers_own}, each


def test_means_over_tasks_are_left_out():
    assert {each.task for each in published_values("MCS-Bench")} <= {
        f"T{number}" for number in range(1, 46)
    }
    assert len({each.task for each in published_values("MCS-Bench")}) == 40


def test_rounding_is_on_the_same_scale():
    assert {each.half for each in published_values("MCS-Bench")} == {0.005 / 100}
