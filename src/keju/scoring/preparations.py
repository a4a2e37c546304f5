"""How both sides are prepared for `strict`, and the preparations that change nothing."""

from __future__ import annotations

from functools import lru_cache

from keju.metrics import EditCounts, UndefinedMetricError, best_edits
from keju.metrics.alignment import MarkCounts, punctuation_counts
from keju.metrics.base import TooLongError
from keju.scoring.metric import Preparation
from keju.scoring.scoring_sample import ScoringSample, computed_once
from keju.scoring.short_answer import entity_set
from keju.text import Layer, Pair, counted_pairs, normalise
from keju.texts import _

MAX_CELLS = 10**10
"""Edit distances between longer texts (product of their lengths) are not computed."""


def check_length(pair: Pair) -> Pair:
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


@computed_once
def raw_pair(sample: ScoringSample) -> Pair:
    """The reference and the content as they are."""
    return check_length(Pair(sample.reference, sample.text))


@computed_once
def transcription_pairs(sample: ScoringSample) -> dict[Layer, Pair]:
    """Reference and transcription as OCR scoring counts them, at each layer."""
    pairs = counted_pairs(sample.reference, sample.answer or "")
    for pair in pairs.values():
        check_length(pair)
    return pairs


@computed_once
def best_edit_counts(sample: ScoringSample) -> EditCounts:
    """Edits of the alignment with most matches, at the last layer.

    Raises:
        UndefinedMetricError: the reference has nothing to read.
    """
    counts = best_edits(*transcription_pairs(sample)["script"])
    if not counts.expected:
        raise UndefinedMetricError(_("the reference has no character that is counted"))
    return counts


def transcription_pair(sample: ScoringSample) -> Pair:
    """Reference and transcription at the last layer."""
    best_edit_counts(sample)
    return transcription_pairs(sample)["script"]


@computed_once
def mark_counts(sample: ScoringSample) -> MarkCounts:
    """Punctuation marks matched one to one, characters compared at the last layer."""
    return punctuation_counts(sample.reference, sample.answer or "", fold=_folded)


@computed_once
def name_sets(sample: ScoringSample) -> tuple[frozenset[str], frozenset[str]]:
    """The true and the predicted set of names, normalised."""
    return entity_set(sample.reference), entity_set(sample.answer or "")


@computed_once
def normalised_pair(sample: ScoringSample) -> Pair:
    """Running text on both sides at the last layer, for translation and open answers."""
    return check_length(Pair(normalise(sample.reference), normalise(sample.answer or "")))


_folded = lru_cache(maxsize=1 << 16)(normalise)

_FOLDED = "width, variants and script made one, character by character"
_COUNTED = f"without white space, punctuation and gap marks; {_FOLDED}"
AS_IT_IS = "nothing: the texts as they are"
NO_TEXT = "nothing is compared as text"

RAW = Preparation("raw", AS_IT_IS, raw_pair)
COUNTED = Preparation("counted", f"both sides alike: {_COUNTED}", transcription_pair)
NAMES = COUNTED._replace(inputs=name_sets)
SCRIPT = Preparation("script", f"both sides alike: {_FOLDED}", normalised_pair)
