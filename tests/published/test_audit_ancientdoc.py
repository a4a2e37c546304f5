"""AncientDoc: each finding worked out again from the transcription."""

from transcription import cells, column, findings, rows


def ocr(numbers, metric):
    small, full = (
        column(numbers, "AncientDoc", table, "page_level_ocr", "", "AncientDoc", metric)
        for table in ("Table 2", "Table 8")
    )
    return {**small, **full}


def test_recall_lies_below_what_cer_implies(audit, numbers):
    cer, recall = ocr(numbers, "CER"), ocr(numbers, "CharRecall")
    below = {model for model in cer if recall[model] < 100 - cer[model] - 0.011}
    assert len(cer) == 27
    assert len(below) == 21
    assert rows(audit, "recall-and-cer") == below


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
    assert all(f1[model] < 0.3 for model in wrong)


def test_the_judges_mean_squares_fit_no_250_pairs(audit, numbers):
    def whole(metric):
        values = column(
            numbers, "AncientDoc", "Table 7", "judge_human_alignment", "", "AncientDoc", metric
        )
        return sum(round(round(value * 250) / 250, 3) == value for value in values.values())

    assert [whole(metric) for metric in ("MAE", "Bias", "MSE")] == [5, 5, 0]
    assert len(rows(audit, "judges-whole-squares")) == 5
    assert not findings(audit, "judges-whole-points")


def test_the_chosen_judge_is_not_the_best_in_every_column(audit):
    (finding,) = findings(audit, "claim-judge")
    assert [each.where for each in finding.mismatches] == [
        "Table 7, judge:Kendall",
        "Table 7, judge:Bias",
    ]


def test_stale_claims_of_the_readme(audit, numbers):
    def best(metric, name, *tables):
        values = {}
        for table in tables:
            values |= column(numbers, "AncientDoc", table, name, "", "AncientDoc", metric)
        return max(values, key=values.__getitem__)

    assert best("BS-F1", "reasoning_qa", "Table 4", "Table 9") == "Qwen3-VL-8B"
    assert best("GPT4oScore", "reasoning_qa", "Table 4", "Table 9") == "Qwen3-VL-8B"
    assert best("BS-F1", "knowledge_qa", "Table 5", "Table 11") == "Qwen3-VL-8B"
    assert best("BS-F1", "reasoning_qa", "Table 9") == "Qwen2.5-VL-72B"
    assert best("CharF1", "page_level_ocr", "Table 2", "Table 8") == "Qwen3-VL-8B"
    stale = {each.check for each in audit.findings if each.check.startswith("claim-")}
    assert stale == {
        "claim-judge", "claim-ocr", "claim-translation", "claim-reasoning", "claim-knowledge",
        "claim-deciphering",
    }  # fmt: skip
    judged = column(
        numbers, "AncientDoc", "Table 11", "knowledge_qa", "", "AncientDoc", "GPT4oScore"
    )
    assert sum(value > judged["GPT-4o"] for value in judged.values()) == 5


def test_metrics_and_judge_order_linguistic_variants_apart(audit):
    assert {each.place for each in findings(audit, "metrics-follow-the-judge")} == {
        "Table 12, linguistic_variant_qa:chrF++",
        "Table 12, linguistic_variant_qa:BS-F1",
    }


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
    assert all(48 < score[model] < 55 for model in worthless)
