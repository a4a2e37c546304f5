"""MCS-Bench: each finding worked out again from the transcription, without keju's tables."""

import json
from itertools import combinations
from statistics import pstdev

import pytest
from scipy.stats import binom, pearsonr

from keju.definitions import tasks
from tests.support.transcription import (
    HALVES,
    cells,
    column,
    findings,
    moved,
    ranks,
    registry,
    rows,
    size,
)


def domain_tables(numbers, metric):
    """Every model's mean of a format in each domain's table: {domain: {model: value}}."""
    tables = [f"Table {number}" for number in range(15, 21)]
    return {
        key[2]: column(numbers, "MCS-Bench", *key)
        for key in numbers["MCS-Bench"]
        if key[0] in tables and key[1] == metric
    }


def test_the_qa_column_leaves_out_t39(audit, numbers):
    of = "MCS-Bench"
    qa = column(numbers, of, "Table 3", "QA", "OverAll", "", "mean_main")
    mcq = column(numbers, of, "Table 3", "MCQ", "OverAll", "", "mean_main")
    illustration = column(numbers, of, "Table 3", "OverAll", "Illustration", "", "mean_main")
    by_domain = {name: domain_tables(numbers, name) for name in ("MCQ", "QA")}
    assert len(by_domain["MCQ"]) == 5
    assert len(by_domain["QA"]) == 6
    halves = [
        column(numbers, of, "Table 28", "T39", "", "", metric) for metric in ("BERTScore", "ANLS")
    ]
    flagged = cells(audit, "qa-without-t39")
    whole = {}
    for model, printed in qa.items():
        four_choices = 4 * (
            6 * mcq[model] - sum(values[model] for values in by_domain["MCQ"].values())
        )
        five_open = 9 * illustration[model] - four_choices
        t39 = sum(half[model] for half in halves) / 2
        six = sum(values[model] for values in by_domain["QA"].values())
        with_t39, without = (six + five_open / 5) / 7, (six + (five_open - t39) / 4) / 7
        assert abs(without - printed) < 0.03
        place = ("Table 3, QA:mean", model)
        if place in flagged:
            assert float(flagged[place][1]) == pytest.approx(with_t39, abs=0.001)
            assert abs(with_t39 - printed) > 0.03
        whole[model] = with_t39
    assert len(flagged) == 35
    # What the finding says follows: as printed the models are spread further apart.
    assert pstdev(whole.values()) < pstdev(qa.values()) - 0.2
    strongest, weakest = max(qa, key=qa.__getitem__), min(qa, key=qa.__getitem__)
    assert whole[strongest] < qa[strongest]
    assert whole[weakest] > qa[weakest]
    shifts = [whole[model] - qa[model] for model in qa]
    assert pearsonr([*qa.values()], shifts).statistic < -0.85
    by_qa = sorted(qa, key=qa.__getitem__)
    assert sum(whole[model] > qa[model] for model in by_qa[:18]) > 12
    assert sum(whole[model] < qa[model] for model in by_qa[19:]) > 12
    found = size(audit, "qa-without-t39")
    assert found.ranks == moved(qa, whole) == 9
    assert found.points == pytest.approx(0.414, abs=0.001)


def test_t45_comes_out_of_the_means_only_without_t39(audit, numbers):
    (held,) = [each for each in audit.held if each.check == "t45-solved"]
    assert held.compared == 37
    of = "MCS-Bench"
    qa = column(numbers, of, "Table 3", "QA", "OverAll", "", "mean_main")
    domains = domain_tables(numbers, "QA").values()
    read = column(numbers, of, "Table 4", "T37", "", "", "CR")
    open_tasks = {
        name: [
            column(numbers, of, "Table 28", name, "", "", each) for each in ("BERTScore", "ANLS")
        ]
        for name in ("T38", "T39", "T44")
    }

    def right_answers(model, names):
        """How many of 52, if Illustration's QA is the mean of T37, T45 and these tasks."""
        mean = 7 * qa[model] - sum(values[model] for values in domains)
        known = read[model] + sum(half[model] / 2 for name in names for half in open_tasks[name])
        return 0.52 * ((len(names) + 2) * mean - known)

    def far(names):
        counts = [right_answers(model, names) for model in qa]
        return sum(abs(count - round(count)) > 0.15 or count < 0 for count in counts)

    assert far(("T38", "T44")) == 0
    assert far(("T38", "T39", "T44")) > 20


def test_t9_is_t8(audit, numbers):
    first, second = (
        column(numbers, "MCS-Bench", "Table 16", name, "", "", "main") for name in ("T8", "T9")
    )
    equal = {model for model in first if first[model] == second[model]}
    assert len(equal) == 35
    assert rows(audit, "t9-copies-t8") == equal
    others = [
        float(text)
        for (table, name, *_), values in numbers["MCS-Bench"].items()
        for each in tasks()
        if each.id == name and each.queries[0].official[0] == "Avg" and name != "T9"
        if table in {f"Table {number}" for number in range(15, 21)}
        for text in values.values()
    ]
    # What the finding says of how far Calligraphy and OverAll may move.
    assert 24 < min(others) < max(others) < 60
    assert max(max(60 - value, value - 24) for value in first.values()) / 8 == pytest.approx(7.5)
    assert pytest.approx(1.1, abs=0.03) == 60 / 56
    overall = column(numbers, "MCS-Bench", "Table 3", "OverAll", "OverAll", "", "mean_main")
    reach = {
        model: (value + (24 - first[model]) / 56, value + (60 - first[model]) / 56)
        if model in equal
        else (value, value)
        for model, value in overall.items()
    }
    open_pairs = [
        (one, other)
        for one, other in combinations(reach, 2)
        if reach[one][0] <= reach[other][1] and reach[other][0] <= reach[one][1]
    ]
    assert len(open_pairs) == 29
    assert not any("InternVL2.5-78B" in pair for pair in open_pairs)
    assert len(reach) * (len(reach) - 1) // 2 == 666
    found = size(audit, "t9-copies-t8")
    assert (found.pairs, found.ranks) == (29, len({model for pair in open_pairs for model in pair}))
    assert found.points == pytest.approx(
        max(abs(end - overall[model]) for model, ends in reach.items() for end in ends)
    )


def test_no_count_gives_t24s_67_29(audit, numbers):
    assert cells(audit, "accuracy-is-a-count") == {
        ("Table 17, T24:Acc", "InternVL2.5-8B"): (
            "67.29",
            "66.667 (64/96) or 67.708 (65/96)",
        )
    }
    printed = column(numbers, "MCS-Bench", "Table 17", "T24", "", "", "main")["InternVL2.5-8B"]
    assert all(round(100 * count / 96, 2) != printed for count in range(97))


def test_table_2_counts_formats_otherwise_than_the_registry(audit, shared):
    statistics = json.loads((shared / "published" / "mcs_table2_stats.json").read_text("utf-8"))
    printed = {row["domain"]: row for row in statistics["text"]}
    open_tasks = [each for each in registry(shared) if each["format"] == "QA"]
    assert (len(open_tasks), printed["OverAll"]["n_qa_task"]) == (23, 22)
    assert cells(audit, "formats-of-tasks") == {
        ("Table 2, n_mcq_task", "Painting"): ("7", "6"),
        ("Table 2, n_mcq_task", "OverAll"): ("23", "22"),
        ("Table 2, n_qa_task", "Painting"): ("5", "6"),
        ("Table 2, n_qa_task", "OverAll"): ("22", "23"),
    }


def test_the_edit_distance_of_t37_three_ways(audit, numbers):
    of = "MCS-Bench"
    distance = column(numbers, of, "Table 28", "T37", "", "", "EditDistance")
    rate = column(numbers, of, "Table 4", "T37", "", "", "CR")
    worst = {model for model in distance if 100 - distance[model] > rate[model] + 0.011}
    assert worst == {"LLaVA-v1.5-7B"} == rows(audit, "edit-distance")
    average = float(numbers[of]["Table 28", "T37", "", "", "EditDistance"]["Average"])
    mended = {**distance, "LLaVA-v1.5-7B": 99.82}
    assert abs(sum(distance.values()) / 37 - average) > 0.1
    assert abs(sum(mended.values()) / 37 - average) < 0.01
    assert rows(audit, "average-row") == {"Average"}
    together = [each for each in audit.findings if each.topic == "edit-distance"]
    assert {(each.check, each.place) for each in together} == {
        (check, "Table 28, T37:Edit_Distance")
        for check in ("edit-distance", "average-row", "second-best")
    }


def test_table_13_never_ticks_what_the_text_names(audit, shared):
    lacking = {
        each["id"]
        for each in registry(shared)
        if (each["generation_method_from_text"] or "").startswith("M3")
        and "M3" not in each["generation_method_as_printed"]
    }
    assert rows(audit, "ways-of-making") == lacking == {"T2", "T3", "T4", "T5", "T6"}


def test_prompts_are_not_as_long_as_the_mean_question(audit, shared):
    differ = {
        each["id"]
        for each in registry(shared)
        if each["prompt_is_constant"] and each["len_minus_avg_question_len"]
    }
    assert rows(audit, "length-of-prompts") == differ | {"T38"}  # T38: 9.58, printed prompt 9


def test_underlines_that_are_not_on_the_second_best(audit):
    wrong = cells(audit, "second-best")
    assert wrong["Table 17, T20:Acc", "InternVL2.5-38B"] == ("85.03 second", "place 3")
    assert wrong["Table 18, T28:CR", "InternVL2.5-38B"] == ("6.80 second", "place 3")
    assert wrong["Table 28, T39:BERTScore", "InternVL2.5-38B"] == ("74.25 second", "place 3")
    assert wrong["Table 26, T30:Edit_Distance", "LLaVA-v1.6-Mistral-7B"][0] == "99.71 second"
    assert ("Table 16, T10:Acc", "DeepSeek-VL2") in wrong
    found = findings(audit, "second-best")
    assert len(found) == 6
    assert {each.place for each in found if each.artefact} == {
        "Table 16, T10:Acc", "Table 18, T28:CR", "Table 28, T37:Edit_Distance",
    }  # fmt: skip


def test_the_best_reader_of_seals_writes_most(audit, numbers):
    of = "MCS-Bench"
    rate = column(numbers, of, "Table 4", "T30", "", "", "CR")
    best = "QVQ-72B-Preview"
    models = [model for model in rate if model not in {"GOT", "PaddleOCR", "KanDianGuji"}]
    assert max(models, key=rate.__getitem__) == best
    insertions = column(numbers, of, "Table 26", "T30", "", "", "AR")[best]
    assert (rate[best] - insertions) / 100 == pytest.approx(231, abs=0.5)
    assert [len(each.mismatches) for each in findings(audit, "best-at-seals")] == [1] * 6
    overall = column(numbers, of, "Table 3", "OverAll", "OverAll", "", "mean_main")
    f1 = column(numbers, of, "Table 26", "T30", "", "", "F1")
    instead = {m: overall[m] + (f1[m] - rate[m]) / 14 for m in overall}
    assert (overall[best], round(instead[best], 2)) == (42.54, 41.87)
    assert ranks(overall)[best] == ranks(instead)[best] == 12
    found = size(audit, "best-at-seals")
    assert (found.ranks, found.ranked) == (moved(overall, instead), 37) == (8, 37)


def test_f1_below_half_of_cr(audit, numbers):
    below = set()
    for table, name in (("Table 25", "T28"), ("Table 26", "T30"), ("Table 28", "T37")):
        f1 = column(numbers, "MCS-Bench", table, name, "", "", "F1")
        rate = column(numbers, "MCS-Bench", "Table 4", name, "", "", "CR")
        below |= {(name, model) for model in f1 if f1[model] + 0.0076 < rate[model] / 2}
    flagged = {
        (place.split(", ")[1][:3], row) for place, row in cells(audit, "cr-without-precision")
    }
    assert flagged == below
    assert len(below) == 21
    tables = {"T28": "Table 25", "T30": "Table 26", "T37": "Table 28"}
    for name, model in below:
        ar = column(numbers, "MCS-Bench", tables[name], name, "", "", "AR")[model]
        rate = column(numbers, "MCS-Bench", "Table 4", name, "", "", "CR")[model]
        assert rate - ar > 300  # More than three insertions per character on average.
    overall = column(numbers, "MCS-Bench", "Table 3", "OverAll", "OverAll", "", "mean_main")
    instead = dict(overall)
    for name, weight in {"T28": 1 / 14, "T30": 1 / 14, "T37": 1 / 63}.items():
        f1, rate = (
            column(numbers, "MCS-Bench", "Table 4", name, "", "", each) for each in ("F1", "CR")
        )
        instead = {m: value + weight * (f1[m] - rate[m]) for m, value in instead.items()}
    found = size(audit, "cr-without-precision")
    assert found.ranks == moved(overall, instead) == 11
    assert found.points == pytest.approx(max(abs(instead[m] - overall[m]) for m in overall))


def test_bertscore_pays_for_nothing(audit, numbers):
    floor, lower = set(), set()
    for table in ("Table 25", "Table 27", "Table 28"):
        for name in ("T29", "T35", "T38", "T39", "T44"):
            if (table, name, "", "", "ANLS") not in numbers["MCS-Bench"]:
                continue
            alike, near = (
                column(numbers, "MCS-Bench", table, name, "", "", each) for each in HALVES
            )
            nothing = {model for model in near if near[model] <= 0.5}
            floor |= {(f"{table}, {name}:BERTScore", model) for model in nothing}
            assert nothing <= {"Molmo-7B-D-0924", "Molmo-7B-O-0924"}
            assert all(62 < alike[model] < 70 for model in nothing)
            assert all(31 <= (alike[model] + near[model]) / 2 <= 35 for model in nothing)
            lower |= {name for model in alike if alike[model] < 62 and near[model] > 1}
    assert set(cells(audit, "bertscore-floor")) == floor
    assert lower == {"T29", "T39", "T44"}  # It is not a lower limit.
    assert len({place for place, _ in floor}) == 5


def test_accuracies_below_guessing(audit, numbers):
    flagged = cells(audit, "below-guessing")
    assert set(flagged) == {
        ("Table 16, T13:Acc", "Chinese-LLaVA-CLLaMA2"),
        ("Table 16, T14:Acc", "Chinese-LLaVA-CLLaMA2"),
        ("Table 16, T14:Acc", "LLaVA-v1.6-Vicuna-13B"),
    }
    for name, asked, share in (("T13", 125, 0.2), ("T14", 118, 0.25)):
        for model, value in column(numbers, "MCS-Bench", "Table 16", name, "", "", "main").items():
            luck = binom.cdf(round(value * asked / 100), asked, share)
            assert (luck < 1e-4) == ((f"Table 16, {name}:Acc", model) in flagged)


def test_insertions_without_end(audit, numbers):
    for table, name in (("Table 25", "T28"), ("Table 26", "T30"), ("Table 28", "T37")):
        rate = column(numbers, "MCS-Bench", table, name, "", "", "AR")
        place = f"{table}, {name}:AR"
        flagged = {row for where, row in cells(audit, "ar-without-floor") if where == place}
        assert flagged == {model for model in rate if rate[model] < -1000}
        # What follows: these few rows make the mean.
        others = [value for model, value in rate.items() if model not in flagged]
        assert abs(sum(rate.values())) > 4 * abs(sum(others))


def test_all_pictures_but_one_tasks_keep_to_another_limit_than_the_texts(audit, shared):
    path = shared / "published" / "mcs_task_registry.json"
    stated = json.loads(path.read_text("utf-8"))["standardisation"]["max_pixels"]
    largest = {each["id"]: each["pixel"]["max"] for each in registry(shared)}
    seen = 1280 * 28 * 28
    above = {name: pixels for name, pixels in largest.items() if pixels > seen}
    assert above == {"T15": stated}
    flagged = cells(audit, "limit-of-pixels")
    assert flagged == {("Table 5, max_pv", "T15"): (str(stated), f"at most {seen}")}
    assert sum(0.996 * seen < pixels <= seen for pixels in largest.values()) == 35
    assert stated / seen > 4 / 3
