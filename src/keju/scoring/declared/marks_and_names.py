"""Punctuation and names of entities, `strict`."""

from __future__ import annotations

from functools import partial

from keju.metrics.alignment import MarkCounts
from keju.scoring.metric import Hits, declare, declare_pooled_rates
from keju.scoring.preparations import NAMES, SCRIPT, mark_counts

_strict = partial(declare, protocol="strict", source="keju")


@declare_pooled_rates(
    partial(
        _strict,
        form="punctuated",
        prepare=SCRIPT._replace(inputs=lambda sample: (mark_counts(sample),)),
    ),
    "marks of all items together",
    {
        "F1": "F1 of punctuation marks, matched one to one in the gaps of the aligned texts",
        "Precision": "precision: share of the marks in the answer that are matched",
        "Recall": "recall: share of the true marks that are matched",
        "F1_macro": "mean of the F1 of each item",
    },
)
def marks_found(counts: MarkCounts) -> Hits:
    """Punctuation marks that are right."""
    return counts


@declare_pooled_rates(
    partial(_strict, form="entities", prepare=NAMES),
    "names of all items together",
    {
        "F1": "F1 of sets of names",
        "Precision": "precision: share of the names in the answer that are true",
        "Recall": "recall: share of the true names that are in the answer",
        "F1_macro": "mean of the F1 of each item",
    },
)
def names_found(truth: frozenset[str], found: frozenset[str]) -> Hits:
    """Names that are right."""
    return len(truth & found), len(found), len(truth)
