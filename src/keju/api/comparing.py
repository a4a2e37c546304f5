"""`compare`: two runs, models or prompt variants, task by task."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import msgspec
import polars as pl

from keju.analysis import comparison
from keju.analysis.comparison import comparison_of
from keju.analysis.comparison_sides import PARTS, SideChoice
from keju.analysis.score_sources import bundle_lines, open_scored
from keju.api.arguments import called_as, checked_options
from keju.api.inputs import AnyPath, path_of, texts_of
from keju.files import encode_stored
from keju.items import Protocol
from keju.notebook import block, table
from keju.reporting.comparison_text import comparison_lines, verdict_of
from keju.scoring import Difference


@dataclass(frozen=True, eq=False)
class Comparison:
    """Two sides compared over the items that both answered.

    `first` and `second` are their names. `verdict` states in sentences which is better overall and
    in which tasks, or how many more groups are needed. `notes` are further remarks. `overall` has a
    row for each benchmark, with the means over its domains, and `tasks` one for each task, with the
    values of the main metric: both values (and these if every unclear answer were right, with the
    shares of unclear answers), their difference (first - second) with its 95 % interval `low` to
    `high`, `p` and `p_holm` (adjusted over the tasks; a mean has one test), `better` (``first``,
    ``second`` or empty), `undecided` (whether unclear answers decide it), `equal` (whether the
    interval is inside the margin), the numbers of shared items and of their groups, `largest` (the
    share of the largest group), `needed` (groups with which a p of .05 can be reached) and
    `more_groups` (how many of these are missing). `only_first` and `only_second` are the numbers of
    items that only one side has. Values are fractions.
    """

    first: str
    second: str
    verdict: str
    notes: tuple[str, ...]
    overall: pl.DataFrame
    tasks: pl.DataFrame
    _found: comparison.Comparison

    def __repr__(self) -> str:
        return f"Comparison({self.first!r}, {self.second!r}: {self.verdict})"

    def _repr_html_(self) -> str:
        sides = self.first, self.second
        heads = ("task", "metric", *sides, "difference", "95 % interval", "p (Holm)", "groups",
                 "better")  # fmt: skip
        better = {"first": self.first, "second": self.second}
        rows = [
            (
                f"{each.task}/{each.query}" if each.query else each.task, each.metric, each.first,
                each.second, each.difference, _interval(each), each.p_holm, each.groups,
                better.get(each.better),
            )
            for each in self._found.tasks
        ]  # fmt: skip
        return block(self.verdict, table(heads, rows), *self.notes[1:])

    def to_frame(self) -> pl.DataFrame:
        """The table `tasks`."""
        return self.tasks

    def to_dict(self) -> dict[str, Any]:
        """The output of ``keju compare --json``."""
        found: dict[str, Any] = msgspec.json.decode(
            msgspec.json.encode(self._found, enc_hook=encode_stored)
        )
        return found


class _Options(SideChoice, frozen=True, kw_only=True):
    """The difference between the sides, their common settings, and the benchmark of the metrics."""

    protocol: Protocol = "strict"
    margin: float | None = None


class Sides(_Options, frozen=True, kw_only=False):
    """The arguments of `compare`."""

    first: AnyPath
    second: AnyPath | None = None


@called_as(Sides)
def compare(sides: Sides) -> Comparison:  # noqa: D417 - the parameters are those of `Sides`
    """Compare two models, runs, settings, scripts or wordings, as ``keju compare`` does.

    Args:
        first: a scored run, or the path of it or of a bundle.
        second: another one; None compares two models or prompt variants of the first.
        options: those of ``keju compare``: `model`, `setting`, `script` and `wording` are a name of
            both sides, or a list of two, one for each side; `by` is the one of them in which the
            sides differ, where the run has two of it. `protocol` is the one whose main metrics are
            compared, ``official`` or ``strict``. `margin` are the percent points within which two
            values count as equal.

    Raises:
        TypeError: a value has another type.
        ValueError: `protocol` or `by` is not one of these.
        KejuError: a run has not been scored, the two sides cannot be determined, or the margin is
            not above 0 and at most 100.
    """
    options = checked_options(sides, _Options, dict.fromkeys(("model", *PARTS), _names))
    protocol: Protocol = options.pop("protocol")
    margin = options.pop("margin")
    paths = [sides.first] if sides.second is None else [sides.first, sides.second]
    with open_scored([path_of(path) for path in paths]) as runs:
        result = comparison_of(runs, protocol, SideChoice(**options), margin=margin)
        notes = [*comparison_lines(result), *bundle_lines([run.path for run in runs])]
    return Comparison(
        first=result.first,
        second=result.second,
        verdict=verdict_of(result),
        notes=tuple(notes),
        overall=pl.DataFrame(map(_row, result.overall), schema=_OVERALL),
        tasks=pl.DataFrame(map(_row, result.tasks), schema=_TASKS),
        _found=result,
    )


def _names(part: str, value: str | Iterable[str]) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,) if value else ()
    return tuple(texts_of(part, value))


def _interval(difference: Difference) -> str | None:
    return None if difference.low is None else f"{difference.low:+.3f} to {difference.high:+.3f}"


_Types = dict[str, type[pl.DataType] | pl.DataType]
_TEXTS: _Types = dict.fromkeys(("task", "query", "metric"), pl.String)
_VALUES: _Types = dict.fromkeys(
    (
        "first",
        "first_if_right",
        "second",
        "second_if_right",
        "unclear_first",
        "unclear_second",
        "difference",
        "low",
        "high",
        "p",
        "p_holm",
        "largest",
    ),
    pl.Float64,
)
_COUNTS: _Types = dict.fromkeys(("items", "groups", "needed", "more_groups"), pl.Int64)
_FIGURES: _Types = (
    _VALUES | _COUNTS | {"better": pl.String, "equal": pl.Boolean, "undecided": pl.Boolean}
)
_ALONE: _Types = dict.fromkeys(("only_first", "only_second"), pl.Int64)
_TASKS = pl.Schema(_TEXTS | _FIGURES)
_MEAN: _Types = {"benchmark": pl.String, "tasks": pl.List(pl.String)}
_OVERALL = pl.Schema(_MEAN | _FIGURES | _ALONE)


def _row(difference: Difference) -> dict[str, object]:
    more = None if difference.needed is None else max(0, difference.needed - difference.groups)
    return {**msgspec.structs.asdict(difference), "more_groups": more}
