"""How values are printed."""

from __future__ import annotations

import pytest

from keju.formatting import format_p


@pytest.mark.parametrize(
    ("value", "printed"),
    [
        (None, "–"),
        (0.0004, "<.001"),
        (0.001, ".001"),
        (0.0484, ".049"),
        (0.05, ".050"),
        (0.0503, ".051"),
        (3 * (0.05 / 3), ".050"),
        (0.438, ".438"),
        (1.0, "1.000"),
    ],
)
def test_a_p_above_the_level_is_not_printed_as_the_level(value, printed):
    assert format_p(value) == printed
    if value is not None and printed != "<.001":
        assert (value <= 0.05) is (float(printed) <= 0.05)
