"""A squared seal script: characters as stroke models that fill any cell.

No seal-script font is free to use here, so the models of ``data/seal_script.toml`` are our own.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from keju.errors import DataError
from keju.files import read_toml
from keju.items import Point, Record
from keju.messages import message
from keju_synthetic.page_layout import Rect
from keju_synthetic.texts import DATA

Stroke = tuple[Point, ...]

_MODELS = DATA / "seal_script.toml"
_DIGITS = "0123456789abc"
_BESIDE, _OVER, _WITHIN = "⿰⿱⿴"


class _Models(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    models: dict[str, str]
    composed: dict[str, str]


class Figure(NamedTuple):
    """A character in stroke distances: its strokes, and its natural width and height."""

    strokes: tuple[Stroke, ...]
    width: float
    height: float

    def fit(self, cell: Rect) -> tuple[Stroke, ...]:
        """The strokes stretched to fill a cell."""
        across = (cell.x1 - cell.x0) / max(self.width, 1)
        down = (cell.y1 - cell.y0) / max(self.height, 1)
        low_x = (cell.x1 + cell.x0) / 2 if self.width == 0 else cell.x0
        low_y = (cell.y1 + cell.y0) / 2 if self.height == 0 else cell.y0
        return tuple(
            tuple((low_x + x * across, low_y + y * down) for x, y in stroke)
            for stroke in self.strokes
        )

    def fit_size(self, x: float, y: float, width: float, height: float) -> tuple[Stroke, ...]:
        """The strokes stretched to a size at a place, in stroke distances."""
        return self.fit(Rect(x, y, x + width, y + height))


class SealScript:
    """The characters that can be cut.

    Args:
        path: a file of models and compositions.

    Raises:
        DataError: the file is not readable.
    """

    def __init__(self, path: Path = _MODELS) -> None:
        self._path = path
        self._data = read_toml(path, _Models)

    def __contains__(self, sign: str) -> bool:
        return sign in self._data.models or sign in self._data.composed

    @property
    def signs(self) -> tuple[str, ...]:
        """All characters and parts of characters."""
        return (*self._data.models, *self._data.composed)

    def find_missing(self, legend: str) -> str:
        """The characters of `legend` that have no model."""
        return "".join(sign for sign in dict.fromkeys(legend) if sign not in self)

    def build_figure(self, sign: str) -> Figure:
        """The strokes of a character.

        Raises:
            DataError: there is no model of it, or its composition is not valid.
        """
        return self._build_figure(sign, ())

    def _build_figure(self, sign: str, above: tuple[str, ...]) -> Figure:
        if sign in above:
            raise self._make_error(sign, message("synthetic.model-in-itself"))
        if sign in self._data.models:
            model = self._data.models[sign]
            if "@" in model:
                raise self._make_error(sign, message("synthetic.model-is-frame"))
            return self._parse_model(model)
        if sign not in self._data.composed:
            raise self._make_error(sign, message("synthetic.model-missing"))
        figure, rest = self._parse(self._data.composed[sign], (*above, sign))
        if rest:
            raise self._make_error(sign, message("synthetic.model-with-rest", rest=rest))
        return figure

    def _parse(self, formula: str, above: tuple[str, ...]) -> tuple[Figure, str]:
        """The figure at the beginning of a formula, and the rest of the formula."""
        if not formula:
            raise self._make_error(above[-1], message("synthetic.model-lacks-part"))
        head, rest = formula[0], formula[1:]
        if head == _WITHIN:
            if not rest:
                raise self._make_error(above[-1], message("synthetic.model-lacks-part"))
            frame, rest = rest[0], rest[1:]
            inner, rest = self._parse(rest, above)
            return self._build_framed(frame, inner), rest
        if head not in (_BESIDE, _OVER):
            return self._parse_name(formula, above)
        first, rest = self._parse(rest, above)
        second, rest = self._parse(rest, above)
        return (_join_beside if head == _BESIDE else _stack)(first, second), rest

    def _parse_name(self, formula: str, above: tuple[str, ...]) -> tuple[Figure, str]:
        # Two parts of a character have no code point of their own and are named by two signs.
        size = 2 if formula[:2] in self._data.models else 1
        return self._build_figure(formula[:size], above), formula[size:]

    def _build_framed(self, frame: str, inner: Figure) -> Figure:
        model, _, pads = self._data.models.get(frame, "").partition("@")
        if len(pads) != 4 or not pads.isdigit():
            raise self._make_error(frame, message("synthetic.model-not-a-frame"))
        left, top, right, bottom = (float(pad) for pad in pads)
        width = left + max(inner.width, 3.0) + right
        height = top + max(inner.height, 2.0) + bottom
        strokes = self._parse_strokes(model, width, height)
        inside = inner.fit_size(left, top, width - left - right, height - top - bottom)
        return Figure(strokes + inside, width, height)

    def _parse_model(self, model: str) -> Figure:
        points = [point for stroke in model.split() for point in stroke.split("-")]
        try:
            width = float(max(_DIGITS.index(point[0]) for point in points))
            height = float(max(_DIGITS.index(point[1]) for point in points))
        except (ValueError, IndexError):
            raise self._make_error(model, message("synthetic.model-not-points")) from None
        return Figure(self._parse_strokes(model, width, height), width, height)

    def _parse_strokes(self, model: str, width: float, height: float) -> tuple[Stroke, ...]:
        return tuple(
            tuple(
                (_parse_coordinate(point[0], width), _parse_coordinate(point[1], height))
                for point in stroke.split("-")
            )
            for stroke in model.split()
        )

    def _make_error(self, sign: str, problem: str) -> DataError:
        return DataError(problem, file=self._path, item=sign)


@lru_cache(maxsize=1)
def load_seal_script() -> SealScript:
    """The script of this package."""
    return SealScript()


def _parse_coordinate(symbol: str, length: float) -> float:
    named = {"M": length / 2, "Z": length, "Y": length - 1, "X": length - 2}
    return named[symbol] if symbol in named else float(_DIGITS.index(symbol))


def _join_beside(left: Figure, right: Figure) -> Figure:
    height = max(left.height, right.height)
    width = left.width + 1 + right.width
    return Figure(
        left.fit_size(0, 0, left.width, height)
        + right.fit_size(left.width + 1, 0, right.width, height),
        width,
        height,
    )


def _stack(upper: Figure, lower: Figure) -> Figure:
    width = max(upper.width, lower.width)
    height = upper.height + 1 + lower.height
    return Figure(
        upper.fit_size(0, 0, width, upper.height)
        + lower.fit_size(0, upper.height + 1, width, lower.height),
        width,
        height,
    )
