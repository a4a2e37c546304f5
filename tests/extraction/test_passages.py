"""The text in a response is taken whole, and what the model says about it is left out."""

import tomllib
from itertools import product
from pathlib import Path

import pytest

from keju.extraction import read
from keju.text import counted
from tests.support.hanging import ends

WRAPPINGS = tomllib.loads(
    (Path(__file__).parents[1] / "support" / "wrappings.toml").read_text("utf-8")
)
BARE = "昔者莊周夢為胡蝶栩栩然胡蝶也自喻適志與不知周也"
MARKED = "昔者莊周夢為胡蝶，栩栩然胡蝶也，自喻適志與！不知周也。"
MODERN = (
    "从前庄周梦见自己变成了蝴蝶，翩翩飞舞的一只蝴蝶，感到多么愉快啊！竟然不知道自己原本是庄周。"
)
ENGLISH = "Once Zhuang Zhou dreamed that he was a butterfly. He did not know that he was Zhou."
TEXTS = {
    "transcription": [BARE, MARKED, "蘭亭序", "趙氏\n子昂", f"{BARE[:12]}\n{BARE[12:]}"],
    "punctuated": [MARKED],
    "translation": [MODERN, ENGLISH],
}


def wrapped(form, text):
    """The text in each preamble with each closing; a table or number holds one line only."""
    before, after = WRAPPINGS[form]["before"], WRAPPINGS[form]["after"]
    if form == "punctuated":
        after = [*WRAPPINGS["transcription"]["after"], *after]
    for opening, closing in product(before, after):
        if "\n" in text and opening.startswith(("|", "1.", "图像中的文字是")):
            continue
        opened = opening.replace("{bare}", BARE).replace("{marked}", MARKED)
        yield (opened.replace("%s", text) if "%s" in opened else opened + text) + closing


def alike(form, left, right):
    if form == "transcription":
        return counted(left) == counted(right)
    return "".join(left.split()) == "".join(right.split())


@pytest.mark.parametrize(("form", "text"), [(f, t) for f, ts in TEXTS.items() for t in ts])
def test_a_text_is_taken_out_of_every_preamble_and_closing(form, text):
    taken = {each: read(form, each).value for each in wrapped(form, text)}
    assert len(taken) > 150
    wrong = [each for each, found in taken.items() if not alike(form, found, text)]
    assert len(wrong) <= 0.01 * len(taken), wrong[:5]


@pytest.mark.parametrize("form", ["transcription", "punctuated"])
@pytest.mark.parametrize(
    "text",
    [
        "不知為不知是知也。是故無法之言，不聽於耳；無能識之士，不用於朝。",
        "注：孟子，鄒人也。名軻，字子輿。\n疏：正義曰：此敘孟子所生之地及名字也。",
        "問：月令何以名篇？\n答：以其記十二月政之所行也。",
        "吾無法以教汝，汝不能識字也，請問諸人。",
        "子曰：“學而時習之，不亦說乎？”",
        "話說寶玉這日正在房中看書，只見丫頭進來說道：“老爺叫你呢。”",
        "臣不勝受恩感激。今當遠離，臨表涕零，不知所言。",
        "右將軍會稽內史王羲之敬白",
    ],
)
def test_a_plain_text_stays_whole(form, text):
    assert read(form, text).value == text


@pytest.mark.parametrize(
    "text",
    [
        "抱歉，图片中的字迹过于潦草，我无法准确识别。",
        "I'm sorry, but I can't read the characters in this image.",
        "由于图片分辨率较低，无法辨认其中的文字。建议您提供更清晰的图片。",
    ],
)
def test_a_refusal_is_no_text(text):
    for form in ("transcription", "punctuated", "translation"):
        assert not read(form, text).value


def test_the_later_reading_replaces_the_first():
    said = "初步识别为“山靜似大古”。再看一遍，第四字应为“太”，应为：\n\n山靜似太古"
    assert read("transcription", said).value == "山靜似太古"


def test_the_recommended_translation_is_taken_else_the_first():
    said = "版本一：风很冷。\n\n版本二：寒风凛冽。"
    assert read("translation", said).value == "风很冷。"
    assert read("translation", said + "\n\n我推荐第二种。").value == "寒风凛冽。"


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("好的，以下是回答：\n\n此画写雪景。\n\n希望对您有帮助！", "此画写雪景。"),
        ("Sure! It is a landscape. Let me know if you need more.", "It is a landscape."),
        ("抱歉，我无法查看图片。请您重新上传。", None),
        ("图像模糊，但根据可见部分，此画写雪景。", "图像模糊，但根据可见部分，此画写雪景。"),
    ],
)  # fmt: skip
def test_an_open_answer_loses_its_preamble_and_offers(text, answer):
    assert (read("text", text).value or None) == answer


UNITS = ["图中文字为“", "注：", "（", "\n", "。", "|a|\n", "```\n", "天地：\n", '{"text": "', "<a>",
         "\\boxed{", "希望", "1. ", "不对，", "**", "「」", "的图片。", "Here is "]  # fmt: skip


@pytest.mark.parametrize("unit", UNITS)
def test_a_passage_is_found_in_a_long_loop(unit):
    text = unit * (200_000 // len(unit))

    def extractions():
        read("transcription", text)
        read("translation", text)
        read("text", text)

    ends(extractions)


@pytest.mark.parametrize("before", ["", "　　", "\u00a0", "＊＊", " **"])
def test_white_space_before_a_statement_does_not_move_its_quotation(before):
    text = f"{before}图中文字为“天地玄黄宇宙洪荒”。"
    assert read("transcription", text).value == "天地玄黄宇宙洪荒"
