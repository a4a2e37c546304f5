"""OBI-Bench: each finding worked out again from the transcription."""

from transcription import cells, column, findings, rows


def test_classification_is_of_one_round(audit, numbers):
    values = [
        float(text)
        for (table, *_), found in numbers["OBI-Bench"].items()
        if table == "Table 4"
        for text in found.values()
    ]
    assert len(values) == 153
    assert all(4 * value == int(4 * value) for value in values)
    (finding,) = findings(audit, "classification-in-one-round")
    assert finding.compared == 153


def test_recall_at_1_has_a_ceiling(audit, numbers):
    for source in ("OBC306", "OBI-IJDH"):
        recall = column(numbers, "OBI-Bench", "Table 5", "retrieval", "How", source, "Recall@1")
        assert max(recall.values()) <= 0.25
    assert len(rows(audit, "ceiling-of-recall")) == 5


def test_recall_at_3_is_no_count(audit, numbers):
    recall = column(numbers, "OBI-Bench", "Table 5", "retrieval", "How", "OBI-IJDH", "Recall@3")
    counts = {round(count / 200, 3) for count in range(201)}
    assert rows(audit, "recall-is-a-count") == {m for m in recall if recall[m] not in counts}


def test_closed_models_were_asked_to_rejoin_otherwise(audit):
    first = {
        where for place, where in cells(audit, "rejoining-is-a-count") if place.endswith("Acc@1")
    }
    assert first == {
        "Gemini 1.5 Pro", "Gemini 1.5 Flash", "GPT-4v", "GPT-4o (ver. 0806)",
        "Qwen-VL-Max (ver. 0809)", "GLM-4V",
    }  # fmt: skip


def test_obi_marks_that_are_wrong(audit):
    wrong = cells(audit, "best-and-second")
    place = "Table 4, classification/Yes-or-No@HWOBC:Acc@5"
    assert wrong[place, "LLaVA-NeXT (Qwen1.5-72B)"] == ("46.25 second", "best")
    assert wrong[place, "IDEFICS-2-8B (Mistral-7B)"] == ("44.75 best", "second")
    yes = "Table 2, recognition/Yes-or-No@YinQiWenYuan_detection:Acc"
    assert wrong[yes, "GPT-4o (ver. 0806)"] == ("99.90 second", "best")
    assert len(findings(audit, "best-and-second")) == 3
    assert len({each.place for each in findings(audit, "columns-without-marks")}) == 4


def test_less_than_ten_to_the_minus_four(audit, numbers):
    flagged = rows(audit, "below-what")
    printed = {
        model: text
        for source in ("O2BR", "YinQiWenYuan_detection")
        for model, text in numbers["OBI-Bench"][
            "Table 2", "recognition", "Where", source, "IoU"
        ].items()
        if not text.startswith("<") and float(text) < 10e-4
    }
    assert flagged == set(printed)
    assert len(flagged) == 3


def test_a_mixture_above_all_that_is_mixed(audit, numbers):
    mixed = column(
        numbers, "OBI-Bench", "Figure 3", "classification", "100 classes",
        "mixed(HWOBC+Oracle-50k+OBI125)", "Acc@1",
    )  # fmt: skip
    alone = [
        column(numbers, "OBI-Bench", "Table 4", "classification", "How", source, "Acc@1")
        for source in ("HWOBC", "Oracle-50k", "OBI125")
    ]
    above = {
        row
        for row in alone[0]
        for model, value in mixed.items()
        if row.startswith(f"{model} ") and value > max(each[row] for each in alone) + 0.5
    }
    assert rows(audit, "mixture-of-sources") == above
    assert len(above) == 3


def test_some_rows_average_rounds_and_others_do_not(audit, numbers):
    values = column(numbers, "OBI-Bench", "Table 2", "recognition", "Yes-or-No", "O2BR", "accuracy")
    off = {model for model in values if abs(values[model] * 8 - round(values[model] * 8)) > 0.05}
    assert rows(audit, "yes-or-no-of-o2br") == off
    assert len(off) == 5


def test_a_claim_that_holds_for_two_of_three(audit, numbers):
    average = column(numbers, "OBI-Bench", "Table 6", "deciphering", "Average", "all", "BERTScore")
    people = average["Human (public)"]
    assert average["GPT-4o (ver. 0806)"] > people
    assert average["Gemini 1.5 Pro"] > 0.9 * people
    (cell,) = findings(audit, "claim-deciphering")[0].mismatches
    assert cell.recomputed == f"{average['Qwen-VL-Max (ver. 0809)'] / people:.0%} of 0.3872"


def test_a_constant_yes_beats_them_and_zero_counts_better(audit, numbers):
    of = "OBI-Bench"
    for source in ("O2BR", "YinQiWenYuan_detection"):
        yes = column(numbers, of, "Table 2", "recognition", "Yes-or-No", source, "accuracy")
        said_no = {row for row, value in yes.items() if value < 100}
        place = f"Table 2, recognition/Yes-or-No@{source}:Acc"
        flagged = {row for at, row in cells(audit, "yes-to-everything") if at == place}
        assert flagged == said_no
        counts = column(numbers, of, "Table 2", "recognition", "How", source, "MRE")
        worse = {row for row, value in counts.items() if value > 1}
        place = f"Table 2, recognition/How@{source}:MRE"
        flagged = {row for at, row in cells(audit, "count-nothing") if at == place}
        assert flagged == worse
        assert 5 <= len(worse) <= 8


def test_five_places_by_yes_or_no_hold_less_than_one_by_probability(audit, numbers):
    of, checked = "OBI-Bench", 0
    for source in ("HWOBC", "Oracle-50k", "OBI125"):
        five = column(numbers, of, "Table 4", "classification", "Yes-or-No", source, "Acc@5")
        one = column(numbers, of, "Table 4", "classification", "How", source, "Acc@1")
        assert all(five[row] < one[row] for row in five)
        place = f"Table 4, classification/Yes-or-No@{source}:Acc@5"
        flagged = {row for at, row in cells(audit, "probabilities-order-classes") if at == place}
        assert flagged == set(five)
        checked += len(flagged)
    assert checked == 51


def test_fragments_are_ordered_better_by_yes_or_no_than_by_probability(audit, numbers):
    of, source = "OBI-Bench", "OBI-rejoin"
    binary = column(numbers, of, "Table 3", "rejoining", "Yes-or-No", source, "Acc@5")
    graded = column(numbers, of, "Table 3", "rejoining", "How", source, "Acc@5")
    better = {row for row in binary if binary[row] > graded[row]}
    assert rows(audit, "probabilities-order-fragments") == better
    assert len(better) == 10


def test_everything_is_found_in_ten_places_by_rankings_that_miss_much_in_five(audit, numbers):
    of, found = "OBI-Bench", 0
    for source in ("OBC306", "OBI-IJDH"):
        ten = column(numbers, of, "Table 5", "retrieval", "How", source, "Recall@10")
        five = column(numbers, of, "Table 5", "retrieval", "How", source, "mAP@5")
        whole = {row for row in ten if ten[row] == 1 and five[row] <= 0.7}
        place = f"Table 5, retrieval/How@{source}:Recall@10"
        assert {row for at, row in cells(audit, "all-found-in-ten") if at == place} == whole
        assert min(five[row] for row in whole) < 0.65
        found += len(whole)
    assert found == 13
