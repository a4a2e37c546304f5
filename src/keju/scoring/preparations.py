"""How both sides are prepared for `strict`, and the preparations that change nothing."""

from __future__ import annotations

from functools import lru_cache

from keju.metrics import (
    EditCounts,
    MarkCounts,
    UndefinedMetricError,
    best_edits,
    punctuation_counts,
)
from keju.metrics.base import TooLongError
from keju.scoring.metric import Preparation
from keju.scoring.scoring_sample import ScoringSample, once
from keju.scoring.short_answer import entity_set
from keju.text import LAYERS, Layer, Pair, counted_alike, counted_pair, normalise

MAX_CELLS = 10**10
"""Edit distances between longer texts (product of their lengths) are not computed."""


def bounded(pair: Pair) -> Pair:
    """The pair, if it is short enough to be compared.

    Raises:
        UndefinedMetricError: it is not; `TooLongError` where the answer is the longer text.
    """
    if len(pair.reference) * len(pair.hypothesis) > MAX_CELLS:
        too_long = len(pair.hypothesis) > len(pair.reference)
        raise (TooLongError if too_long else UndefinedMetricError)(
            f"too long to compare: {len(pair.reference):,} and {len(pair.hypothesis):,} characters"
        )
    return pair


@once
def raw_pair(case: ScoringSample) -> Pair:
    """The reference and the content as they are."""
    return bounded(Pair(case.truth, case.text))


@once
def counted_pairs(case: ScoringSample) -> dict[Layer, Pair]:
    """Reference and transcription as OCR scoring counts them, at each layer."""
    read = case.transcription.answer or ""
    pairs = {layer: counted_pair(case.truth, read, layer) for layer in LAYERS}
    for pair in pairs.values():
        bounded(pair)
    return pairs


@once
def best_counts(case: ScoringSample) -> EditCounts:
    """Edits of the alignment with most matches, at the last layer.

    Raises:
        UndefinedMetricError: the reference has nothing to read.
    """
    counts = best_edits(*counted_pairs(case)["script"])
    if not counts.expected:
        raise UndefinedMetricError("the true text has no character that counts")
    return counts


def counted(case: ScoringSample) -> Pair:
    """Reference and transcription at the last layer."""
    best_counts(case)
    return counted_pairs(case)["script"]


def counted_lines(case: ScoringSample) -> tuple[list[str], list[str]]:
    """The lines of reference and transcription, each as `counted` has them."""
    best_counts(case)
    truth = case.truth.split("\n")
    every = counted_alike([*truth, *(case.transcription.answer or "").split("\n")])
    return every[: len(truth)], every[len(truth) :]


@once
def marks(case: ScoringSample) -> MarkCounts:
    """Punctuation marks matched one to one, characters compared at the last layer."""
    return punctuation_counts(case.truth, case.taken.answer or "", fold=_folded)


@once
def names(case: ScoringSample) -> tuple[frozenset[str], frozenset[str]]:
    """The true and the predicted set of names, normalised."""
    return entity_set(case.truth), entity_set(case.taken.answer or "")


@once
def normalised(case: ScoringSample) -> Pair:
    """Running text on both sides at the last layer, for translation and open answers."""
    return bounded(Pair(normalise(case.truth), normalise(case.taken.answer or "")))


_folded = lru_cache(maxsize=1 << 16)(normalise)

_FOLDED = "width, variants and script made one, character by character"
_COUNTED = f"white space, punctuation and gap marks left out; {_FOLDED}"
AS_IT_IS = "nothing: the texts as they are"
NO_TEXT = "nothing is compared as text"

RAW = Preparation("raw", AS_IT_IS, raw_pair)
COUNTED = Preparation("counted", f"both sides alike: {_COUNTED}", counted)
COUNTED_LINES = Preparation(
    "counted lines", f"both sides alike, line by line: {_COUNTED}", counted_lines
)
NAMES = COUNTED._replace(given=names)
SCRIPT = Preparation("script", f"both sides alike: {_FOLDED}", normalised)
