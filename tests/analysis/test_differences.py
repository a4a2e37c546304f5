"""A difference shows what was written, and judges it by the character meant."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from keju.analysis.differences import differences
from keju.text import counted

TEXT = st.text(alphabet="學学習习而時\n，。甲乙爲為", max_size=40)


def test_each_kind_of_difference():
    found = differences("學而時習之\n不亦說乎", "学而時之，不亦悦乎矣")
    assert [(part.kind, part.truth, part.answer) for part in found] == [
        ("var", "學", "学"),
        ("eq", "而時", "而時"),
        ("del", "習", ""),
        ("eq", "之", "之"),
        ("brk", "", ""),
        ("eq", "不亦", "不亦"),
        ("sub", "說", "悦"),
        ("eq", "乎", "乎"),
        ("ins", "", "矣"),
    ]


@given(TEXT, TEXT)
def test_both_texts_are_shown_whole_but_for_what_scoring_ignores(truth, answer):
    found = differences(truth, answer)
    assert "".join(part.truth for part in found) == counted(truth, "exact")
    assert "".join(part.answer for part in found) == counted(answer, "exact")


def test_a_loop_is_shown_up_to_a_limit():
    found = differences("天地玄黃", "天地" * 50_000)
    assert sum(len(part.answer) for part in found) == 6000
