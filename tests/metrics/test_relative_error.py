"""The relative error is measured against the truth."""

from __future__ import annotations

import pytest

from keju.metrics import relative_error


def test_relative_error_is_measured_against_the_truth():
    assert relative_error(17, 14) == pytest.approx(3 / 17)
    assert relative_error(4, 5) == 0.25
    assert relative_error(1, 300) == 299


def test_of_a_truth_of_zero_it_is_zero_or_one():
    assert relative_error(0, 0) == 0
    assert relative_error(0, 5) == 1
