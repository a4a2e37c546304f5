"""The audit's findings and the transcription they are worked out from again, by plain means."""

from __future__ import annotations

import json

HALVES = ("BERTScore", "ANLS")


def findings(audit, check):
    return [each for each in audit.findings if each.check == check]


def cells(audit, check):
    return {
        (each.place, cell.where): (cell.printed, cell.recomputed)
        for each in findings(audit, check)
        for cell in each.mismatches
    }


def rows(audit, check):
    return {where for _, where in cells(audit, check)}


def size(audit, check):
    """The size of a check's finding, which all its places share."""
    (found,) = {each.size for each in findings(audit, check)}
    return found


def column(numbers, benchmark, *key):
    found = numbers[benchmark][key]
    return {
        model: float(text)
        for model, text in found.items()
        if not text.startswith("<") and model != "Average"
    }


def registry(shared):
    path = shared / "published" / "mcs_task_registry.json"
    return json.loads(path.read_text("utf-8"))["tasks"]


def ranks(values):
    """The place of each model, the highest value first; equal values share a place."""
    return {m: 1 + sum(values[k] > values[m] + 1e-9 for k in values) for m in values}


def moved(before, after):
    """How many models have another place."""
    return sum(ranks(before)[model] != ranks(after)[model] for model in before)
