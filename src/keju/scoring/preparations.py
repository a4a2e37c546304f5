"""How reference and answer become the arguments of a metric: `Preparation`."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from keju.extraction import Reading, read
from keju.items import AnswerForm, Protocol
from keju.metrics import (
    EditCounts,
    ErrorParts,
    HitCounts,
    UndefinedMetricError,
    best_edits,
    error_parts,
)
from keju.metrics.alignment import punctuation_counts
from keju.metrics.base import TooLongError
from keju.metrics.boxes import Boxes, box_convention, to_pixels
from keju.scoring.scoring_sample import ScoringSample, computed_once
from keju.scoring.short_answer import entity_set
from keju.text import LAYERS, Layer, Pair, counted_pair, normalise, parse_number
from keju.texts import _

if TYPE_CHECKING:
    from keju.scoring.rankings import Gallery

MAX_CELLS = 10**10
"""Edit distances between longer texts (product of their lengths) are not computed."""


class Preparation(NamedTuple):
    """The arguments of a metric's function, made from a scoring sample or from a gallery of pairs.

    `name` is part of the signature; `rule` says in one sentence how both sides are prepared;
    `inputs` returns the function's arguments, most often the reference and the answer.
    """

    name: str
    rule: str
    inputs: Callable[[Any], tuple[Any, ...]]


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


# Texts.


@computed_once
def raw_pair(sample: ScoringSample) -> Pair:
    """The reference and the content as they are."""
    return check_length(Pair(sample.reference, sample.text))


@computed_once
def transcription_pairs(sample: ScoringSample) -> dict[Layer, Pair]:
    """Reference and transcription as OCR scoring counts them, at each layer."""
    texts = sample.reference, sample.answer or ""
    return {layer: check_length(counted_pair(*texts, layer)) for layer in LAYERS}


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


@computed_once
def transcription_parts(sample: ScoringSample) -> ErrorParts:
    """The edits at the last layer, of recognition and of layout."""
    return error_parts(*transcription_pair(sample))


def transcription_pair(sample: ScoringSample) -> Pair:
    """Reference and transcription at the last layer."""
    best_edit_counts(sample)
    return transcription_pairs(sample)["script"]


@computed_once
def mark_counts(sample: ScoringSample) -> HitCounts:
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


# Letters, yes or no, counts and boxes.


def letter_pair(sample: ScoringSample) -> tuple[str, str | None]:
    """The letter of the right option and the one that was extracted."""
    return sample.reference.strip().upper(), sample.answer


def true_polarity(sample: ScoringSample) -> str:
    """Yes or No, as the item's answer has it."""
    reading = read("yes-no", sample.reference)
    if reading.state != "read":
        raise UndefinedMetricError(_("the item's answer is neither yes nor no"))
    return reading.value


def true_count(sample: ScoringSample) -> float:
    """The item's answer, or where it has none the number of its boxes."""
    if not sample.item.answer and sample.item.boxes:
        return float(len(sample.item.boxes))
    number = parse_number(sample.reference)
    if number is None:
        raise UndefinedMetricError(_("the item's answer is not a number"))
    return number


def _stated(number: str | None) -> float | None:
    return float(number) if number else None


def boxes_of(sample: ScoringSample, reading: Reading) -> tuple[Boxes, Boxes]:
    """True boxes and those of a reading, in pixels; a response without a box gives none."""
    if not sample.item.boxes:
        raise UndefinedMetricError(_("the item has no true boxes"))
    convention = sample.box_convention
    width = height = 0
    if convention.scale != "pixels":
        if not sample.item.images:
            raise UndefinedMetricError(
                _(
                    "the item has no image, so boxes that are given as fractions of its size "
                    "cannot be converted to pixels"
                )
            )
        width, height = sample.item.images[0].width, sample.item.images[0].height
    truth = to_pixels(
        [(box.x0, box.y0, box.x1, box.y1) for box in sample.item.boxes],
        box_convention("xyxy"),
        width=width,
        height=height,
    )
    rows = msgspec.json.decode(reading.value, type=list[_Row]) if reading.value else []
    predicted = to_pixels(rows, convention, width=width, height=height)
    return truth, predicted


_Row = tuple[float, float, float, float]

_FOLDED = "width, variants and script made one, character by character"
_COUNTED = f"without white space, punctuation and gap marks; {_FOLDED}"
AS_IT_IS = "nothing: the texts as they are"
NO_TEXT = "nothing is compared as text"

RAW = Preparation("raw", AS_IT_IS, raw_pair)
COUNTED = Preparation("counted", f"both sides alike: {_COUNTED}", transcription_pair)
SCRIPT = Preparation("script", f"both sides alike: {_FOLDED}", normalised_pair)
NAMES = COUNTED._replace(inputs=name_sets)
ONE_LETTER = Preparation("one letter", NO_TEXT, letter_pair)
YES_NO = Preparation("yes-no", NO_TEXT, lambda sample: (true_polarity(sample), sample.answer))
ONE_NUMBER = Preparation(
    "one-number", NO_TEXT, lambda sample: (true_count(sample), _stated(sample.answer))
)
BOXES = Preparation("boxes", NO_TEXT, lambda sample: boxes_of(sample, sample.reading))
FIRST_YES_NO = Preparation(
    "first-yes-no", NO_TEXT, lambda sample: (true_polarity(sample), sample.first_yes_no)
)
OFFICIAL_NUMBER = ONE_NUMBER._replace(
    inputs=lambda sample: (true_count(sample), _stated(sample.rule_reading.value))
)
OFFICIAL_BOXES = BOXES._replace(inputs=lambda sample: boxes_of(sample, sample.rule_reading))
CANDIDATE_AS_IT_IS = RAW._replace(inputs=lambda sample: (sample.text, sample.reference))


def ranking_preparation(name: str, protocol: Protocol) -> Preparation:
    """The ranking of a gallery, as a protocol reads the answers; `name` is for signatures."""
    return Preparation(name, NO_TEXT, lambda gallery: (gallery.ranking(protocol),))


# What the functions of plug-ins get.


def _lists(prepare: Preparation) -> Preparation:
    """Boxes as lists of ``(x0, y0, x1, y1)``."""

    def inputs(sample: ScoringSample) -> tuple[list[Any], ...]:
        return tuple([tuple(map(float, box)) for box in boxes] for boxes in prepare.inputs(sample))

    return prepare._replace(inputs=inputs)


def _probabilities(protocol: Protocol) -> Preparation:
    def inputs(gallery: Gallery) -> tuple[list[int], list[float | None]]:
        return gallery.relevant, gallery.values(protocol)

    return Preparation("one-probability", NO_TEXT, inputs)


_EXTRACTED = RAW._replace(inputs=lambda sample: Pair(sample.reference, sample.answer or ""))
_SHORT = COUNTED._replace(inputs=lambda sample: counted_pair(sample.reference, sample.answer or ""))
_STRICT: dict[AnswerForm, tuple[Preparation, ...]] = {
    "transcription": (COUNTED, SCRIPT, _EXTRACTED),
    "text": (SCRIPT, _SHORT, _EXTRACTED),
    "punctuated": (SCRIPT, _SHORT, _EXTRACTED),
    "short": (_SHORT, SCRIPT, _EXTRACTED),
    "entities": (NAMES,),
    "letter": (ONE_LETTER,),
    "yes-no": (YES_NO,),
    "number": (ONE_NUMBER,),
    "boxes": (_lists(BOXES),),
    "probability": (_probabilities("strict"),),
}
_OFFICIAL: dict[AnswerForm, tuple[Preparation, ...]] = {
    "yes-no": (FIRST_YES_NO,),
    "number": (OFFICIAL_NUMBER,),
    "boxes": (_lists(OFFICIAL_BOXES),),
    "probability": (_probabilities("official"),),
}
"""Under `official` the other forms are compared as they are."""


def preparations(protocol: Protocol, form: AnswerForm) -> dict[str, Preparation]:
    """The preparations that a plug-in's metric can have, by name; the first is the default."""
    declared = _STRICT[form] if protocol == "strict" else _OFFICIAL.get(form, (RAW,))
    return {each.name: each for each in declared}
