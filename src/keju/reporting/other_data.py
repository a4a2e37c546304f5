"""What a reader must know before a run is laid beside a paper: on what data it was made."""

from __future__ import annotations

from keju.benchmarks import tasks
from keju.reporting.gather import Gathered


def other_data(gathered: Gathered) -> list[str]:
    """What a reader must know before laying a run beside a paper, one line a dataset."""
    lines = []
    for run in gathered.runs:
        data = f"{run.manifest.dataset} {run.manifest.dataset_version}"
        counts: dict[str, set[str]] = {}
        for asked in gathered.asked.values():
            if asked.run is run:
                counts.setdefault(asked.item.task, set()).add(asked.item.id)
        if not counts:  # another run of the same dataset, which was spoken of
            continue
        short = [
            f"{each.id} {len(counts[each.id]):,} of {each.count:,}"
            for each in tasks()
            if each.id in counts and len(counts[each.id]) != each.count
        ]
        if run.manifest.synthetic:
            lines.append(
                f"{data} was drawn by keju: it is not the benchmark's own data, and a difference "
                "from a printed row says nothing about a model."
            )
        elif short:
            lines.append(
                f"{data} has other items than the benchmark ({', '.join(short)}): a difference "
                "from a printed row may be the data's."
            )
        else:
            lines.append(
                f"{data} has as many items of each task as the benchmark; whether they are its "
                "own, keju can't know."
            )
    return lines
