"""Punctuation and names of entities, `strict`."""

from __future__ import annotations

from functools import partial

from keju.metrics.alignment import MarkCounts
from keju.scoring.metric import MEAN, Pooling, declare
from keju.scoring.metric_value import Hits
from keju.scoring.preparations import NAMES, SCRIPT, mark_counts

_marks = partial(
    declare,
    form="punctuated",
    protocol="strict",
    prepare=SCRIPT._replace(inputs=lambda sample: (mark_counts(sample),)),
    over=Pooling("marks of all items together"),
    source="keju",
)
_names = partial(
    declare,
    form="entities",
    protocol="strict",
    prepare=NAMES,
    over=Pooling("names of all items together"),
    source="keju",
)


@_marks(
    "F1_macro", "mean of the F1 of each item", rule_zh="各题 F1 的均值", part="f1_macro", over=MEAN
)
@_marks(
    "Recall",
    "recall: share of the true marks that are matched",
    rule_zh="召回率：参考答案的标点中，得到配对的比例",
    part="recall",
)
@_marks(
    "Precision",
    "precision: share of the marks in the answer that are matched",
    rule_zh="精确率：回答的标点中，得到配对的比例",
    part="precision",
)
@_marks(
    "F1",
    "F1 of punctuation marks, matched one to one in the gaps of the aligned texts",
    rule_zh="标点的 F1，在对齐文本的字间一一配对",
    part="f1",
)
def marks_found(counts: MarkCounts) -> Hits:
    """Punctuation marks that are right."""
    return Hits(*counts)


@_names(
    "F1_macro", "mean of the F1 of each item", rule_zh="各题 F1 的均值", part="f1_macro", over=MEAN
)
@_names(
    "Recall",
    "recall: share of the true names that are in the answer",
    rule_zh="召回率：参考答案的名称中，在回答里的比例",
    part="recall",
)
@_names(
    "Precision",
    "precision: share of the names in the answer that are true",
    rule_zh="精确率：回答的名称中，正确的比例",
    part="precision",
)
@_names("F1", "F1 of sets of names", rule_zh="名称集合的 F1", part="f1")
def names_found(truth: frozenset[str], found: frozenset[str]) -> Hits:
    """Names that are right."""
    return Hits(len(truth & found), len(found), len(truth))
