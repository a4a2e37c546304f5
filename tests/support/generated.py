"""Replies of every kind that models give to MCS-Bench's tasks, drawn by a seed."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import NamedTuple

from keju.definitions import Task, tasks
from keju.items import Item

MISSING = object()
"""No response at all."""

CHARACTERS = "學而時習之不亦說乎有朋自遠方來皇后乾隆於戲餘發髮里裡徵著雲云干忌廉𠀀㐀々〇"
MARKS = "，。、；：？！「」《》… \n　,.-_"
WORDS = [
    "學習",
    "忌廉",
    "滑鼠",
    "皇后",
    "孔子",
    "顏回",
    "魯國",
    "頭髮",
    "發展",
    "Dynasty",
    "12",
    "３",
]


class Given(NamedTuple):
    """An item, the content that is given as its reply, and reasoning in a field of its own."""

    item: Item
    content: object
    reasoning: str = ""


def generated(count: int, seed: int = 14) -> list[Given]:
    """So many replies, over all 45 tasks in turn and every kind of reply."""
    random = Random(seed)
    declared = [each for each in tasks() if each.benchmark == "MCS-Bench"]
    kinds = list(KINDS)
    found = []
    for number in range(count):
        task = declared[number % len(declared)]
        item = _item(task, number, random)
        kind = kinds[(number // len(declared) + number) % len(kinds)]
        content = KINDS[kind](item.answer or item.answer_simplified, random)
        reasoning = text(random, 1, 60) if random.random() < 0.2 else ""
        found.append(Given(item, content, "" if content is MISSING else reasoning))
    return found


def text(random: Random, least: int, most: int) -> str:
    """Characters, words and marks in both scripts, in both widths."""
    pools = [CHARACTERS, CHARACTERS, MARKS, WORDS, "ＡＢabＣ１2"]
    size = random.randint(least, most)
    return "".join(random.choice(random.choice(pools)) for _ in range(size))


def _item(task: Task, number: int, random: Random) -> Item:
    form = task.queries[0].form
    if form == "letter":
        answer = random.choice("ABCD")
    elif form == "short":
        answer = random.choice(["左侧", "3", "红色", "三、四", "不紅"])
    elif form == "entities":
        answer = "、".join(random.sample(["孔子", "顏回", "魯國", "季氏", "皇后"], 3))
    else:
        answer = text(random, 1, 40)
    if random.random() < 0.04 and form != "letter":
        answer = random.choice(["", "，。", " "])
    # A pair of both scripts, the simplified one alone, or what the source has.
    simplified = answer if random.random() < 0.7 or not answer else answer.replace("學", "学")
    options = ("甲", "乙", "丙", "丁") if form == "letter" else ()
    return Item(
        id=f"g{number:04}", benchmark="MCS-Bench", task=task.id, options=options, verbatim=True,
        question=f"[item g{number:04}] 請回答。", answer=answer, answer_simplified=simplified,
    )  # fmt: skip


def _spaced(answer: str, random: Random) -> str:
    return random.choice(" \u3000\n").join(answer)


def _mixed(answer: str, random: Random) -> str:
    said = list(answer)
    for _ in range(1 + len(said) // 4):
        place = random.randint(0, len(said))
        said[place : place + random.randint(0, 1)] = text(random, 0, 2)
    return "".join(said)


_WIDE = {code: code + 0xFEE0 for code in range(0x21, 0x7F)}
_NARROW = {wide: code for code, wide in _WIDE.items()} | {ord("。"): "｡", ord("、"): "､"}

KINDS: dict[str, Callable[[str, Random], object]] = {
    "the answer": lambda answer, random: answer,
    "another text": lambda answer, random: text(random, 1, 60),
    "nearly the answer": _mixed,
    "nearly, again": _mixed,
    "reasoning": lambda answer, random: f"<think>\n{text(random, 1, 80)}\n</think>\n\n{answer}",
    "reasoning, then nearly": lambda answer, random: (
        f"<think>{text(random, 1, 80)}</think>{_mixed(answer, random)}"
    ),
    "reasoning without an opening": lambda answer, random: f"{text(random, 1, 40)}</think>{answer}",
    "reasoning that is not closed": lambda answer, random: f"<think>{text(random, 1, 80)}{answer}",
    "reasoning alone": lambda answer, random: f"<think>{answer}</think>",
    "empty": lambda answer, random: "",
    "white space": lambda answer, random: random.choice([" ", "\n\n", "\u3000", "\t "]),
    "null": lambda answer, random: None,
    "missing": lambda answer, random: MISSING,
    "a list": lambda answer, random: [answer, text(random, 1, 9)],
    "a list of one": lambda answer, random: [answer],
    "an empty list": lambda answer, random: [],
    "a list of parts": lambda answer, random: [{"type": "text", "text": answer}],
    "a list with a number": lambda answer, random: [answer, 3],
    "a number": lambda answer, random: random.choice([3, 2.5, True]),
    "an object": lambda answer, random: random.choice([{}, {"answer": answer}]),
    "several lines": lambda answer, random: f"好的：\n\n{answer}\n{text(random, 1, 20)}\n",
    "half width": lambda answer, random: answer.translate(_NARROW),
    "full width": lambda answer, random: answer.translate(_WIDE),
    "spaced": _spaced,
    "with end tokens": lambda answer, random: f"{answer}<|im_end|>",
    "three times": lambda answer, random: answer * 3,
    "reversed": lambda answer, random: answer[::-1],
    "in a sentence": lambda answer, random: f"圖中的答案是「{answer}」，{random.choice(WORDS)}。",
}
