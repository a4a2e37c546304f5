"""How a reference is broken into lines changes neither recognition nor layout error."""

from __future__ import annotations

import pytest

from keju.scoring import score_answer

COLUMNS = ("天地玄黃", "宇宙洪荒", "日月盈昃")
READINGS = {
    "in order": "".join(COLUMNS),
    "rows across columns": "".join(map("".join, zip(*COLUMNS[::-1], strict=True))),
    "with errors": "天地玄黄宇宙洪日月盈",
}


@pytest.mark.parametrize("reading", READINGS.values(), ids=READINGS.keys())
def test_one_paragraph_and_one_line_a_column_have_the_same_errors(make, reading: str):
    found = []
    for reference in ("".join(COLUMNS), "\n".join(COLUMNS), "\n\n".join(COLUMNS) + "\n"):
        scores = score_answer(*make("page_ocr", reference, reading))
        values = {score.metric: score.value for score in scores if score.protocol == "strict"}
        found.append([values[name] for name in ("CER", "CER_recognition", "CER_layout")])
    assert found[0] == found[1] == found[2]
    assert None not in found[0]


def test_a_perfect_reading_in_rows_is_a_layout_error_alone(make):
    scores = score_answer(*make("page_ocr", "\n".join(COLUMNS), READINGS["rows across columns"]))
    values = {score.metric: score.value for score in scores if score.protocol == "strict"}
    assert values["CER_recognition"] == 0
    assert values["CER_layout"] == values["CER"] > 0.5
