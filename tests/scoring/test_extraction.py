"""The part of a response that is its answer."""

import pytest

from keju.scoring import body_of, score_answer, transcription_of
from keju.scoring.extraction import json_answer, without_fence
from tests.support.hanging import ends


@pytest.mark.parametrize(
    ("text", "body"),
    [
        ("B", "B"),
        ("<think>A or B?</think>\nC", "C"),
        ("<thinking>x</thinking>C", "C"),
        ("reasoning without an opening</think>C", "C"),
        ("<think>one</think>x<think>two</think>C", "C"),
        ("<think>never ended", ""),
        ("C<think>afterthought", "C"),
        ("C<think>afterthought</think> \n", "C"),
        ("C</s>", "C"),
        ("C<|im_end|>\n<|endoftext|>", "C"),
        ("<|im_end|> C", "<|im_end|> C"),
    ],
)
def test_reasoning_is_cut_out(text, body):
    assert body_of(text) == body


THOUGHT, PAGE = "讓我看看圖片。右起第一列似乎是天地玄黃，宇宙洪荒。再確認一下。", "日月盈昃"
MARKED = [
    f"<seed:think>{THOUGHT}</seed:think>\n{PAGE}",
    f"[THINK]{THOUGHT}[/THINK]\n{PAGE}",
    f"<thought>{THOUGHT}</thought>\n{PAGE}",
    f"<|channel|>analysis<|message|>{THOUGHT}<|end|><|start|>assistant<|channel|>final<|message|>{PAGE}",
    f"analysis{THOUGHT}assistantfinal{PAGE}",
    f"<|begin_of_thought|>{THOUGHT}<|end_of_thought|>\n<|begin_of_solution|>{PAGE}<|end_of_solution|>",
    f"<think>{THOUGHT}</think>\n{PAGE}",
    f"◁think▷{THOUGHT}◁/think▷\n{PAGE}",
    f"&lt;think&gt;{THOUGHT}&lt;/think&gt;&lt;answer&gt;{PAGE}&lt;/answer&gt;",
    f"{THOUGHT}</thought><answer>{PAGE}</answer>",
    f"<think>{THOUGHT}</think><|begin_of_box|>{PAGE}<|end_of_box|>",
    f"<think>{THOUGHT}\n用户: {THOUGHT}</think>{PAGE}<｜end▁of▁sentence｜>",
    f"{THOUGHT}<|end|><|start|>assistant<|channel|>final<|message|>{PAGE}<|return|>",
]


@pytest.mark.parametrize("text", MARKED)
def test_strict_reads_no_reasoning_and_official_reads_all(make, text):
    assert transcription_of(text).answer == PAGE
    strict, official = (
        {score.metric: score.value for score in score_answer(*make("T1", PAGE, said), (protocol,))}
        for said, protocol in ((text, "strict"), (text, "official"))
    )
    assert strict["CER"] == 0
    assert official["Edit_Distance"] > 0.5


@pytest.mark.parametrize(
    ("task", "answer", "said"),
    [("T5", "B", "A 或 C？"), ("T45", "3", "5 或 7 個"), ("T16", "D", "A")],
)
def test_no_answer_of_any_form_is_read_out_of_reasoning(make, task, answer, said):
    for opening, closing in (("[THINK]", "[/THINK]"), ("<thought>", "</thought>")):
        item, response = make(task, answer, f"{opening}{said}")
        scores = score_answer(item, response, ("strict",))
        assert {score.extracted for score in scores} == {""}
        item, response = make(task, answer, f"{opening}{said}{closing}\n{answer}")
        scores = score_answer(item, response, ("strict",))
        assert {score.extracted for score in scores} - {""} == {answer}


def test_a_code_fence_around_everything_is_taken_off():
    assert without_fence("```text\n天地\n玄黄\n```").strip() == "天地\n玄黄"
    assert without_fence("天地 ``` 玄黄") == "天地 ``` 玄黄"
    assert without_fence("```") == "```"
    assert without_fence("```a\nx\n```\nand\n```b\ny\n```").startswith("```a")


def test_a_json_object_with_one_answer_gives_it():
    assert json_answer('{"answer": "C", "confidence": 0.9}').answer == "C"
    assert json_answer('```json\n{"答案": 3}\n```').answer == "3"
    assert json_answer('{"answer": "C", "option": "D"}') is None
    assert json_answer('{"answer": ["C"]}') is None
    assert json_answer("{answer: C}") is None


def test_a_transcription_is_taken_out_of_json_or_a_fence():
    assert transcription_of('[{"transcription": "天地", "confidence": 0.9}]').answer == "天地"
    assert transcription_of('["天地", "玄黄"]').answer == "天地\n玄黄"
    assert transcription_of("```\n天地\n```").answer == "天地"
    assert transcription_of("<think>天</think>地").answer == "地"


def test_json_that_holds_no_text_stays_as_it_is():
    assert transcription_of('[{"bbox": [1, 2, 3, 4]}]').answer == '[{"bbox": [1, 2, 3, 4]}]'


def test_what_announces_a_text_is_not_the_text():
    assert transcription_of("好的，结果是：天地").answer == "天地"


@pytest.mark.parametrize(
    "hostile", ["[" * 100_000, "<think>" * 50_000, "{" * 9 + '"' * 99_999, "</s>" * 9_999]
)
def test_hostile_text_is_read_quickly_and_without_an_error(hostile):
    ends(lambda: transcription_of(hostile))
    assert transcription_of(hostile).rule


@pytest.mark.parametrize("unit", ["<answer>", "</answer>", "<answer>x", "</s>", "<|im_end|> \n"])
def test_the_body_of_a_long_loop_is_found(unit):
    ends(lambda: body_of(unit * 400_000))


@pytest.mark.parametrize(
    ("text", "body"),
    [
        ("<answer>A</answer> or <answer>B</answer>", "B"),
        ("<answer>A<answer>B</answer>", "A<answer>B"),
        ("<ANSWER>A</Answer></answer>", "A"),
        ("<answer>A</answer><answer> </answer>", "A"),
        ("<answer>A", "<answer>A"),
        ("</answer>A", "</answer>A"),
    ],
)
def test_the_last_answer_tag_that_encloses_something_is_the_body(text, body):
    assert body_of(text) == body


@pytest.mark.parametrize("unit", [" ", "\n", "\n注", "(1,2", "```\n"])
def test_a_long_loop_is_read_as_a_transcription(unit):
    ends(lambda: transcription_of(unit * (100_000 // len(unit))))
