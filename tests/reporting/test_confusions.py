"""Misread characters, with variants folded."""

from __future__ import annotations

from keju.reporting.confusions import Confusion, Mistakes
from keju.reporting.differences import differences


def test_only_other_characters_count_and_variants_are_one():
    mistakes = Mistakes()
    mistakes.add("one", differences("學而時習之不亦說乎", "学而時習之不亦悦乎"))
    mistakes.add("two", differences("學而時習之不亦說乎", "學而時之不亦悦乎"))
    mistakes.add("two", differences("学习学习学习", "学习学习学"))
    assert mistakes.commonest() == [
        Confusion("习", "", 2, 5, 1),
        Confusion("说", "悦", 2, 2, 2),
    ]


def test_a_text_about_something_else_says_nothing_of_characters():
    mistakes = Mistakes()
    mistakes.add("one", differences("天地玄黃宇宙洪荒", "日月盈昃辰宿列張"))
    mistakes.add("one", differences("天地玄黃宇宙洪荒", "日月盈昃辰宿列張"))
    assert mistakes.commonest() == []
