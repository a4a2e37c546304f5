"""The character that a response names where one is asked for, beside all that it says of others."""

import pytest

from keju.scoring import extract_short

ASKED = "识别图中的甲骨文对应哪个汉字。\n要求：只输出识别的汉字结果，不要输出其他无关内容。"
IN_ENGLISH = "Which modern Chinese character does this oracle bone graph correspond to?"
STATEMENTS = ["鹿", "**鹿**", "这是“鹿”字。", "对应汉字：鹿", "### 识别结果\n鹿",
              "- 汉字：鹿\n- 读音：lù", "| 项目 | 内容 |\n|---|---|\n| 对应汉字 | 鹿 |",
              "不是“马”，而是“鹿”。", "该字形最接近“鹿”字。"]  # fmt: skip
LEADS = ["", "字形上部像“虎”，下部像“马”。\n", "一开始我以为是“马”，不过笔画对不上。\n",
         "**字形分析**：由“马”和“虎”两部分组成。\n"]  # fmt: skip
TAILS = ["", "\n据《说文》，此字从马从虎。", "\n也有人认为是“马”，但证据不足。",
         "\n它与“马”字形相近。", "\n### 解析\n1. 字形：上为“马”。\n2. 字义：动物。"]  # fmt: skip


@pytest.mark.parametrize("lead", LEADS)
@pytest.mark.parametrize("tail", TAILS)
@pytest.mark.parametrize("statement", STATEMENTS)
def test_what_is_said_of_other_characters_changes_no_statement(lead, statement, tail):
    found = extract_short(lead + statement + tail, ASKED)
    assert found.answer == "鹿"
    assert "马" not in found.readings


@pytest.mark.parametrize(
    ("response", "sign"),
    [("It is 鹿, not 马. The top resembles 虎.", "鹿"), ("鹿 (lù) — deer", "鹿"),
     ("The graph shows 马 above 虎; this is 鹿 (lù).", "鹿"), ("This isn't 马; it's 鹿.", "鹿"),
     ("It is 马. Wait, it should be read as 鹿.", "鹿"), ("The deer graph (鹿, lù).", "鹿")],
)  # fmt: skip
def test_an_english_response_names_a_character(response, sign):
    assert extract_short(response, IN_ENGLISH).answer == sign


@pytest.mark.parametrize(
    "response",
    ["可能是“牛”，也可能是“羊”。", "可能是“人”或“匕”。", "字形上部像“虎”，下部像“马”。", "答案：",
     "如果上部是“宀”，就是“家”；如果是“冂”，就是“同”。", "It could be 牛 or 羊.", '{"汉字": null}',
     "罗振玉释为“羌”，郭沫若释为“苟”。", "这个甲骨文不是“马”，也不是“鹿”。"],
)  # fmt: skip
def test_parts_doubts_and_denials_name_no_character(response):
    assert extract_short(response, ASKED).answer is None
