"""The part of a response that is its answer."""

import pytest

from keju.scoring import body_of, transcription_of
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
