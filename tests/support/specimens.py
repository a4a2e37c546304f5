"""Declared answers to small items of every task, on which the two protocols are laid side by side.

docs/protocols.md prints what they earn (tools/make_protocols_page.py). Answers have the mean
lengths of the
benchmark's own (MCS-Bench Table 5).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path

from keju.definitions import Query, Task, prompt_of
from keju.encoders import Encoders
from keju.items import ImageRef, Item, Response, Score
from keju.scoring.score import score_samples
from keju.scoring.scoring_sample import ScoringSample
from tests.support.degenerate import (
    COUNTS,
    NAMES,
    OPTIONS,
    PASSAGES,
    SHORT,
    columns,
    families,
    truth_of,
)

LENGTHS: dict[str, int] = json.loads(
    (Path(__file__).parent / "answer_lengths.json").read_text("utf-8")
)
ITEMS = 4
CANDIDATES = 12
_OTHER_LENGTH = 200
_CLAUSES = re.findall(r"\w+", "".join(PASSAGES))
_ANSWERS: dict[str, Sequence[str]] = {
    "letter": "ABCD", "short": SHORT, "entities": NAMES, "number": COUNTS,
    "yes-no": ["Yes", "No", "Yes", "No"],
}  # fmt: skip


def items_of(task: Task, query: Query) -> list[Item]:
    """A few items of a query, their answers of the length that the task's have."""
    base = {"benchmark": task.benchmark, "task": task.id, "query": query.name}
    if task.of_pairs:
        pictures = tuple(
            ImageRef(path=f"{n}.png", sha256=f"{n:064}", width=9, height=9, size=9)
            for n in range(CANDIDATES + 1)
        )
        return [
            Item(id=str(n), images=pictures, relevant=(1 + n, 5 + n), **base) for n in range(ITEMS)
        ]
    if query.form == "boxes":
        where = next(each for each in families() if each.name.startswith("Where"))
        return list(where.items[:ITEMS])
    fields = {
        "options": OPTIONS if query.form == "letter" else (),
        "fields": dict.fromkeys(re.findall(r"\{(\w+)\}", query.template), "画"),
        "question": "这是什么？",
    }
    return [
        Item(id=str(n), answer=answer, **fields, **base)
        for n, answer in enumerate(_answers(task, query))
    ]


def _answers(task: Task, query: Query) -> Sequence[str]:
    if query.form in _ANSWERS:
        return _ANSWERS[query.form][:ITEMS]
    length = LENGTHS.get(task.id, _OTHER_LENGTH)
    if query.form == "transcription":
        return [columns(_text(n, 2 * length))[: length + length // 12] for n in range(ITEMS)]
    return [_text(n, length) for n in range(ITEMS)]


def _text(number: int, length: int) -> str:
    """Clauses of the passages, no clause in two items, over again where the length asks for it."""
    own = "".join(f"{clause}，" for clause in _CLAUSES[number::ITEMS])
    return (own * (length // len(own) + 1))[:length].strip("，")


@cache
def _traditional() -> Callable[[str], str]:
    from opencc import OpenCC

    return OpenCC("s2t").convert


def _other_width(truth: str) -> str:
    wide = str.maketrans({chr(code): chr(code + 0xFEE0) for code in range(0x21, 0x7F)})
    return truth.translate(wide) if truth.isascii() else _traditional()(truth)


SPECIMENS: dict[str, Callable[[str, str, str], str]] = {
    "the answer": lambda truth, other, prompt: truth,
    "in a sentence": lambda truth, other, prompt: f"好的，答案是：{truth}",
    "after reasoning": lambda truth, other, prompt: f"<think>也许是{other}？</think>\n{truth}",
    "traditional or full-width": lambda truth, other, prompt: _other_width(truth),
    "another item's": lambda truth, other, prompt: other,
    "all options": lambda truth, other, prompt: "ABCD",
    "the prompt": lambda truth, other, prompt: prompt,
    "reversed": lambda truth, other, prompt: truth[::-1],
    "three times": lambda truth, other, prompt: truth * 3,
    "looped to 2,048": lambda truth, other, prompt: (truth[:9] * 2048)[:2048],
    "nothing": lambda truth, other, prompt: "",
}
"""Name → text, of an item's true answer, another item's, and the item's prompt."""


def responses_to(items: Sequence[Item], specimen: str) -> Iterator[tuple[Item, Response]]:
    """Each item with its response, or in a task of pairs with one for each candidate."""
    make = SPECIMENS[specimen]
    for item, after in zip(items, [*items[1:], items[0]], strict=True):
        prompt = prompt_of(item)
        for candidate in range(1, len(item.images)) if item.relevant else (0,):
            truth, other = (_truth(each, candidate) for each in (item, after))
            text = make(truth, other, prompt)
            yield item, Response(
                key=f"{item.id}/{candidate}", item=item.id, model="m", benchmark=item.benchmark,
                task=item.task, query=item.query, status="answered" if text.strip() else "empty",
                text=text, candidate=candidate,
            )  # fmt: skip


def _truth(item: Item, candidate: int) -> str:
    if not candidate:
        return truth_of(item)
    right = candidate in item.relevant
    if item.query == "Yes-or-No":
        return "Yes" if right else "No"
    return "0.9" if right else "0.1"


def scores_of(task: Task, query: Query, specimen: str) -> list[Score]:
    """What a specimen earns on a query's items, under both protocols, without an encoder."""
    none = Encoders({})
    none.paths.clear()  # nor the one that an installed package brings along
    pairs = responses_to(items_of(task, query), specimen)
    return score_samples([ScoringSample(*pair) for pair in pairs], encoders=none)
