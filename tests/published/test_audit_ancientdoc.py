"""AncientDoc: each finding worked out again from the transcription."""

import pytest
from scipy.stats import spearmanr

from tests.support.transcription import cells, column, findings, rows, size


def ocr(numbers, metric):
    small, full = (
        column(numbers, "AncientDoc", table, "page_level_ocr", "", "AncientDoc", metric)
        for table in ("Table 2", "Table 8")
    )
    return {**small, **full}


def test_recall_lies_below_what_cer_implies(audit, numbers):
    cer, recall = ocr(numbers, "CER"), ocr(numbers, "CharRecall")
    f1 = ocr(numbers, "CharF1")
    by_cer = {m: sum(cer[k] < cer[m] for k in cer) for m in cer}
    by_f1 = {m: sum(f1[k] > f1[m] for k in f1) for m in f1}
    assert size(audit, "recall-and-cer").ranks == sum(by_cer[m] != by_f1[m] for m in cer) == 21
    below = {model for model in cer if recall[model] < 100 - cer[model] - 0.011}
    assert len(cer) == 27
    assert len(below) == 21
    assert rows(audit, "recall-and-cer") == below


def test_character_metrics_order_models_nearly_as_the_judge_does(numbers):
    judged = ocr(numbers, "GPT4oScore")

    def agreement(metric):
        values = ocr(numbers, metric)
        models = sorted(judged)
        return spearmanr([judged[m] for m in models], [values[m] for m in models]).statistic

    counted = [agreement(metric) for metric in ("CharPrecision", "CharRecall", "CharF1")]
    assert counted == pytest.approx([0.947, 0.970, 0.966], abs=0.001)
    assert agreement("CER") == pytest.approx(-0.92, abs=0.005)


def test_four_f1_are_no_harmonic_means(audit, numbers):
    precision, recall, f1 = (
        ocr(numbers, name) for name in ("CharPrecision", "CharRecall", "CharF1")
    )
    wrong = {
        model
        for model in f1
        if abs(
            2 * precision[model] * recall[model] / (precision[model] + recall[model]) - f1[model]
        )
        > 0.012
    }
    assert rows(audit, "f1-of-means") == wrong
    assert len(wrong) == 4
    assert all(f1[model] <= 0.25 for model in wrong)
    assert len(f1) - len(wrong) == 23
    found = size(audit, "f1-of-means")
    assert found.ranks == 0
    assert found.points == pytest.approx(0.124, abs=0.001)


def test_the_judges_mean_squares_fit_no_250_pairs(audit, numbers):
    def whole(metric):
        values = column(
            numbers, "AncientDoc", "Table 7", "judge_human_alignment", "", "AncientDoc", metric
        )
        return sum(round(round(value * 250) / 250, 3) == value for value in values.values())

    assert [whole(metric) for metric in ("MAE", "Bias", "MSE")] == [5, 5, 0]
    squares = column(
        numbers, "AncientDoc", "Table 7", "judge_human_alignment", "", "AncientDoc", "MSE"
    )
    off = [(int(value * 250) + 1) / 250 - value for value in squares.values()]
    assert off == pytest.approx([0.001] * 5)
    assert len(rows(audit, "judges-whole-squares")) == 5
    assert not findings(audit, "judges-whole-points")


def test_metrics_and_judge_order_linguistic_variants_apart(audit):
    assert {each.place for each in findings(audit, "metrics-follow-the-judge")} == {
        "Table 12, linguistic_variant_qa:chrF++",
        "Table 12, linguistic_variant_qa:BS-F1",
    }


def test_how_far_metrics_and_judge_agree(audit, numbers):
    def agreement(table, task, metric):
        key = (table, task, "", "AncientDoc")
        judged = column(numbers, "AncientDoc", *key, "GPT4oScore")
        values = column(numbers, "AncientDoc", *key, metric)
        rows = sorted(judged)
        return abs(spearmanr([judged[r] for r in rows], [values[r] for r in rows]).statistic)

    variants = [agreement("Table 12", "linguistic_variant_qa", m) for m in ("CHRF++", "BS-F1")]
    assert variants == pytest.approx([0.28, 0.13], abs=0.005)
    others = [
        agreement("Table 8", "page_level_ocr", m)
        for m in ("CER", "CharPrecision", "CharRecall", "CharF1")
    ] + [
        agreement(table, task, metric)
        for table, task in (
            ("Table 9", "reasoning_qa"),
            ("Table 10", "vernacular_translation"),
            ("Table 11", "knowledge_qa"),
        )
        for metric in ("CHRF++", "BS-F1")
    ]
    assert min(others) == pytest.approx(0.83, abs=0.005)


def test_the_full_tables_lack_the_best_open_models(audit, numbers):
    for number in range(8, 13):
        there = {
            model
            for (table, *_), values in numbers["AncientDoc"].items()
            if table == f"Table {number}"
            for model in values
        }
        assert not {"Qwen3-VL-8B", "Qwen3-VL-4B"} & there
    assert rows(audit, "rows-of-all-models") == {"Qwen3-VL-8B", "Qwen3-VL-4B"}


def test_where_qwen3_vl_changes_the_best_model(numbers):
    def best(small, full, task, metric):
        key = (task, "", "AncientDoc", metric)
        before = column(numbers, "AncientDoc", full, *key)
        after = {**column(numbers, "AncientDoc", small, *key), **before}
        pick = min if metric == "CER" else max
        return pick(before, key=before.get), pick(after, key=after.get)

    for metric in ("CharPrecision", "CharRecall", "CharF1", "GPT4oScore"):
        assert best("Table 2", "Table 8", "page_level_ocr", metric)[1] == "Qwen3-VL-8B"
    assert best("Table 2", "Table 8", "page_level_ocr", "CER") == ("Gemini-2.5-Pro",) * 2
    for metric in ("BS-F1", "GPT4oScore"):
        assert best("Table 4", "Table 9", "reasoning_qa", metric)[1] == "Qwen3-VL-8B"
        assert best("Table 5", "Table 11", "knowledge_qa", metric)[1] == "Qwen3-VL-8B"
        translation = best("Table 3", "Table 10", "vernacular_translation", metric)
        assert translation == ("Gemini-2.5-Pro",) * 2
        before, after = best("Table 6", "Table 12", "linguistic_variant_qa", metric)
        assert before == after


def test_no_release_of_llava_onevision_has_five_billion_parameters(audit):
    assert rows(audit, "release-of-onevision") == {"LLaVA-Onevision-5B"}


def test_one_model_has_two_names(audit, numbers):
    named = {
        table
        for (table, *_), values in numbers["AncientDoc"].items()
        if "DeepSeek-VL2-Tiny" in values
    }
    assert named == {"Table 12"}
    assert cells(audit, "one-name-a-model")["Table 12", "DeepSeek-VL2"] == (
        "DeepSeek-VL2-Tiny",
        "DeepSeek-VL2",
    )


def test_scales_that_do_not_begin_at_nothing(audit, numbers):
    cer = ocr(numbers, "CER")
    assert rows(audit, "cer-above-100") == {model for model in cer if cer[model] > 100}
    key = ("Table 10", "vernacular_translation", "", "AncientDoc")
    judged, score = (column(numbers, "AncientDoc", *key, each) for each in ("GPT4oScore", "BS-F1"))
    worthless = {model for model in judged if judged[model] <= 0.05}
    assert rows(audit, "bsf1-floor") == worthless
    worst = [score[model] for model in worthless]
    assert (min(worst), max(worst), max(score.values())) == (48.83, 53.92, 72.5)
    percent_of_range = 100 / (72.5 - 48.83)
    assert percent_of_range == pytest.approx(4.2, abs=0.1)
