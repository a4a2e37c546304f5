"""Oracle-bone characters as stroke models, and what is known about each."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

from msgspec import Meta

from keju.errors import DataError
from keju.files import read_toml
from keju.items import Point, Record
from keju.messages import message
from keju_synthetic.texts import DATA

SignKind = Literal["pictograph", "ideogram", "indicator", "loan"]

_SPAN = 100.0
"""Side of the square in which models are written down."""

_DEPTH = 4
"""A sign of signs of signs; deeper would be a sign that contains itself."""


class Stroke(NamedTuple):
    """One cut: its points in the unit square (y down), and how the knife goes through them."""

    points: tuple[Point, ...]
    smooth: bool = False
    closed: bool = False


class Sign(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A character of the oracle bones, under its modern form.

    `gloss` is its meaning in English, `shows` what an English reader sees in it, `explains` the
    same in Chinese, as MCS-Bench T29 asks; both may be empty. `turns`: may be written mirrored.
    `models` are strokes in the notation that ``data/bones.toml`` explains; the first is the common
    form.
    """

    char: Annotated[str, Meta(min_length=1, max_length=1)]
    gloss: str
    kind: SignKind
    tier: Annotated[int, Meta(ge=1, le=3)]
    models: Annotated[tuple[tuple[str, ...], ...], Meta(min_length=1)]
    shows: str = ""
    explains: str = ""
    turns: bool = True

    @property
    def radical(self) -> str:
        """The sign that its common form contains first, else the sign itself."""
        parts = [stroke[1] for stroke in self.models[0] if stroke.startswith("@")]
        return parts[0] if parts else self.char


class _Signs(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    signs: tuple[Sign, ...]


@lru_cache(maxsize=4)
def load_signs(path: Path = DATA / "bones.toml") -> dict[str, Sign]:
    """The signs of a file by their modern character.

    Raises:
        DataError: two entries have the same sign, or a model is not valid.
    """
    signs: dict[str, Sign] = {}
    for sign in read_toml(path, _Signs).signs:
        if sign.char in signs:
            raise DataError(message("synthetic.sign-twice"), file=path, item=sign.char)
        signs[sign.char] = sign
    for sign in signs.values():
        for variant in range(len(sign.models)):
            try:
                expand_strokes(sign, variant, signs)
            except ValueError as error:
                raise DataError(error.args[0], file=path, item=sign.char) from None
    return signs


def expand_strokes(sign: Sign, variant: int, signs: Mapping[str, Sign]) -> tuple[Stroke, ...]:
    """The strokes of one model of a sign, its parts put into their places.

    Args:
        sign: the sign.
        variant: which of its models.
        signs: where its parts are found.

    Raises:
        ValueError: a stroke cannot be read, a part is unknown, or a sign contains itself.
    """
    return tuple(_expand_model(sign.models[variant], signs, _DEPTH))


def _expand_model(model: tuple[str, ...], signs: Mapping[str, Sign], depth: int) -> list[Stroke]:
    strokes: list[Stroke] = []
    for text in model:
        mark, rest = (text[0], text[1:]) if text[:1] in {"~", "#", "o", "@"} else ("", text)
        if mark != "@":
            strokes.append(Stroke(_parse_points(rest, 2), mark in {"~", "o"}, mark in {"#", "o"}))
            continue
        if depth == 0 or rest[:1] not in signs:
            raise ValueError(message("synthetic.model-part-unknown", part=rest[:1]))
        corners = _parse_points(rest[1:], 2)
        part = _expand_model(signs[rest[0]].models[0], signs, depth - 1)
        strokes += [_place_stroke(stroke, corners) for stroke in part]
    return strokes


def _parse_points(text: str, least: int) -> tuple[Point, ...]:
    points = []
    for pair in text.split():
        x, _, y = pair.partition(",")
        try:
            points.append((float(x) / _SPAN, float(y) / _SPAN))
        except ValueError:
            problem = message("synthetic.model-point-invalid", point=pair, stroke=text)
            raise ValueError(problem) from None
    if len(points) < least:
        raise ValueError(message("synthetic.model-few-points", stroke=text, least=least))
    return tuple(points)


def _place_stroke(stroke: Stroke, corners: tuple[Point, ...]) -> Stroke:
    (x0, y0), (x1, y1) = corners[:2]
    return stroke._replace(
        points=tuple((x0 + (x1 - x0) * x, y0 + (y1 - y0) * y) for x, y in stroke.points)
    )
