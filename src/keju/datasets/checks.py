"""`Finding`, and the checks of one item that do not need the bytes of its images."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import chain
from typing import Literal, NamedTuple

from keju.datasets.newlines import has_literal_newline
from keju.definitions import (
    NO_REFERENCE,
    Query,
    choices_of,
    has_reference,
    missing_reference,
    options_of,
    prompt_of,
    query_of,
    task,
)
from keju.definitions.references import DECIPHERED
from keju.errors import DataError, KejuError, UsageError, printable
from keju.items import Box, Item
from keju.texts import Text, _, n_

Severity = Literal["error", "warning", "notice"]

SLACK = 1.0
"""Pixels by which a box may exceed its image: annotation tools round up or down."""

_NUMBER = re.compile(r"[0-9]+(\.[0-9]+)?")


class Finding(NamedTuple):
    """One finding about an item, by its id, or about a file."""

    severity: Severity
    item: str
    problem: str
    hint: str

    @classmethod
    def of(
        cls, severity: Severity, item: str, problem: Text | KejuError, hint: str = ""
    ) -> Finding:
        """The finding of a message or an error, with its own hint or else this one."""
        text = problem.problem if isinstance(problem, KejuError) else problem
        return cls(severity, item, text, _("{}.", problem.hint or hint))

    @property
    def line(self) -> str:
        """The finding in one line."""
        severity, *parts = self
        if severity == "error":
            return _("error: {}: {}. {}", *parts)
        if severity == "warning":
            return _("warning: {}: {}. {}", *parts)
        return _("notice: {}: {}. {}", *parts)

    def __str__(self) -> str:
        return printable(" ".join(self.line.split()))


def first_name(name: str, count: int) -> str:
    """The first of several names, and how many more there are."""
    return _("{} and {} more", name, count - 1) if count > 1 else name


class CommonFindings:
    """Findings that several items may share: each once, with the first item and how many more."""

    def __init__(self) -> None:
        self._first: dict[tuple[Severity, str], Finding] = {}
        self._counts: Counter[tuple[Severity, str]] = Counter()

    def add(self, finding: Finding) -> None:
        """Add a finding about an item."""
        key = finding.severity, finding.problem
        self._first.setdefault(key, finding)
        self._counts[key] += 1

    def list_all(self) -> Iterator[Finding]:
        """Yield each finding, in the order of its first item."""
        for key, finding in self._first.items():
            yield finding._replace(item=first_name(finding.item, self._counts[key]))


def unscored_reason(item: Item) -> str:
    """Why responses to a valid item will be unscored: it has no reference; empty for all others.

    Drafts, and items of a kind without a metric, need no reference.
    """
    if item.draft or (item.split == "reference" and task(item.task).of_pairs):
        return ""
    query = query_of(item)
    return missing_reference(item) if query.official or query.strict else ""


def check_item(item: Item) -> Iterator[Finding]:
    """Yield the findings about an item: task, prompt, images, answer, options, boxes.

    Errors name the item's own values. The words of notices and warnings are the same for all items
    concerned: which models cannot answer an item, and why it is not scored.
    """
    try:
        kind = task(item.task)
    except UsageError as error:
        yield Finding.of("error", item.id, error, _("Use the id of a task"))
        return
    if item.benchmark != kind.benchmark:
        problem = _(
            "benchmark {!r}, but task {} is of {}",
            item.benchmark,
            kind.id,
            kind.benchmark,
            hint=_("Write {}", kind.benchmark)
        )  # fmt: skip
        yield Finding.of("error", item.id, problem)
    if item.split == "reference" and kind.of_pairs:
        if not item.answer.strip():
            problem = _("the reference has no label", hint="Write the class into the answer")
            yield Finding.of("error", item.id, problem)
        return
    try:
        query = query_of(item)
        prompt_of(item)
    except DataError as error:
        yield Finding.of("error", item.id, error, _("Correct the item"))
        return
    for problem in chain(
        _check_gallery(item) if kind.of_pairs else _check_images(item, query),
        () if kind.of_pairs else _check_answer(item, query),
        _check_options(item) if query.form == "letter" else (),
        _check_boxes(item),
    ):
        yield Finding.of("error", item.id, problem)
    for problem in _describe_use(item, query, of_pairs=kind.of_pairs):
        yield Finding.of("notice", item.id, problem)
    references = (item.answer, item.answer_simplified, item.transcription or "")
    if any(map(has_literal_newline, (*references, *item.also_accepted))):
        problem = _(
            "the reference has a literal \\n, so each n counts as a character",
            hint="Write line breaks instead. Some formats do so: --option newlines=literal",
        )
        yield Finding.of("warning", item.id, problem)


def _describe_use(item: Item, query: Query, *, of_pairs: bool) -> Iterator[Text]:
    # Text alone is permitted: pages are often shared without their scans.
    if not item.images and item.transcription is not None:
        yield _(
            "text without an image: only --setting gold-text can ask about it, and no model can "
            "be asked to read it",
            hint="Import again with the images beside it, if you have them",
        )
    if item.draft and not of_pairs and not has_reference(item):
        yield _(
            "a draft of {} without answer",
            item.task,
            hint="Have a model draft it (keju build draft) or people write it (keju build review)",
        )
    if unscored_reason(item) == NO_REFERENCE:
        hint = _("Import again with the answers, if you have them")
        if query.form == "text":
            hint = _(
                "Import again with the answers, if you have them. For an undeciphered character, "
                "set the metadata {} to no",
                DECIPHERED,
            )
        yield _("no reference: models are asked, but their responses are not scored", hint=hint)


def _check_images(item: Item, query: Query) -> Iterator[Text]:
    if not query.image:
        if item.images:
            yield _(
                "it has an image, but the definition declares its task without images",
                hint="Remove image = false from the task's family, or the image from the item",
            )
    elif not item.images and item.transcription is None:
        yield _(
            "the item has neither an image nor a transcription, so a model gets nothing to read",
            hint="Import it again with its image beside it",
        )


def _check_gallery(item: Item) -> Iterator[Text]:
    candidates = len(item.images) - 1
    if candidates < 1:
        yield n_(
            "{n:,} image, but the task compares one with its candidates",
            "{n:,} images, but the task compares one with its candidates",
            len(item.images),
            hint="Add its candidates as images",
        )
    elif not all(1 <= place <= candidates for place in item.relevant):
        yield _(
            "relevant {}, but the candidates are 1 to {}",
            list(item.relevant)[:5],
            candidates,
            hint="Use the position of each candidate after the first image, from 1",
        )


def _check_answer(item: Item, query: Query) -> Iterator[Text]:
    answer = item.answer.strip()
    if answer and query.form == "number" and not _NUMBER.fullmatch(answer):
        yield _("the answer {!r} is not a number", item.answer[:20], hint="Write it in digits")
    elif answer and query.form == "yes-no" and answer.casefold() not in {"yes", "no"}:
        yield _("the answer {!r} is neither Yes nor No", item.answer[:20], hint="Write Yes or No")


def _check_options(item: Item) -> Iterator[Text]:
    options, choices = options_of(item), choices_of(item)
    if len(options) < 2:
        yield n_(
            "{n:,} option found",
            "{n:,} options found",
            len(options),
            hint="Write them as A、… B、… or give the item its options",
        )
        return
    if item.answer.strip() and item.answer not in choices:
        yield _(
            "the answer {!r} is not one of the letters {}",
            item.answer[:20],
            "".join(choices),
            hint="Write the letter of the right option",
        )
    first: dict[str, str] = {}
    for letter, option in zip(choices, options, strict=True):
        text = "".join(option.split())
        if not text:
            yield _("option {} is empty", letter, hint="Fill it in, or remove it")
        elif text in first:
            yield _(
                "options {} and {} are the same: {!r}",
                first[text],
                letter,
                option[:20],
                hint="Change one of them",
            )
        first.setdefault(text, letter)


def _check_boxes(item: Item) -> Iterator[Text]:
    size = (item.images[0].width, item.images[0].height) if item.images else None
    for number, box in enumerate(item.boxes, start=1):
        if fault := box_fault(box, size):
            yield _(
                "box {} {}",
                number,
                fault,
                hint="Draw it again: left < right, top < bottom, inside the image",
            )


def box_fault(box: Box, size: tuple[int, int] | None) -> str:
    """The fault of a box on an image of that width and height, or an empty string."""
    corners = f"({box.x0:g}, {box.y0:g}, {box.x1:g}, {box.y1:g})"
    if not (box.x0 < box.x1 and box.y0 < box.y1):
        return _("{} has no area", corners)
    if size is None:
        return ""
    width, height = size
    if min(box.x0, box.y0) < -SLACK or box.x1 > width + SLACK or box.y1 > height + SLACK:
        return _("{} leaves its image of {}x{} pixels", corners, width, height)
    return ""
