"""Times of the engines of this machine per page, and of a given collection in time and money."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from keju.analysis.run_set import RunSet
from keju.errors import UsageError
from keju.models import RESULTS
from keju.running.prices import Prices, read_machine_price
from keju.running.timing import Machine, Timing, read_timings
from keju.runs import RunFolder
from keju.texts import _

_RUNTIME = (
    "rapidocr", "onnxruntime", "runtime", "tesseract", "transformers",
    "torch",
)  # fmt: skip
"""Parts of an identity about the engine's runtime: versions, and the number format."""
_TIMED = ("engine", "baseline")
MOST_PAGES = 10**12


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
    includes the start-up. Unknown values are None, and `why` is the reason. Where other programs
    were active, `busy` says so: times are then upper bounds of those on a quiet machine.
    """

    machine: Machine | None = None
    runtime: str = ""
    pages: int = 0
    first: float | None = None
    wall: float | None = None
    cpu: float | None = None
    thousand: float | None = None
    why: str = ""
    busy: str = ""


def collection_of(pages: int | None, machine_price: str) -> Collection | None:
    """The collection that `--pages` and `--machine-price` state; None where no pages are stated.

    Raises:
        UsageError: the number or the price is not valid, or a price is given without pages.
    """
    price = read_machine_price(machine_price)
    if pages is None:
        if price:
            raise UsageError("--machine-price needs --pages N, the pages of your collection")
        return None
    return Collection(check_pages(pages), *(price or ()))


def check_pages(pages: int) -> int:
    """The number of pages of a collection.

    Raises:
        UsageError: it is not between 1 and `MOST_PAGES`.
    """
    if not 0 < pages <= MOST_PAGES:
        raise UsageError("--pages must be 1 to {:,}, not {}", MOST_PAGES, pages)
    return pages


def speeds(run_set: RunSet) -> dict[str, Speed]:
    """The speed of each engine and baseline of a report, by its name there."""
    stored = {run.name: read_timings(RunFolder(run.path)) for run in run_set.runs}
    return {
        name: Speed(why=_("its results were read from files"))
        if model_responses.kind == RESULTS
        else sum_timings(
            [each for each in stored[model_responses.run] if each.model == model_responses.model]
        )
        for name, model_responses in run_set.by_model.items()
        if model_responses.role in _TIMED and model_responses.model.partition(":")[0] != "blind"
    }


def sum_timings(timings: Sequence[Timing]) -> Speed:
    """Sum of the timings of one machine: the one with the most pages, of equal ones the later."""
    if not timings:
        return Speed(
            why=_("the run did not record its time, for example because it was interrupted")
        )
    whole = [each for each in timings if not each.too_little]
    quiet = [each for each in whole if not each.busy]
    last = timings[-1]
    if not whole:
        return Speed(last.machine, _runtime(last), last.pages, last.first, why=last.too_little)
    among = _choose_machine(quiet or whole)
    last = among[-1]
    pages, answers = sum(each.pages for each in among), sum(each.answers for each in among)
    wall, cpu = sum(each.wall for each in among), _sum(each.cpu for each in among)
    return Speed(
        machine=last.machine,
        runtime=_runtime(last),
        pages=pages,
        first=last.first,
        wall=wall / pages,
        cpu=None if cpu is None else cpu / pages,
        thousand=1000 * wall / answers,
        busy=last.busy,
    )


def _choose_machine(timings: Sequence[Timing]) -> list[Timing]:
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
    """The engine and its runtime with their versions, and how Tesseract divides pages."""
    said = ((name, timing.identity.get(name, "")) for name in _RUNTIME)
    parts = [
        value if value.lower().startswith(name) or name == "runtime" else f"{name} {value}"
        for name, value in said
        if value
    ]
    if mode := timing.identity.get("page_segmentation"):
        parts.append(f"lang={timing.identity.get('language', '')}, psm={mode}")
    return ", ".join(parts)
