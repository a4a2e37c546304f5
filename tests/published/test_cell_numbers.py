"""A cell of a leaderboard is a number where it can be read in one way only."""

import pytest

from keju.published.cell_numbers import is_empty, number_cell


@pytest.mark.parametrize(
    ("texts", "value"),
    [
        (("\u221210.0", "\u201310.0", "\uff0d10.0", "\ufe6310.0", "\u201110.0", "$-$10.0",
          "$-10.0$", "\u2212 10.0", "**\u221210.0**"), -10.0),
        (("50.0", "５０．０", "٥٠", "+50.0", "50.", "\ufeff50.0", "50.0\u200b"), 50.0),
        (("50.0%", "50.0 %", "50.0％", "50.0\u00a0%", r"50.0\%", "50.0分"), 50.0),
        (("50.0*", "50.0†", "50.0‡", "50.0**", "50.0 [1]", "50.0%*", "50.0↑"), 50.0),
        (("50.0 (1)", "50.0(1)", "50.0（1）", "50.0 (↑1.2)", "50.0 ±0.3", "50.0±.3%",
          r"50.0 $\pm$ 0.3", "50.0 [48.1, 52.0]", "50.0 ↑1.2", "**50.0** (1)", "**50.0***"), 50.0),
        (("0.912", ".912"), 0.912),
    ],
)  # fmt: skip
def test_what_is_plainly_a_number_is_read(texts, value):
    assert {text: number_cell(text).value for text in texts} == dict.fromkeys(
        texts, pytest.approx(value)
    )


@pytest.mark.parametrize(
    "text",
    ["<0.1", "≤0.1", "~50", "≈50", "5O.0", "40-50", "40–50", "1/3", "(50.0)", "50.0 60.0", "10²",
     "10^{-4}", "10^2", "5×10⁻⁴", "12,34,567", "OOM", "五十", "7B", "50.0_1", "*", "9" * 300,
     "50,0", "1,234", "1,234.5", "5e1", "50.0¹", "<b>9</b>"],
)  # fmt: skip
def test_what_may_be_something_else_is_not_read(text):
    assert number_cell(text).value is None
    assert not is_empty(text)


@pytest.mark.parametrize(
    "text",
    ["", " ", "-", "--", "–", "—", "−", "－", "$-$", "N/A", "nan", "NaN", "None", "/", "...", "无",
     "**-**"],
)  # fmt: skip
def test_cells_without_a_value_are_empty(text):
    assert is_empty(text)


@pytest.mark.parametrize(
    ("text", "mark"),
    [
        ("**9**", "bold"), (r"\textbf{9}", "bold"), (r"\textbf{\underline{9}}", "bold"),
        ("_**9**_", "bold"), ("**9** (1)", "bold"), ("_9_", "underline"),
        (r"\underline{9}", "underline"), ("9", ""),
    ],
)  # fmt: skip
def test_emphasis_is_read_in_each_notation(text, mark):
    cell = number_cell(text)
    assert (cell.value, cell.mark) == (9.0, mark)
