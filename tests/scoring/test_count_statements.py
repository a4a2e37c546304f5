"""The last sentence that commits to a count decides; others neither give nor destroy one."""

from __future__ import annotations

import pytest

from keju.scoring.asked_counts import extract_asked_count

CHINESE, ENGLISH = "图中有多少个甲骨文字？", "How many oracle bone characters are in this image?"
STATEMENTS = [
    "图中共有12个甲骨文字。",
    "12",
    "## 答案\n\n12 个",
    "| 上 | 3 |\n| 合计 | 12 |",
    "甲骨文，12字。",
]
LEADS = ["", "右上角的“3”是编号。", "- 第一列：5个字\n- 第二列：4个字", "有人可能会数成5个。"]
TAILS = ["", "其中5个字比较清晰。", "有4个字尚未被释出。", "之前数成5个，是因为看错了。"]
NO_COUNT = [
    (CHINESE, "字分成5列，但每列的字数无法数清。"),
    (CHINESE, "至少有11个甲骨文字，具体数目难以判断。"),
    (ENGLISH, "There are between 4 and 7 characters."),
    (ENGLISH, "Right column: 2 characters\nLeft column: illegible\n\nNo total can be given."),
]


@pytest.mark.parametrize("statement", STATEMENTS)
def test_a_harmless_sentence_before_or_after_a_statement_changes_nothing(statement: str) -> None:
    for lead in LEADS:
        for tail in TAILS:
            text = "\n\n".join(each for each in (lead, statement, tail) if each)
            assert extract_asked_count(text, CHINESE).answer == "12", text


def test_a_corrected_count_replaces_an_earlier_total() -> None:
    text = "In total, there are 16 characters. Wait, I missed one. So there are 17."
    assert extract_asked_count(text, ENGLISH).answer == "17"


def test_parts_of_the_whole_and_counts_of_other_things_are_not_taken() -> None:
    text = "There are 9 characters in 3 columns; 2 of them are damaged. There are also 4 cracks."
    assert extract_asked_count(text, ENGLISH).answer == "9"


@pytest.mark.parametrize(("question", "text"), NO_COUNT)
def test_a_range_a_bound_and_parts_alone_give_no_count(question: str, text: str) -> None:
    assert extract_asked_count(text, question).answer is None
