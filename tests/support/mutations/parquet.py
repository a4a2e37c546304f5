"""Mutations of parquet: types of columns, missing columns, rows, cells with images."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random

import polars as pl

from tests.support.mutations.values import CELLS


def _on_frame(
    change: Callable[[pl.DataFrame, Random], pl.DataFrame],
) -> Callable[[Path, Random], bool]:
    def mutate(path: Path, draw: Random) -> bool:
        try:
            frame = change(pl.read_parquet(path), draw)
        except (pl.exceptions.PolarsError, OSError):
            return False
        frame.write_parquet(path)
        return True

    return mutate


def _column(frame: pl.DataFrame, draw: Random) -> str:
    return draw.choice(frame.columns)


def _type(frame: pl.DataFrame, draw: Random) -> pl.DataFrame:
    """A column of another type."""
    name, size = _column(frame, draw), frame.height
    values: list[object] = draw.choice((
        [1] * size, [1.5] * size, [True] * size, [b"x"] * size, ["x"] * size, [["x"]] * size,
        [{"a": 1}] * size, [None] * size, [[[1]]] * size, [{"bytes": b"x", "path": None}] * size,
        [{"bytes": None, "path": "../a.png"}] * size, [[]] * size, [float("nan")] * size,
        [2**62] * size, [{"path": 3}] * size,
    ))  # fmt: skip
    return frame.with_columns(pl.Series(name, values, strict=False))


def _cast(frame: pl.DataFrame, draw: Random) -> pl.DataFrame:
    name = _column(frame, draw)
    wanted = draw.choice((pl.Binary, pl.Categorical, pl.Date, pl.Int8, pl.Float32, pl.Time))
    return frame.with_columns(pl.col(name).cast(wanted, strict=False))


def _cell(frame: pl.DataFrame, draw: Random) -> pl.DataFrame:
    names = [name for name, kind in frame.schema.items() if kind == pl.String]
    if not names or not frame.height:
        return frame.clear()
    name = draw.choice(names)
    values = frame[name].to_list()
    values[draw.randrange(len(values))] = draw.choice([*CELLS, None])
    return frame.with_columns(pl.Series(name, values, pl.String))


def _columns(frame: pl.DataFrame, draw: Random) -> pl.DataFrame:
    name = _column(frame, draw)
    match draw.randrange(4):
        case 0:
            return frame.drop(name)
        case 1:
            return frame.rename({name: draw.choice((f"{name}2", name.upper(), "", " ", "\ufeff"))})
        case 2:
            return frame.select(name)
        case _:
            return frame.with_columns(frame[name].alias(draw.choice(("image", "more", "0"))))


def _rows(frame: pl.DataFrame, draw: Random) -> pl.DataFrame:
    match draw.randrange(4):
        case 0:
            return frame.clear()
        case 1:
            return pl.concat([frame, frame])
        case 2:
            return frame.reverse()
        case _:
            return frame.with_columns(pl.all().gather([0] * frame.height))


def _footer(path: Path, draw: Random) -> bool:
    """The footer, which says what is where."""
    data = bytearray(path.read_bytes())
    if len(data) < 64:
        return False
    size = int.from_bytes(data[-8:-4], "little")
    if draw.random() < 0.3:
        data[-8:-4] = draw.choice((0, 2**31, 2**32 - 1, size + 1)).to_bytes(4, "little")
    for _ in range(draw.choice((1, 1, 5))):
        at = draw.randrange(max(0, len(data) - 8 - size), len(data))
        data[at] = draw.randrange(256)
    path.write_bytes(data)
    return True


MUTATIONS = {
    "column of another type": _on_frame(_type),
    "column cast": _on_frame(_cast),
    "parquet cell replaced": _on_frame(_cell),
    "columns changed": _on_frame(_columns),
    "rows changed": _on_frame(_rows),
    "parquet footer changed": _footer,
}
