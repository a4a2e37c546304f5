"""A cell of a leaderboard is a number where it can be read in one way only."""

import pytest

from keju.published.cell_numbers import decimal_sign, is_empty, number_cell


@pytest.mark.parametrize(
    ("texts", "value"),
    [
        (("\u221210.0", "\u201310.0", "\uff0d10.0", "\ufe6310.0", "\u201110.0", "&minus;10.0",
          "$-$10.0", "$-10.0$", "\u2212 10.0", "**\u221210.0**"), -10.0),
        (("50.0", "５０．０", "٥٠", "+50.0", "50.", "5e1", "\ufeff50.0", "50.0\u200b"), 50.0),
        (("50.0%", "50.0 %", "50.0％", "50.0\u00a0%", r"50.0\%", r"$50.0\,\%$", "50.0分",
          "500‰"), 50.0),
        (("50.0*", "50.0†", "50.0‡", "50.0**", "50.0¹", "50.0ᵃ", "50.0^*", "50.0$^{\\dagger}$",
          r"50.0\textsuperscript{*}", "50.0<sup>1</sup>", "50.0 [1]", "50.0%*", "50.0↑"), 50.0),
        (("50.0 (1)", "50.0(1)", "50.0（1）", "50.0_{1}", "$50.0_{\\pm 0.3}$", "50.0 (↑1.2)",
          "50.0 ±0.3", "50.0±.3%", r"50.0 $\pm$ 0.3", "50.0 [48.1, 52.0]", "50.0 ↑1.2",
          r"\textbf{50.0} {\tiny (1)}", "**50.0** (1)", "**50.0***"), 50.0),
        ((r"\textcolor{red}{50.0}", r"\cellcolor[gray]{.9}50.0", "<span class='x'>50.0</span>",
          "*50.0*", "`50.0`", r"\textit{50.0}", r"\num{50.0}"), 50.0),
        (("1,234.5", "1.234,5", "1'234.5", "1\u202f234,5", "1，234．5"), 1234.5),
        (("1,234", "1,234.0", "1'234"), 1234.0),
        (("50,0", "50,00"), 50.0),
        (("0.912", ".912", "0,912", "9.12e-1"), 0.912),
    ],
)  # fmt: skip
def test_what_is_plainly_a_number_is_read(texts, value):
    assert {text: number_cell(text, "unknown").value for text in texts} == dict.fromkeys(
        texts, pytest.approx(value)
    )


@pytest.mark.parametrize(
    "text",
    ["<0.1", "≤0.1", "~50", "≈50", "5O.0", "40-50", "40–50", "1/3", "(50.0)", "50.0 60.0", "10²",
     "10^{-4}", "10^2", "5×10⁻⁴", "12,34,567", "OOM", "五十", "7B", "50.0_1", "*", "9" * 300],
)  # fmt: skip
def test_what_may_be_something_else_is_not_read(text):
    assert number_cell(text, "point").value is None
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
        ("**9**", "bold"), ("__9__", "bold"), (r"\textbf{9}", "bold"), (r"{\bf 9}", "bold"),
        (r"$\mathbf{9}$", "bold"), ("<b>9</b>", "bold"), ("<strong>9</strong>", "bold"),
        (r"\textbf{\underline{9}}", "bold"), ("_**9**_", "bold"), ("**9** (1)", "bold"),
        ("_9_", "underline"), (r"\underline{9}", "underline"), ("<u>9</u>", "underline"),
        ("*9*", ""), ("9", ""),
    ],
)  # fmt: skip
def test_emphasis_is_read_in_each_notation(text, mark):
    cell = number_cell(text, "point")
    assert (cell.value, cell.mark) == (9.0, mark)


@pytest.mark.parametrize(
    ("cells", "sign", "thousand", "fraction"),
    [
        (["50.1", "1,234"], "point", 1234.0, 1.234),
        (["50,1", "1,234"], "comma", 1.234, None),
        (["50,1", "50.1", "1,234"], "both", None, 1.234),
        (["50", "1,234"], "unknown", 1234.0, 1.234),
    ],
)
def test_the_table_decides_what_one_comma_before_three_digits_means(
    cells, sign, thousand, fraction
):
    assert decimal_sign(cells) == sign
    assert number_cell("1,234", sign).value == thousand
    assert number_cell("1.234", sign).value == fraction


def test_a_value_in_per_mille_becomes_one_in_percent_with_its_digits():
    cell = number_cell("512.5‰", "point")
    assert (cell.text, cell.decimals) == ("51.25", 2)
