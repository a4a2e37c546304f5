"""No degenerate answer earns more under `strict` than another item's truth does, or chance.

Each is given to every item of a small set, and its task value is held against the permutation
floor (items answered with each other's truths). Precision and recall are taken together with
F1: each alone can be bought with the other.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from keju.metrics.ranking import accuracy_at, auc, average_precision, rank
from tests.support.degenerate import (
    BANK,
    BOUGHT_ALONE,
    HOLDS_THE_ANSWER,
    LOWER,
    MARGIN,
    MARGINS,
    earned,
    encoder_families,
    families,
    floors,
    floors_of,
    minilm,
    worth,
)
from tools import make_degenerate_table

ROOT = Path(__file__).parents[2]
FAMILIES = {family.name: family for family in families()}
ONE_SIDED = "Yes-or-No, all images positive"


def strict(name, answer):
    """Metric → (worth, result) of one degenerate answer in `strict`."""
    family = FAMILIES[name]
    found = earned(family, [BANK[answer](item) for item in family.items])["strict"]
    return {
        metric: (worth(metric, result.value), result)
        for metric, result in found.items()
        if metric not in BOUGHT_ALONE
    }


@pytest.mark.parametrize("answer", BANK)
@pytest.mark.parametrize("name", FAMILIES)
def test_it_earns_no_more_than_the_floor_unless_it_holds_the_answer(name, answer):
    above = {
        metric: (paid, floors(name)["strict"][metric])
        for metric, (paid, _) in strict(name, answer).items()
        if paid > floors(name)["strict"][metric] + MARGINS.get((answer, metric), MARGIN)
    }
    if (name, answer) == (ONE_SIDED, "always Yes"):
        assert list(above) == ["BalancedAcc"]
    else:
        assert bool(above) == ((name, answer) in HOLDS_THE_ANSWER), above


def test_where_all_truths_are_alike_the_task_is_flagged():
    _, result = strict(ONE_SIDED, "always Yes")["BalancedAcc"]
    assert result.note.startswith("one-sided")
    _, balanced = strict("Yes-or-No, with negatives", "always Yes")["BalancedAcc"]
    assert (balanced.value, balanced.note) == (0.5, "")


@pytest.mark.parametrize("name", FAMILIES)
def test_the_truth_itself_earns_everything(name):
    family = FAMILIES[name]
    for metric, result in earned(family, family.truths)["strict"].items():
        assert result.value == pytest.approx(0 if metric in LOWER else 1), metric


@pytest.mark.parametrize("name", ["OCR, MCS-Bench", "punctuation", "OCR, AncientDoc"])
def test_the_truth_three_times_over_earns_the_precision_that_it_has(name):
    family = FAMILIES[name]
    values = earned(family, [truth * 3 for truth in family.truths])["strict"]
    assert values["Precision"].value == pytest.approx(1 / 3, abs=0.01)
    assert values["F1"].value == pytest.approx(0.5, abs=0.01)
    assert "CharAcc" not in values or values["CharAcc"].value == 0


@pytest.mark.parametrize("name", ["multiple choice", "image QA"])
def test_the_truth_three_times_over_is_no_answer(name):
    assert max(paid for paid, _ in strict(name, "the truth three times").values()) <= 0


@pytest.mark.parametrize("answer", BANK)
@pytest.mark.parametrize("name", ["OCR, MCS-Bench", "OCR, AncientDoc"])
def test_recognition_error_is_low_for_the_true_characters_alone(name, answer):
    family = FAMILIES[name]
    found = earned(family, [BANK[answer](item) for item in family.items])["strict"]
    cer, recognition, layout = (
        found[metric].value for metric in ("CER", "CER_recognition", "CER_layout")
    )
    assert cer == pytest.approx(recognition + layout)
    assert 0 <= recognition <= cer
    true_characters = {"the truth reversed", "the truth spaced out"}
    least = 1 - floors(name)["strict"]["CER_recognition"] - MARGIN
    assert (recognition < least) == (answer in true_characters)


def test_one_probability_for_all_earns_what_chance_earns():
    ranking = rank([0.8] * 100, [17])
    assert accuracy_at(ranking, 1) == pytest.approx(1 / 100)
    assert auc(ranking) == pytest.approx(0.5)
    assert average_precision(ranking) == pytest.approx(sum(1 / k for k in range(1, 101)) / 100)


def test_the_printed_table_is_the_one_that_the_code_makes():
    made = (ROOT / "docs" / "degenerate.md").read_text("utf-8")
    assert made == make_degenerate_table.page(), (
        "run: python -m tools.make_degenerate_table > docs/degenerate.md"
    )


@pytest.mark.semantic
def test_an_encoder_pays_no_degenerate_answer_either():
    encoders = minilm()
    for family in encoder_families():
        floor = floors_of(family, encoders)["strict"]
        for name, answer in BANK.items():
            found = earned(family, [answer(item) for item in family.items], encoders)["strict"]
            above = [each for each in found if found[each].value > floor[each] + MARGIN]
            # chrF leaves out the spaces in a truth that is spaced out; encoders don't.
            holds = (family.name, name) in HOLDS_THE_ANSWER or above == ["chrF"]
            assert bool(above) == holds, (family.name, name, above)


@pytest.mark.semantic
def test_the_printed_table_of_an_encoder_is_the_one_that_the_code_makes():
    made = (ROOT / "docs" / "degenerate-encoder.md").read_text("utf-8")
    assert made == make_degenerate_table.page_of_encoders()
