"""Yes or no, counts and boxes, `strict`; and what `official` takes of such responses."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import partial
from statistics import fmean, median

import msgspec

from keju.extraction import Reading, read
from keju.metrics import UndefinedMetricError
from keju.metrics import relative_error as relative_error_of
from keju.metrics.boxes import Boxes, box_convention, box_hits, match_boxes, to_pixels
from keju.scoring.metric import Pooling, Preparation, Stats, declare
from keju.scoring.metric_value import MetricValue, mean, ratio
from keju.scoring.preparations import NO_TEXT
from keju.scoring.scoring_sample import ScoringSample
from keju.text import parse_number
from keju.texts import _


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
    rows = msgspec.json.decode(reading.value, type=list[Row]) if reading.value else []
    predicted = to_pixels(rows, convention, width=width, height=height)
    return truth, predicted


def _polarities(sample: ScoringSample) -> tuple[str, str | None]:
    return true_polarity(sample), sample.answer


def _counts(sample: ScoringSample) -> tuple[float, str | None]:
    return true_count(sample), sample.answer


def _official_polarities(sample: ScoringSample) -> tuple[str, str | None]:
    return true_polarity(sample), sample.first_yes_no


def _official_counts(sample: ScoringSample) -> tuple[float, str | None]:
    return true_count(sample), sample.rule_reading.value or None


YES_NO = Preparation("yes-no", NO_TEXT, _polarities)
ONE_NUMBER = Preparation("one-number", NO_TEXT, _counts)
BOXES = Preparation("boxes", NO_TEXT, lambda sample: boxes_of(sample, sample.reading))
FIRST_YES_NO = Preparation("first-yes-no", NO_TEXT, _official_polarities)
OFFICIAL_NUMBER = Preparation("one-number", NO_TEXT, _official_counts)
OFFICIAL_BOXES = Preparation("boxes", NO_TEXT, lambda sample: boxes_of(sample, sample.rule_reading))

Row = tuple[float, float, float, float]

_strict = partial(declare, protocol="strict", source="keju")


def mean_of_recalls(scored: Sequence[Stats]) -> float:
    """Balanced accuracy: the mean over the classes that there are of the share that is right."""
    by_class: dict[float, list[float]] = defaultdict(list)
    for stats in scored:
        by_class[stats["positive"]].append(stats["numerator"])
    return fmean(fmean(right) for right in by_class.values())


@_strict(
    "BalancedAcc",
    "balanced accuracy: 1 if the extracted answer (yes or no) is the reference",
    rule_zh="平衡准确率：提取的答案（是或否）与参考答案相同，即得 1",
    form="yes-no",
    prepare=YES_NO,
    over=Pooling("mean of the shares of true yeses and true noes that are right", mean_of_recalls),
)
def right_polarity(truth: str, taken: str | None) -> MetricValue:
    """1 if the answer taken is the true one; a task's value is the mean of its two recalls.

    `positive` says which recall the item belongs to. Where all items are of one class the value is
    their recall alone, and the aggregate says so.
    """
    return mean(float(taken == truth), positive=float(truth == "Yes"))


@_strict(
    "CountAcc",
    "1 - relative error of the count, at least 0; an answer without a number gets 0",
    rule_zh="1 减去计数的相对误差，最低为 0；没有数字的回答得 0",
    form="number",
    prepare=ONE_NUMBER,
)
def count_accuracy(truth: float, stated: str | None) -> float:
    """1 - min(1, relative error); no number earns 0."""
    return 1 - min(1.0, relative_error(truth, stated))


@_strict(
    "MedRE",
    "relative error of the count",
    rule_zh="计数的相对误差",
    form="number",
    prepare=ONE_NUMBER,
    over=Pooling(
        "the median over the items",
        lambda scored: median(stats["numerator"] for stats in scored),
    ),
    worst=1.0,
    higher_is_better=False,
)
def relative_error(truth: float, stated: str | None) -> float:
    """Relative error of the count stated; no number is an error of 1."""
    return 1.0 if stated is None else relative_error_of(truth, float(stated))


@_strict(
    "mIoU",
    "sum of the IoU of boxes matched one to one / the greater number of boxes",
    rule_zh="一一配对的框的 IoU 之和，除以两边中较多的框数",
    form="boxes",
    prepare=BOXES,
)
def mean_overlap(truth: Boxes, predicted: Boxes) -> float:
    """IoU of boxes matched one to one for the greatest sum, over max(true, predicted)."""
    return match_boxes(truth, predicted).mean


@_strict(
    "F1_IoU",
    "F1 of the boxes found, mean over IoU thresholds .5 to .95",
    rule_zh="找到的框的 F1，在 IoU 阈值 0.5 到 0.95 上取均值",
    form="boxes",
    prepare=BOXES,
    over=Pooling("boxes of all items together"),
)
def overlap_f1(truth: Boxes, predicted: Boxes) -> MetricValue:
    """F1 of boxes found, mean over the IoU thresholds .5 to .95; over all items together."""
    found = box_hits(truth, predicted)
    numerator = 2 * sum(found.hits) / len(found.hits)
    return ratio(numerator, found.truth + found.predicted, found.f1)
