"""`Finding`, and the checks of one item that do not need the bytes of its images."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Literal, NamedTuple

from keju.datasets.newlines import has_literal_newline
from keju.definitions import (
    NO_REFERENCE,
    Query,
    choices_of,
    missing_reference,
    options_of,
    prompt_of,
    query_of,
    task,
)
from keju.definitions.references import BLANK_PAGE, DECIPHERED
from keju.errors import DataError, UsageError, error_text, printable
from keju.items import Box, Item
from keju.texts import Text, _, n_

Severity = Literal["error", "warning", "notice"]

SLACK = 1.0
"""Pixels by which a box may exceed its image: annotation tools round up or down."""

_NUMBER = re.compile(r"[0-9]+(\.[0-9]+)?")
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_CONTROL = frozenset({"Cc", "Cs"})
_IN_TEXTS = frozenset("\t\n\r")


class Finding(NamedTuple):
    """One finding."""

    severity: Severity
    item: str
    """The item's id, or the file if no item is affected."""
    problem: str
    hint: str

    @classmethod
    def of(cls, severity: Severity, item: str, problem: Text) -> Finding:
        """The finding with the hint of a message."""
        return cls(severity, item, problem, as_sentence(problem.hint))

    @property
    def line(self) -> str:
        """The finding in one line."""
        __, item, problem, hint = self
        if self.severity == "error":
            return _("error: {}: {}. {}", item, problem, hint)
        if self.severity == "warning":
            return _("warning: {}: {}. {}", item, problem, hint)
        return _("notice: {}: {}. {}", item, problem, hint)

    def __str__(self) -> str:
        return printable(" ".join(self.line.split()))


def as_sentence(hint: str) -> str:
    """A hint with a full stop."""
    return _("{}.", hint)


class NameCount:
    """The first of several names, and their number."""

    def __init__(self) -> None:
        self.first = ""
        self.count = 0

    def add(self, name: str) -> None:
        """Add the next name."""
        self.first = self.first if self.count else name
        self.count += 1

    @property
    def text(self) -> str:
        """The first name, and how many more there are."""
        if self.count < 2:
            return self.first
        return _("{} and {} more", self.first, self.count - 1)


class CommonFindings:
    """Findings that several items may share: each once, with the first item and how many more."""

    def __init__(self) -> None:
        self._names: dict[tuple[Severity, Text], NameCount] = {}

    def add(self, severity: Severity, item: str, problem: Text) -> None:
        """Add a finding about an item."""
        self._names.setdefault((severity, problem), NameCount()).add(item)

    def list_all(self) -> Iterator[Finding]:
        """Yield each finding, in the order of its first item."""
        for (severity, problem), names in self._names.items():
            yield Finding.of(severity, names.text, problem)


def check_use(item: Item) -> Iterator[tuple[Severity, Text]]:
    """Yield how an item is unusual: which models cannot answer it, and why it is not scored.

    The words are the same for all items concerned. Errors are those of `check_item`.
    """
    try:
        kind, query = task(item.task), query_of(item)
    except (UsageError, DataError):
        return
    # Text alone is permitted: pages are often shared without their scans.
    if not item.images and item.transcription is not None:
        hint = _("Import again with the images beside it, if you have them")
        alone = _(
            "text without an image, so it can be asked only with --setting gold-text", hint=hint
        )
        if query.form == "transcription":
            alone = _(
                "text without an image, so no model can be asked to read it; its text is only a "
                "reference",
                hint=hint,
            )
        yield "notice", alone
    if item.draft and not kind.of_pairs:
        hint = _("Have a model draft it (keju build draft) or people write it (keju build review)")
        if query.form == "boxes" and not item.boxes:
            yield "notice", _("a draft of {} without boxes", item.task, hint=hint)
        elif query.form != "boxes" and not item.answer.strip():
            yield "notice", _("a draft of {} without answer", item.task, hint=hint)
    if reason := unscored_reason(item):
        yield "notice", _describe_unscored(reason, query)
    references = (item.answer, item.answer_simplified, item.transcription or "")
    if any(map(has_literal_newline, (*references, *item.also_accepted))):
        yield (
            "warning",
            _(
                "the reference has a literal \\n, so each n counts as a character",
                hint="Write line breaks instead. Some formats do so: --option newlines=literal",
            ),
        )


def _describe_unscored(reason: str, query: Query) -> Text:
    """Why an item is unscored: an undeciphered character, a blank page or no reference."""
    if reason == BLANK_PAGE:
        return _(
            "a blank page: only text that a model invents is counted",
            hint="If the page is blank, nothing needs to be done",
        )
    if reason != NO_REFERENCE:
        return _(
            "an undeciphered character: models are asked, but their readings are not scored",
            hint="Add its description if a reading is established",
        )
    hint = _("Import again with the answers, if you have them")
    if query.form == "text":
        hint = _(
            "Import again with the answers, if you have them. For an undeciphered character, set "
            "the metadata {} to no",
            DECIPHERED,
        )
    return _("no reference: models are asked, but their responses are not scored", hint=hint)


def unscored_reason(item: Item) -> str:
    """Why responses to a valid item will be unscored: it has no reference; empty for all others.

    Drafts, and items of a kind without a metric, need no reference.

    Raises:
        UsageError: its task is not in the catalogue.
        DataError: its query is not in the catalogue.
    """
    if item.draft or (item.split == "reference" and task(item.task).of_pairs):
        return ""
    query = query_of(item)
    return missing_reference(item) if query.official or query.strict else ""


def check_item(item: Item) -> Iterator[Finding]:
    """Yield the errors of an item: task, prompt, images, answer, options, boxes."""
    try:
        kind = task(item.task)
    except UsageError as error:
        hint = as_sentence(_("Use the id of a task"))
        yield Finding("error", item.id, error_text(error), hint)
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
        correct = error.hint or _("Correct the item")
        yield Finding("error", item.id, error.problem, as_sentence(correct))
        return
    problems = chain(
        _gallery(item) if kind.of_pairs else _images(item, query),
        () if kind.of_pairs else _answer(item, query),
        _options(item) if query.form == "letter" else (),
        _boxes(item),
    )
    yield from (Finding.of("error", item.id, problem) for problem in problems)


def _images(item: Item, query: Query) -> Iterator[Text]:
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


def _gallery(item: Item) -> Iterator[Text]:
    candidates = len(item.images) - 1
    if candidates < 1:
        yield n_(
            "{n:,} image, but the task compares one with its candidates",
            "{n:,} images, but the task compares one with its candidates",
            len(item.images),
            hint="Add its candidates as images",
        )
    elif not all(1 <= place <= candidates for place in item.relevant):
        relevant = list(item.relevant)[:5]
        yield _(
            "relevant {}, but the candidates are 1 to {}",
            relevant,
            candidates,
            hint="Use the position of each candidate after the first image, from 1",
        )


def _answer(item: Item, query: Query) -> Iterator[Text]:
    answer = item.answer.strip()
    if answer and query.form == "number" and not _NUMBER.fullmatch(answer):
        yield _("the answer {!r} is not a number", item.answer[:20], hint="Write it in digits")
    elif answer and query.form == "yes-no" and answer.casefold() not in {"yes", "no"}:
        yield _("the answer {!r} is neither Yes nor No", item.answer[:20], hint="Write Yes or No")


def _options(item: Item) -> Iterator[Text]:
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
        letters, given = "".join(choices), item.answer[:20]
        yield _(
            "the answer {!r} is not one of the letters {}",
            given,
            letters,
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


def _boxes(item: Item) -> Iterator[Text]:
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
    if not (box.x0 < box.x1 and box.y0 < box.y1):
        return _("{} has no area", _format_box(box))
    if size is None:
        return ""
    width, height = size
    if min(box.x0, box.y0) < -SLACK or box.x1 > width + SLACK or box.y1 > height + SLACK:
        return _("{} leaves its image of {}x{} pixels", _format_box(box), width, height)
    return ""


def _format_box(box: Box) -> str:
    return f"({box.x0:g}, {box.y0:g}, {box.x1:g}, {box.y1:g})"


def unseen_characters(item: Item) -> Iterator[tuple[str, str]]:
    """Yield the name of each field with such characters, and their code points.

    In the id and the group: control and format characters (escape sequences, writing direction,
    zero width), line breaks and lone surrogates. In texts: control characters (such as NUL) except
    tab and line break, and lone surrogates. Format characters in texts are not reported, because
    scoring ignores them.
    """
    for name, text in (("id", item.id), ("group", item.group)):
        if found := _codes(mark for mark in text if unicodedata.category(mark) in _UNSEEN):
            yield name, found
    for name, text in _texts_of(item):
        control = (mark for mark in text if unicodedata.category(mark) in _CONTROL)
        if found := _codes(mark for mark in control if mark not in _IN_TEXTS):
            yield name, found


def _texts_of(item: Item) -> Iterator[tuple[str, str]]:
    yield "question", item.question
    yield "answer", item.answer
    yield "answer_simplified", item.answer_simplified
    yield "transcription", item.transcription or ""
    yield "also_accepted", "".join(item.also_accepted)
    yield "options", "".join(item.options)
    yield "lines", "".join(line.text for line in item.lines)
    for name, text in item.fields.items():
        yield f"fields.{name}", text


def _codes(marks: Iterable[str]) -> str:
    return ", ".join(f"U+{ord(mark):04X}" for mark in dict.fromkeys(marks))
