"""Times of the engines of this machine per page, and of a given collection in time and money."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from keju.analysis.run_set import RunSet
from keju.errors import UsageError
from keju.models import RESULTS
from keju.running.prices import Prices, read_machine_price
from keju.running.timing import Timing, read_timings
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

    `pages` were timed, each of which took `wall` seconds; `thousand` is the seconds for a thousand
    items. Unknown values are None, and `why` is the reason.
    """

    machine: str = ""
    runtime: str = ""
    pages: int = 0
    wall: float | None = None
    thousand: float | None = None
    why: str = ""


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
    manifests = {run.name: run.manifest for run in run_set.runs}
    return {
        name: Speed(why=_("its results were read from files"))
        if model_responses.kind == RESULTS
        else sum_timings(
            [
                timing
                for timing in stored[model_responses.run]
                if timing.model == model_responses.model
            ],
            manifests[model_responses.run].models.get(model_responses.model, {}),
        )
        for name, model_responses in run_set.by_model.items()
        if model_responses.role in _TIMED and model_responses.model.partition(":")[0] != "blind"
    }


def sum_timings(timings: Sequence[Timing], identity: Mapping[str, str]) -> Speed:
    """Sum of the timings of one machine: the one with the most pages, of equal ones the later.

    `identity` is the model's, which names its runtime.
    """
    if not timings:
        return Speed(
            why=_("the run did not record its time, for example because it was interrupted")
        )
    pages: dict[str, int] = {}
    for timing in timings:
        pages[timing.machine] = pages.pop(timing.machine, 0) + timing.pages
    most = max(pages.values())
    machine = [name for name, count in pages.items() if count == most][-1]
    among = [timing for timing in timings if timing.machine == machine]
    seconds = sum(timing.seconds for timing in among)
    return Speed(
        machine=machine,
        runtime=_runtime(identity),
        pages=most,
        wall=seconds / most,
        thousand=1000 * seconds / sum(timing.answers for timing in among),
    )


def _runtime(identity: Mapping[str, str]) -> str:
    """The engine and its runtime with their versions, and how Tesseract divides pages."""
    versions = ((name, identity.get(name, "")) for name in _RUNTIME)
    parts = [
        version if version.lower().startswith(name) or name == "runtime" else f"{name} {version}"
        for name, version in versions
        if version
    ]
    if mode := identity.get("page_segmentation"):
        parts.append(f"lang={identity.get('language', '')}, psm={mode}")
    return ", ".join(parts)
