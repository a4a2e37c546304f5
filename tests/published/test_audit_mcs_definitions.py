"""MCS-Bench: what its means and metrics are, worked out again from the transcription."""

import json

import pytest

from tests.support.transcription import cells, column, findings, moved, ranks, rows, size

DOMAIN_TASKS = {
    "Ancient Chinese Text": 7, "Calligraphy": 8, "Painting": 12, "Oracle Bone Script": 2,
    "Seal": 2, "Cultural Relic": 5, "Illustration": 9,
}  # fmt: skip
CHOICE_TASKS = {"Table 15": 2, "Table 16": 5, "Table 17": 6, "Table 19": 1, "Table 20": 4}


def test_overall_over_tasks_is_another_mean(audit, numbers):
    of = "MCS-Bench"
    overall = column(numbers, of, "Table 3", "OverAll", "OverAll", "", "mean_main")
    domains = {
        name: column(numbers, of, "Table 3", "OverAll", name, "", "mean_main")
        for name in DOMAIN_TASKS
    }
    assert sum(DOMAIN_TASKS.values()) == 45
    by_task = {
        m: sum(n * domains[name][m] for name, n in DOMAIN_TASKS.items()) / 45 for m in overall
    }
    assert round(sum(by_task.values()) / 37, 2) == 39.52
    assert round(sum(overall.values()) / 37, 2) == 35.46
    assert ranks(by_task)["Gemini-2.0-Flash"] == 2
    found = size(audit, "overall-by-task")
    assert found.ranks == moved(overall, by_task) == 17
    assert rows(audit, "overall-by-task") == {*overall, "Average"}


def test_mcq_over_tasks_is_another_mean(audit, numbers):
    of = "MCS-Bench"
    mcq = column(numbers, of, "Table 3", "MCQ", "OverAll", "", "mean_main")
    own = {
        key[0]: column(numbers, of, *key)
        for key in numbers[of]
        if key[1] == "MCQ" and key[0] in CHOICE_TASKS
    }
    assert set(own) == set(CHOICE_TASKS)
    by_task = {}
    for model, mean in mcq.items():
        illustration = 6 * mean - sum(values[model] for values in own.values())
        known = sum(n * own[table][model] for table, n in CHOICE_TASKS.items())
        by_task[model] = (known + 4 * illustration) / 22
    assert round(sum(by_task.values()) / 37, 2) == 47.77
    assert round(sum(mcq.values()) / 37, 2) == 46.10
    assert rows(audit, "mcq-by-task") == {*mcq, "Average"}


def test_cr_is_no_count_of_characters(audit, numbers, shared):
    path = shared / "published" / "mcs_table5_task_stats.json"
    stats = json.loads(path.read_text("utf-8"))
    for name, characters, possible in (("T30", 586, [586]), ("T37", 737, [737, 738])):
        questions, length = stats[name]["n_questions"], stats[name]["avg_a_len"]
        assert possible == [
            n for n in range(2000) if abs(n - questions * length) <= questions * 0.005 + 1e-9
        ]
        rate = column(numbers, "MCS-Bench", "Table 4", name, "", "", "CR")
        off, otherwise = (
            {
                model
                for model, value in rate.items()
                if all(abs(value - 100 * n / total) > 0.0051 for n in range(total + 1))
            }
            for total in (characters, possible[-1])
        )
        flagged = {
            row
            for place, row in cells(audit, "cr-of-all-characters")
            if place == f"Table 4, {name}:CR"
        }
        assert flagged == off
        assert min(len(off), len(otherwise)) > 0.8 * len(rate)


def test_f1_is_below_both_of_its_parts_in_thirteen_cells(audit, numbers):
    below, apart = 0, set()
    for table, name in (("Table 26", "T30"), ("Table 28", "T37")):
        f1, precision, recall = (
            column(numbers, "MCS-Bench", table, name, "", "", each)
            for each in ("F1", "Precision", "Recall")
        )
        below += sum(f1[m] < min(precision[m], recall[m]) - 0.0101 for m in f1)
        for m in f1:
            parts = precision[m] + recall[m]
            harmonic = 2 * precision[m] * recall[m] / parts if parts else 0.0
            if abs(f1[m] - harmonic) > 0.05:
                apart.add((f"{table}, {name}:F1", m))
    assert below == 13
    assert apart <= set(cells(audit, "f1-is-a-mean"))
    assert len(apart) > 60


def test_edit_distance_of_one_character_is_what_precision_lacks(audit, numbers):
    distance, precision = (
        column(numbers, "MCS-Bench", "Table 25", "T28", "", "", each)
        for each in ("EditDistance", "Precision")
    )
    apart = {m: abs(100 - precision[m] - distance[m]) for m in distance}
    assert max(apart.values()) < 0.031
    assert sum(value < 0.0101 for value in apart.values()) == 34
    assert "edit-distance-is-normalised" in {each.check for each in audit.held}


def test_anls_is_far_below_what_equation_7_gives(audit, numbers):
    anls = column(numbers, "MCS-Bench", "Table 25", "T29", "", "", "ANLS")
    # A normalised distance is at most 1, and T29's references have 62.9 characters on average.
    least = 100 * (1 - 1 / 62.9)
    assert least == pytest.approx(98.4, abs=0.02)
    assert round(sum(anls.values()) / 37, 2) == 8.84
    assert rows(audit, "anls-as-printed") == set(anls)


def test_bleu_of_one_character_ends_at_17_78(audit, numbers):
    bleu, recall = (
        column(numbers, "MCS-Bench", "Table 25", "T28", "", "", each) for each in ("BLEU", "Recall")
    )
    assert all(bleu[m] <= 0.1778 * recall[m] + 0.0061 for m in bleu)
    (finding,) = findings(audit, "bleu-ceiling-of-one-character")
    assert finding.mismatches[0].where == max(bleu, key=bleu.get)
    assert max(bleu.values()) < 17.78


def test_the_numbers_of_the_summary(audit, numbers):
    overall = column(numbers, "MCS-Bench", "Table 3", "OverAll", "OverAll", "", "mean_main")
    assert max(overall, key=overall.get) == "InternVL2.5-78B"
    (held,) = [each for each in audit.held if each.check == "accuracy-is-a-count"]
    failing = findings(audit, "accuracy-is-a-count")
    assert held.compared + sum(each.compared for each in failing) == 703
    assert sum(len(each.mismatches) for each in failing) == 1
