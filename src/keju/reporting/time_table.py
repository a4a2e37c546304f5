"""The table of times and costs of engines and models, and its lines for the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from keju.analysis.engine_times import Collection, Speed, speeds
from keju.analysis.leaderboard import money
from keju.analysis.run_set import ModelResponses, RunSet
from keju.formatting import NOTHING
from keju.running.machine import Machine
from keju.running.prices import Prices

_HOUR, _DAY = 3600.0, 86400.0


class TimeRow(NamedTuple):
    """One engine or model in the report's table of times; every field is shown as it is.

    `least_thousand`, `least_days` and `least_cost` are lower bounds from the processor time, where
    the machine was busy and the wall time is not meaningful.
    """

    model: str
    machine: str
    runtime: str
    pages: str
    first: str
    wall: str
    cpu: str
    thousand: str
    days: str
    cost: str
    why: str
    least_thousand: str = NOTHING
    least_days: str = NOTHING
    least_cost: str = NOTHING


class TimeTable(NamedTuple):
    """The table of times; `collection` is the number of pages, `cost` the heading of money."""

    rows: list[TimeRow]
    collection: str
    cost: str

    @property
    def converted(self) -> bool:
        """Whether the times of the collection differ from those of 1,000 pages."""
        return self.collection not in ("", "1,000")

    def words(self, row: TimeRow) -> str:
        """The time and cost of a row as text; empty where there are none."""
        return self._words(row.thousand, row.days, row.cost)

    def least_words(self, row: TimeRow) -> str:
        """The lower bounds of a row as text; empty where there are none."""
        said = self._words(row.least_thousand, row.least_days, row.least_cost)
        return f"lower bound from processor time on all cores: {said}" if said else ""

    def sentence(self, row: TimeRow) -> str:
        """Time and cost of a row for a conclusion, with lower bounds where they are not known."""
        if row.thousand == NOTHING and row.least_thousand == NOTHING:
            return f"Its time is not known: {row.why}" if row.why else self.words(row)
        least = row.thousand == NOTHING
        bound = "at least " if least else ""
        thousand, days, cost = (
            (row.least_thousand, row.least_days, row.least_cost)
            if least
            else (row.thousand, row.days, row.cost)
        )
        parts = [f"{bound}{thousand} for 1,000 pages"]
        if self.converted and days != NOTHING:
            parts.append(f"{bound}{days} for {self.collection} pages")
        if cost != NOTHING:
            parts.append(f"cost {bound}{cost} {self.currency}".strip())
        return "; ".join(parts)

    @property
    def currency(self) -> str:
        """The currency of the machine's price; empty where it is not given."""
        return self.cost.removeprefix("cost").removeprefix(", ")

    def _words(self, thousand: str, days: str, cost: str) -> str:
        parts = [f"{thousand} for 1,000 pages"] if thousand != NOTHING else []
        if self.converted and days != NOTHING:
            parts.append(f"{days} for {self.collection}")
        if cost != NOTHING:
            # The cost of a server includes the currency of the tokens' prices.
            parts.append(f"cost {cost}" if " " in cost else f"cost {cost} {self.currency}".strip())
        return ", ".join(parts)


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
            rows.append(_of_server(name, model_responses, spent * collection.pages / 1000, prices))
    if not rows:
        return None
    currency = collection.currency if collection else ""
    priced = collection is not None and (collection.price is not None or prices is not None)
    return TimeTable(
        rows,
        f"{collection.pages:,}" if collection else "",
        f"cost{f', {currency}' if currency else ''}" if priced else "",
    )


def _row(name: str, speed: Speed, collection: Collection | None) -> TimeRow:
    seconds = _of_collection(speed.wall, collection)
    least = _of_collection(speed.least, collection)
    return TimeRow(
        model=name,
        machine=machine_words(speed.machine),
        runtime=speed.runtime or NOTHING,
        pages=f"{speed.pages:,}",
        first=_seconds(speed.first),
        wall=_seconds(speed.wall),
        cpu=_seconds(speed.cpu),
        thousand=span(speed.thousand),
        days=span(seconds),
        cost=_cost(seconds, collection),
        why=speed.why,
        least_thousand=span(None if speed.least is None else 1000 * speed.least),
        least_days=span(least),
        least_cost=_cost(least, collection),
    )


def _of_collection(seconds: float | None, collection: Collection | None) -> float | None:
    """The seconds of all pages of a collection, from those of one page."""
    return None if seconds is None or collection is None else seconds * collection.pages


def _cost(seconds: float | None, collection: Collection | None) -> str:
    """The cost of the machine for this time; `NOTHING` where time or price is not known."""
    price = collection.price if collection else None
    return NOTHING if seconds is None or price is None else f"{seconds / _HOUR * price:,.2f}"


def _of_server(
    name: str, model_responses: ModelResponses, cost: float, prices: Prices | None
) -> TimeRow:
    currency = f" {prices.currency}" if prices else ""
    return TimeRow(
        model=name, machine="a server", runtime=NOTHING, pages=f"{model_responses.items:,}",
        first=NOTHING, wall=NOTHING, cpu=NOTHING, thousand=NOTHING, days=NOTHING,
        cost=f"{cost:,.2f}{currency}", why="",
    )  # fmt: skip


def machine_words(machine: Machine | None) -> str:
    """A machine as text: processor, cores, memory."""
    if machine is None:
        return NOTHING
    cores = f"{machine.cores} core{'s'[: machine.cores != 1]}"
    memory = f"{machine.memory:.0f} GB memory" if machine.memory else ""
    return ", ".join(filter(None, (machine.processor, cores, memory, machine.system)))


def _seconds(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.3g} s"


def span(seconds: float | None) -> str:
    """A time in a suitable unit: ``45 s``, ``12 min``, ``3.4 h``, ``27 days``."""
    if seconds is None:
        return NOTHING
    if seconds < 90:
        return f"{seconds:.2g} s" if seconds < 10 else f"{seconds:.0f} s"
    if seconds < 1.5 * _HOUR:
        return f"{seconds / 60:.0f} min"
    if seconds < 2 * _DAY:
        return f"{seconds / _HOUR:.1f} h"
    days = seconds / _DAY
    return f"{days:.1f} days" if days < 10 else f"{days:,.0f} days"


def time_lines(table: TimeTable) -> Iterator[str]:
    """The table in one sentence for each engine."""
    for row in table.rows:
        said = table.words(row)
        if not said:
            cpu = f"; processor time {row.cpu} a page" if row.cpu != NOTHING else ""
            least = table.least_words(row)
            bound = f"; {least}" if least else ""
            yield f"{row.model}: no time is given, because {row.why}{cpu}{bound}"
            continue
        on = f" ({row.pages} pages timed on {row.machine})" if row.machine != NOTHING else ""
        yield f"{row.model}: {said}{on}"
