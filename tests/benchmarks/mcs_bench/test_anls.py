"""ANLS in the script's and the paper's forms."""

import pytest

from keju.benchmarks.mcs_bench.metrics import anls as anls_script
from keju.benchmarks.mcs_bench.metrics import anls_paper, anls_threshold


def test_the_three_readings_of_anls():
    truth, answer = "天地玄黄宇", "天地玄"
    assert anls_script(truth, answer) == pytest.approx(0.6)
    assert anls_threshold(truth, answer) == pytest.approx(0.6)
    assert anls_paper(truth, answer) == pytest.approx(1 - 0.4 / 5)


def test_beyond_the_threshold_nothing_is_earned():
    assert anls_threshold("天地玄黄", "天") == 0
    assert anls_script("天地玄黄", "天") == 0.25


def test_nothing_against_nothing_is_one_in_every_reading():
    assert anls_script("", "") == anls_paper("", "") == anls_threshold("", "") == 1
