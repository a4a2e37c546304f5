"""Remarks on servers whose model changed under the same name."""

from __future__ import annotations

from keju.analysis.run_set import RunSet
from keju.messages import Message
from keju.runs.served_models import served_line


def served_notes(run_set: RunSet, benchmark: str) -> list[Message]:
    """One line for each model of a leaderboard whose server reported several models."""
    of_benchmark = {name: each.of(benchmark).served for name, each in run_set.by_model.items()}
    return [served_line(name, served) for name, served in of_benchmark.items() if served.several]
