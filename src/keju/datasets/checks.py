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


class Flaw(NamedTuple):
    """An error or warning about an item; a grave one makes runs fail or scores wrong."""

    problem: str
    hint: str
    grave: bool = True


class _Asked(NamedTuple):
    item: Item
    task: Task
    query: Query


def without_image(item: Item) -> str:
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
        return "nobody can be asked to read it, but it holds the truth"
    return "only --setting gold-text can ask it"


def awaited(item: Item) -> str:
    """What a draft without an answer still lacks; empty for all other items.

    A draft is not finished, so what it lacks is not an error; in a finished item it would be.
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


def unscored(item: Item) -> str:
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


def check_item(item: Item) -> Iterator[Flaw]:
    """Yield the errors of an item: task, prompt, images, answer, options, boxes."""
    try:
        kind = task(item.task)
    except UsageError as error:
        yield Flaw(str(error), "Give it the id of a task.")
        return
    if item.benchmark != kind.benchmark:
        yield Flaw(
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
        yield Flaw(error.problem, f"{error.hint or 'Mend the item'}.")
        return
    for check in _CHECKS:
        yield from check(asked)


def _labelled(item: Item) -> Iterator[Flaw]:
    """Check the reference split of a pair task: single labelled images without a question."""
    if len(item.images) != 1:
        yield Flaw(
            f"{number_of(len(item.images), 'image')}, but a reference shows one",
            "Give it one image.",
        )
    if not item.answer.strip():
        yield Flaw("a reference without its label", "Write the class into the answer.")


def _images(asked: _Asked) -> Iterator[Flaw]:
    item = asked.item
    if asked.task.of_pairs:
        yield from _gallery(item)
    elif not asked.query.image:
        if item.images:
            yield Flaw(
                "it has an image, but the definition declares its task without images",
                "Remove image = false from the task's family, or the image from the item.",
            )
    elif not item.images and item.transcription is None:
        yield Flaw(
            "neither an image nor a transcription, so nothing of it can be shown",
            "Import it again with its image beside it.",
        )


def _gallery(item: Item) -> Iterator[Flaw]:
    candidates = len(item.images) - 1
    if candidates < 1:
        yield Flaw(
            f"{number_of(len(item.images), 'image')}, but the task compares one with its "
            "candidates",
            "Give it two or more.",
        )
    elif not all(1 <= place <= candidates for place in item.relevant):
        yield Flaw(
            f"relevant {list(item.relevant)[:5]}, but the candidates are 1 to {candidates}",
            "Number them by their place after the first image.",
        )
    elif len(set(item.relevant)) < len(item.relevant):
        yield Flaw("a relevant candidate is named twice", "Name each once.")


def _blank(asked: _Asked) -> Iterator[Flaw]:
    """Check that a blank page has no text, and is a page to transcribe."""
    if asked.item.metadata.get(BLANK) != "yes":
        return
    if not is_blank(asked.item) or asked.query.form != "transcription":
        yield Flaw(
            f"its metadata says {BLANK}=yes, but it has a text or asks for no transcription",
            f"Remove the text or the metadata {BLANK}.",
            grave=False,
        )


def _answer(asked: _Asked) -> Iterator[Flaw]:
    item, form = asked.item, asked.query.form
    if asked.task.of_pairs or awaited(item):
        return
    if not item.answer.strip():
        return
    if form == "number" and not _NUMBER.fullmatch(item.answer.strip()):
        yield Flaw(f"the answer {item.answer[:20]!r} is no number", "Write it in digits.")
    elif form == "yes-no" and item.answer.strip().casefold() not in {"yes", "no"}:
        yield Flaw(f"the answer {item.answer[:20]!r} is neither Yes nor No", "Write Yes or No.")


def _options(asked: _Asked) -> Iterator[Flaw]:
    item = asked.item
    if asked.query.form != "letter":
        return
    options, choices = options_of(item), choices_of(item)
    if len(options) < 2:
        yield Flaw(
            f"{number_of(len(options), 'option')} found"
            + (" in the question" if item.verbatim else ""),
            "Write them as A、… B、… or give the item its options.",
        )
        return
    if item.answer.strip() and item.answer not in choices:
        yield Flaw(
            f"the answer {item.answer[:20]!r} is not one of the letters {''.join(choices)}",
            "Write the letter of the right option.",
        )
    first: dict[str, str] = {}
    for letter, option in zip(choices, options, strict=True):
        text = "".join(option.split())
        if not text:
            yield Flaw(f"option {letter} is empty", "Write it, or take it out.")
        elif text in first:
            yield Flaw(
                f"options {first[text]} and {letter} are the same: {option[:20]!r}",
                "Change one of them.",
            )
        first.setdefault(text, letter)


def _boxes(asked: _Asked) -> Iterator[Flaw]:
    item = asked.item
    size = (item.images[0].width, item.images[0].height) if item.images else None
    for number, box in enumerate(item.boxes, start=1):
        if fault := box_fault(box, size):
            yield Flaw(
                f"box {number} {fault}",
                "Draw it again: left < right, top < bottom, inside the image.",
            )


def _lines(asked: _Asked) -> Iterator[Flaw]:
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
        yield Flaw(
            f"{len(away)} of {len(item.lines)} lines lie outside the image, the first {away[0]!r}",
            "Check that the image is the one that was transcribed.",
            grave=False,
        )


def _one_text(asked: _Asked) -> Iterator[Flaw]:
    """Check that answer, transcription and lines of a page to transcribe are the same text.

    Punctuation and the order of lines may differ. Lines are compared with the answer only where it
    has as many: an answer may omit notes, or marginal text.
    """
    item = asked.item
    if asked.query.form != "transcription" or not item.answer.strip():
        return
    answer = _letters(item.answer)
    if (other := _letters(item.transcription or "")) and other != answer:
        yield Flaw(
            f"the answer and the transcription are two texts ({_apart(answer, other)})",
            "Write the one that the image shows into both.",
            grave=False,
        )
    texts = [_letters(line.text) for line in item.lines]
    if (
        all(texts)
        and len(texts) == len(item.answer.strip().splitlines())
        and (sorted("".join(texts)) != sorted(answer))
    ):
        yield Flaw(
            "its lines say something else than the answer",
            "Mend the lines' text, or leave the lines out.",
            grave=False,
        )


def _letters(text: str) -> str:
    """The characters of a text, without spaces, line breaks and punctuation."""
    return "".join(char for char in unicodedata.normalize("NFC", text) if char.isalnum())


def _apart(one: str, other: str) -> str:
    """A few characters of each of two texts from their first difference."""
    place = next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b),
                 min(len(one), len(other)))  # fmt: skip
    return f"{one[place : place + 6]!r} and {other[place : place + 6]!r} at letter {place + 1}"


_CHECKS: tuple[Callable[[_Asked], Iterator[Flaw]], ...] = (
    _images,
    _blank,
    _answer,
    _options,
    _boxes,
    _lines,
    _one_text,
)
