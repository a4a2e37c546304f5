"""The table of times and costs of engines and models, and its lines for the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from keju.analysis.engine_times import Collection, Speed, speeds
from keju.analysis.leaderboard import money
from keju.analysis.run_set import ModelResponses, RunSet
from keju.formatting import NOTHING
from keju.running.prices import Prices
from keju.texts import _, join_parts

_HOUR, _DAY = 3600.0, 86400.0


class TimeRow(NamedTuple):
    """One engine or model in the report's table of times; the texts are shown as they are.

    `why` is the reason if there is no time. `speed` is what they were computed from, None for a
    server.
    """

    model: str
    machine: str
    runtime: str
    pages: str
    wall: str
    thousand: str
    days: str
    cost: str
    why: str = ""
    speed: Speed | None = None


class TimeTable(NamedTuple):
    """The table of times.

    `collection` is the number of pages as text, empty where it is not given. `priced` is whether
    there is a column of costs; `currency` is that of the machine's price. `given` is the collection
    with its numbers.
    """

    rows: list[TimeRow]
    collection: str
    priced: bool = False
    currency: str = ""
    given: Collection | None = None

    @property
    def cost(self) -> str:
        """The heading of the costs; empty where there are none."""
        if not self.priced:
            return ""
        if not self.currency:
            return _("cost")
        return _("cost, {}", self.currency)

    @property
    def converted(self) -> bool:
        """Whether the times of the collection differ from those of 1,000 pages."""
        return self.collection not in ("", "1,000")

    def describe(self, row: TimeRow) -> str:
        """Time and cost of a row; empty where neither is known."""
        parts = []
        if row.thousand != NOTHING:
            parts.append(_("{} for {} pages", row.thousand, "1,000"))
        if self.converted and row.days != NOTHING:
            pages = self.collection
            parts.append(_("{} for {} pages", row.days, pages))
        if row.cost != NOTHING:
            # The cost of a server includes the currency of the tokens' prices.
            cost = row.cost
            if row.speed is not None and self.currency:
                cost = _("{} {}", row.cost, self.currency)
            parts.append(_("cost {}", cost))
        return join_parts(parts)


def time_table(
    run_set: RunSet, collection: Collection | None = None, prices: Prices | None = None
) -> TimeTable | None:
    """Times of each engine, and the costs of each model with a known price; None without any."""
    found = speeds(run_set)
    rows = []
    for name, model_responses in run_set.by_model.items():
        if name in found and model_responses.role == "engine":
            rows.append(_row(name, found[name], collection))
        elif collection and (spent := money(model_responses, prices)) is not None:
            rows.append(
                _build_server_row(name, model_responses, spent * collection.pages / 1000, prices)
            )
    if not rows:
        return None
    currency = collection.currency if collection else ""
    priced = collection is not None and (collection.price is not None or prices is not None)
    return TimeTable(
        rows,
        f"{collection.pages:,}" if collection else "",
        priced,
        currency if priced else "",
        collection,
    )


def _row(name: str, speed: Speed, collection: Collection | None) -> TimeRow:
    days, cost = NOTHING, NOTHING
    if collection and speed.wall is not None:
        days = span(speed.wall * collection.pages)
        if (money := machine_cost(speed, collection)) is not None:
            cost = f"{money:,.2f}"
    return TimeRow(
        model=name,
        machine=speed.machine or NOTHING,
        runtime=speed.runtime or NOTHING,
        pages=f"{speed.pages:,}",
        wall=NOTHING if speed.wall is None else _("{} s", f"{speed.wall:.3g}"),
        thousand=span(speed.thousand),
        days=days,
        cost=cost,
        why=speed.why,
        speed=speed,
    )


def machine_cost(speed: Speed, collection: Collection) -> float | None:
    """The cost of the machine for a collection; None where it is not known."""
    if collection.price is None or speed.wall is None:
        return None
    return speed.wall * collection.pages * collection.price / _HOUR


def _build_server_row(
    name: str, model_responses: ModelResponses, cost: float, prices: Prices | None
) -> TimeRow:
    currency = f" {prices.currency}" if prices else ""
    return TimeRow(
        model=name, machine=_("a server"), runtime=NOTHING,
        pages=f"{model_responses.items:,}",
        wall=NOTHING, thousand=NOTHING, days=NOTHING,
        cost=f"{cost:,.2f}{currency}",
    )  # fmt: skip


def span(seconds: float | None) -> str:
    """A time in a suitable unit: ``45 s``, ``12 min``, ``3.4 h``, ``27 days``."""
    if seconds is None:
        return NOTHING
    if seconds < 90:
        shown = f"{seconds:.2g}" if seconds < 10 else f"{seconds:.0f}"
        return _("{} s", shown)
    if seconds < 1.5 * _HOUR:
        return _("{} min", f"{seconds / 60:.0f}")
    if seconds < 2 * _DAY:
        return _("{} h", f"{seconds / _HOUR:.1f}")
    days = seconds / _DAY
    return _("{} days", f"{days:.1f}" if days < 10 else f"{days:,.0f}")


def time_lines(table: TimeTable) -> Iterator[str]:
    """The table in one sentence for each engine."""
    for row in table.rows:
        time = table.describe(row)
        if not time:
            yield _("{}: no time is given, because {}", row.model, row.why)
        elif row.machine == NOTHING:
            yield _("{}: {}", row.model, time)
        else:
            yield _("{}: {} ({} pages timed on {})", row.model, time, row.pages, row.machine)
