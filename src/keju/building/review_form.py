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
from keju.texts import Text, _

MARK = "mark-"
"""Prefix of the names of a form's controls."""


class Scale(Struct, frozen=True, forbid_unknown_fields=True):
    """One scale: its name, its question in English and Chinese, and the meaning of each mark.

    `marks` are the words for 1, 2, 3 …; `marks_zh` the same in Chinese, or nothing.
    """

    name: str
    zh: str
    asks: str
    asks_zh: str
    marks: tuple[str, ...]
    marks_zh: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """The name of the scale's controls in pages and tools, such as ``mark-to-the-point``."""
        return MARK + re.sub(r"\W+", "-", self.name)

    def words(self, language: str = "en") -> tuple[str, ...]:
        """The meanings of 1, 2, 3 …, in Chinese if requested and available."""
        return self.marks_zh if language == "zh" and self.marks_zh else self.marks

    def format_mark(self, mark: int) -> str:
        """A mark and its meaning, such as ``4 right but for a detail``."""
        return f"{mark} {self.marks[mark - 1]}"

    def parse_mark(self, text: str) -> int | None:
        """The mark written in a text as a number, as words or as both; None for other texts."""
        plain = unicodedata.normalize("NFKC", text).strip().casefold()
        for words in (self.marks_zh, self.marks):
            for mark, word in enumerate(words, start=1):
                folded = unicodedata.normalize("NFKC", word).casefold()
                if plain in {str(mark), folded, f"{mark} {folded}"}:
                    return mark
        return None


class ReviewForm(Struct, frozen=True, forbid_unknown_fields=True):
    """The scales of a review, and the version of their wording."""

    version: str
    scale: tuple[Scale, ...]

    def find_fault(self, marks: Mapping[str, int]) -> Text | None:
        """The first mark that this form does not allow, or None. No mark is required."""
        known = {scale.name: scale for scale in self.scale}
        for name, mark in marks.items():
            if name not in known:
                return _(
                    "{!r} is not a scale of the review form",
                    name[:80],
                    hint="Use the form that was exported: --scales FILE.toml",
                )
            if not 1 <= mark <= len(known[name].marks):
                most = len(known[name].marks)
                return _(
                    "the mark {} is not possible: the scale {} has the marks 1 to {}",
                    mark,
                    name,
                    most,
                    hint="Use the form that was exported: --scales FILE.toml",
                )
        return None


def read_review_form(path: Path | None = None) -> ReviewForm:
    """Read the user's form, or keju's own: four scales (our choice).

    Raises:
        DataError: the file cannot be read as a form.
        UsageError: two scales have one name, or the words of a scale do not distinguish at least
            two marks.
    """
    if path is None:
        return _read_own_form()
    form = read_toml(path, ReviewForm, what="a review form")
    keys = [scale.key for scale in form.scale]
    if len(set(keys)) < len(keys) or not keys or not all(map(_is_valid, form.scale)):
        raise UsageError(
            "{}: the review form is not valid. Each scale needs its own name and at least two "
            "different marks, and as many marks in Chinese as in English",
            path,
        )
    return form


def _is_valid(scale: Scale) -> bool:
    marks = range(1, len(scale.marks) + 1)
    wordings = filter(None, (scale.marks, scale.marks_zh))
    return (
        len(marks) > 1
        and bool(scale.name.strip())
        and all(map(str.isprintable, (scale.name, scale.zh, scale.asks, scale.asks_zh)))
        and all(tuple(map(scale.parse_mark, words)) == tuple(marks) for words in wordings)
    )


@cache
def _read_own_form() -> ReviewForm:
    return shipped_toml("keju.building", "review_form.toml", ReviewForm)
