"""Review form: scales on which a person marks an item, as data for every reviewing tool.

A verdict stores the marks by the scale's name; review pages show the questions.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from msgspec import Struct

from keju.errors import UsageError
from keju.files import read_toml, shipped_toml
from keju.messages import message

MARK = "mark-"
"""Prefix of the names of a form's controls."""

OTHER_FORM = "Give the form that it was marked by, as scales"
"""Hint for marks that a form does not contain."""


class EarlierWording(Struct, frozen=True, forbid_unknown_fields=True):
    """The Chinese of a scale in an earlier version of keju, whose sheets are still read."""

    asks_zh: str
    marks_zh: tuple[str, ...] = ()


class Scale(Struct, frozen=True, forbid_unknown_fields=True):
    """One scale: its name, its question in English and Chinese, and the meaning of each mark.

    `marks` are the words for 1, 2, 3 …; `marks_zh` the same in Chinese, or nothing. `earlier` are
    wordings that are still read but not written any more.
    """

    name: str
    zh: str
    asks: str
    asks_zh: str
    marks: tuple[str, ...]
    marks_zh: tuple[str, ...] = ()
    earlier: tuple[EarlierWording, ...] = ()

    @property
    def key(self) -> str:
        """The name of its controls in pages and tools: ``mark-to-the-point``."""
        return MARK + re.sub(r"\W+", "-", self.name)

    def words(self, language: str = "en") -> tuple[str, ...]:
        """The meanings of 1, 2, 3 …, in Chinese if requested and available."""
        return self.marks_zh if language == "zh" and self.marks_zh else self.marks

    def said(self, mark: int) -> str:
        """A mark with its words: ``4 right but for a detail``."""
        return f"{mark} {self.marks[mark - 1]}"

    def mark_of(self, text: str) -> int | None:
        """The mark that was written as number, as words, or as both; None for anything else."""
        plain = unicodedata.normalize("NFKC", text).strip().casefold()
        for words in (self.marks_zh, self.marks, *(each.marks_zh for each in self.earlier)):
            for mark, word in enumerate(words, start=1):
                told = unicodedata.normalize("NFKC", word).casefold()
                if plain in {str(mark), told, f"{mark} {told}"}:
                    return mark
        return None


class ReviewForm(Struct, frozen=True, forbid_unknown_fields=True):
    """The scales of a review, and the version of their wording."""

    version: str
    scale: tuple[Scale, ...]

    def fault(self, marks: Mapping[str, int]) -> str:
        """What is wrong with marks by this form, or an empty string. No mark is required."""
        known = {scale.name: scale for scale in self.scale}
        for name, mark in marks.items():
            if name not in known:
                return f"a mark for {name[:80]!r}, which is no scale of the form"
            if not 1 <= mark <= len(known[name].marks):
                return f"{name} is marked {mark}; there are 1 to {len(known[name].marks)}"
        return ""


def review_form(path: Path | None = None) -> ReviewForm:
    """The user's form, or keju's own: three scales (our choice).

    Raises:
        DataError: the file cannot be read as a form.
        UsageError: two scales have one name, or the words of a scale do not distinguish at least
            two marks.
    """
    if path is None:
        return _own()
    form = read_toml(path, ReviewForm, what="a review form")
    keys = [scale.key for scale in form.scale]
    if len(set(keys)) < len(keys) or not keys or not all(map(_sound, form.scale)):
        raise UsageError(message("building.review-form-scales", path=path))
    return form


def _sound(scale: Scale) -> bool:
    marks = range(1, len(scale.marks) + 1)
    chinese = (scale.marks_zh, *(each.marks_zh for each in scale.earlier))
    told = (scale.marks, *filter(None, chinese))
    return (
        len(marks) > 1
        and bool(scale.name.strip())
        and all(map(str.isprintable, (scale.name, scale.zh, scale.asks, scale.asks_zh)))
        and all(tuple(map(scale.mark_of, words)) == tuple(marks) for words in told)
    )


@cache
def _own() -> ReviewForm:
    return shipped_toml("keju.building", "review_form.toml", ReviewForm)
