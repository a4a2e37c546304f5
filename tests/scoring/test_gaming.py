"""Gaming earns no more than knowing nothing."""

from __future__ import annotations

import pytest

from keju.definitions import prompt_of
from tests.support.degenerate import BOUGHT_ALONE, MARGIN, earned, families, floors, worth
from tests.support.readings import form_of, lines

FAMILIES = {family.name: family for family in families()}
FAMILY_OF = {
    "letter": "multiple choice", "number": "How many", "yes-no": "Yes-or-No, with negatives",
    "short": "image QA", "boxes": "Where (boxes)", "entities": "named entities",
    "transcription": "OCR, MCS-Bench", "text": "open QA, MCS-Bench",
}  # fmt: skip


def gaming():
    for row in lines(["gaming.jsonl"]):
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
