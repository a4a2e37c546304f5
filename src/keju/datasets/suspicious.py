"""Suspicious references that probably differ from the image: markup, placeholders, copies, lengths.

All checks are of transcriptions, and every finding is a warning. Their limits are our reading.
There are no findings in 227 real transcriptions, nor on 75 images with a known text (2 real pages,
73 of the bundled set), at full size, at 15 to 50 % of their size, or blurred. On the 15 of them
with 100 characters or more, a text is reported as too short below .06 to .30 of its length, and as
too long from 8 to 33 times its length.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from keju.datasets.finding_texts import hint_sentence, name_of_several
from keju.definitions import query_of
from keju.errors import DataError, UsageError
from keju.ink import Parts
from keju.items import Item
from keju.messages import Message, message
from keju.text import counted, is_han

LEAST_COPIED = 20
"""Minimum length in characters of a text that two images cannot be expected to share."""

LEAST_COPIES = 3
"""Minimum number of images that share a shorter text, where the other texts of their task are long.
"""

MUCH_LONGER = 5
"""Minimum ratio of the median length of the task's texts to such a shared short text."""

MOST_PARTS, LEAST_PARTS = 20, 200
"""Parts of characters per character of the text, above which the text is too short, if the image
has at least `LEAST_PARTS` of them. The maximum on a page of text is 6.0; on an image with an
inscription 11.2, with fewer parts."""

LEAST_INK, LEAST_LENGTH = 0.06, 100
"""Ink per character, as a share of the square of a part's side, below which a text of at least
`LEAST_LENGTH` characters is too long. The minimum is .45 on sharp pages and .11 on blurred ones of
9 pixels per character."""

FEWEST_PARTS = 5
"""An image with fewer parts cannot show a text of `LEAST_LENGTH` characters."""


class Suspicion(NamedTuple):
    """A doubt about a reference: the item or items, the problem, and a hint."""

    item: str
    problem: str
    hint: str


class _Text(NamedTuple):
    """A reference text of one item; `pictures` distinguishes images."""

    item: Item
    text: str
    counted: str
    pictures: tuple[str, ...]

    @property
    def name(self) -> str:
        file = self.item.metadata.get("file", "")
        return f"{self.item.id} ({file})" if file else self.item.id


_MARKUP = (
    ("RTF", re.compile(r"^\s*\{\\rtf")),
    ("JSON", re.compile(r'^\s*[\[{]\s*[{"]')),
    ("tags", re.compile(r"</?[A-Za-z][\w:.-]*(?:\s[^<>]*)?/?>|<!--|<\?xml")),
    ("entities", re.compile(r"&#?[A-Za-z0-9][\w+-]{1,15};")),
    ("Markdown", re.compile(r"^#{1,6} +\S|\*\*|```|^\|? *:?-{3,}:? *\||\]\(", re.MULTILINE)),
    ("LaTeX", re.compile(r"\\[A-Za-z]{2,}|\\[\[\]()]")),
)

_BLANK = re.compile(r"blank( page)?|empty( page)?|no text|空白[頁页]?|[無无]文字|[無无]字")
_PLACEHOLDER = re.compile(
    r"to ?do|tbd|tba|fixme|x{2,}|n ?a|none|null|nan|test|placeholder|lorem\b.*|foo|"
    r"待?[轉转]?[錄录]入?中?|待[補补定校填查處处核]|[暫暂][無无缺]|未[錄录]入?|同上|見下頁?|见下页?"
)
_INSIDE = re.compile(r"(?<![A-Za-z])(?:TODO|FIXME|TBD|[Ll]orem ipsum)(?![A-Za-z])")


def text_fault(text: str) -> Message | None:
    """Evidence that a text is not a transcription, with a hint; None where there is none."""
    for what, pattern in _MARKUP:
        if found := pattern.search(text):
            shown = " ".join(found[0].split())[:20]
            return message("datasets.text-has-markup", kind=_name_markup(what), shown=shown)
    bare = "".join(char if char.isalnum() else " " for char in text.casefold())
    bare = " ".join(bare.split())
    if _BLANK.fullmatch(bare):
        return message("datasets.text-says-blank", shown=text.strip()[:20])
    if _PLACEHOLDER.fullmatch(bare) or _INSIDE.search(text):
        return message("datasets.text-placeholder", shown=text.strip()[:20])
    if text.strip() and not any(map(_like_han, text)):
        return message("datasets.text-without-chinese", shown=text.strip()[:20])
    return None


def _name_markup(kind: str) -> str:
    if kind == "tags":
        return message("datasets.markup-html")
    return message("datasets.markup-entities") if kind == "entities" else kind


def suspicious_texts(items: Iterable[Item]) -> Iterator[Suspicion]:
    """Yield the problems of transcriptions, each text once.

    Markup, placeholders and texts without a Chinese character; a text of `LEAST_COPIED` counted
    characters or more that two images share, or a shorter one that `LEAST_COPIES` images share in a
    task of long texts. Images are distinguished by their bytes.
    """
    found: dict[str, list[_Text]] = {}
    lengths: dict[tuple[str, str], list[int]] = {}
    for item in items:
        for text in _references(item):
            found.setdefault(text, []).append(_text_of(item, text))
        if _asks_for_text(item):
            lengths.setdefault((item.task, item.query), []).append(len(counted(item.answer)))
    for text, owners in found.items():
        if fault := text_fault(text):
            yield _suspicion(_names(owners), fault)
    same: dict[str, list[_Text]] = {}
    for owners in found.values():
        for each in owners:
            if each.pictures and _asks_for_text(each.item):
                same.setdefault(each.counted, []).append(each)
    medians = {place: sorted(each)[len(each) // 2] for place, each in lengths.items()}
    for owners in same.values():
        yield from _copied(owners, medians)


def _copied(owners: list[_Text], medians: dict[tuple[str, str], int]) -> Iterator[Suspicion]:
    """The finding on one text of several images, if there is one."""
    one_each = list({each.pictures: each for each in owners}.values())
    length = len(one_each[0].counted)
    item = one_each[0].item
    short = length * MUCH_LONGER <= medians.get((item.task, item.query), 0)
    if length >= LEAST_COPIED and len(one_each) > 1:
        names: str = ", ".join(each.name for each in one_each[1:4])
        if len(one_each) > 4:
            names = message("datasets.names-and-more", names=names, count=len(one_each) - 4)
        problem = message("datasets.text-of-two-images", length=length, names=names)
        yield _suspicion(one_each[0].name, problem)
    elif 0 < length < LEAST_COPIED and short and len(one_each) >= LEAST_COPIES:
        shown = one_each[0].text.strip()[:20]
        problem = message("datasets.short-text-of-images", count=len(one_each), shown=shown)
        yield _suspicion(_names(one_each), problem)


def _suspicion(item: str, problem: Message) -> Suspicion:
    return Suspicion(item, problem, hint_sentence(problem))


def extent_fault(length: int, parts: Parts) -> Message | None:
    """Evidence that a text is far too short or too long for its image, with a hint.

    Args:
        length: characters of the text as OCR scoring counts them; 0 for a blank page.
        parts: the parts of characters in the image.
    """
    if not length and parts.number >= LEAST_PARTS:
        return message("datasets.blank-page-shows-text", parts=parts.number)
    if parts.number >= LEAST_PARTS and parts.number > MOST_PARTS * length:
        return message("datasets.text-too-short", length=length, parts=parts.number)
    room = LEAST_INK * length * parts.side**2
    if length >= LEAST_LENGTH and (parts.number < FEWEST_PARTS or parts.ink < room):
        return message("datasets.text-too-long", length=length)
    return None


def length_on_image(item: Item) -> int:
    """Counted characters of an item that asks for all text of its one image; else 0."""
    if len(item.images) != 1 or not _asks_for_text(item):
        return 0
    return len(counted(item.answer or item.answer_simplified))


def _references(item: Item) -> list[str]:
    """The texts of an item that are transcriptions, each once."""
    texts = [item.transcription or ""]
    if _asks_for_text(item):
        texts.append(item.answer or item.answer_simplified)
    return [text for text in dict.fromkeys(texts) if text.strip()]


def _asks_for_text(item: Item) -> bool:
    try:
        return query_of(item).form == "transcription"
    except (DataError, UsageError):
        return False


def _text_of(item: Item, text: str) -> _Text:
    return _Text(item, text, counted(text), tuple(image.sha256 for image in item.images))


def _names(owners: list[_Text]) -> str:
    return name_of_several([each.name for each in owners])


def _like_han(char: str) -> bool:
    """Whether a character is Han, a radical, or one for private use, as rare ideographs are."""
    return is_han(char) or "\u2e80" <= char <= "\u2fdf" or unicodedata.category(char) == "Co"
