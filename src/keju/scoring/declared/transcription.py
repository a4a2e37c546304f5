"""Transcriptions, `strict`: character error rates and rates of matched characters."""

from __future__ import annotations

from functools import partial

from keju.metrics import EditCounts, distance, error_parts
from keju.scoring.metric import Pooling, declare
from keju.scoring.metric_value import Hits, MetricValue, ratio
from keju.scoring.preparations import (
    COUNTED,
    best_edit_counts,
    transcription_pairs,
)
from keju.text import Layer, Pair

LAYERED = COUNTED._replace(inputs=lambda case: (transcription_pairs(case), best_edit_counts(case)))
"""For functions of the pairs of texts by layer of normalisation, and of the edit counts."""

EDITS = COUNTED._replace(inputs=lambda case: (best_edit_counts(case),))
"""For functions of the edit counts alone; `COUNTED` is for functions of reference and answer."""

_EDITS_OF_ALL = Pooling("edits of all items over their true characters")

_strict = partial(declare, form="transcription", protocol="strict", prepare=COUNTED, source="keju")


@_strict(
    "CharAcc",
    "character accuracy: 1 - edits / true characters, at least 0; an added character costs as much "
    "as a wrong one",
    rule_zh=(
        "字符准确率：1 减去编辑次数与参考字符数之比，最低为 0；多出一个字符与认错一个字符扣分相同"
    ),
    prepare=EDITS,
)
def character_accuracy(counts: EditCounts) -> float:
    """1 - min(1, CER): bounded, higher is better."""
    return 1 - min(1.0, counts.distance / counts.expected)


@_strict(
    "CER",
    "character error rate: edit distance / true characters",
    rule_zh="字符错误率：编辑距离除以参考字符数",
    prepare=LAYERED,
    over=_EDITS_OF_ALL,
    worst=1.0,
    higher_is_better=False,
)
def error_rate(pairs: dict[Layer, Pair], _counts: EditCounts) -> MetricValue:
    """CER at the last layer, with edits and length at each layer (`edits_exact` …)."""
    stats = {}
    for layer, pair in pairs.items():
        stats[f"edits_{layer}"] = distance(*pair)
        stats[f"length_{layer}"] = len(pair.reference)
    edits, length = stats["edits_script"], stats["length_script"]
    return ratio(edits, length, edits / length, **stats)


@_strict(
    "CER_recognition",
    "recognition error: the CER if the characters read could be in any order ((the longer length - "
    "the characters in common) / true characters)",
    rule_zh=(
        "识别错误率：不计字符顺序时的 CER（较长一方的字符数减去两者共有的字符数，再除以参考字符数）"
    ),
    over=_EDITS_OF_ALL,
    worst=1.0,
    higher_is_better=False,
)
def recognition_error(reference: str, read: str) -> MetricValue:
    """Bag-of-characters error: CER if the characters read could be in any order."""
    parts = error_parts(reference, read)
    return ratio(parts.recognition, parts.expected, parts.recognition_error)


@_strict(
    "CER_layout",
    "layout error: CER minus the recognition error",
    rule_zh="版面错误率：CER 减去识别错误率",
    over=_EDITS_OF_ALL,
    higher_is_better=False,
)
def layout_error(reference: str, read: str) -> MetricValue:
    """CER minus the recognition error."""
    parts = error_parts(reference, read)
    return ratio(parts.layout, parts.expected, parts.layout_error)


_matched = partial(_strict, prepare=EDITS, over=Pooling("matches of all items together"))


@_matched(
    "Recall",
    "recall: share of the true characters that are matched in the alignment with most matches",
    rule_zh="召回率：参考字符中，在匹配字符最多的对齐中匹配的比例",
    part="recall",
)
@_matched(
    "Precision",
    "precision: share of the characters read that are matched in the alignment with most matches",
    rule_zh="精确率：识别出的字符中，在匹配字符最多的对齐中匹配的比例",
    part="precision",
)
@_matched(
    "F1",
    "F1 of characters matched in the alignment with most matches",
    rule_zh="匹配字符最多的对齐中，匹配字符的 F1",
    part="f1",
)
def matches(counts: EditCounts) -> Hits:
    """Characters that match in the alignment with most matches."""
    return Hits(counts.matches, counts.predicted, counts.expected)
