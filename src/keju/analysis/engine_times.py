"""Times of the engines of this machine per page, and of a given collection in time and money."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from math import isfinite
from typing import NamedTuple

from keju.analysis.labels import NOTHING
from keju.analysis.run_set import ModelResponses, RunSet
from keju.errors import UsageError
from keju.models import RESULTS
from keju.running.machine import Machine
from keju.running.prices import Prices
from keju.running.timing import Timing, read_timings
from keju.runs import RunFolder

_RUNTIME = (
    "rapidocr", "onnxruntime", "openvino", "runtime", "precision", "tesseract", "transformers",
    "torch",
)  # fmt: skip
"""Parts of an identity about the engine's runtime: versions, and the number format."""
_TIMED = ("engine", "baseline")
MOST_PAGES = 10**12
_PRICE = re.compile(r"([^\W\d_]*|[€$£¥])\s*(\d+(?:\.\d+)?)\s*([^\W\d_]*|[€$£¥])\s*(?:/\s*h)?")
_NOT_MEASURED = "the run has no time of it, because an earlier keju made it or it was interrupted"
_HOUR, _DAY = 3600.0, 86400.0


class Collection(NamedTuple):
    """A number of pages to transcribe, and the cost of a machine per hour; None where not given."""

    pages: int
    price: float | None = None
    currency: str = ""


class Costs(NamedTuple):
    """Costs: prices of tokens, and the collection."""

    prices: Prices | None = None
    collection: Collection | None = None


class Speed(NamedTuple):
    """The speed of one engine on one machine.

    `pages` were timed, each of which took `wall` seconds and `cpu` seconds of processor time;
    `thousand` is the seconds for a thousand items. `first` is the time to the first answer, which
    includes the start-up. Unreliable values are None, and `why` is the reason. `least` is then the
    minimum time per page by the processor time, with every core at work on it.
    """

    machine: Machine | None = None
    runtime: str = ""
    pages: int = 0
    first: float | None = None
    wall: float | None = None
    cpu: float | None = None
    thousand: float | None = None
    least: float | None = None
    why: str = _NOT_MEASURED


_FROM_FILES = Speed(why="its results were read from files")


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

    def _words(self, thousand: str, days: str, cost: str) -> str:
        parts = [f"{thousand} for 1,000 pages"] if thousand != NOTHING else []
        if self.converted and days != NOTHING:
            parts.append(f"{days} for {self.collection}")
        if cost != NOTHING:
            currency = self.cost.removeprefix("cost").removeprefix(", ")
            # The cost of a server includes the currency of the tokens' prices.
            parts.append(f"cost {cost}" if " " in cost else f"cost {cost} {currency}".strip())
        return ", ".join(parts)


def collection_of(pages: int | None, machine_price: str) -> Collection | None:
    """The collection that `--pages` and `--machine-price` state; None where no pages are stated.

    Raises:
        UsageError: the number or the price is not valid, or a price is given without pages.
    """
    found = _PRICE.fullmatch(machine_price.strip()) if machine_price else None
    if machine_price and (not found or (found[1] and found[3])):
        raise UsageError(
            f"--machine-price {machine_price!r} is not a price for an hour. Write it as 0.20/h or "
            "0.20EUR/h"
        )
    if pages is None:
        if machine_price:
            raise UsageError("--machine-price needs --pages N, the pages of your collection")
        return None
    if not 0 < pages <= MOST_PAGES:
        raise UsageError(f"--pages must be 1 to {MOST_PAGES:,}, not {pages}")
    if not found:
        return Collection(pages)
    price = float(found[2])
    if not isfinite(price):
        raise UsageError(f"--machine-price {machine_price!r} is too large")
    return Collection(pages, price, found[1] or found[3])


def speeds(gathered: RunSet) -> dict[str, Speed]:
    """The speed of each engine and baseline of a report, by its name there."""
    stored = {run.name: read_timings(RunFolder(run.path)) for run in gathered.runs}
    return {
        name: _FROM_FILES
        if voice.kind == RESULTS
        else _speed([each for each in stored[voice.run] if each.model == voice.model])
        for name, voice in gathered.voices.items()
        if voice.role in _TIMED and voice.model.partition(":")[0] != "blind"
    }


def _speed(timings: Sequence[Timing]) -> Speed:
    """Sum of the timings of one machine: the one with the most pages, of equal ones the later."""
    if not timings:
        return Speed()
    whole = [each for each in timings if not each.too_little]
    quiet = [each for each in whole if not each.busy]
    last = timings[-1]
    if not whole:
        return Speed(last.machine, _runtime(last), last.pages, last.first, why=last.too_little)
    among = _of_one_machine(quiet or whole)
    last = among[-1]
    pages, answers = sum(each.pages for each in among), sum(each.answers for each in among)
    wall, cpu = sum(each.wall for each in among), _sum(each.cpu for each in among)
    known = not last.busy
    return Speed(
        machine=last.machine,
        runtime=_runtime(last),
        pages=pages,
        first=last.first if known else None,
        wall=wall / pages if known else None,
        cpu=None if cpu is None else cpu / pages,
        thousand=1000 * wall / answers if known else None,
        least=None if known or cpu is None else cpu / pages / max(1, last.machine.cores),
        why=last.busy,
    )


def _of_one_machine(timings: Sequence[Timing]) -> list[Timing]:
    pages: dict[Machine, int] = {}
    for each in timings:
        pages[each.machine] = pages.pop(each.machine, 0) + each.pages
    most = max(pages.values())
    chosen = [machine for machine, count in pages.items() if count == most][-1]
    return [each for each in timings if each.machine == chosen]


def _sum(values: Iterable[float | None]) -> float | None:
    known = list(values)
    return None if None in known else sum(each or 0.0 for each in known)


def _runtime(timing: Timing) -> str:
    """The engine and its runtime with their versions."""
    said = ((name, timing.identity.get(name, "")) for name in _RUNTIME)
    return ", ".join(
        value if value.lower().startswith(name) or name == "runtime" else f"{name} {value}"
        for name, value in said
        if value
    )


def time_table(
    gathered: RunSet, collection: Collection | None = None, prices: Prices | None = None
) -> TimeTable | None:
    """Times of each engine, and the costs of each model with a known price; None without any."""
    from keju.analysis.leaderboard import money  # noqa: PLC0415 - it shows these times itself

    found = speeds(gathered)
    rows = []
    for name, voice in gathered.voices.items():
        if name in found and voice.role == "engine":
            rows.append(_row(name, found[name], collection))
        elif collection and (spent := money(voice, prices)) is not None:
            rows.append(_of_server(name, voice, spent * collection.pages / 1000, prices))
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


def _of_server(name: str, voice: ModelResponses, cost: float, prices: Prices | None) -> TimeRow:
    currency = f" {prices.currency}" if prices else ""
    return TimeRow(
        model=name, machine="a server", runtime=NOTHING, pages=f"{voice.items:,}", first=NOTHING,
        wall=NOTHING, cpu=NOTHING, thousand=NOTHING, days=NOTHING, cost=f"{cost:,.2f}{currency}",
        why="",
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
