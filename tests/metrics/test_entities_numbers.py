"""Names as sets, and numbers by value."""

from hypothesis import given
from hypothesis import strategies as st

from keju.metrics import (
    entities_prf,
    numbers_in,
    parse_number,
    relative_error,
)

UNITS = ["", "十", "百", "千"]
DIGITS = "零一二三四五六七八九"


def spelled(number):
    """A number below ten thousand in Chinese, the school-book way."""
    parts, zero = [], False
    for place in range(3, -1, -1):
        digit = number // 10**place % 10
        if digit:
            parts.append(("零" if zero and parts else "") + DIGITS[digit] + UNITS[place])
            zero = False
        else:
            zero = True
    return "".join(parts) or "零"


@given(st.integers(0, 9999))
def test_every_number_below_ten_thousand_is_read(number):
    assert parse_number(spelled(number)) == number
    assert parse_number(str(number)) == number
    assert parse_number(f"{number:,}") == number


@given(st.integers(1, 9999), st.integers(1000, 9999))
def test_great_units_multiply(high, low):
    assert parse_number(spelled(high) + "万" + spelled(low)) == high * 10_000 + low


def test_numbers_are_found_in_order():
    assert numbers_in("图中有三匹马、１２个人，约1,200年") == [3, 12, 1200]


def test_relative_error_is_of_the_truth():
    assert relative_error(4, 5) == 0.25
    assert relative_error(0, 0) == 0
    assert relative_error(0, 7) == 1


def test_sets_of_names():
    assert entities_prf({"a", "b"}, {"b", "c", "d", "e"}).precision == 0.25
    assert entities_prf(set(), set()) == (0, 0, 0)
