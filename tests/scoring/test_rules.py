"""Every metric that is computed has its rule in words."""

import pytest

from keju.definitions import task, tasks
from keju.scoring import PROTOCOLS
from keju.scoring.lookup import list_steps, metric_of
from tests.support.degenerate import earned, families

QUERIES = [
    pytest.param(each, query, protocol, id=f"{each.id}/{query.name}/{protocol}")
    for each in tasks()
    for query in each.queries
    for protocol in PROTOCOLS
]


@pytest.mark.parametrize(("declared", "query", "protocol"), QUERIES)
def test_every_metric_of_every_task_has_its_steps_in_words(declared, query, protocol):
    for metric in getattr(query, protocol):
        found = list_steps(metric_of(protocol, declared.benchmark, query.form, metric), query)
        assert list(found) == [
            "what is taken of the response", "how texts are prepared", "what is counted",
            "a task's value", "a failed call",
        ]  # fmt: skip
        assert all(found.values())


def test_a_benchmark_may_count_otherwise_under_the_same_name():
    rules = [
        metric_of("official", benchmark, "text", "BERTScore").rule
        for benchmark in ("MCS-Bench", "OBI-Bench")
    ]
    assert "not BERTScore" in rules[0]
    assert "token matching" in rules[1]


@pytest.mark.parametrize("family", families(), ids=lambda family: family.name)
def test_what_a_rule_says_of_the_tasks_value_is_what_scoring_does(family):
    """Where a rule says so the value is the items' mean, elsewhere it is not (of uneven items)."""
    declared = task(family.items[0].task)
    query = next(q for q in declared.queries if q.name == family.items[0].query)
    texts = [
        truth if place % 2 else truth[:-5] + truth[-2:-6:-1] + "之，乎"
        for place, truth in enumerate(family.truths)
    ]
    found = earned(family, texts)
    for protocol in PROTOCOLS:
        for metric, result in found[protocol].items():
            own_metric = metric_of(protocol, declared.benchmark, query.form, metric)
            over = list_steps(own_metric, query)["a task's value"]
            if over == "the mean over the items":
                assert result.value == pytest.approx(result.item_mean, abs=1e-12), metric
            elif family.name in {"OCR, MCS-Bench", "OCR, AncientDoc", "punctuation"}:
                assert result.value != pytest.approx(result.item_mean, abs=1e-6), metric
