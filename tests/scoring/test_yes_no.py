"""Yes or no is taken from words that say it, in English and Chinese, and never guessed."""

import pytest

from keju.scoring import extract_yes_no, first_yes_no


@pytest.mark.parametrize(
    ("text", "answer", "rule"),
    [
        ("Yes", "Yes", "whole answer"),
        ("**No.**", "No", "whole answer"),
        ("Ｙｅｓ。", "Yes", "whole answer"),
        ("<answer>no</answer>", "No", "whole answer"),
        ("So it is \\boxed{Yes}", "Yes", "box"),
        ("Correct.", "Yes", "whole answer"),
        ("不是。", "No", "whole answer"),
        ("对", "Yes", "whole answer"),
        ("<think>no, no</think>Yes", "Yes", "whole answer"),
        ('{"answer": "no"}', "No", "JSON key 'answer'"),
        ('{"answer": true}', "Yes", "JSON key 'answer'"),
        ("The picture shows a bone. The answer is yes.", "Yes", "answer phrase"),
        ("Yes at first sight.\nAnswer: **No**", "No", "answer phrase"),
        ("答案是：否", "No", "answer phrase"),
        ("Yes, there is no doubt about it.", "Yes", "first word"),
        ("是的，这是甲骨文。", "Yes", "first word"),
        ("不是甲骨文", "No", "first word"),
        ("是否为甲骨文？是。", "Yes", "separate word"),
        ("Is this an oracle bone? No.", "No", "separate word"),
    ],
)
def test_what_says_yes_or_no_is_taken_and_says_by_which_rule(text, answer, rule):
    assert extract_yes_no(text)[:2] == (answer, rule)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "<think>yes",
        "Yes or No",
        "是否",
        "Yes and No",
        "No, it is not. Yes",
        "There is no doubt that these are characters.",
        "图中是青铜器",
        "对于这张图片，不确定",
        "I cannot tell.",
        "天，是，地，玄，",
    ],
)
def test_what_says_neither_or_both_is_unparsable(text):
    assert extract_yes_no(text).answer is None


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("It is. Yes! No?", "Yes"),
        ("There is no doubt: yes", "No"),
        ("Please say yes or no: No", "No"),
        ("这不是甲骨文", "No"),
        ("是否？是", "Yes"),
        ("<think>no</think>yes", "Yes"),
        ("Unknown, nothing, eyes", None),
    ],
)
def test_the_official_reading_is_the_first_word_for_either(text, answer):
    assert first_yes_no(text).answer == answer


JOIN = "Do these two fragments fit together?"
LEADS = ["", "The question is whether the two fragments can be rejoined.", "Let me compare them.",
         "A quick glance suggests no, a second one suggests yes, so let me look."]  # fmt: skip
TAILS = ["", "Confidence: 0.85", "Please share a sharper image if you have one.",
         "Factors considered:\n- the edges\n- the thickness"]  # fmt: skip


@pytest.mark.parametrize(
    ("statement", "answer"),
    [
        ("They don't fit.", "No"),
        ("These two fragments cannot be rejoined.", "No"),
        ("They appear to join along the broken side.", "Yes"),
        ('{"answer": "no"}', "No"),
    ],
)
def test_a_harmless_sentence_around_a_statement_changes_nothing(
    statement: str, answer: str
) -> None:
    for lead in LEADS:
        for tail in TAILS:
            text = "\n\n".join(each for each in (lead, statement, tail) if each)
            assert extract_yes_no(text, "Do these two fragments fit together?").answer == answer, (
                text
            )


def test_a_sentence_about_how_to_decide_gives_neither() -> None:
    text = "To check whether two fragments join, compare their edges and thickness."
    assert extract_yes_no(text, JOIN).answer is None
