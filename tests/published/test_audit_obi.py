"""OBI-Bench: each finding worked out again from the transcription."""

import pytest

from tests.support.transcription import cells, column, findings, rows


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


def test_recall_at_1_and_10_are_of_one_round_and_recall_at_3_is_not(audit, numbers):
    checks = {
        "OBC306": (200, "retrieval-in-one-round", "recall-of-obc306-in-one-round"),
        "OBI-IJDH": (40, "retrieval-of-ijdh-in-one-round", "recall-is-a-count"),
    }
    for source, (places, one_round, other) in checks.items():

        def counts(metric, step, source=source):
            values = column(numbers, "OBI-Bench", "Table 5", "retrieval", "How", source, metric)
            off = {m for m, v in values.items() if abs(v * step - round(v * step)) > 0.51e-3 * step}
            return off, len(values)

        for metric in ("Recall@1", "Recall@10"):
            assert counts(metric, places) == (set(), 17)
        (finding,) = findings(audit, one_round)
        assert finding.cells == finding.compared == 34
        off, _ = counts("Recall@3", places if source == "OBC306" else 5 * places)
        assert rows(audit, other) == off
        assert len(off) > 8


def test_recall_at_1_has_a_ceiling(audit, numbers):
    for source in ("OBC306", "OBI-IJDH"):
        recall = column(numbers, "OBI-Bench", "Table 5", "retrieval", "How", source, "Recall@1")
        assert max(recall.values()) <= 0.25
        assert all(round(value * 200) == pytest.approx(value * 200) for value in recall.values())
    assert {each.place for each in findings(audit, "ceiling-of-recall")} == {
        "Table 5, retrieval/How@OBC306:Recall@1",
        "Table 5, retrieval/How@OBI-IJDH:Recall@1",
    }
    assert not [each for each in audit.held if each.check == "ceiling-of-recall"]


def test_recall_at_3_is_no_count(audit, numbers):
    recall = column(numbers, "OBI-Bench", "Table 5", "retrieval", "How", "OBI-IJDH", "Recall@3")
    counts = {round(count / 200, 3) for count in range(201)}
    assert rows(audit, "recall-is-a-count") == {m for m in recall if recall[m] not in counts}
    off = (abs(round(160 * value) - 160 * value) / 160 for value in recall.values())
    assert sum(each < 0.00051 for each in off) == 16  # Printed to 0.001, halves either way.
    other = column(numbers, "OBI-Bench", "Table 5", "retrieval", "How", "OBC306", "Recall@3")
    assert all(round(1000 * value, 6) % 1 == 0 for value in other.values())  # Five rounds of 200.


def test_rejoining_of_closed_models_fits_no_count(audit, numbers):
    def fits(value):
        # Five percentages of 483, each rounded to .01, and their mean rounded again.
        return any(abs(value - count * 100 / 2415) <= 0.0101 for count in range(2416))

    off = {}
    for query, metrics in (("How", ("Acc@1", "Acc@5", "Acc@10")), ("Yes-or-No", ("Acc@5",))):
        for metric in metrics:
            key = ("Table 3", "rejoining", query, "OBI-rejoin", metric)
            values = column(numbers, "OBI-Bench", *key)
            off[query, metric] = {model for model in values if not fits(values[model])}
    closed = {
        "Gemini 1.5 Pro", "Gemini 1.5 Flash", "GPT-4v", "GPT-4o (ver. 0806)",
        "Qwen-VL-Max (ver. 0809)", "GLM-4V",
    }  # fmt: skip
    how = [model for (query, _), models in off.items() if query == "How" for model in models]
    assert (len(how), len(off["Yes-or-No", "Acc@5"])) == (13, 11)
    assert sorted(set(how) - closed) == ["Qwen-VL (Qwen-7B)"]
    assert how.count("Qwen-VL (Qwen-7B)") == 1
    flagged = cells(audit, "rejoining-is-a-count")
    assert len(flagged) == len(how)
    assert rows(audit, "rejoining-by-yes-is-a-count") == off["Yes-or-No", "Acc@5"]


def test_one_row_of_yinqi_averages_rounds(audit, numbers):
    key = ("Table 2", "recognition", "Yes-or-No", "YinQiWenYuan_detection", "accuracy")
    values = column(numbers, "OBI-Bench", *key)
    off = {m: v for m, v in values.items() if abs(v * 20 - round(v * 20)) > 0.11}
    assert off == {"Qwen-VL (Qwen-7B)": 86.81}
    assert rows(audit, "yes-or-no-of-yinqi") == set(off)


def test_map_of_ijdh_has_the_steps_and_the_ceiling_of_precision(audit, numbers):
    key = ("Table 5", "retrieval", "How", "OBI-IJDH", "mAP@5")
    values = column(numbers, "OBI-Bench", *key)
    assert all(abs(50 * value - round(50 * value)) < 1e-9 for value in values.values())
    assert max(values.values()) == 0.8
    assert findings(audit, "precision-in-one-round")[0].cells == len(values) == 17
    other = column(numbers, "OBI-Bench", "Table 5", "retrieval", "How", "OBC306", "mAP@5")
    assert sum(abs(250 * v - round(250 * v)) > 1e-6 for v in other.values()) == 6


def test_people_beside_three_models_in_deciphering(numbers):
    average = column(numbers, "OBI-Bench", "Table 6", "deciphering", "Average", "all", "BERTScore")
    people = average["Human (public)"]
    assert average["Qwen-VL-Max (ver. 0809)"] / people == pytest.approx(0.64, abs=0.005)
    assert average["Gemini 1.5 Pro"] / people > 0.98
    assert average["GPT-4o (ver. 0806)"] / people > 0.98


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
