"""A numeral has one value, or none where it could be read in two ways."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keju.text import parse_english_number, parse_number

DIGITS = "零一二三四五六七八九"
FORMAL = str.maketrans("一二三四五六七八九十百千", "壹貳叁肆伍陸柒捌玖拾佰仟")


def numeral(number):
    """The full Chinese form: 零 stands for every gap, 一 before every unit."""
    if number < 10:
        return DIGITS[number]
    for unit, worth in (("億", 10**8), ("萬", 10**4), ("千", 1000), ("百", 100), ("十", 10)):
        if number >= worth:
            high, low = divmod(number, worth)
            gap = "零" if 0 < low < worth // 10 else ""
            return numeral(high) + unit + gap + (numeral(low) if low else "")
    raise AssertionError(number)


@given(st.integers(0, 10**12 - 1))
def test_every_full_numeral_has_its_value(number):
    written = numeral(number)
    assert parse_number(written) == number
    assert parse_number(written.translate(FORMAL)) == number
    assert (
        parse_number(written.replace("零", "〇").replace("萬", "万").replace("億", "亿")) == number
    )


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("12", 12),
        (" １２ ", 12),
        ("1,234,567", 1234567),
        ("-3.5", -3.5),
        ("十", 10),
        ("十二", 12),
        ("廿四", 24),
        ("卅", 30),
        ("二〇二六", 2026),
        ("〇", 0),
        ("两千", 2000),
        ("一九八〇", 1980),
        ("壹萬", 10_000),
        ("兩", 2),
        ("3.5", 3.5),
        ("-2", -2),
        ("一亿零五", 100_000_005),
        ("二〇", 20),
    ],
)
def test_other_forms(text, value):
    assert parse_number(text) == value


@pytest.mark.parametrize(
    "text",
    [
        "",
        "两三",
        "一百五",
        "一百一",
        "三万五",
        "十百",
        "万",
        "几",
        "十几",
        "12个",
        "1,23",
        "百分之八",
        "abc",
        "三匹",
        "1 2",
        "天" * 99,
    ],
)
def test_what_has_no_one_value_is_no_number(text):
    assert parse_number(text) is None


@pytest.mark.parametrize(
    ("words", "value"),
    [
        ("zero", 0),
        ("one", 1),
        ("nine", 9),
        ("ten", 10),
        ("Nineteen", 19),
        ("twenty", 20),
        ("ninety-nine", 99),
        ("a hundred and twelve", 112),
        ("three hundred", 300),
        ("forty two", 42),
        ("ten one", None),
        ("hundred", None),
        ("one thousand", None),
    ],
)
def test_english_words_below_a_thousand(words: str, value: int | None):
    assert parse_english_number(words) == value
