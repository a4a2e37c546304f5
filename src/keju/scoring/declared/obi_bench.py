"""OBI-Bench, `official`: our reading of the paper and of its tables; no scorer was published."""

from __future__ import annotations

from functools import partial

from keju.scoring.box_lists import BoxList, extract_boxes
from keju.scoring.case import Case, once
from keju.scoring.declared.recognition import (
    boxes_of,
    mean_overlap,
    relative_error,
    right_polarity,
    true_count,
    true_polarity,
)
from keju.scoring.metric import EncoderMetric, Preparation, declare, register
from keju.scoring.preparations import NO_TEXT
from keju.scoring.semantic import CANDIDATE_AS_IT_IS, matched_rescaled, sentence
from keju.scoring.yes_no import first_yes_no


@once
def box_list(case: Case) -> BoxList:
    """The boxes as `official` reads them."""
    return extract_boxes(case.text, case.box_convention.axes)


def _polarities(case: Case) -> tuple[str, str | None]:
    return true_polarity(case), first_yes_no(case.text).answer


def _counts(case: Case) -> tuple[float, str | None]:
    return true_count(case), case.official_count.answer


FIRST_YES_NO = Preparation("first-yes-no", NO_TEXT, _polarities)
OFFICIAL_NUMBER = Preparation("one-number", NO_TEXT, _counts)
OFFICIAL_BOXES = Preparation("boxes", NO_TEXT, lambda case: boxes_of(case, box_list(case)))

_SOURCE = "the paper's tables, our reading"
_official = partial(declare, protocol="official", benchmark="OBI-Bench", source=_SOURCE)
_encoded = partial(
    EncoderMetric,
    form="text",
    protocol="official",
    benchmark="OBI-Bench",
    prepare=CANDIDATE_AS_IT_IS,
    source=_SOURCE,
)

_official(
    "Acc",
    "1 if the word taken (yes or no) is the true one",
    form="yes-no",
    prepare=FIRST_YES_NO,
)(right_polarity)
_official(
    "MRE",
    "relative error of the count, without an upper bound; an answer without a number is an error "
    "of 1",
    form="number",
    prepare=OFFICIAL_NUMBER,
    worst=1.0,
    higher_is_better=False,
)(relative_error)
_official(
    "mIoU",
    "sum of the IoU of boxes matched one to one / the greater number of boxes",
    form="boxes",
    prepare=OFFICIAL_BOXES,
)(mean_overlap)

register(
    _encoded(
        name="cosine",
        encoder="minilm",
        function=sentence,
        rule="cosine of sentence vectors; unrelated Chinese texts get more than 0",
    )
)
register(
    _encoded(
        name="BERTScore",
        encoder="roberta-large",
        function=matched_rescaled,
        rule="BERTScore F1 by token matching, rescaled by its published baseline",
    )
)
