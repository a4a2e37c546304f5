"""`Work`: the content, writing, seals and questions of a picture, and items about it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TypeVar

import numpy as np
from msgspec import field, structs
from PIL import Image

from keju.errors import DataError, unknown_name
from keju.items import Item, Line, LineKind, Point, Record
from keju.messages import message
from keju_synthetic.item_maker import ItemMaker, StoredImage
from keju_synthetic.paper import Picture
from keju_synthetic.recipe import Difficulty, ImageSpec
from keju_synthetic.seals.carving import SealDesign, carve_seal
from keju_synthetic.seals.impression import lay_paste

_ENLARGED = 4


class WorkSpec(ImageSpec, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A picture of a recipe: which known work it shows, in which hands, for which tasks.

    `work` is the known work's id (empty: the picture's own id). `asks` are tasks (empty: all that
    is known of the work). `hand` writes inscriptions, `label_hand` labels and captions.
    """

    hand: str
    label_hand: str
    work: str = ""
    asks: tuple[str, ...] = ()
    difficulty: Difficulty = 0.2


class Writing(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Text in a picture, in columns from right to left (a newline begins a column).

    `at` is the middle of the first column's top in parts of the picture's field, `em` the size of
    a character in pixels, `leading` from column to column in ems. `across` sets each line as a row
    from right to left. `boxed` adds a frame around it. A `label` is written in the other hand
    and, on a mounting, on the slip.
    """

    text: str
    kind: LineKind = "main"
    at: Point = (0.0, 0.0)
    em: float = 24.0
    leading: float = 1.3
    label: bool = False
    across: bool = False
    boxed: bool = False


class SealPlacement(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A seal on the field: its middle in parts of the field, its height in pixels."""

    cut: SealDesign
    at: Point
    size: int = 34


class ChoiceQuestion(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A question with options: the right one and the wrong ones."""

    task: str
    right: str
    others: tuple[str, ...]


class ShortQuestion(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A question with a short answer; ``{name}`` in the answer is a count of what was drawn.

    `also` are other correct wordings.
    """

    task: str
    question: str
    answer: str
    also: tuple[str, ...] = ()


class Work(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A picture to be drawn, with its facts and questions.

    `title`, `author` and `dynasty` are in simplified Chinese (`author` empty where unknown),
    `scene` names what draws it, `size` is the drawn field's in pixels. `texts` are open answers by
    task; `reads` the task that has its writing read.
    """

    id: str
    title: str
    scene: str
    size: tuple[int, int]
    author: str = ""
    dynasty: str = ""
    writings: tuple[Writing, ...] = ()
    seals: tuple[SealPlacement, ...] = ()
    reads: str = ""
    choices: tuple[ChoiceQuestion, ...] = ()
    shorts: tuple[ShortQuestion, ...] = ()
    texts: dict[str, str] = field(default_factory=dict)


W = TypeVar("W", bound=Work)


def index_by_id(works: Iterable[W], file: str) -> dict[str, W]:
    """Works by their ids.

    Raises:
        DataError: two entries of `file` have the same id.
    """
    found: dict[str, W] = {}
    for work in works:
        if work.id in found:
            raise DataError(message("synthetic.id-twice"), file=file, item=work.id)
        found[work.id] = work
    return found


def find_work(works: Mapping[str, W], spec: WorkSpec) -> W:
    """The work that a picture of the recipe shows.

    Raises:
        DataError: there is no work with that id.
    """
    name = spec.work or spec.id
    if name not in works:
        raise DataError(unknown_name(name, works, "work"), item=spec.id)
    return works[name]


def press_seals(
    page: Picture, work: Work, corner: Point, rng: np.random.Generator, *, worn: float
) -> tuple[Picture, list[Line]]:
    """The page with the work's seals pressed on it, and a line for each.

    Args:
        page: the whole picture.
        work: the work with the seals.
        corner: upper left corner of the field in the picture.
        rng: the random generator.
        worn: 0..1, how much of the paste is missing.
    """
    lines = []
    for seal in work.seals:
        mask = carve_seal(seal.cut, seal.size, rng)
        x = round(corner[0] + seal.at[0] * work.size[0] - mask.width / 2)
        y = round(corner[1] + seal.at[1] * work.size[1] - mask.height / 2)
        x1, y1 = x + mask.width, y + mask.height
        _press_seal(page, mask, (x, y), rng, worn)
        outline = ((x, y), (x1, y), (x1, y1), (x, y1))
        lines.append(Line(id="", text=seal.cut.legend, polygon=outline, kind="seal"))
    return page, lines


def _press_seal(
    page: Picture, mask: Image.Image, at: tuple[int, int], rng: np.random.Generator, worn: float
) -> None:
    """Press one seal into the page; parts beyond its edge are lost.

    The grain of paste is made for a seal that fills a picture, so the seal's place is enlarged.
    """
    near = 6
    wide, high = mask.width + 2 * near, mask.height + 2 * near
    x0, y0 = max(0, at[0] - near), max(0, at[1] - near)
    part = page[y0 : y0 + high, x0 : x0 + wide]
    whole = Image.new("L", (part.shape[1], part.shape[0]), 0)
    whole.paste(mask, (at[0] - x0, at[1] - y0))
    large = (whole.width * _ENLARGED, whole.height * _ENLARGED)
    ground = np.repeat(np.repeat(part, _ENLARGED, axis=0), _ENLARGED, axis=1)
    pressed = lay_paste(ground, whole.resize(large, Image.Resampling.BICUBIC), worn=worn, rng=rng)
    pixels = (np.clip(pressed, 0, 1) * 255 + 0.5).astype(np.uint8)
    small = np.asarray(Image.fromarray(pixels).reduce(_ENLARGED), np.float32)
    page[y0 : y0 + high, x0 : x0 + wide] = small / np.float32(255)


def number_lines(lines: list[Line]) -> tuple[Line, ...]:
    """The lines with ids in their order."""
    return tuple(
        structs.replace(line, id=f"l{number:03d}") for number, line in enumerate(lines, start=1)
    )


def make_work_items(
    stored: StoredImage,
    work: Work,
    asks: tuple[str, ...],
    lines: tuple[Line, ...],
    counts: Mapping[str, int],
    maker: ItemMaker,
) -> Iterator[Item]:
    """The items about a drawn work.

    Raises:
        DataError: a task has no data, or an answer counts a thing that was not drawn.
    """
    known = {choice.task for choice in work.choices} | {short.task for short in work.shorts}
    known |= {*work.texts, work.reads} - {""}
    for name in asks:
        if name not in known:
            problem = message(
                "synthetic.work-without-task",
                work=work.id,
                task=name,
                known=", ".join(sorted(known)),
            )
            raise DataError(problem, item=stored.id)
    wanted = set(asks) or known
    if work.reads in wanted:
        yield maker.make_transcription(stored, work.reads, lines)
    for choice in work.choices:
        if choice.task in wanted:
            yield maker.make_choice(stored, choice.task, choice.right, choice.others)
    for number, short in enumerate(work.shorts, start=1):
        if short.task in wanted:
            item = maker.make_open_question(
                stored, short.task, _fill_in_counts(short, counts, stored.id)
            )
            name = f"{item.id}-{number}"
            yield structs.replace(item, id=name, question=short.question, also_accepted=short.also)
    for name, text in work.texts.items():
        if name in wanted:
            yield maker.make_open_question(stored, name, text.strip())


def _fill_in_counts(short: ShortQuestion, counts: Mapping[str, int], picture: str) -> str:
    try:
        return short.answer.format(**counts)
    except (KeyError, IndexError, ValueError):
        problem = message(
            "synthetic.answer-counts-unknown", answer=short.answer, known=", ".join(counts)
        )
        raise DataError(problem, item=picture) from None
