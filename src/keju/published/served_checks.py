"""The check of a run for servers whose model changed under the same name."""

from __future__ import annotations

from keju.published.checks.base import Mismatch
from keju.published.run_checks import Places, RunData
from keju.runs.served_models import ServedModels, changed_models, served_name
from keju.texts import _


def changed_served_models(seen: RunData) -> Places:
    """Models for which the server reported several models."""
    reported = [each for each in seen.responses if served_name(each)]
    changed = changed_models(reported)
    for model in sorted({each.model for each in reported}):
        count = sum(each.model == model for each in reported)
        yield model, count, _mismatches(changed[model], count) if model in changed else []


def _mismatches(served: ServedModels, count: int) -> list[Mismatch]:
    return [
        Mismatch(
            where=served.changed if name == served.after else name,
            printed=_("{} of {} items", number, count),
            recomputed=name,
        )
        for name, number in served.counts.items()
    ]
