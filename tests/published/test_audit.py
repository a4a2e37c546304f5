"""The audit's findings, each worked out again from the transcription, without keju's tables."""

import csv
import importlib.util
import json
import subprocess
import sys
from itertools import combinations
from pathlib import Path
from statistics import pstdev

import pytest

from keju.benchmarks import tasks
from keju.errors import UsageError
from keju.published import audit_published

ROOT = Path(__file__).resolve().parents[2]
HALVES = ("BERTScore", "ANLS")
FILES = {"MCS-Bench": "mcs", "AncientDoc": "ancientdoc", "OBI-Bench": "obi"}


@pytest.fixture(scope="module")
def audit():
    return audit_published()


@pytest.fixture(scope="module")
def numbers(shared):
    """(table, task, domain, dataset, metric) to the printed text by model, of one benchmark."""

    def of(benchmark):
        columns = {}
        path = shared / "published" / f"{FILES[benchmark]}_results_long.csv"
        with path.open(encoding="utf-8") as stream:
            for row in csv.DictReader(stream):
                domain = row["domain"] if row["task"] in {"OverAll", "MCQ", "QA"} else ""
                domain = row["domain"] if benchmark == "OBI-Bench" else domain
                key = (row["table"], row["task"], domain, row["dataset"], row["metric"])
                columns.setdefault(key, {})[row["model"]] = row["value"]
        return columns

    return {name: of(name) for name in FILES}


def findings(audit, check):
    return [each for each in audit.findings if each.check == check]


def cells(audit, check):
    return {
        (each.place, cell.where): (cell.printed, cell.recomputed)
        for each in findings(audit, check)
        for cell in each.mismatches
    }


def rows(audit, check):
    return {where for _, where in cells(audit, check)}


def column(numbers, benchmark, *key):
    found = numbers[benchmark][key]
    return {
        model: float(text)
        for model, text in found.items()
        if not text.startswith("<") and model != "Average"
    }


def registry(shared):
    path = shared / "published" / "mcs_task_registry.json"
    return json.loads(path.read_text("utf-8"))["tasks"]


# MCS-Bench


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
    assert len(findings(audit, "second-best")) == 6


def test_the_best_reader_of_seals_writes_most(audit, numbers):
    of = "MCS-Bench"
    rate = column(numbers, of, "Table 4", "T30", "", "", "CR")
    best = max(rate, key=rate.__getitem__)
    assert best == "QVQ-72B-Preview"
    insertions = column(numbers, of, "Table 26", "T30", "", "", "AR")[best]
    assert (rate[best] - insertions) / 100 == pytest.approx(230, abs=2)
    (finding,) = findings(audit, "best-at-seals")
    assert len(finding.mismatches) == 4


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


# AncientDoc


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


# OBI-Bench


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


# The whole


def test_what_holds_is_said_too(audit):
    held = {(each.benchmark, each.check): each for each in audit.held}
    assert held["MCS-Bench", "domain-mean"].compared == 6 * 38
    assert held["MCS-Bench", "rank"].compared == 37
    assert held["OBI-Bench", "average-of-deciphering"].compared == 24
    assert held["AncientDoc", "pages-by-category"].compared == 1
    assert ("MCS-Bench", "t9-copies-t8") not in held


def test_every_declared_check_compares_something(audit):
    for each in (*audit.findings, *audit.held):
        assert each.compared > 0, each


def test_the_audit_of_one_paper_is_its_part(audit):
    assert audit_published("OBI-Bench").findings == tuple(
        each for each in audit.findings if each.benchmark == "OBI-Bench"
    )
    with pytest.raises(UsageError, match="there are MCS-Bench"):
        audit_published("OCRBench")


def test_the_page_is_what_the_tool_prints():
    path = ROOT / "tools" / "make_audit_page.py"
    spec = importlib.util.spec_from_file_location("make_audit_page", path)
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    made = (ROOT / "docs" / "audit.md").read_text("utf-8")
    assert made == tool.page(), f"make it again: python tools/{path.name} > docs/audit.md"


def test_the_command_prints_findings_and_json():
    def keju(*args):
        return subprocess.run(
            [sys.executable, "-m", "keju", "audit", *args],
            capture_output=True,
            encoding="utf-8",
            check=False,
            timeout=120,
        )

    done = keju("published", "--benchmark", "AncientDoc")
    assert done.returncode == 0
    assert "Qwen3-VL-8B" in done.stdout
    found = json.loads(keju("published", "--json").stdout)
    assert {each["severity"] for each in found["findings"]} == {
        "error", "conflict", "meaning", "marks", "caution",
    }  # fmt: skip
    wrong = keju("published", "--benchmark", "nothing")
    assert wrong.returncode == 2
    assert len(wrong.stderr.splitlines()) == 1
