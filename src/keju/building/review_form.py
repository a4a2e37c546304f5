"""The form of a review: scales on which a person marks an item, as data for every reviewing tool.

A verdict keeps the marks by the scale's name; review pages show the questions.
"""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from pathlib import Path

import msgspec
from msgspec import Struct

from keju.errors import UsageError


class Scale(Struct, frozen=True, forbid_unknown_fields=True):
    """One dimension: its name, what it asks in English and Chinese, and what each mark means.

    `marks` are the words for 1, 2, 3 …
    """

    name: str
    zh: str
    asks: str
    asks_zh: str
    marks: tuple[str, ...]


class ReviewForm(Struct, frozen=True, forbid_unknown_fields=True):
    """The scales of a review, and the version of their wording."""

    version: str
    scale: tuple[Scale, ...]


def review_form(path: Path | None = None) -> ReviewForm:
    """The user's form, or keju's own: three dimensions, as MCS-Bench reviewed (our reading).

    Raises:
        UsageError: the file cannot be read as a form, or a scale has fewer than two marks.
    """
    if path is None:
        return _own()
    try:
        form = msgspec.convert(tomllib.loads(path.read_text("utf-8")), ReviewForm)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, msgspec.ValidationError) as error:
        raise UsageError(f"{path}: no review form: {error}") from None
    names = [scale.name for scale in form.scale]
    if len(set(names)) < len(names) or not names or min(len(s.marks) for s in form.scale) < 2:
        raise UsageError(f"{path}: a form needs scales of different names, each with its marks")
    return form


@cache
def _own() -> ReviewForm:
    text = files("keju.building").joinpath("review_form.toml").read_text("utf-8")
    return msgspec.convert(tomllib.loads(text), ReviewForm)
