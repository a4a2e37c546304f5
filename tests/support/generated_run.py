"""Items of every task of the shipped benchmarks and of one of the test's own, with drawn replies.

Each request has two replies. A *plain* one is nothing but an answer (a letter, a number, Han
characters), which every reader takes as it is. A *mixed* one is whatever models send: reasoning,
remarks, several answers, a refusal, nothing. A seed decides everything.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path
from random import Random
from typing import NamedTuple

from msgspec.structs import replace

from keju.datasets.store import DatasetWriter
from keju.items import Box, Item
from tests.support.bundled import DEFINITIONS
from tests.support.generated import CHARACTERS, KINDS, MISSING, generated
from tests.support.making import picture

SIDE = 60
"""Pixels of a side of the images."""
CANDIDATES = 12
OWN = "Forms"
OWN_DEFINITION = """\
name = "Forms"
version = "1"
title = "Every form"
official_as = "AncientDoc"
families.ocr = {form = "transcription", official = ["CER", "CharF1"], strict = ["F1", "CER"]}
families.choice = {form = "letter", strict = ["Acc_chance_corrected", "Acc"]}
families.name = {form = "short", strict = ["ExactMatch"]}
families.text = {form = "text", translation = true, strict = ["BLEU_char", "chrF"]}
families.marks = {form = "punctuated", strict = ["F1_macro", "F1", "Precision", "Recall"]}
families.names = {form = "entities", strict = ["F1_macro", "F1", "Precision", "Recall"]}
families.count = {form = "number", strict = ["CountAcc", "MedRE"]}
families.boxes = {form = "boxes", strict = ["F1_IoU", "mIoU"]}
families.yes = {form = "yes-no", strict = ["BalancedAcc"]}
families.pair = {form = "probability", strict = ["AP", "AUC", "Acc@1"]}
families.pair_yes = {form = "yes-no", strict = ["AUC", "AP", "Acc@1"]}
"""
OWN_FAMILIES = [
    "ocr", "choice", "name", "text", "marks", "names", "count", "boxes", "yes", "pair", "pair_yes",
]  # fmt: skip
OWN_FORMS = {
    "ocr": "transcription", "choice": "letter", "name": "short", "text": "text",
    "marks": "punctuated", "names": "entities", "count": "number", "boxes": "boxes",
    "yes": "yes-no", "pair": "probability", "pair_yes": "yes-no",
}  # fmt: skip
NAMES = ["孔子", "顏回", "魯國", "季氏", "皇后", "乾隆", "朱熹", "司馬遷"]
SHORT = ["左侧", "三", "红色", "青铜器", "12", "明代", "不紅", "荷花"]
WORDS = (  # noqa: SIM905 - a sentence is shorter than its list
    "this bone shows an ancient Chinese character with two horns and vertical columns of carved "
    "inscriptions from the late Shang dynasty on a turtle plastron"
).split()
PHRASES: dict[str, list[str]] = tomllib.loads(
    Path(__file__).with_name("reply_phrases.toml").read_text("utf-8")
)


class Question(NamedTuple):
    """An item without images, and a plain and a mixed reply to each of its requests.

    A reply is a text, a text with the server's reason for its end, or `MISSING`.
    """

    item: Item
    form: str
    plain: tuple[object, ...]
    mixed: tuple[object, ...]
    reasoning: str = ""


def form_of(benchmark: str, task: str, query: str = "") -> str:
    """The form of the answers of a task or of a query of it."""
    if benchmark == OWN:
        return OWN_FORMS[task.removeprefix("forms_")]
    table = DEFINITIONS[benchmark]
    row = table["tasks"][task]
    return str(table["families"][(row["queries"][query] if query else row)["family"]]["form"])


def draw_questions(count: int, seed: int = 39) -> list[Question]:
    """About so many requests, more than a half of them about MCS-Bench."""
    random = Random(seed)
    questions = [
        draw_replies(reply.item, random, content=reply.content, reasoning=reply.reasoning)
        for reply in generated(count * 11 // 20 // 45 * 45, seed)
    ]
    tasks = _other_tasks()
    share = count * 9 / 20 / len(tasks)
    for benchmark, task, query, pairs in tasks:
        for number in range(max(9, round(share / CANDIDATES if pairs else share))):
            name = f"{benchmark}-{task}-{query}-{number:03}"
            item = _item(Item(id=name, benchmark=benchmark, task=task, query=query), pairs, random)
            questions.append(draw_replies(item, random, candidates=CANDIDATES if pairs else 0))
    return [
        row._replace(item=replace(row.item, group=f"book {place % 17}"))
        for place, row in enumerate(questions)
    ]


def draw_replies(
    item: Item,
    random: Random,
    *,
    candidates: int = 0,
    content: object = None,
    reasoning: str = "",
) -> Question:
    """The replies to an item.

    Args:
        item: what is asked.
        random: draws the replies.
        candidates: how many requests the item has, if it is of pairs.
        content: the mixed reply to an open question, if one is drawn already.
        reasoning: reasoning of the mixed reply in a field of its own.
    """
    form = form_of(item.benchmark, item.task, item.query)
    plain: list[object] = []
    mixed: list[object] = []
    for candidate in range(1, (candidates or 1) + 1):
        right = _right(item, form, candidate)
        plain.append(_with_losses(_plain(item, form, right, random), random))
        if content is None or (form in {"letter", "short"} and random.random() < 0.6):
            mixed.append(_with_losses(_mixed(item, form, right, random), random))
        else:
            mixed.append(content if isinstance(content, str) else MISSING)
    return Question(item, form, tuple(plain), tuple(mixed), reasoning)


def write_dataset(folder: Path, questions: Sequence[Question]) -> None:
    """Write ``dataset/`` and ``forms.toml``, the definition of the test's own benchmark."""
    (folder / "forms.toml").write_text(own_definition(), "utf-8")
    with DatasetWriter(
        folder / "dataset", name="generated", version="1", licence="CC0-1.0", source="generated"
    ) as writer:
        refs = [writer.add_image(picture(place, side=SIDE), str(place))
                for place in range(CANDIDATES + 1)]  # fmt: skip
        for place, question in enumerate(questions):
            size = 1 + len(question.plain) if question.item.relevant else 1
            images = tuple(refs[(place + number) % len(refs)] for number in range(size))
            writer.add(replace(question.item, images=images))


def write_replies(folder: Path, questions: Sequence[Question]) -> None:
    """Write ``plain.jsonl`` and ``mixed.jsonl``, the files of two replayed models."""
    for name in ("plain", "mixed"):
        lines = [line for question in questions for line in _lines(question, name)]
        (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\n", "utf-8")


def own_definition() -> str:
    """The definition of the test's own benchmark, with a task for each form of answer."""
    tasks = []
    for family in OWN_FAMILIES:
        pairs = family.startswith("pair")
        tasks.append(
            f'[tasks.forms_{family}]\nname_zh = "{family}"\nname_en = "{family}"\n'
            f'domain = "{"Pairs" if pairs else "Single"}"\n'
            f'format = "{"pairs" if pairs else "QA"}"\n'
            f'family = "{family}"\nask = "{family}?"\n'
            + 'box_convention = "yxyx-1000"\n' * (family == "boxes")
            + 'candidates = "classes"\n' * pairs
        )
    return OWN_DEFINITION + "\n".join(tasks)


def _lines(question: Question, name: str) -> Iterable[dict[str, object]]:
    replies = question.plain if name == "plain" else question.mixed
    for candidate, reply in enumerate(replies, start=1 if question.item.relevant else 0):
        line: dict[str, object] = {"item": question.item.id, "candidate": candidate, "text": reply}
        if name == "mixed" and question.reasoning:
            line["thinking"] = question.reasoning
        if isinstance(reply, tuple):
            line |= {"text": reply[0], "finish_reason": reply[1]}
        if reply is not MISSING:
            yield line


def _other_tasks() -> list[tuple[str, str, str, bool]]:
    """Benchmark, task, query and whether it is of pairs, of all but MCS-Bench's."""
    tasks = [
        (name, task, query, row["format"] == "pairs")
        for name, table in DEFINITIONS.items()
        if name != "MCS-Bench"
        for task, row in table["tasks"].items()
        for query in row.get("queries", [""])
    ]
    return tasks + [(OWN, f"forms_{name}", "", name.startswith("pair")) for name in OWN_FAMILIES]


def _item(item: Item, pairs: bool, random: Random) -> Item:
    form = form_of(item.benchmark, item.task, item.query)
    if pairs:
        right = sorted(random.sample(range(1, CANDIDATES + 1), random.randint(1, 4)))
        return replace(item, relevant=tuple(right))
    question = f"第 {random.randint(1, 99)} 問？"
    if form == "boxes":
        return replace(item, boxes=tuple(_box(random) for _ in range(random.randint(1, 5))))
    options = ("甲骨", "金文", "小篆", "隸書", "楷書", "草書") if form == "letter" else ()
    accepted = tuple(random.sample(SHORT, 1)) if form == "short" else ()
    return replace(
        item, question=question, options=options, answer=_reference(item, form, random),
        also_accepted=accepted,
    )  # fmt: skip


def _reference(item: Item, form: str, random: Random) -> str:  # noqa: PLR0911 - one for each form
    match form:
        case "letter":
            return random.choice("ABCDEF")
        case "short":
            return random.choice(SHORT)
        case "entities":
            return "、".join(random.sample(NAMES, 3))
        case "number":
            return str(random.randint(1, 40))
        case "yes-no":
            return random.choice(["yes", "no"])
        case "text" if item.benchmark == "OBI-Bench":
            return " ".join(random.choices(WORDS, k=random.randint(5, 15))) + "."
        case _:
            return _characters(random, 5, 60, "，。\n" if form == "transcription" else "，。；")


def _characters(random: Random, least: int, most: int, marks: str) -> str:
    size = random.randint(least, most)
    signs = random.choices(CHARACTERS, k=size)
    for place in range(random.randint(3, 8), size, random.randint(4, 9)):
        signs[place] = random.choice(marks)
    return "".join(signs)


def _box(random: Random) -> Box:
    left, top = random.randint(0, SIDE - 20), random.randint(0, SIDE - 20)
    return Box(x0=left, y0=top, x1=left + random.randint(5, 20), y1=top + random.randint(5, 20))


def _with_losses(reply: str, random: Random) -> object:
    """The reply; one of thirty is empty, missing, filtered or cut off."""
    if random.random() > 1 / 30:
        return reply
    return random.choice(["", MISSING, ("", "content_filter"), (reply, "length")])


def _right(item: Item, form: str, candidate: int) -> str:
    if item.relevant and form == "probability":
        return "90%" if candidate in item.relevant else "10%"
    if item.relevant:
        return "Yes" if candidate in item.relevant else "No"
    if form == "boxes":
        return json.dumps(_rows(item))
    return item.answer or item.answer_simplified


def _rows(item: Item, shift: int = 0) -> list[list[float]]:
    """The boxes as the task's prompt asks for them."""
    if item.benchmark == OWN:
        scale = 1000 / SIDE
        return [
            [round(scale * (side + shift)) for side in (box.y0, box.x0, box.y1, box.x1)]
            for box in item.boxes
        ]
    return [[side + shift for side in (box.x0, box.y0, box.x1, box.y1)] for box in item.boxes]


def _plain(item: Item, form: str, right: str, random: Random) -> str:  # noqa: PLR0911 - as above
    """Nothing but an answer, right in about half of the cases."""
    lucky = random.random() < 0.5
    match form:
        case "letter":
            return right if lucky else random.choice("ABCD")
        case "short":
            return right if lucky and right.isalnum() else random.choice(SHORT)
        case "entities":
            names = [name for name in right.split("、") if name and all(map(_is_han, name))]
            pool = [*names, *random.sample(NAMES, 3)]
            return "、".join(random.sample(pool, random.randint(1, len(pool))))
        case "number":
            return right if lucky else str(random.randint(1, 90))
        case "yes-no":
            return right.capitalize() if lucky else random.choice(["Yes", "No"])
        case "probability":
            return f"{min(100, max(0, int(right[:-1]) + random.randint(-60, 60)))}%"
        case "boxes":
            rows = _rows(item, random.choice([0, 1, 2, 5]))
            return json.dumps(rows[: random.randint(1, len(rows))] + rows[: random.randint(0, 1)])
        case "text" if item.benchmark == "OBI-Bench":
            return " ".join(_edit(right.split(), WORDS, random))
        case _:
            marks = "，。" if form == "punctuated" else ""
            text = [sign for sign in right if _is_han(sign) or sign in "，。；、\n"]
            reply = "".join(_edit(text, list(CHARACTERS + marks), random)).strip()
            if form == "punctuated":
                return (reply.strip("，。；、") or "學") + "。"
            return reply if any(map(_is_han, reply)) else "學"


def _option(item: Item, letter: str) -> str:
    place = ord(letter[:1] or "A") - ord("A")
    return item.options[place] if 0 <= place < len(item.options) else "以上皆非"


def _is_han(sign: str) -> bool:
    return "\u3400" <= sign <= "\u9fff" or "\U00020000" <= sign < "\U00030000"


def _edit(parts: list[str], pool: Sequence[str], random: Random) -> list[str]:
    for _ in range(random.choice([0, 1, 2, len(parts) // 3, len(parts)])):
        place = random.randint(0, len(parts))
        parts[place : place + random.randint(0, 2)] = random.choices(pool, k=random.randint(0, 2))
    return parts


def _mixed(item: Item, form: str, right: str, random: Random) -> str:
    if form in PHRASES:
        other = _plain(item, form, right, random)
        reply = random.choice(PHRASES[form])
        if form == "letter":
            reply = reply.replace("{text of a}", _option(item, right))
            reply = reply.replace("{text of b}", _option(item, other))
        return reply.replace("{a}", right).replace("{b}", other)
    if item.benchmark == "OBI-Bench":
        return random.choice(PHRASES["english"]).replace("{a}", _plain(item, form, right, random))
    texts = [kind for kind in KINDS.values() if isinstance(kind("甲", Random(0)), str)]
    return str(random.choice(texts)(right, random))
