"""`strict` takes what a careful human takes, and gaming earns no more than knowing nothing."""

from __future__ import annotations

import pytest

from keju.definitions import prompt_of
from keju.files import sha256_bytes
from tests.support.answer_bank import BANKS, agrees, bank, extracted, form_of
from tests.support.answer_parts import readings_of_parts
from tests.support.degenerate import BOUGHT_ALONE, MARGIN, earned, families, floors, worth

LEAST = {"development.jsonl": 0.99, "stress.jsonl": 0.98}
FROZEN = {
    "answers_natural.jsonl": (
        "8be6a08bbfdac5fedb285ee427df271bf14c6aa84cead81e57b967952545e8bb",
        0.98,
    ),
    "answers_natural_second.jsonl": (
        "8687fd3a62d6d55ad6b6f55789834971bf6ab257f68b955cd53ecca484039dad",
        0.964,
    ),
    "answers_frozen.jsonl": (
        "9b1cb1915dde7020e57ddd618639a21d3c4762774e1452d309fc15b563b3ca1c",
        0.93,
    ),
}
"""SHA-256 of the banks that were written and annotated apart from the extractor, whose author has
not read them, and their agreement when they were last measured, rounded down."""
PARTS = {"answer_parts.jsonl": 0.96, "answer_parts_held.jsonl": 0.89}
"""The share of recombined responses that were read as the annotator reads them, rounded down."""
FAMILIES = {family.name: family for family in families()}
FAMILY_OF = {
    "letter": "multiple choice", "number": "How many", "yes-no": "Yes-or-No, with negatives",
    "short": "image QA", "boxes": "Where (boxes)", "entities": "named entities",
    "transcription": "OCR, MCS-Bench", "text": "open QA, MCS-Bench",
}  # fmt: skip


def test_the_banks_have_the_promised_size_and_distinct_ids():
    for name, least in (("development.jsonl", 1400), ("stress.jsonl", 4600), ("gaming.jsonl", 100)):
        rows = bank(name)
        assert len(rows) >= least
        assert len({row["id"] for row in rows}) == len(rows)


@pytest.mark.parametrize("row", bank("variants.jsonl"), ids=lambda row: row["id"])
def test_the_answer_that_a_human_takes_is_taken(row):
    assert agrees(row), extracted(row)


@pytest.mark.parametrize("name", sorted(LEAST))
def test_the_other_banks_agree_where_they_did(name):
    rows = bank(name)
    assert len(rows) >= 200
    assert sum(map(agrees, rows)) / len(rows) >= LEAST[name]


@pytest.mark.parametrize("name", FROZEN)
def test_a_frozen_bank_is_unchanged_and_agrees_where_it_did(name):
    sha256, least = FROZEN[name]
    assert sha256_bytes((BANKS / name).read_bytes()) == sha256
    rows = bank(name)
    assert len(rows) >= 200
    assert sum(map(agrees, rows)) / len(rows) >= least


@pytest.mark.parametrize("name", FROZEN)
@pytest.mark.xfail(strict=True, reason="not reached: see docs/extraction.md")
def test_unseen_answers_agree_in_99_of_100_and_null_earns_nothing(name):
    rows = bank(name)
    assert [row["id"] for row in rows if row["expected"] is None and not agrees(row)] == []
    assert sum(map(agrees, rows)) / len(rows) >= 0.99


@pytest.mark.parametrize("name", PARTS)
def test_a_statement_is_read_as_well_among_other_sentences(name):
    found = readings_of_parts(name)
    right, number = (sum(each[at] for each in found) for at in (2, 3))
    assert number >= 2000
    assert right / number >= PARTS[name], found


def gaming():
    for row in bank("gaming.jsonl"):
        leak = [pytest.mark.xfail(reason="known leak")] if "known leak" in row["traits"] else []
        yield pytest.param(row, id=row["id"], marks=leak)


@pytest.mark.parametrize("row", gaming())
def test_a_gaming_answer_earns_no_more_than_the_floor(row):
    family = FAMILIES[FAMILY_OF[form_of(row)]]
    text = row["response"] * row["repeat"]
    texts = [text.replace("{prompt}", prompt_of(item)) for item in family.items]
    found = earned(family, texts)["strict"]
    floor = floors(family.name)["strict"]
    above = {
        metric: worth(metric, result.value)
        for metric, result in found.items()
        if metric not in BOUGHT_ALONE and worth(metric, result.value) > floor[metric] + MARGIN
    }
    assert above == {}
