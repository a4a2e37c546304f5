"""`units_by_benchmark`: the units of independence of the scored items of a report."""

from __future__ import annotations

from keju.analysis.run_set import RunSet, main_metric
from keju.definitions import UnitCounter, Units, task
from keju.scoring import PROTOCOLS


def units_by_benchmark(run_set: RunSet) -> dict[str, Units]:
    """The units that intervals and tests resample, of all items with a main metric."""
    counters: dict[str, UnitCounter] = {}
    for item in run_set.iter_items():
        if any(main_metric(item, protocol) for protocol in PROTOCOLS):
            # An item can name another benchmark than its task does.
            counters.setdefault(task(item.task).benchmark, UnitCounter()).add(item)
    names = {run.manifest.unit for run in run_set.runs}
    name = names.pop() if len(names) == 1 else ""
    return {benchmark: counter.units(name) for benchmark, counter in counters.items()}
