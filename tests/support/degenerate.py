"""Answers that know nothing, a small set of items of each task family, and what both earn.

`tests/scoring/test_degenerate.py` holds every `strict` metric to the floor; the same numbers are
printed by tools/make_degenerate_table.py.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from statistics import median
from typing import NamedTuple

from keju.definitions import prompt_of, task
from keju.encoders import Encoders
from keju.items import Box, Item, Protocol, Response
from keju.scoring import PROTOCOLS, MetricResult, aggregate
from keju.scoring.score import score_samples
from keju.scoring.scoring_sample import ScoringSample
from keju.text import han_only

PASSAGES: list[str] = json.loads(
    (Path(__file__).parents[1] / "scoring" / "passages.json").read_text("utf-8")
)
OPTIONS = ("唐代壁画", "宋代山水", "元代花鸟", "明代人物")
NAMES = ["孔子、颜回、子路", "刘备、关羽、张飞、诸葛亮", "苏轼、黄庭坚", "长安、洛阳、建康",
         "屈原、宋玉、贾谊"]  # fmt: skip
COMMON_NAMES = "、".join([
    "孔子", "孟子", "老子", "庄子", "刘备", "曹操", "孙权", "李白", "杜甫", "王维", "苏轼", "屈原",
    "长安", "洛阳", "江南", "开封", "成都", "唐朝", "宋朝", "明朝", "张三", "李四", "王五", "赵六",
])  # fmt: skip
SHORT = ["三", "红色", "左侧", "12", "松树", "蓝色", "五"]
DESCRIPTIONS = [
    "A rubbing of a turtle plastron covered with small incised characters in vertical columns.",
    "A photograph of a cracked ox shoulder blade with a few large engraved signs near its edge.",
    "A hand-drawn copy of a single character that looks like a kneeling person.",
    "Two fragments of bone lying side by side, their broken edges almost fitting together.",
    "A cropped image of one ancient sign shaped like the sun above a horizontal line.",
    "A grey, heavily worn piece of shell whose inscription can hardly be seen.",
    "An ink rubbing with white strokes on black ground, showing a divination about rain.",
    "A museum photograph of a bone inscribed on both sides, with a ruler for scale beside it.",
]
COUNTS = ["3", "12", "7", "25", "18", "9", "14", "31"]

LOWER = {"CER", "CER_recognition", "CER_layout", "MedRE", "MRE", "Edit_Distance"}
"""Metrics where less is better: what they pay is 1 - value, at least 0."""

BOUGHT_ALONE = {
    "Precision", "Recall", "CharPrecision", "CharRecall", "CER_recognition", "CER_layout"
}  # fmt: skip
"""Each can be had for the other, so they are judged together: by F1, and by CER, their sum."""


class Family(NamedTuple):
    """A kind of task: items of one of its tasks, and what chance earns where that is known."""

    name: str
    items: tuple[Item, ...]
    chance: dict[str, float]

    @property
    def truths(self) -> list[str]:
        """What each item's perfect answer is."""
        return [truth_of(item) for item in self.items]


def truth_of(item: Item) -> str:
    """The perfect answer to an item."""
    if item.query == "Where":
        return json.dumps([[box.x0, box.y0, box.x1, box.y1] for box in item.boxes])
    return item.answer


def columns(text: str) -> str:
    """Han characters alone, in columns of twelve."""
    han = han_only(text)
    return "\n".join(han[start : start + 12] for start in range(0, len(han), 12))


def _family(
    name: str, task_id: str, answers: Sequence[str], query: str = "", **fields: object
) -> Family:
    chance = fields.pop("chance", {})
    items = tuple(
        Item(id=str(number), benchmark=task(task_id).benchmark, task=task_id, query=query,
             answer=answer, **fields)
        for number, answer in enumerate(answers)
    )  # fmt: skip
    return Family(name, items, chance)


def _where() -> Family:
    """Eight pictures of four to eleven characters each, at places drawn once and for all."""
    draw = random.Random(5)
    items = []
    for number in range(8):
        corners = [(draw.randint(0, 700), draw.randint(0, 900)) for _ in range(4 + number)]
        boxes = tuple(
            Box(x0=x, y0=y, x1=x + draw.randint(40, 90), y1=y + draw.randint(40, 90))
            for x, y in corners
        )
        items.append(
            Item(id=str(number), benchmark="OBI-Bench", task="recognition", query="Where",
                 boxes=boxes)
        )  # fmt: skip
    return Family("Where (boxes)", tuple(items), {})


@cache
def families() -> tuple[Family, ...]:
    """Every family of tasks whose metrics need no encoder."""
    pages = [columns(text) for text in PASSAGES]
    question = "这段文字的主旨是什么？"
    always_ten = [abs(10 - int(count)) / int(count) for count in COUNTS]
    constant = sum(1 - min(1.0, error) for error in always_ten) / len(always_ten)
    return (
        _family("OCR, MCS-Bench", "T1", pages),
        _family("OCR, AncientDoc", "page_level_ocr", pages),
        _family("translation, MCS-Bench", "T2", PASSAGES),
        _family("translation, AncientDoc", "vernacular_translation", PASSAGES),
        _family("punctuation", "T3", PASSAGES),
        _family("named entities", "T4", NAMES),
        _family("multiple choice", "T5", "ABCDABCD", options=OPTIONS, fields={"term": "画"},
                chance={"Acc": 1 / len(OPTIONS)}),
        _family("image QA", "T21", SHORT, question="图中有什么？"),
        _family("open QA, MCS-Bench", "T6", PASSAGES, question=question),
        _family("open QA, AncientDoc", "reasoning_qa", PASSAGES, question=question),
        _family("Yes-or-No, all images positive", "recognition", ["Yes"] * 8, "Yes-or-No"),
        _family("Yes-or-No, with negatives", "recognition", ["Yes", "Yes", "Yes", "No"] * 2,
                "Yes-or-No", chance={"BalancedAcc": 0.5}),
        _family("How many", "recognition", COUNTS, "How",
                chance={"CountAcc": constant, "MedRE": median(always_ten)}),
        _where(),
        _family("deciphering", "deciphering", PASSAGES, "What"),
    )  # fmt: skip


@cache
def encoder_families() -> tuple[Family, ...]:
    """Families of answers in English, whose metrics need an encoder."""
    return (
        _family("What is in the picture", "recognition", DESCRIPTIONS, "What"),
        _family("deciphering, in English", "deciphering", DESCRIPTIONS, "What"),
    )


_SEEN = Counter(han_only("".join(PASSAGES)))
FREQUENT = "".join(sorted(_SEEN, key=lambda char: (-_SEEN[char], char)))
COMMON = FREQUENT + "".join(chr(code) for code in range(0x4E00, 0x4E00 + 3000))
GRID = json.dumps([[x * 80, y * 100, x * 80 + 80, y * 100 + 100] for y in range(10)
                   for x in range(10)])  # fmt: skip


def _pair_of_marks(item: Item) -> str:
    start = max(0, item.answer.find("，") - 1)
    return item.answer[start : start + 2] * 200


BANK: dict[str, Callable[[Item], str]] = {
    "nothing": lambda item: "",
    "white space": lambda item: " \n\u3000",
    "a full stop": lambda item: "。",
    "the prompt echoed": prompt_of,
    "all options (ABCD)": lambda item: "ABCD",
    "all options (ABCDE)": lambda item: "ABCDE",
    "all options, spaced": lambda item: "A、B、C、D、E",
    "the options copied": lambda item: " ".join(map("{}、{}".format, "ABCD", OPTIONS)),
    "one option always": lambda item: "A",
    "always Yes": lambda item: "Yes",
    "always ten": lambda item: "10",
    "probability .8 for all": lambda item: "0.8",
    "a refusal in Chinese": lambda item: "抱歉，我无法识别图中的文字内容。",
    "a refusal in English": lambda item: (
        "As an AI model, I cannot tell. Based on the Calligraphy and Dynasty, maybe E."
    ),
    "500 frequent characters": lambda item: COMMON[:500],
    "3,000 frequent characters": lambda item: COMMON[:3000],
    "a loop of 2,048": lambda item: "之乎者也" * 512,
    "a loop of the truth's beginning": lambda item: truth_of(item)[:2] * 1024,
    "one true pair of marks, 200 times": _pair_of_marks,
    "commas after everything": lambda item: "".join(char + "，" for char in FREQUENT[:200]),
    "all common names": lambda item: COMMON_NAMES,
    "all numbers and colours": lambda item: "红色、蓝色、左侧、" + "、".join(map(str, range(21))),
    "a grid of 100 boxes": lambda item: GRID,
    "one box around everything": lambda item: "[0, 0, 800, 1000]",
    "reasoning that never ends": lambda item: "<think>" + truth_of(item),
    "the truth reversed": lambda item: truth_of(item)[::-1],
    "the truth spaced out": lambda item: " ".join(truth_of(item)),
    "the truth three times": lambda item: truth_of(item) * 3,
}  # fmt: skip

_TEXTS = {"OCR, MCS-Bench", "OCR, AncientDoc", "translation, MCS-Bench",
          "translation, AncientDoc", "punctuation", "open QA, MCS-Bench", "open QA, AncientDoc",
          "deciphering"}  # fmt: skip

HOLDS_THE_ANSWER = {
    ("multiple choice", "the truth reversed"), ("multiple choice", "the truth spaced out"),
    ("image QA", "the truth reversed"), ("image QA", "the truth spaced out"),
    ("named entities", "the truth spaced out"), ("named entities", "the truth three times"),
    ("named entities", "all common names"), ("Where (boxes)", "the truth three times"),
    ("What is in the picture", "the truth three times"),
    ("deciphering, in English", "the truth three times"),
} | {
    (family, name) for family in _TEXTS for name in ("the truth spaced out",
                                                     "the truth three times")
}  # fmt: skip
"""Where the answer does contain the true one, whole or in part, and is paid for its precision."""


MARGIN = 0.02
MARGINS = {("the truth reversed", "BLEU_char"): 0.03}
"""What may be earned above the floor. A text read backwards has every right character, and those
that stand alike in both directions (道可道, the middle of a column) in the right place: BLEU over
characters, which stands beside the main metric, sees a little of that."""


def worth(metric: str, value: float) -> float:
    """A metric's value on the scale where higher is better and nothing is 0."""
    return max(0.0, 1 - value if metric in LOWER else value)


def earned(
    family: Family, texts: Sequence[str], encoders: Encoders | None = None
) -> dict[Protocol, dict[str, MetricResult]]:
    """Protocol → metric → result when item i of a family is answered with texts[i]."""
    cases = []
    for item, text in zip(family.items, texts, strict=True):
        response = Response(
            key=item.id, item=item.id, model="m", benchmark=item.benchmark, task=item.task,
            query=item.query, status="answered" if text.strip() else "empty", text=text,
        )  # fmt: skip
        cases.append(ScoringSample(item, response))
    scores = score_samples(cases, encoders=encoders)
    found = {result.protocol: result for result in aggregate(scores)}
    return {
        protocol: {
            each.metric: each for each in found[protocol].tasks[0].metrics if each.value is not None
        }
        for protocol in PROTOCOLS
    }


@cache
def floors(name: str) -> dict[Protocol, dict[str, float]]:
    """`floors_of` the family of that name, without an encoder."""
    return floors_of(next(each for each in families() if each.name == name))


def floors_of(family: Family, encoders: Encoders | None = None) -> dict[Protocol, dict[str, float]]:
    """What answering with another item's truth is worth, or chance where that is worth more.

    The best of all rotations in which no item gets its own truth back.
    """
    truths = family.truths
    rotations = [truths[shift:] + truths[:shift] for shift in range(1, len(truths))]
    apart = [each for each in rotations if all(a != b for a, b in zip(truths, each, strict=True))]
    found: dict[Protocol, dict[str, float]] = {"official": {}, "strict": {}}
    for texts in apart or [["…"] * len(truths)]:
        for protocol, metrics in earned(family, texts, encoders).items():
            for metric, result in metrics.items():
                paid = worth(metric, result.value or 0.0)
                found[protocol][metric] = max(paid, found[protocol].get(metric, 0.0))
    for metric, chance in family.chance.items():
        found["strict"][metric] = max(found["strict"][metric], worth(metric, chance))
    return found


def minilm() -> Encoders:
    """MiniLM as its package brings it, also in the place of RoBERTa for matching English tokens."""
    encoders = Encoders({})
    encoders.paths = dict.fromkeys(("minilm", "roberta-large"), encoders.paths["minilm"])
    return encoders
