"""Checks of one item that do not need the bytes of its images."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from typing import NamedTuple

from keju.datasets.boxes import box_fault
from keju.definitions import (
    Query,
    Task,
    choices_of,
    is_blank,
    missing_reference,
    options_of,
    prompt_of,
    query_of,
    task,
)
from keju.definitions.blank import MARK as BLANK
from keju.errors import DataError, UsageError, number_of
from keju.items import Item

_NUMBER = re.compile(r"[0-9]+(\.[0-9]+)?")


class ItemDefect(NamedTuple):
    """An error or warning about an item; a grave one makes runs fail or scores wrong."""

    problem: str
    hint: str
    grave: bool = True


class _Asked(NamedTuple):
    item: Item
    task: Task
    query: Query


def text_only_notice(item: Item) -> str:
    """A notice on which models can answer a valid item without image; empty for one with an image.

    Text alone is permitted: pages are often shared without their scans.
    """
    if item.images or item.transcription is None:
        return ""
    try:
        form = query_of(item).form
    except DataError:
        return ""
    if form == "transcription":
        return "no model can be asked to read it; its text is only a reference"
    return "it can be asked only with --setting gold-text"


def missing_part(item: Item) -> str:
    """The missing part of an unfinished draft: answer or boxes; empty for all other items.

    In a draft this is not an error; in a finished item it would be.
    """
    if not item.draft:
        return ""
    try:
        kind, query = task(item.task), query_of(item)
    except (UsageError, DataError):
        return ""
    if kind.of_pairs:
        return ""
    if query.form == "boxes":
        return "" if item.boxes else "boxes"
    return "" if item.answer.strip() else "answer"


def unscored_reason(item: Item) -> str:
    """Why responses to a valid item will be unscored: it has no reference; empty for all others.

    Drafts, and items of a kind without a metric, need no reference.
    """
    try:
        kind, query = task(item.task), query_of(item)
    except (UsageError, DataError):
        return ""
    labelled = item.split == "reference" and kind.of_pairs
    if item.draft or labelled or not (query.official or query.strict):
        return ""
    return missing_reference(item)


def check_item(item: Item) -> Iterator[ItemDefect]:
    """Yield the errors of an item: task, prompt, images, answer, options, boxes."""
    try:
        kind = task(item.task)
    except UsageError as error:
        yield ItemDefect(str(error), "Use the id of a task.")
        return
    if item.benchmark != kind.benchmark:
        yield ItemDefect(
            f"benchmark {item.benchmark!r}, but task {kind.id} is of {kind.benchmark}",
            f"Write {kind.benchmark}.",
        )
    if item.split == "reference" and kind.of_pairs:
        yield from _labelled(item)
        return
    try:
        asked = _Asked(item, kind, query_of(item))
        prompt_of(item)
    except DataError as error:
        yield ItemDefect(error.problem, f"{error.hint or 'Correct the item'}.")
        return
    for check in _CHECKS:
        yield from check(asked)


def _labelled(item: Item) -> Iterator[ItemDefect]:
    """Check the reference split of a pair task: single labelled images without a question."""
    if len(item.images) != 1:
        yield ItemDefect(
            f"{number_of(len(item.images), 'image')}, but a reference has one",
            "Keep one image.",
        )
    if not item.answer.strip():
        yield ItemDefect("the reference has no label", "Write the class into the answer.")


def _images(asked: _Asked) -> Iterator[ItemDefect]:
    item = asked.item
    if asked.task.of_pairs:
        yield from _gallery(item)
    elif not asked.query.image:
        if item.images:
            yield ItemDefect(
                "it has an image, but the definition declares its task without images",
                "Remove image = false from the task's family, or the image from the item.",
            )
    elif not item.images and item.transcription is None:
        yield ItemDefect(
            "the item has neither an image nor a transcription, so a model gets nothing to read",
            "Import it again with its image beside it.",
        )


def _gallery(item: Item) -> Iterator[ItemDefect]:
    candidates = len(item.images) - 1
    if candidates < 1:
        yield ItemDefect(
            f"{number_of(len(item.images), 'image')}, but the task compares one with its "
            "candidates",
            "Add its candidates as images.",
        )
    elif not all(1 <= place <= candidates for place in item.relevant):
        yield ItemDefect(
            f"relevant {list(item.relevant)[:5]}, but the candidates are 1 to {candidates}",
            "Use the position of each candidate after the first image, from 1.",
        )
    elif len(set(item.relevant)) < len(item.relevant):
        yield ItemDefect("a relevant candidate is named twice", "Name each once.")


def _blank(asked: _Asked) -> Iterator[ItemDefect]:
    """Check that a blank page has no text, and is a page to transcribe."""
    if asked.item.metadata.get(BLANK) != "yes":
        return
    if not is_blank(asked.item) or asked.query.form != "transcription":
        yield ItemDefect(
            f"its metadata has {BLANK}=yes, but it has a text or its task is not transcription",
            f"Remove the text or the metadata {BLANK}.",
            grave=False,
        )


def _answer(asked: _Asked) -> Iterator[ItemDefect]:
    item, form = asked.item, asked.query.form
    if asked.task.of_pairs or missing_part(item):
        return
    if not item.answer.strip():
        return
    if form == "number" and not _NUMBER.fullmatch(item.answer.strip()):
        yield ItemDefect(f"the answer {item.answer[:20]!r} is not a number", "Write it in digits.")
    elif form == "yes-no" and item.answer.strip().casefold() not in {"yes", "no"}:
        yield ItemDefect(
            f"the answer {item.answer[:20]!r} is neither Yes nor No", "Write Yes or No."
        )


def _options(asked: _Asked) -> Iterator[ItemDefect]:
    item = asked.item
    if asked.query.form != "letter":
        return
    options, choices = options_of(item), choices_of(item)
    if len(options) < 2:
        yield ItemDefect(
            f"{number_of(len(options), 'option')} found"
            + (" in the question" if item.verbatim else ""),
            "Write them as A、… B、… or give the item its options.",
        )
        return
    if item.answer.strip() and item.answer not in choices:
        yield ItemDefect(
            f"the answer {item.answer[:20]!r} is not one of the letters {''.join(choices)}",
            "Write the letter of the right option.",
        )
    first: dict[str, str] = {}
    for letter, option in zip(choices, options, strict=True):
        text = "".join(option.split())
        if not text:
            yield ItemDefect(f"option {letter} is empty", "Fill it in, or remove it.")
        elif text in first:
            yield ItemDefect(
                f"options {first[text]} and {letter} are the same: {option[:20]!r}",
                "Change one of them.",
            )
        first.setdefault(text, letter)


def _boxes(asked: _Asked) -> Iterator[ItemDefect]:
    item = asked.item
    size = (item.images[0].width, item.images[0].height) if item.images else None
    for number, box in enumerate(item.boxes, start=1):
        if fault := box_fault(box, size):
            yield ItemDefect(
                f"box {number} {fault}",
                "Draw it again: left < right, top < bottom, inside the image.",
            )


def _lines(asked: _Asked) -> Iterator[ItemDefect]:
    item = asked.item
    if not item.images:
        return
    ref = item.images[0]
    away = [
        line.id
        for line in item.lines
        if line.polygon
        and not any(0 <= x <= ref.width and 0 <= y <= ref.height for x, y in line.polygon)
    ]
    if away:
        yield ItemDefect(
            f"{len(away)} of {len(item.lines)} lines are outside the image, "
            f"the first is {away[0]!r}",
            "Check that the image is the one that was transcribed.",
            grave=False,
        )


def _one_text(asked: _Asked) -> Iterator[ItemDefect]:
    """Check that answer, transcription and lines of a page to transcribe are the same text.

    Punctuation and the order of lines may differ. Lines are compared with the answer only where it
    has as many: an answer may omit notes, or marginal text.
    """
    item = asked.item
    if asked.query.form != "transcription" or not item.answer.strip():
        return
    answer = _letters(item.answer)
    if (other := _letters(item.transcription or "")) and other != answer:
        yield ItemDefect(
            f"the answer differs from the transcription ({_apart(answer, other)})",
            "Write the text of the image into both.",
            grave=False,
        )
    texts = [_letters(line.text) for line in item.lines]
    if (
        all(texts)
        and len(texts) == len(item.answer.strip().splitlines())
        and (sorted("".join(texts)) != sorted(answer))
    ):
        yield ItemDefect(
            "the text of its lines differs from the answer",
            "Correct the text of the lines, or remove the lines.",
            grave=False,
        )


def _letters(text: str) -> str:
    """The characters of a text, without spaces, line breaks and punctuation."""
    return "".join(char for char in unicodedata.normalize("NFC", text) if char.isalnum())


def _apart(one: str, other: str) -> str:
    """The first difference of two texts, with a few characters of each."""
    place = next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b),
                 min(len(one), len(other)))  # fmt: skip
    return f"{one[place : place + 6]!r} and {other[place : place + 6]!r} at character {place + 1}"


_CHECKS: tuple[Callable[[_Asked], Iterator[ItemDefect]], ...] = (
    _images,
    _blank,
    _answer,
    _options,
    _boxes,
    _lines,
    _one_text,
)
