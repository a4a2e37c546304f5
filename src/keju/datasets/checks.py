"""`Finding`, and the checks of items that do not need the bytes of their images.

`check_item` checks values. `SharedFindings` warns about references that probably differ from the
image: markup, placeholders, copies. All these checks but that of damaged characters are of
transcriptions; there are no findings in 227 real transcriptions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from hashlib import blake2b
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
from keju.errors import DataError, KejuError, printable
from keju.items import Box, Item
from keju.text import counted, is_han
from keju.texts import Text, _, n_

Severity = Literal["error", "warning", "notice"]

SLACK = 1.0
"""Pixels by which a box may exceed its image: annotation tools round up or down."""

_NUMBER = re.compile(r"[0-9]+(\.[0-9]+)?")

LEAST_COPIED = 20
"""Minimum length in characters of a text that two images cannot be expected to share."""

_MARKUP = {
    "RTF": re.compile(r"^\s*\{\\rtf"),
    "JSON": re.compile(r'^\s*[\[{]\s*[{"]'),
    _("HTML or XML tags"): re.compile(r"</?[A-Za-z][\w:.-]*(?:\s[^<>]*)?/?>|<!--|<\?xml"),
    _("character entities"): re.compile(r"&#?[A-Za-z0-9][\w+-]{1,15};"),
    "Markdown": re.compile(r"^#{1,6} +\S|\*\*|```|^\|? *:?-{3,}:? *\||\]\(", re.MULTILINE),
    "LaTeX": re.compile(r"\\[A-Za-z]{2,}|\\[\[\]()]"),
}

_REPLACED = re.compile("锟斤拷|錕斤拷|ï¿½")
"""Results of reading U+FFFD in UTF-8 as GBK or Latin-1."""

_CONTROLS = "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff"
_CONTROL = re.compile(f"[{_CONTROLS}]")
"""Control characters, except tab and line break, and lone surrogates."""

_UNSHOWN = re.compile(f"[{_CONTROLS}\ue000-\uf8ff\ufdd0-\ufdef\ufffd-\uffff\U000f0000-\U0010ffff]")
"""Control, private-use and replacement characters, and codes without a character."""

_LIKE_HAN = re.compile("[\u2e80-\u2fdf\ue000-\uf8ff\U000f0000-\U0010ffff]")
_MOST_CODES = 5

_PLACEHOLDER = re.compile(
    r"to ?do|tbd|tba|fixme|x{2,}|n ?a|none|null|nan|test|placeholder|lorem\b.*|foo|"
    r"(blank|empty)( page)?|no text|空白[頁页]?|[無无]文字|[無无]字|"
    r"待?[轉转]?[錄录]入?中?|待[補补定校填查處处核]|[暫暂][無无缺]|未[錄录]入?|同上|見下頁?|见下页?"
)
_INSIDE = re.compile(r"(?<![A-Za-z])(?:TODO|FIXME|TBD|[Ll]orem ipsum)(?![A-Za-z])")


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


class SharedFindings:
    """Findings that several items may share: each once, with the first item and how many more.

    Among them are transcriptions of `LEAST_COPIED` counted characters or more that several images
    share. Images are distinguished by their bytes. Texts are kept as hashes, so that a million
    items fit.
    """

    def __init__(self) -> None:
        self._counts: dict[tuple[Severity, str], tuple[Finding, int]] = {}
        self._texts: dict[bytes, tuple[int, str]] = {}
        self._copies: dict[bytes, dict[int, str]] = {}

    def add(self, finding: Finding) -> None:
        """Add a finding about an item."""
        key = finding.severity, finding.problem
        first, number = self._counts.get(key, (finding, 0))
        self._counts[key] = first, number + 1

    def add_texts(self, item: Item) -> None:
        """Add the warnings about the texts of an item.

        Transcriptions with markup, placeholders and without a Chinese character; damaged and
        invisible characters of any reference.
        """
        file = item.metadata.get("file", "")
        name = f"{item.id} ({file})" if file else item.id
        answer = _transcribed_answer(item)
        texts = dict.fromkeys((item.transcription or "", answer))
        faults = map(text_fault, filter(str.strip, texts))
        for problem in (*_list_damage(item), *filter(None, faults)):
            self.add(Finding.of("warning", name, problem))
        text = counted(answer)
        if item.images and len(text) >= LEAST_COPIED:
            key = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
            images = hash(tuple(image.sha256 for image in item.images))
            if images != self._texts.setdefault(key, (images, name))[0]:
                self._copies.setdefault(key, {}).setdefault(images, name)

    def list_all(self) -> Iterator[Finding]:
        """Yield each finding, in the order of its first item, and then the copied texts."""
        for finding, number in self._counts.values():
            yield finding._replace(item=first_name(finding.item, number))
        for key, copies in self._copies.items():
            names: str = ", ".join(list(copies.values())[:3])
            if len(copies) > 3:
                names = _("{} and {} more", names, len(copies) - 3)
            hint = _("Check which of the images it belongs to")
            problem = _("the same text as {}, on another image", names, hint=hint)
            yield Finding.of("warning", self._texts[key][1], problem)


def suspicious_texts(items: Iterable[Item]) -> Iterator[Finding]:
    """Yield the warnings about the texts of items, each once."""
    shared = SharedFindings()
    for item in items:
        shared.add_texts(item)
    yield from shared.list_all()


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
        # Of pairs, a reference is a labelled example, about which no model is asked.
        query = None if item.split == "reference" and kind.of_pairs else query_of(item)
        if query:
            prompt_of(item)
    except KejuError as error:
        yield Finding.of("error", item.id, error, _("Correct the item"))
        return
    if item.benchmark != kind.benchmark:
        names = item.benchmark, kind.id, kind.benchmark
        hint = _("Write {}", kind.benchmark)
        problem = _("benchmark {!r}, but task {} is of {}", *names, hint=hint)
        yield Finding.of("error", item.id, problem)
    if query is None:
        if not item.answer.strip():
            problem = _("the reference has no label", hint="Write the class into the answer")
            yield Finding.of("error", item.id, problem)
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
        hint = _("Have a model draft it (keju build draft) or people write it (keju build review)")
        yield _("a draft of {} without answer", item.task, hint=hint)
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
        places = list(item.relevant)[:5]
        hint = _("Use the position of each candidate after the first image, from 1")
        yield _("relevant {}, but the candidates are 1 to {}", places, candidates, hint=hint)


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
        answer, letters = item.answer[:20], "".join(choices)
        hint = _("Write the letter of the right option")
        yield _("the answer {!r} is not one of the letters {}", answer, letters, hint=hint)
    first: dict[str, str] = {}
    for letter, option in zip(choices, options, strict=True):
        text = "".join(option.split())
        if not text:
            yield _("option {} is empty", letter, hint="Fill it in, or remove it")
        elif text in first:
            places = first[text], letter, option[:20]
            yield _("options {} and {} are the same: {!r}", *places, hint="Change one of them")
        first.setdefault(text, letter)


def _check_boxes(item: Item) -> Iterator[Text]:
    size = (item.images[0].width, item.images[0].height) if item.images else None
    for number, box in enumerate(item.boxes, start=1):
        if fault := box_fault(box, size):
            hint = _("Draw it again: left < right, top < bottom, inside the image")
            yield _("box {} {}", number, fault, hint=hint)


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


def text_fault(text: str) -> Text | None:
    """Evidence that a text is not a transcription, with a hint; None where there is none."""
    bare = "".join(char if char.isalnum() else " " for char in text.casefold())
    bare = " ".join(bare.split())
    shown = text.strip()[:20]
    is_placeholder = bool(_PLACEHOLDER.fullmatch(bare))
    for kind, pattern in _MARKUP.items() if not is_placeholder else ():
        if match := pattern.search(text):
            excerpt = " ".join(text[match.start() :].split())[:20]
            hint = _("Save it as plain text (.txt, UTF-8)")
            return _("the text contains {} ({!r})", kind, excerpt, hint=hint)
    if is_placeholder or _INSIDE.search(text):
        hint = _(
            "Write what the image shows, or drop it. Import a page that shows no text as blank: "
            "see keju data formats pages"
        )
        return _("the text is a placeholder ({!r})", shown, hint=hint)
    # Radicals count, and characters for private use, as rare ideographs are.
    if shown and not any(is_han(char) or _LIKE_HAN.match(char) for char in text):
        hint = _("Check that it is the right file")
        return _("the text has no Chinese character ({!r})", shown, hint=hint)
    return None


def _transcribed_answer(item: Item) -> str:
    """The answer, if the item asks for a transcription."""
    try:
        asks = query_of(item).form == "transcription"
    except DataError:
        asks = False
    return (item.answer or item.answer_simplified) if asks else ""


def _list_damage(item: Item) -> Iterator[Text]:
    """Characters that no page shows; a model cannot give them back, so a right answer has errors.

    U+FFFD is not counted (`counted`), and what a model reads there is an insertion; a private-use
    character counts, and the right character is a substitution. For how many characters of the page
    such codes are is unknown, so that no scoring rule can correct this.
    """
    texts = (item.answer, item.answer_simplified, item.transcription or "", *item.also_accepted)
    others = (*item.options, *(line.text for line in item.lines), *item.fields.values())
    characters = {
        "id": [char for char in item.id if printable(char) != char],
        "group": [char for char in item.group if printable(char) != char],
        # Format characters in texts are not reported, because scoring ignores them.
        "question": _CONTROL.findall(item.question),
        "reference": _UNSHOWN.findall(_REPLACED.sub("\ufffd", "\n".join((*texts, *others)))),
    }
    for name, unshown in characters.items():
        codes = [f"U+{ord(char):04X}" for char in dict.fromkeys(unshown)]
        if codes:
            yield _(
                "its {} contains characters that no page shows: {}",
                name,
                ", ".join(codes[:_MOST_CODES]) + ("…" if len(codes) > _MOST_CODES else ""),
                hint=(
                    "Decode the source again in its own encoding, and import again. Replace "
                    "private-use characters by the Unicode character (fonts of the Kangxi "
                    "dictionary, GBK and Big5 with additions have tables), by a description such "
                    "as ⿰木皆, or by □"
                ),
            )
