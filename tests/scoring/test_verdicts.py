"""What kind of response it was."""

import pytest

from keju.items import Response
from keju.scoring import verdict_of
from keju.scoring.verdicts import is_looping, is_refusal

PAGE = "学而时习之不亦说乎有朋自远方来不亦乐乎人不知而不愠不亦君子乎"


def response(text="", status="answered"):
    return Response(
        key="k", item="i", model="m", benchmark="MCS-Bench", task="T1", status=status, text=text
    )


@pytest.mark.parametrize(
    ("text", "status", "verdict"),
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
def test_the_first_verdict_that_holds(text, status, verdict):
    assert verdict_of(response(text, status), "transcription") == verdict


def test_reading_the_page_out_instead_of_answering():
    assert verdict_of(response(PAGE), "text", transcription=PAGE, answer="好学") == "transcribed"
    assert verdict_of(response(PAGE), "text", transcription=PAGE, answer=PAGE) == "ok"
    assert verdict_of(response(PAGE), "transcription", transcription=PAGE) == "ok"
    assert verdict_of(response("好学的意思"), "text", transcription=PAGE) == "ok"


def test_unparsable_and_off_format():
    assert verdict_of(response("A或B"), "letter", extracted=False) == "unparsable"
    assert verdict_of(response("[...]"), "transcription", wrapped=True) == "off-format"


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
