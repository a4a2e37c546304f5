"""The check of a run for servers whose model changed under the same name."""

from __future__ import annotations

from keju.published.checks.base import Mismatch
from keju.published.run_checks import Places, RunData
from keju.runs.served_models import count_served
from keju.texts import _


def changed_served_models(seen: RunData) -> Places:
    """Models for which the server reported several models."""
    for model, counts in sorted(count_served(seen.responses).items()):
        total = counts.total()
        mismatches = [
            Mismatch(where=name, printed=_("{} of {} items", number, total), recomputed=name)
            for name, number in counts.items()
        ]
        yield model, total, mismatches if len(counts) > 1 else []
