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

from keju.definitions import query_of
from keju.errors import DataError, UsageError, number_of
from keju.ink import Parts
from keju.items import Item
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
    ("HTML or XML tags", re.compile(r"</?[A-Za-z][\w:.-]*(?:\s[^<>]*)?/?>|<!--|<\?xml")),
    ("character entities", re.compile(r"&#?[A-Za-z0-9][\w+-]{1,15};")),
    ("Markdown", re.compile(r"^#{1,6} +\S|\*\*|```|^\|? *:?-{3,}:? *\||\]\(", re.MULTILINE)),
    ("LaTeX", re.compile(r"\\[A-Za-z]{2,}|\\[\[\]()]")),
)

_BLANK = re.compile(r"blank( page)?|empty( page)?|no text|空白[頁页]?|[無无]文字|[無无]字")
_PLACEHOLDER = re.compile(
    r"to ?do|tbd|tba|fixme|x{2,}|n ?a|none|null|nan|test|placeholder|lorem\b.*|foo|"
    r"待?[轉转]?[錄录]入?中?|待[補补定校填查處处核]|[暫暂][無无缺]|未[錄录]入?|同上|見下頁?|见下页?"
)
_INSIDE = re.compile(r"(?<![A-Za-z])(?:TODO|FIXME|TBD|[Ll]orem ipsum)(?![A-Za-z])")


def text_fault(text: str) -> tuple[str, str] | None:
    """Evidence that a text is not a transcription, with a hint; None where there is none."""
    for what, pattern in _MARKUP:
        if found := pattern.search(text):
            shown = " ".join(found[0].split())[:20]
            return f"the text contains {what} ({shown!r})", "Save it as plain text (.txt, UTF-8)."
    bare = "".join(char if char.isalnum() else " " for char in text.casefold())
    bare = " ".join(bare.split())
    if _BLANK.fullmatch(bare):
        return f"the text describes the page as blank ({text.strip()[:20]!r})", _AS_BLANK
    if _PLACEHOLDER.fullmatch(bare) or _INSIDE.search(text):
        shown = text.strip()[:20]
        return f"the text is a placeholder ({shown!r})", "Write what the image shows, or drop it."
    if text.strip() and not any(map(_like_han, text)):
        shown = text.strip()[:20]
        return f"the text has no Chinese character ({shown!r})", "Check that it is the right file."
    return None


_AS_BLANK = "If it is blank, import it as a blank page: see keju data formats pages."


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
            yield Suspicion(_names(owners), *fault)
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
        names = ", ".join(each.name for each in one_each[1:4])
        more = f" and {len(one_each) - 4} more" if len(one_each) > 4 else ""
        problem = (
            f"the same text ({number_of(length, 'character')}) as {names}{more}, on another image"
        )
        yield Suspicion(one_each[0].name, problem, "Check which of the images it belongs to.")
    elif 0 < length < LEAST_COPIED and short and len(one_each) >= LEAST_COPIES:
        shown = one_each[0].text.strip()[:20]
        problem = (
            f"{number_of(len(one_each), 'image has', 'images have')} the same short text "
            f"({shown!r})"
        )
        yield Suspicion(_names(one_each), problem, "Check that it is not a placeholder.")


def extent_fault(length: int, parts: Parts) -> tuple[str, str] | None:
    """Evidence that a text is far too short or too long for its image, with a hint.

    Args:
        length: characters of the text as OCR scoring counts them; 0 for a blank page.
        parts: the parts of characters in the image.
    """
    shown = f"{length:,} character{'' if length == 1 else 's'}"
    if not length and parts.number >= LEAST_PARTS:
        return (
            "the text is that of a blank page, but the image has "
            f"{parts.number:,} parts of characters",
            "Check that the page is blank.",
        )
    if parts.number >= LEAST_PARTS and parts.number > MOST_PARTS * length:
        return (
            f"the text ({shown}) is far too short for the {parts.number:,} parts of characters on "
            "the image",
            "Check that the text is complete. A drawing on the image also counts.",
        )
    room = LEAST_INK * length * parts.side**2
    if length >= LEAST_LENGTH and (parts.number < FEWEST_PARTS or parts.ink < room):
        return (
            f"the text ({shown}) is far too long for the image",
            "Check that it is the text of this page only.",
        )
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
    more = f" and {len(owners) - 1} more" if len(owners) > 1 else ""
    return f"{owners[0].name}{more}"


def _like_han(char: str) -> bool:
    """Whether a character is Han, a radical, or one for private use, as rare ideographs are."""
    return is_han(char) or "\u2e80" <= char <= "\u2fdf" or unicodedata.category(char) == "Co"
