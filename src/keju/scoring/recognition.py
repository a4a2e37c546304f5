"""OBI-Bench recognition: Yes-or-No, How many and Where, in both protocols.

No scorer was published; `official` is our reading of the paper and of its tables.
"""

from __future__ import annotations

from keju.metrics import UndefinedMetricError, parse_number, relative_error
from keju.metrics.boxes import Boxes, box_convention, box_hits, match_boxes, to_pixels
from keju.scoring.box_lists import BoxList
from keju.scoring.case import Case
from keju.scoring.measured import Measured, mean, ratio
from keju.scoring.yes_no import extract_yes_no, first_yes_no


def accuracy(case: Case) -> Measured:
    """1 if the first word for yes or no is the true one; none is wrong."""
    truth = _true_polarity(case)
    return mean(float(first_yes_no(case.text).answer == truth), positive=float(truth == "Yes"))


def balanced(case: Case) -> Measured:
    """1 if the answer taken is the true one; a task's value is the mean of its two recalls.

    `positive` says which recall the item belongs to. Where all items are of one class the value is
    their recall alone, and the aggregate says so.
    """
    truth = _true_polarity(case)
    return mean(float(case.taken.answer == truth), positive=float(truth == "Yes"))


def _true_polarity(case: Case) -> str:
    found = extract_yes_no(case.truth).answer
    if found is None:
        raise UndefinedMetricError("the item's answer is neither yes nor no")
    return found


def official_count_error(case: Case) -> Measured:
    """Relative error of the count as `official` takes it; no number is an error of 1."""
    return mean(_relative_error(case, case.official_count.answer))


def count_error(case: Case) -> Measured:
    """Relative error of the count stated; no number is an error of 1."""
    return mean(_relative_error(case, case.taken.answer))


def count_accuracy(case: Case) -> Measured:
    """1 - min(1, relative error); no number earns 0."""
    return mean(1 - min(1.0, _relative_error(case, case.taken.answer)))


def _relative_error(case: Case, stated: str | None) -> float:
    truth = _true_count(case)
    return 1.0 if stated is None else relative_error(truth, float(stated))


def _true_count(case: Case) -> float:
    """The item's answer, or where it has none the number of its boxes."""
    if not case.item.answer and case.item.boxes:
        return float(len(case.item.boxes))
    number = parse_number(case.truth)
    if number is None:
        raise UndefinedMetricError("the item's answer is no number")
    return number


def official_mean_overlap(case: Case) -> Measured:
    """`mean_overlap` of the boxes as `official` reads them."""
    return mean(match_boxes(*_boxes(case, case.official_box_list)).mean)


def mean_overlap(case: Case) -> Measured:
    """IoU of boxes matched one to one for the greatest sum, over max(true, predicted)."""
    truth, predicted = _boxes(case, case.box_list)
    return mean(match_boxes(truth, predicted).mean)


def overlap_f1(case: Case) -> Measured:
    """F1 of boxes found, mean over the IoU thresholds .5 to .95; over all items together."""
    truth, predicted = _boxes(case, case.box_list)
    found = box_hits(truth, predicted)
    numerator = 2 * sum(found.hits) / len(found.hits)
    return ratio(numerator, found.truth + found.predicted, found.f1)


def _boxes(case: Case, given: BoxList) -> tuple[Boxes, Boxes]:
    """True and predicted boxes in pixels; a response without a box gives none."""
    if not case.item.boxes:
        raise UndefinedMetricError("the item has no true boxes")
    convention = case.box_convention
    width = height = 0
    if convention.scale != "pixels":
        if not case.item.images:
            raise UndefinedMetricError("the item has no image whose size the boxes are shares of")
        width, height = case.item.images[0].width, case.item.images[0].height
    truth = to_pixels(
        [(box.x0, box.y0, box.x1, box.y1) for box in case.item.boxes],
        box_convention("xyxy"),
        width=width,
        height=height,
    )
    predicted = to_pixels(given.rows or (), convention, width=width, height=height)
    return truth, predicted
