"""No degenerate answer earns more under `strict` than another item's truth does, or chance.

Each is given to every item of a small set, and its task value is held against the permutation
floor (items answered with each other's truths). Precision and recall are taken together with
F1: each alone can be bought with the other.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from keju.benchmarks import task
from keju.items import Item, Response
from keju.scoring import aggregate, score_pair
from keju.text import han_only

MARGIN = 0.02

# A text read backwards has every right character, and those that stand alike in both directions
# (道可道, the middle of a column) in the right place: two metrics that stand beside the main one
# see a little of that.
MARGINS = {("the truth reversed", "CER_order_free"): 0.1, ("the truth reversed", "BLEU_char"): 0.03}
PASSAGES = json.loads(Path(__file__).with_name("passages.json").read_text("utf-8"))
NAMES = [
    "孔子、颜回、子路",
    "刘备、关羽、张飞、诸葛亮",
    "苏轼、黄庭坚",
    "长安、洛阳、建康",
    "屈原、宋玉、贾谊",
]
OPTIONS = ("唐代壁画", "宋代山水", "元代花鸟", "明代人物")
SHORT = ["三", "红色", "左侧", "12", "松树", "蓝色", "五"]


def columns(text):
    han = han_only(text)
    return "\n".join(han[start : start + 12] for start in range(0, len(han), 12))


TRUTHS = {
    "T1": [columns(text) for text in PASSAGES],
    "T2": PASSAGES,
    "T3": PASSAGES,
    "T4": NAMES,
    "T5": list("ABCDABCD"),
    "T21": SHORT,
    "page_level_ocr": [columns(text) for text in PASSAGES],
    "reasoning_qa": PASSAGES,
}
JUDGED = {
    "CharAcc",
    "CER",
    "CER_order_free",
    "F1",
    "F1_macro",
    "Acc",
    "ExactMatch",
    "chrF",
    "BLEU_char",
}
CHANCE = {"Acc": 1 / len(OPTIONS)}

COUNTS = Counter(han_only("".join(PASSAGES)))
FREQUENT = "".join(sorted(COUNTS, key=lambda char: (-COUNTS[char], char)))
COMMON = FREQUENT + "".join(chr(code) for code in range(0x4E00, 0x4E00 + 3000))

BANK = {
    "empty": lambda truth: "",
    "white space": lambda truth: " \n\u3000",
    "a full stop": lambda truth: "。",
    "prompt echoed": lambda truth: "按古代阅读顺序识别图中古籍内的文字内容。请只输出识别结果。",
    "all options": lambda truth: "ABCD",
    "all options spaced": lambda truth: "A、B、C、D、E",
    "options copied": lambda truth: " ".join(map("{}、{}".format, "ABCD", OPTIONS)),
    "one option always": lambda truth: "A",
    "refusal": lambda truth: "抱歉，我无法识别图中的文字内容。",
    "English refusal": lambda truth: "As an AI model, I Cannot tell. Based on the Dynasty: E.",
    "500 frequent characters": lambda truth: FREQUENT[:500],
    "3000 characters": lambda truth: COMMON[:3000],
    "the truth reversed": lambda truth: truth[::-1],
    "a loop": lambda truth: "之乎者也" * 512,
    "a loop of the truth's beginning": lambda truth: truth[:2] * 1024,
    "one true pair of marks": lambda truth: truth[max(0, truth.find("，") - 1) :][:2] * 200,
    "commas after everything": lambda truth: "".join(char + "，" for char in FREQUENT[:200]),
    "all numbers and colours": lambda truth: "红色、蓝色、左侧、" + "、".join(map(str, range(21))),
    "reasoning that never ends": lambda truth: "<think>" + truth,
}  # fmt: skip

# Where a degenerate answer does contain a true part: names of one character, a list that lists
# what it may, and "A" where every fourth answer is A.
CONTAINS = {("T5", "one option always"), ("T5", "a loop of the truth's beginning"),
            ("T5", "the truth reversed"), ("T21", "the truth reversed"),
            ("T4", "a loop of the truth's beginning")}  # fmt: skip


def earned(task_id, texts):
    """Metric → task value, when item i is answered with texts[i]."""
    benchmark = task(task_id).benchmark
    scores = []
    for number, (truth, text) in enumerate(zip(TRUTHS[task_id], texts, strict=True)):
        item = Item(
            id=str(number),
            benchmark=benchmark,
            task=task_id,
            answer=truth,
            options=OPTIONS if task_id == "T5" else (),
        )
        response = Response(
            key=item.id, item=item.id, model="m", benchmark=benchmark, task=task_id,
            status="answered" if text.strip() else "empty", text=text,
        )  # fmt: skip
        scores += score_pair(item, response, ("strict",))
    (result,) = aggregate(scores)
    return {m.metric: m.value for m in result.tasks[0].metrics if m.value is not None}


@pytest.fixture(scope="module")
def floors():
    """Metric → what the best of all rotations of the truths earns, or chance if that is more."""
    found = {}
    for task_id, truths in TRUTHS.items():
        rotations = [
            earned(task_id, truths[shift:] + truths[:shift])
            for shift in range(1, len(truths))
            if all(a != b for a, b in zip(truths, truths[shift:] + truths[:shift], strict=True))
        ]
        found[task_id] = {
            name: (min if name.startswith("CER") else max)(each[name] for each in rotations)
            for name in rotations[0]
        }
        for name in CHANCE.keys() & found[task_id]:
            found[task_id][name] = max(found[task_id][name], CHANCE[name])
    return found


@pytest.mark.parametrize(
    ("task_id", "name"),
    [(task_id, name) for task_id in TRUTHS for name in BANK if (task_id, name) not in CONTAINS],
)
def test_it_earns_no_more_than_the_floor(floors, task_id, name):
    values = earned(task_id, [BANK[name](truth) for truth in TRUTHS[task_id]])
    for metric in JUDGED & set(values):
        better = 1 - values[metric] if metric.startswith("CER") else values[metric]
        floor = floors[task_id][metric]
        floor = max(0.0, 1 - floor) if metric.startswith("CER") else floor
        assert better <= floor + MARGINS.get((name, metric), MARGIN), (metric, better, floor)


@pytest.mark.parametrize("task_id", TRUTHS)
def test_the_truth_itself_earns_everything_and_spaces_take_nothing_away(task_id):
    for texts in (TRUTHS[task_id], [" ".join(truth) for truth in TRUTHS[task_id]]):
        if task_id == "T4" and texts is not TRUTHS[task_id]:
            continue
        for metric, value in earned(task_id, texts).items():
            assert value == pytest.approx(0 if metric.startswith("CER") else 1), metric


@pytest.mark.parametrize("task_id", ["T1", "T3", "page_level_ocr"])
def test_the_truth_three_times_over_earns_the_precision_that_it_has(task_id):
    values = earned(task_id, [truth * 3 for truth in TRUTHS[task_id]])
    assert values["Precision"] == pytest.approx(1 / 3, abs=0.01)
    assert values["F1"] == pytest.approx(0.5, abs=0.01)
    assert values.get("CharAcc", 0) == 0


@pytest.mark.parametrize("task_id", ["T5", "T21"])
def test_the_truth_three_times_over_is_no_answer(task_id):
    values = earned(task_id, [f"{truth}{truth}{truth}" for truth in TRUTHS[task_id]])
    assert max(values.values()) <= 0
