"""Forecast of a large collection from a measured sample: hours, memory, disk space and cost.

All figures are proportional to the sample, our reading: other pages take as long, the machines are
like the measured one, and the pages are divided evenly among them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from keju.analysis.engine_times import Speed, sum_timings
from keju.errors import UsageError
from keju.items import Record, get_group
from keju.messages import message
from keju.models import Model, computes_here
from keju.running import Plan
from keju.running.machine import Machine
from keju.running.plan import on_own_server
from keju.running.plan_records import PlanRow
from keju.running.prices import MachinePrice, Prices
from keju.running.timing import FEWEST_PAGES, read_timings
from keju.runs import RunFolder
from keju.statistics import mean_interval

MOST_MACHINES = 100_000


class Range(Record, frozen=True, kw_only=True):
    """A value, and its 95 % interval; None where the sample has too few groups for one."""

    value: float
    low: float | None = None
    high: float | None = None

    def times(self, factor: float) -> Range:
        """The value and its interval, each multiplied."""
        low, high = (None if end is None else end * factor for end in (self.low, self.high))
        return Range(value=self.value * factor, low=low, high=high)

    def plus(self, more: float) -> Range:
        """The value and its interval, with a known value added."""
        low, high = (None if end is None else end + more for end in (self.low, self.high))
        return Range(value=self.value + more, low=low, high=high)


class Forecast(Record, frozen=True, kw_only=True, omit_defaults=False):
    """The needs of one model for a collection.

    `pages` and `requests` are those of the collection, `sample` and `groups` the responses of the
    sample and their groups. `hours` pass on each of `machines` machines; None where the sample does
    not say, and then `why` is the reason. Where other programs were active, `busy` says so: the
    hours are then those of the time that passed, and their lower end is that of the processor time
    alone. `memory` is the peak memory in MB on a machine. `dataset_bytes` and `response_bytes` are
    on disk, `sent_bytes` over the network. `cost` is in `currency`: of tokens where their price is
    known, else of machine hours where `hourly` is true; None without a price. `machine` is the
    measured one, None for a model behind an endpoint.
    """

    model: str
    pages: int
    requests: int
    machines: int
    sample: int
    groups: int
    hours: Range | None = None
    memory: int | None = None
    dataset_bytes: int = 0
    response_bytes: int = 0
    sent_bytes: int = 0
    cost: Range | None = None
    currency: str = ""
    hourly: bool = False
    machine: Machine | None = None
    why: str = ""
    busy: str = ""


class Measurement(NamedTuple):
    """The answered responses of one model in a run; one value for each response.

    `bytes` is the mean size of a stored response; `seconds`, `input_tokens` and `output_tokens` are
    of each response, and tokens None where the server did not count them.
    """

    groups: list[str]
    seconds: list[float]
    input_tokens: list[int | None]
    output_tokens: list[int | None]
    bytes: float


class Extent(NamedTuple):
    """The collection: its pages (None: those of the plan), and the machines that work on it.

    `price` is that of an hour of one machine. It also prices a model on a server of one's own.
    """

    pages: int | None = None
    machines: int = 1
    prices: Prices | None = None
    per_minute: float | None = None
    price: MachinePrice | None = None


def forecast(
    plan: Plan, models: Sequence[Model], sample: RunFolder, extent: Extent, *, table_bytes: float
) -> list[Forecast]:
    """The forecast of each model.

    Args:
        plan: the requests of the dataset, of which the collection is a multiple.
        models: the models of the plan.
        sample: a finished run of the same models on some of its items.
        extent: the size of the collection, machines and prices.
        table_bytes: the bytes of an item in the dataset's table, without its images.

    Raises:
        UsageError: the number of machines is not valid, or a model is not in the run.
        DataError: the run is damaged.
    """
    if not 1 <= extent.machines <= MOST_MACHINES:
        raise UsageError(
            message("analysis.machines-out-of-range", most=MOST_MACHINES, count=extent.machines)
        )
    known = sample.manifest().models
    groups = {item.id: get_group(item) for item in sample.items()}
    found = []
    for model in models:
        if model.name not in known:
            names = ", ".join(sorted(known))
            raise UsageError(
                message("analysis.no-model", path=sample.path, name=model.name, known=names)
            )
        measured = measure(sample, model.name, groups)
        rows = [row for row in plan.rows if row.model == model.name]
        found.append(_forecast(model, rows, plan.items, measured, sample, extent, table_bytes))
    return found


def measure(run: RunFolder, model: str, groups: dict[str, str]) -> Measurement:
    """Read what a run measured of a model.

    Args:
        run: the run.
        model: the name of the model.
        groups: the group of each item.
    """
    measured = Measurement([], [], [], [], 0.0)
    stored = 0
    for response in run.responses(model):
        stored += 1
        if response.status == "failed":
            continue
        measured.groups.append(groups[response.item])
        measured.seconds.append(response.seconds)
        measured.input_tokens.append(response.usage.input_tokens)
        measured.output_tokens.append(response.usage.output_tokens)
    size = sum(path.stat().st_size for path in run.response_files(model))
    return measured._replace(bytes=size / stored if stored else 0.0)


def _forecast(
    model: Model,
    rows: Iterable[PlanRow],
    items: int,
    measured: Measurement,
    sample: RunFolder,
    extent: Extent,
    table_bytes: float,
) -> Forecast:
    """The forecast of one model; the plan's counts grow in proportion to its pages."""
    rows = list(rows)
    calls, images = sum(row.calls for row in rows), sum(row.images for row in rows)
    planned = images or calls
    pages = extent.pages or planned
    factor = pages / planned if planned else 0.0
    requests = round(calls * factor)
    here = computes_here(model.name)
    speed = sum_timings(
        [each for each in read_timings(sample) if each.model == model.name] if here else []
    )
    hours, why = (
        _hours_here(speed, measured, pages / extent.machines)
        if here
        else _hours_of_endpoint(model, measured, requests, extent)
    )
    cost, currency = _token_cost(model, measured, requests, extent)
    hourly = cost is None and extent.price is not None and (here or on_own_server(model))
    if hourly and hours is not None and extent.price is not None:
        cost = hours.times(extent.machines * extent.price.value)
        currency = extent.price.currency
    return Forecast(
        model=model.name,
        pages=pages,
        requests=requests,
        machines=extent.machines,
        sample=len(measured.seconds),
        groups=len(set(measured.groups)),
        hours=hours,
        memory=speed.memory,
        dataset_bytes=round((sum(row.image_bytes for row in rows) + items * table_bytes) * factor),
        response_bytes=round(measured.bytes * requests),
        sent_bytes=round(sum(row.wire_bytes for row in rows) * factor),
        cost=cost,
        currency=currency,
        hourly=hourly and cost is not None,
        machine=speed.machine,
        why=why,
        busy=speed.busy,
    )


def _hours_here(speed: Speed, measured: Measurement, pages: float) -> tuple[Range | None, str]:
    """Hours of one machine: its start-up, and the time that passed for each page of the sample.

    The relative width of the interval is that of the seconds of a response. Where other programs
    were active, its lower end is that of the processor time.
    """
    if speed.wall is None:
        return None, speed.why
    per_page = _mean(measured.seconds, measured.groups)
    relative = per_page.times(1 / per_page.value) if per_page and per_page.value else None
    taken = (relative or Range(value=1.0)).times(speed.wall * pages / 3600)
    if speed.least is not None:
        high = taken.value if taken.high is None else taken.high
        taken = Range(value=taken.value, low=speed.least * pages / 3600, high=high)
    return taken.plus((speed.first or 0.0) / 3600), ""


def _hours_of_endpoint(
    model: Model, measured: Measurement, requests: int, extent: Extent
) -> tuple[Range | None, str]:
    """Hours at the default number of requests in flight, or at the stated rate if it is slower."""
    per_request = _mean(measured.seconds, measured.groups)
    if per_request is None or len(measured.seconds) < FEWEST_PAGES:
        return None, message("analysis.too-few-responses", count=len(measured.seconds))
    hours = per_request.times(requests / model.concurrency / extent.machines / 3600)
    if extent.per_minute:
        least = requests / extent.per_minute / 60
        if hours.value < least:
            return Range(value=least), ""
    return hours, ""


def _token_cost(
    model: Model, measured: Measurement, requests: int, extent: Extent
) -> tuple[Range | None, str]:
    """The cost of the tokens that the server counted for the sample."""
    price = extent.prices.price(model.identity.get("model", "")) if extent.prices else None
    if extent.prices is None or price is None:
        return None, ""
    costs, groups = [], []
    for sent, written, group in zip(
        measured.input_tokens, measured.output_tokens, measured.groups, strict=True
    ):
        if sent is not None and written is not None:
            costs.append(price.of(sent, written))
            groups.append(group)
    per_request = _mean(costs, groups)
    return per_request and per_request.times(requests), extent.prices.currency


def _mean(values: Sequence[float], groups: Sequence[str]) -> Range | None:
    """The mean of the responses, with an interval over their groups."""
    if not values:
        return None
    interval = mean_interval(values, groups)
    mean = sum(values) / len(values)
    if interval is None:
        return Range(value=mean)
    return Range(value=mean, low=interval.low, high=interval.high)
