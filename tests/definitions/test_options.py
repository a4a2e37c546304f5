"""Options are found where a question prints them."""

import json
from pathlib import Path

import pytest

from keju.definitions import options_in
from tests.support.hanging import ends

FOUR = ("甲", "乙", "丙", "丁")


@pytest.mark.parametrize(
    "printed",
    [
        "问？\nA、甲 B、乙 C、丙 D、丁",
        "问？ A、甲 B、乙 C、丙 D、丁。",
        "问？A、甲B、乙C、丙D、丁",
        "问？\nA. 甲\nB. 乙\nC. 丙\nD. 丁\n",
        "问？\nA．甲　B．乙　C．丙　D．丁",
        "问？(A) 甲 (B) 乙 (C) 丙 (D) 丁",
        "问？（A）甲（B）乙（C）丙（D）丁",
        "问？\nＡ、甲；Ｂ、乙；Ｃ、丙；Ｄ、丁；",
        "问？\nA：甲，B：乙，C：丙，D：丁",
        "图中A、B两人是谁？\nA、甲 B、乙 C、丙 D、丁",
        "问？\nA、甲 B、乙 C、丙 D、丁。\n要求：请只输出所选择的选项字母，不要有其他无关内容。",
        "问？A、甲 B、乙 C、丙 D、丁 只输出选项对应的字母，不要输出其他无关内容。",
        "问？\nA、甲\nB、乙\nC、丙\nD、丁\n请直接回答。",
    ],
)
def test_labels_are_known_in_every_usual_form(printed: str) -> None:
    assert options_in(printed) == FOUR


def test_a_mark_inside_an_option_parts_nothing() -> None:
    printed = "属于？\nA、文书 B、瓷器 C、雕塑、造像 D、铜器"
    assert options_in(printed) == ("文书", "瓷器", "雕塑、造像", "铜器")


def test_full_stops_stay_where_every_option_has_one() -> None:
    assert options_in("诗？\nA、甲，乙。 B、丙，丁。") == ("甲，乙。", "丙，丁。")


def test_an_option_of_several_lines_stays_whole() -> None:
    assert options_in("诗？\nA、甲\n乙\nB、丙\n丁") == ("甲\n乙", "丙\n丁")


def test_a_question_without_options_has_none() -> None:
    assert options_in("") == ()
    assert options_in("图像中画了几只鸟？请直接回答阿拉伯数字。") == ()
    assert options_in("A、只有一项") == ()
    assert options_in("B、乙 C、丙") == ()


def test_the_printed_examples_give_the_registrys_options(shared: Path) -> None:
    registry = json.loads((shared / "published/mcs_task_registry.json").read_text("utf-8"))
    asked = [row for row in registry["tasks"] if row["format"] == "MCQ"]
    assert len(asked) == 22
    for row in asked:
        expected = tuple(option.replace(", ", "，") for option in row["example"]["options"])
        assert options_in(row["prompt_fullwidth"]) == expected, row["id"]


@pytest.mark.parametrize("unit", ["A、B、", "A、", " ", "(A) ", "要求", "A、甲 B、乙\n"])
def test_hostile_text_takes_no_time(unit: str) -> None:
    ends(lambda: options_in("A、甲 B、" + unit * 50_000))
