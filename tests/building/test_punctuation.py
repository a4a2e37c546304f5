"""Half-width marks in Chinese text, and where they are left alone."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from keju.building.standardising.punctuation import chinese_punctuation, is_chinese
from keju.text.han import is_han

CASES = [
    ("子曰:學而時習之,不亦說乎?", "子曰：學而時習之，不亦說乎？"),
    ("你好, 世界!", "你好，世界！"),
    ("真的?!是嗎", "真的？！是嗎"),
    ("這是王羲之的字.", "這是王羲之的字。"),
    ("見圖1.2。", "見圖1.2。"),
    ("共3,000卷, 成於10:30.", "共3,000卷，成於10:30."),
    ("約三成(30%),因此不取", "約三成（30%），因此不取"),
    ("號愛蓮居士(周敦頤)", "號愛蓮居士（周敦頤）"),
    ("甲(乙(丙)丁)", "甲（乙（丙）丁）"),
    ('他說"仁者愛人".', "他說“仁者愛人”。"),
    ("所謂'仁'者", "所謂‘仁’者"),
    ("出自<<詩經>>...未完", "出自《詩經》……未完"),
    ("春--夏", "春——夏"),
    ("｢天｣､地｡", "「天」、地。"),
    ("A:甲 B:乙", "A：甲 B：乙"),
    ("已經是，全角。", "已經是，全角。"),
    ("網址 http://a.b/c?d 在此處可以看到全文", "網址 http://a.b/c?d 在此處可以看到全文"),
]


@pytest.mark.parametrize(("given_text", "wanted"), CASES)
def test_marks_become_chinese_in_chinese_text(given_text, wanted):
    assert chinese_punctuation(given_text) == wanted


@pytest.mark.parametrize(
    "text",
    [
        "", "Hello, world (yes)...", "3.14, 2:30", 'The character 仁, "humaneness", is old.',
        "don't", "1,2;3",
    ],
)  # fmt: skip
def test_other_text_stays(text):
    assert chinese_punctuation(text) == text


def test_quotes_may_be_corners():
    assert chinese_punctuation('他說"仁者愛人"', "corner") == "他說「仁者愛人」"


def test_what_is_chinese():
    assert is_chinese("仁者愛人 (Confucius)") is False
    assert is_chinese("仁者愛人 (Kong)") is True
    assert is_chinese("123") is False


MIXED = st.text(st.sampled_from("天地玄黃，。“”（）a1 ,;:?!.()\"'<>-%\n"), max_size=40)


@given(MIXED)
@example("地:--")
@example("地,...")
def test_once_is_enough(text):
    once = chinese_punctuation(text)
    assert chinese_punctuation(once) == once


@given(MIXED)
def test_only_marks_and_spaces_change(text):
    def kept(of: str) -> str:
        return "".join(char for char in of if is_han(char) or char.isalnum())

    assert kept(chinese_punctuation(text)) == kept(text)
