"""The table of times and costs of engines and models, and its lines for the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from keju.analysis.engine_times import Collection, Speed, speeds
from keju.analysis.leaderboard import money
from keju.analysis.run_set import ModelResponses, RunSet
from keju.formatting import NOTHING
from keju.messages import join_clauses, join_parts, message, recognised
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
    """The table of times.

    `collection` is the number of pages as text, empty where it is not given. `priced` is whether
    there is a column of costs; `currency` is that of the machine's price.
    """

    rows: list[TimeRow]
    collection: str
    priced: bool = False
    currency: str = ""

    @property
    def cost(self) -> str:
        """The heading of the costs; empty where there are none."""
        if not self.priced:
            return ""
        if not self.currency:
            return message("reporting.cost")
        return message("reporting.cost-in", currency=self.currency)

    @property
    def converted(self) -> bool:
        """Whether the times of the collection differ from those of 1,000 pages."""
        return self.collection not in ("", "1,000")

    def describe(self, row: TimeRow) -> str:
        """The time and cost of a row as text; empty where there are none."""
        return self._describe(row.thousand, row.days, row.cost)

    def processor_notes(self, row: TimeRow) -> list[str]:
        """The processor time of a row, and its lower bounds, where they are known."""
        notes: list[str] = []
        if row.cpu != NOTHING:
            notes.append(message("reporting.processor-time-a-page", time=row.cpu))
        if least := self._describe(row.least_thousand, row.least_days, row.least_cost):
            notes.append(message("reporting.lower-bound-from-processor-time", time=least))
        return notes

    def sentence(self, row: TimeRow) -> str:
        """Time and cost of a row for a conclusion, with lower bounds where they are not known."""
        least = row.thousand == NOTHING
        if least and row.least_thousand == NOTHING:
            if row.why:
                return message("reporting.time-not-known", why=recognised(row.why))
            return self.describe(row)
        thousand, days, cost = (
            (row.least_thousand, row.least_days, row.least_cost)
            if least
            else (row.thousand, row.days, row.cost)
        )
        parts = [message("reporting.time-for-pages", time=_bound(thousand, least), pages="1,000")]
        if self.converted and days != NOTHING:
            time = _bound(days, least)
            parts.append(message("reporting.time-for-pages", time=time, pages=self.collection))
        if cost != NOTHING:
            parts.append(message("reporting.cost-is", cost=_bound(self._money(cost), least)))
        return join_clauses(parts)

    def _money(self, cost: str) -> str:
        return f"{cost} {self.currency}".strip()

    def _describe(self, thousand: str, days: str, cost: str) -> str:
        parts = []
        if thousand != NOTHING:
            parts.append(message("reporting.time-for-pages", time=thousand, pages="1,000"))
        if self.converted and days != NOTHING:
            pages = self.collection
            parts.append(message("reporting.time-for-collection", time=days, pages=pages))
        if cost != NOTHING:
            # The cost of a server includes the currency of the tokens' prices.
            money = cost if " " in cost else self._money(cost)
            parts.append(message("reporting.cost-is", cost=money))
        return join_parts(parts)


def _bound(value: str, least: bool) -> str:
    return message("reporting.at-least-of", value=value) if least else value


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
    )


def _row(name: str, speed: Speed, collection: Collection | None) -> TimeRow:
    seconds = _scale_to_collection(speed.wall, collection)
    least = _scale_to_collection(speed.least, collection)
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


def _scale_to_collection(seconds: float | None, collection: Collection | None) -> float | None:
    """The seconds of all pages of a collection, from those of one page."""
    return None if seconds is None or collection is None else seconds * collection.pages


def _cost(seconds: float | None, collection: Collection | None) -> str:
    """The cost of the machine for this time; `NOTHING` where time or price is not known."""
    price = collection.price if collection else None
    return NOTHING if seconds is None or price is None else f"{seconds / _HOUR * price:,.2f}"


def _build_server_row(
    name: str, model_responses: ModelResponses, cost: float, prices: Prices | None
) -> TimeRow:
    currency = f" {prices.currency}" if prices else ""
    return TimeRow(
        model=name, machine=message("reporting.a-server"), runtime=NOTHING,
        pages=f"{model_responses.items:,}",
        first=NOTHING, wall=NOTHING, cpu=NOTHING, thousand=NOTHING, days=NOTHING,
        cost=f"{cost:,.2f}{currency}", why="",
    )  # fmt: skip


def machine_words(machine: Machine | None) -> str:
    """A machine as text: processor, cores, memory."""
    if machine is None:
        return NOTHING
    cores = message("reporting.cores", count=machine.cores)
    memory = message("reporting.memory-gb", memory=machine.memory) if machine.memory else ""
    return join_parts(filter(None, (machine.processor, cores, memory, machine.system)))


def _seconds(value: float | None) -> str:
    return NOTHING if value is None else message("reporting.seconds", value=f"{value:.3g}")


def span(seconds: float | None) -> str:
    """A time in a suitable unit: ``45 s``, ``12 min``, ``3.4 h``, ``27 days``."""
    if seconds is None:
        return NOTHING
    if seconds < 90:
        shown = f"{seconds:.2g}" if seconds < 10 else f"{seconds:.0f}"
        return message("reporting.seconds", value=shown)
    if seconds < 1.5 * _HOUR:
        return message("reporting.minutes", value=f"{seconds / 60:.0f}")
    if seconds < 2 * _DAY:
        return message("reporting.hours", value=f"{seconds / _HOUR:.1f}")
    days = seconds / _DAY
    return message("reporting.days", value=f"{days:.1f}" if days < 10 else f"{days:,.0f}")


def time_lines(table: TimeTable) -> Iterator[str]:
    """The table in one sentence for each engine."""
    for row in table.rows:
        time = table.describe(row)
        if not time:
            why = join_clauses([recognised(row.why), *table.processor_notes(row)])
            yield message("reporting.no-time-given", model=row.model, why=why)
        elif row.machine == NOTHING:
            yield message("reporting.time-of", model=row.model, time=time)
        else:
            yield message(
                "reporting.time-of-pages",
                model=row.model,
                time=time,
                pages=row.pages,
                machine=row.machine,
            )
