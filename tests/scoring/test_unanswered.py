"""Which responses give no answer at all, and which do so only at first sight."""

from __future__ import annotations

import pytest

from keju.scoring.unanswered import no_answer_reason, only_declines

WHICH = "这块匾额挂在哪里？"
SAME = "图中两个字是否相同？"


@pytest.mark.parametrize(
    ("form", "question", "text", "reason"),
    [
        ("short", WHICH, "这块匾额悬挂于", "breaks off before the answer"),
        (
            "yes-no",
            SAME,
            "首先看第一个字，上部为三角；第二个字同样",
            "breaks off before the answer",
        ),
        (
            "number",
            "",
            "Let me count. On the left there are two, and then",
            "breaks off before the answer",
        ),
        ("short", WHICH, "抱歉，画面为殿内一角，我无法确定匾额的位置。", "declines"),
        ("transcription", "", "抱歉，无法识别：\n1. 图片过小；\n2. 墨色过淡；", "declines"),
        ("entities", "", "很抱歉，我看不清文字。\n1. 页面残缺；\n2. 墨迹脱落；", "declines"),
    ],
)
def test_a_refusal_and_unfinished_reasoning_are_no_answer(form, question, text, reason):
    assert no_answer_reason(text, form, question) == reason


@pytest.mark.parametrize(
    ("form", "question", "text"),
    [
        ("short", WHICH, "这块匾额挂在大殿里，大殿的柱子上还有"),
        ("yes-no", SAME, "否。第一个字的上部为三角，第二个字则"),
        ("number", "", "Let me count. Answer: 3. On the left there are"),
        ("short", WHICH, "抱歉，图片较暗，无法看清全部，但可以看出匾额挂在大殿里。"),
        ("transcription", "", "天地玄黃宇宙洪荒（以下漫漶，無法辨識）"),
        ("entities", "", "抱歉，部分文字较模糊：\n1. 孔子\n2. 颜回"),
        ("short", WHICH, "\\boxed{大殿}，因为"),
        ("short", WHICH, ""),
    ],
)
def test_what_was_committed_before_is_kept(form, question, text):
    assert no_answer_reason(text, form, question) == ""


@pytest.mark.parametrize(
    ("text", "options", "none"),
    [
        ("A、B、C、D四项都符合。", ("高远", "深远", "平远", "全景"), True),
        ("All four options apply.", ("a", "b", "c", "d"), True),
        ("四项都符合，但最贴切的是A。", ("高远", "深远", "平远", "全景"), False),
        ("D是错误的，其余三项都正确。", ("高远", "深远", "平远", "全景"), False),
        ("四项都符合。", ("高远", "深远", "平远", "以上都对"), False),
    ],
)
def test_all_options_are_no_choice(text, options, none):
    assert bool(no_answer_reason(text, "letter", "", options)) is none


def test_a_long_refusal_with_a_list_of_reasons_only_declines():
    listed = "抱歉，我无法识别这张图片，原因可能有：\n1. 格式不受支持；\n2. 文件已损坏。"
    assert only_declines(listed)
    assert not only_declines("画面分三部分：\n1. 近景为坡石；\n2. 远景为群山。")
    assert not only_declines(
        "这幅画以水墨描绘了江南春色，远山含烟，近水如镜。没有题款，无法确定作者。"
    )
