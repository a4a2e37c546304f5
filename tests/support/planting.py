"""Datasets with duplicates planted in them, and what the steps made of each kind."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from keju.building.dedup.images import STEP as IMAGES
from keju.building.dedup.images import DedupImagesSettings
from keju.building.dedup.texts import STEP as TEXTS
from keju.building.dedup.texts import DedupTextsSettings
from keju.building.engine import Engine
from keju.building.running import StepCall, run_step
from keju.datasets.store import Dataset, DatasetWriter
from keju.items import Item
from keju.text.scripts import in_script
from tests.support.planted import CALLIGRAPHERS, COPIES, book_page, jpeg

HAN = [chr(0x4E00 + at) for at in range(3000)]
LONG, SHORT = 150, 40


class Planted(NamedTuple):
    """A kind of copy: how an item and its page's bytes become another's.

    `drop` says whether it is a duplicate. `simplify` is how the step is set.
    """

    name: str
    change: Callable[[Item, int], Item]
    page: Callable[[int], bytes] | None = None
    base: str = "page"
    simplify: bool = False
    drop: bool = True


class Outcome(NamedTuple):
    """Of one kind: pairs planted, pairs of which one is left, and pairs of which none is."""

    kind: Planted
    planted: int
    single: int
    lost: int


def kinds() -> Iterator[Planted]:
    """All kinds, pictures first."""
    for name, copy in COPIES.items():
        yield Planted(f"picture {name}", _same, lambda at, copy=copy: copy(book_page(at)))
    yield Planted(f"one character changed of {LONG}", _slip)
    yield Planted("full stops and spaces put in", _marked)
    name = "in simplified characters, with `simplify`"
    yield Planted(name, _simplified, base="passage", simplify=True)
    yield Planted("options shuffled", _shuffled, base="choice")
    yield Planted("options shuffled, picture turned by 1°", _shuffled, _turned, "choice")
    others = [
        Planted("another page of the same layout, same answer", _same, _other_page),
        Planted(f"one character changed of {SHORT}", _slip, base="line"),
        Planted("in simplified characters, without `simplify`", _simplified, base="passage"),
        Planted("another letter is right", _other_letter, base="choice"),
        Planted("other image, same question, options, answer", _same, _other_page, "choice"),
        Planted("same image, another question, same answer", _other_question, base="asked"),
        Planted("same image and question, another short answer", _other_answer, base="asked"),
    ]
    yield from (other._replace(drop=False) for other in others)


def outcome(kind: Planted, originals: int, folder: Path) -> Outcome:
    """Plant a copy of every original, run both steps, and count what is left."""
    with DatasetWriter(
        folder / "given", name="planted", version="1", licence="CC0-1.0", source="drawn"
    ) as writer:
        for at in range(originals):
            image = writer.add_image(jpeg(book_page(at)), f"{at}")
            item = replace(BASES[kind.base](at), images=(image,))
            writer.add(item)
            if kind.page:
                image = writer.add_image(kind.page(at), f"{at} copied")
            writer.add(replace(kind.change(item, at), id=f"copy{at}", images=(image,)))
    marked = StepCall(IMAGES, DedupImagesSettings(), Dataset.open(folder / "given"))
    run_step(marked, folder / "marked", engine=Engine())
    settings = DedupTextsSettings(simplify=kind.simplify)
    work = StepCall(TEXTS, settings, Dataset.open(folder / "marked"))
    run_step(work, folder / "out", engine=Engine())
    kept = {item.id for item in Dataset.open(folder / "out").items()}
    left = [len({f"item{at}", f"copy{at}"} & kept) for at in range(originals)]
    return Outcome(kind, originals, left.count(1), left.count(0))


def _text(at: int, length: int) -> str:
    return "".join(random.Random(f"text {at}").choices(HAN, k=length))


def _page(at: int) -> Item:
    return Item(id=f"item{at}", benchmark="MCS-Bench", task="T1", answer=_text(at, LONG))


def _line(at: int) -> Item:
    return Item(id=f"item{at}", benchmark="MCS-Bench", task="T1", answer=_text(at, SHORT))


def _passage(at: int) -> Item:
    plain = "".join(random.Random(f"passage {at}").choices(TRADITIONAL, k=LONG))
    return Item(id=f"item{at}", benchmark="MCS-Bench", task="T1", answer=plain)


def _choice(at: int) -> Item:
    draw = random.Random(f"choice {at}")
    options = tuple(draw.sample(CALLIGRAPHERS, 4))
    answer = draw.choice("ABCD")
    return Item(id=f"item{at}", benchmark="MCS-Bench", task="T10", options=options, answer=answer)


def _asked(at: int) -> Item:
    question = f"此頁第{at + 2}行所記是何人之事？"
    answer = random.Random(f"asked {at}").choice(CALLIGRAPHERS)
    return Item(id=f"item{at}", benchmark="MCS-Bench", task="T6", question=question, answer=answer)


BASES: dict[str, Callable[[int], Item]] = {
    "page": _page, "line": _line, "passage": _passage, "choice": _choice, "asked": _asked,
}  # fmt: skip
TRADITIONAL = [char for char in HAN if in_script(char, "simplified") != char][:600]


def _same(item: Item, _at: int) -> Item:
    return item


def _slip(item: Item, at: int) -> Item:
    place = random.Random(f"slip {at}").randrange(3, len(item.answer) - 3)
    return replace(item, answer=f"{item.answer[:place]}某{item.answer[place + 1 :]}")


def _marked(item: Item, _at: int) -> Item:
    parts = [item.answer[start : start + 9] for start in range(0, len(item.answer), 9)]
    return replace(item, answer="。 ".join(parts))


def _simplified(item: Item, _at: int) -> Item:
    return replace(item, answer=in_script(item.answer, "simplified"))


def _shuffled(item: Item, at: int) -> Item:
    answer = item.options["ABCD".index(item.answer)]
    turn = 1 + at % (len(item.options) - 1)
    options = item.options[turn:] + item.options[:turn]
    return replace(item, options=options, answer="ABCD"[options.index(answer)])


def _other_letter(item: Item, _at: int) -> Item:
    return replace(item, answer="BCDA"["ABCD".index(item.answer)])


def _other_question(item: Item, _at: int) -> Item:
    return replace(item, question=f"{item.question[:-6]}是何人所書？")


def _other_answer(item: Item, _at: int) -> Item:
    place = CALLIGRAPHERS.index(item.answer)
    return replace(item, answer=CALLIGRAPHERS[place - 1])


def _other_page(at: int) -> bytes:
    return jpeg(book_page(10_000 + at))


def _turned(at: int) -> bytes:
    return COPIES["turned by 1°"](book_page(at))
