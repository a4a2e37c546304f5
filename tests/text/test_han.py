"""Which characters are Han."""

import pytest

from keju.text import han_only, is_han


@pytest.mark.parametrize("char", "一鿿㐀\U00020000\U0002a700\U0002ebf0\U00030000\U000323af豈〇々")
def test_ideographs_of_every_block_are_han(char):
    assert is_han(char)


@pytest.mark.parametrize("char", "⼀⺀○□、Aア\ue000 ㄅ")
def test_radicals_signs_and_other_scripts_are_not(char):
    assert not is_han(char)


def test_han_only_keeps_the_order():
    assert han_only("《論語》 曰：學A而1。〇々") == "論語曰學而〇々"
