"""From items to tasks, domains and overall; what is missing is named."""

import pytest

from keju.scoring import aggregate, score_answer
from tests.support.score_json import to_json


def results(pairs, protocol="strict"):
    scores = [score for pair in pairs for score in score_answer(*pair, (protocol,))]
    (result,) = aggregate(scores)
    return result


def metric(result, task, name):
    found = next(each for each in result.tasks if each.task == task)
    return next(each for each in found.metrics if each.metric == name)


def test_a_corpus_rate_sums_before_it_divides(make):
    pairs = [
        make("T1", "天", "地", name="a"),
        make("T1", "天地玄黄宇宙洪荒日", "天地玄黄宇宙洪荒日", name="b"),
    ]
    rate = metric(results(pairs), "T1", "CER")
    assert rate.value == pytest.approx(0.1)
    assert rate.item_mean == pytest.approx(0.5)
    assert metric(results(pairs), "T1", "CharAcc").value == pytest.approx(0.5)


def test_micro_and_macro_f1_differ(make):
    pairs = [
        make("T4", "孔子", "孔子", name="a"),
        make("T4", "颜回、子路、子贡", "曾子、子夏、子张", name="b"),
    ]
    result = results(pairs)
    assert metric(result, "T4", "F1").value == pytest.approx(0.25)
    assert metric(result, "T4", "F1_macro").value == pytest.approx(0.5)


def test_failures_are_read_both_ways_with_counts(make):
    pairs = [
        make("T5", "B", "B", name="a"),
        make("T5", "B", "", name="b", status="failed"),
        make("T5", "B", "", name="c", status="filtered"),
        make("T5", "B", "", name="d"),
    ]
    result = results(pairs)
    accuracy = metric(result, "T5", "Acc")
    assert (accuracy.value, accuracy.without_failures) == (0.25, 1)
    assert result.tasks[0].statuses == {"answered": 1, "failed": 1, "filtered": 1, "empty": 1}
    assert result.tasks[0].verdicts == {"ok": 1, "failed": 1, "filtered": 1, "empty": 1}


def test_an_error_rate_counts_a_failure_as_one(make):
    pairs = [
        make("T1", "天地", "天地", name="a"),
        make("T1", "天地", "", name="b", status="failed"),
    ]
    rate = metric(results(pairs), "T1", "CER")
    assert (rate.value, rate.without_failures) == (0.5, 0)


def test_each_layer_of_the_error_is_summed(make):
    pairs = [make("T1", "爲學", "为学", name="a"), make("T1", "天地", "天地", name="b")]
    layers = metric(results(pairs), "T1", "CER").layers
    assert layers == {
        "exact": 0.5, "nfc": 0.5, "compatibility": 0.5, "variants": 0.5, "script": 0.0
    }  # fmt: skip


def test_a_domain_is_the_plain_mean_of_its_tasks_and_names_what_it_lacks(make):
    pairs = [
        make("T28", "鱼", "鱼"),
        make("T30", "天地", "天"),
        make("T31", "B", "A"),
        make("T29", "意思", "意思"),
    ]
    (benchmark,) = results(pairs, "official").benchmarks
    seal = benchmark.domains["Seal"]
    assert seal.value == pytest.approx((0.5 + 0) / 2)
    assert seal.missing == {}
    oracle = benchmark.domains["Oracle Bone Script"]
    assert oracle.value == 1
    assert oracle.missing["T29"].startswith("needs the")
    assert benchmark.domains["Painting"].value is None
    assert benchmark.domains["Painting"].missing["T16"] == "no responses"
    assert benchmark.overall.value == pytest.approx((0.25 + 1) / 2)
    assert set(benchmark.overall.missing) == set(benchmark.domains) - {"Seal"}


def test_mcq_and_qa_have_their_own_means_over_domains(make):
    pairs = [make("T5", "A", "A"), make("T16", "A", "B"), make("T1", "天", "天")]
    (benchmark,) = results(pairs, "official").benchmarks
    assert benchmark.formats["MCQ"].value == pytest.approx(0.5)
    assert benchmark.formats["QA"].value == 1
    assert len(benchmark.formats["MCQ"].parts) == 6
    assert len(benchmark.formats["QA"].parts) == 7


def test_an_error_rate_enters_no_mean_of_scores(make):
    (benchmark,) = results([make("page_level_ocr", "天地", "天地")], "official").benchmarks
    (domain,) = benchmark.domains.values()
    assert domain.value is None
    assert "error" in domain.missing["page_level_ocr"]


def test_unscored_items_are_counted_by_reason(make):
    pairs = [make("T1", "，", "天", name="a"), make("T1", "天", "天", name="b")]
    found = metric(results(pairs), "T1", "CharAcc")
    assert (found.value, found.scored, found.items) == (1, 1, 2)
    assert list(found.unscored.values()) == [1]


def test_models_and_settings_are_kept_apart(make):
    pairs = [make("T5", "B", "B", model="x"), make("T5", "B", "A", model="y")]
    scores = [score for pair in pairs for score in score_answer(*pair)]
    assert len(aggregate(scores)) == 4
    written = to_json(scores)
    assert written["x"]["strict"]["tasks"]["5"]["Acc"] == 1
    assert written["y"]["strict"]["tasks"]["5"]["Acc"] == 0


def test_the_json_has_the_shape_of_the_contract(make):
    scores = score_answer(*make("T5", "B", "B")) + score_answer(*make("T6", "意思", "意思"))
    written = to_json(scores)
    assert set(written) == {"official", "strict"}
    official = written["official"]
    assert official["tasks"]["5"] == {"Acc": 1}
    assert official["tasks"]["6"] == {"Avg": None, "BERTScore": None, "ANLS": 1}
    first = official["items"][0]
    assert {"id", "task", "metric", "value", "status"} <= set(first)
    assert (first["id"], first["task"], first["value"], first["status"]) == ("i1", "5", 1, "scored")
    unscored = next(row for row in official["items"] if row["metric"] == "BERTScore")
    assert (unscored["value"], unscored["status"]) == (None, "unscored")
    assert unscored["reason"]
    assert official["domains"]["Ancient Chinese Text"] == 1
    assert official["overall"] == 1
    assert "T6" in official["missing"]["Ancient Chinese Text"]
