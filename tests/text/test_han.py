"""Which characters are Han."""

import pytest

from keju.text import all_han, count_han, han_only, has_han, is_han, to_half_width


@pytest.mark.parametrize("char", "一鿿㐀\U00020000\U0002a700\U0002ebf0\U00030000\U000323af豈〇々")
def test_ideographs_of_every_block_are_han(char):
    assert is_han(char)


@pytest.mark.parametrize("char", "⼀⺀○□、Aア\ue000 ㄅ")
def test_radicals_signs_and_other_scripts_are_not(char):
    assert not is_han(char)


def test_han_only_keeps_the_order():
    assert han_only("《論語》 曰：學A而1。〇々") == "論語曰學而〇々"


@pytest.mark.parametrize(
    "text", ["", "A", "學", "學A而1", "\U000323b0\U000323af", "〇々", "⼀\ue000\ud800"]
)
def test_texts_are_judged_by_their_characters(text):
    han = [is_han(char) for char in text]

    assert (has_han(text), all_han(text), count_han(text)) == (any(han), all(han), sum(han))


def test_every_code_belongs_to_a_block_of_unicode_or_to_none():
    blocks = [(0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x2A6DF)]
    blocks += [(0x2A700, 0x2EE5F), (0x2F800, 0x2FA1F), (0x30000, 0x323AF), (0x3007, 0x3007)]
    blocks += [(0x3005, 0x3005)]
    size = sum(last - first + 1 for first, last in blocks)

    assert count_han("".join(map(chr, range(0x110000)))) == size


@pytest.mark.parametrize(
    ("text", "half"),
    [
        ("！＂～", '!"~'),
        ("Ｙｅｓ：１２", "Yes:12"),
        ("天\u3000地", "天 地"),
        ("｟、。｡￥", "｟、。｡￥"),
    ],
)
def test_only_forms_with_an_ascii_character_are_converted(text: str, half: str) -> None:
    assert to_half_width(text) == half
