"""Terminal output about memorization: how much a model reads, and how much it recites."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rich.table import Table

from keju.cli.output.console import format_interval, name_columns, plain_table
from keju.formatting import NOTHING, format_p, percent
from keju.items import PromptVariant
from keju.scoring.memorization import MemorizationResult
from keju.statistics import FEWEST_GROUPS
from keju.texts import _, n_


def memorization_table(results: Iterable[MemorizationResult]) -> Table:
    """A row for each model and kind of control; intervals are under their values."""
    table = plain_table(
        *name_columns(
            "model", "control", "places", "read", "recited", "slips", "recited\nbeyond slips", "p",
            "neither", "not found",
        ),
        right=[2, 3, 4, 5, 6, 7, 8, 9],
    )  # fmt: skip
    for result in results:
        excess = NOTHING if result.excess is None else f"{100 * result.excess:+.1f}"
        label = PromptVariant(script=result.script, wording=result.wording).label()
        table.add_row(
            f"{result.model} ({label})" if label else result.model,
            result.kind,
            f"{result.places:,}",
            _with_interval(_format_share(result.read, result.places), result.reading, ".1f"),
            _with_interval(_format_share(result.recited, result.places), result.reciting, ".1f"),
            _format_share(result.slips, result.of),
            _with_interval(f"▲ {excess}" if result.recites else excess, result.exceeding, "+.1f"),
            format_p(result.p),
            _format_share(result.neither, result.places),
            _format_share(result.missed, result.places),
        )
    return table


def memorization_lines(results: Sequence[MemorizationResult]) -> Iterator[str]:
    """The meaning of the table's columns, and the models that recite."""
    yield _(
        "recited: the original text at an altered place; slips: the same mistakes on the "
        "unaltered page. Beyond slips is the difference over the pages that were sent in both "
        "forms. Intervals are of 95 %, by group"
    )
    tests = sum(result.p is not None for result in results)
    if not tests:
        yield _("The difference is not tested with fewer than {} groups", FEWEST_GROUPS)
    else:
        yield n_(
            "p is of the test that swaps recited and slips within groups, adjusted (Holm) for "
            "the {n:,} test of this table. ▲ marks recitation: p is at most .05",
            "p is of the test that swaps recited and slips within groups, adjusted (Holm) for "
            "the {n:,} tests of this table. ▲ marks recitation: p is at most .05",
            tests,
        )
    if tests and not any(result.recites for result in results):
        yield _("No recitation is shown: misreading may explain what was recited")


def _with_interval(value: str, ends: tuple[float, float] | None, form: str) -> str:
    return f"{value}\n{format_interval(ends, form, scale=100)}" if ends else value


def _format_share(count: int, of: int) -> str:
    return percent(count / of) if of else NOTHING
