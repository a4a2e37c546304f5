"""What kind of response it was."""

import pytest

from keju.items import Item, Response
from keju.scoring.scoring_sample import ScoringSample
from keju.scoring.verdicts import is_looping, is_refusal, verdict_of

TASKS = {"transcription": "T1", "text": "T6", "letter": "T5"}
PAGE = "学而时习之不亦说乎有朋自远方来不亦乐乎人不知而不愠不亦君子乎"


def verdict(text, form="transcription", *, status="answered", page="", answer=PAGE):
    item = Item(
        id="i", benchmark="MCS-Bench", task=TASKS[form], answer=answer, transcription=page,
        question="问？\nA. 甲\nB. 乙",
    )  # fmt: skip
    response = Response(
        key="k", item="i", model="m", benchmark="MCS-Bench", task=item.task, status=status,
        text=text,
    )  # fmt: skip
    return verdict_of(ScoringSample(item, response))


@pytest.mark.parametrize(
    ("text", "status", "expected"),
    [
        ("", "failed", "failed"),
        ("error: out of memory", "failed", "failed"),
        ("", "filtered", "filtered"),
        (" \n", "empty", "empty"),
        ("<think>never ended", "answered", "empty"),
        ("<think>never ended", "truncated", "truncated"),
        ("天地", "truncated", "truncated"),
        ("天地玄黄" * 40, "truncated", "looping"),
        ("抱歉，我无法识别图中的文字。", "answered", "refused"),
        ("I'm sorry, but I can't assist with that request.", "answered", "refused"),
        ("天地", "answered", "ok"),
    ],
)
def test_the_first_verdict_that_holds(text, status, expected):
    assert verdict(text, status=status) == expected


def test_reading_the_page_out_instead_of_answering():
    assert verdict(PAGE, "text", page=PAGE, answer="好学") == "transcribed"
    assert verdict(PAGE, "text", page=PAGE, answer=PAGE) == "ok"
    assert verdict(PAGE, "transcription", page=PAGE) == "ok"
    assert verdict("好学的意思", "text", page=PAGE) == "ok"


def test_unparsable_and_off_format():
    assert verdict("A或B", "letter", answer="A") == "unparsable"
    assert verdict('{"text": "天地"}') == "off-format"


@pytest.mark.parametrize("piece", ["天", "天地", "子曰：学而时习之，不亦说乎？"])
def test_a_piece_said_over_and_over_at_the_end_is_a_loop(piece):
    assert is_looping("开头不同。" + piece * 60)
    assert is_looping("开头不同。" + piece * 60 + piece[:1])


@pytest.mark.parametrize("text", [PAGE, PAGE * 2, "天天天天", "", "日" * 30])
def test_repetition_as_in_real_texts_is_no_loop(text):
    assert not is_looping(text)


def test_a_long_text_that_mentions_a_refusal_is_none():
    assert not is_refusal("夫子曰：" + PAGE * 3 + "抱歉，")
    assert not is_refusal("臣不能對")
