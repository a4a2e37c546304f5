"""Tasks of pairs: metrics of the ranking that the answers to all pairs of an item make."""

from __future__ import annotations

from functools import partial

from keju.items import Protocol
from keju.metrics.ranking import accuracy_at, auc, average_precision
from keju.scoring.gallery import Gallery
from keju.scoring.metric import Preparation, declare
from keju.scoring.preparations import NO_TEXT


def ranking_preparation(name: str, protocol: Protocol) -> Preparation:
    """The ranking of a gallery, as a protocol reads the answers.

    Args:
        name: of the preparation, in signatures.
        protocol: which of the two.
    """
    return Preparation(name, NO_TEXT, lambda gallery: (gallery.ranking(protocol),))


def yes_answers(gallery: Gallery) -> tuple[list[bool | None], list[int]]:
    """Whether `official` reads a yes for each candidate, and the right ones."""
    values = gallery.values("official")
    return [None if value is None else value > 0 for value in values], gallery.relevant


FIRST = {
    "rule": "1 if a right candidate is first, ties get the expected value",
    "rule_zh": "正确的候选排在第一，即得 1；并列取期望值",
}
"""The rule of the accuracy at the first rank."""


def among_first(number: int) -> dict[str, str]:
    """The rule of the accuracy at a rank after the first."""
    return {
        "rule": f"1 if a right candidate is among the first {number}, ties get the expected value",
        "rule_zh": f"前 {number} 个候选中有正确者，即得 1；并列取期望值",
    }


_AP = {
    "rule": "average precision over all candidates, ties get the expected value",
    "rule_zh": "全部候选的平均精度，并列取期望值",
}
_AUC = {
    "rule": "area under the ROC curve: how often a right candidate is ranked above a wrong one; a "
    "tie counts half",
    "rule_zh": "ROC 曲线下面积：正确的候选排在错误的候选之前的频率，并列计半",
}
_strict = partial(declare, protocol="strict", of_pairs=True, source="keju")
_of_probabilities = partial(
    _strict, form="probability", prepare=ranking_preparation("one-probability", "strict")
)
_of_yes_no = partial(_strict, form="yes-no", prepare=ranking_preparation("yes-no", "strict"))

_of_probabilities("Acc@1", **FIRST)(partial(accuracy_at, k=1))
_of_probabilities("AP", **_AP)(average_precision)
_of_probabilities("AUC", **_AUC)(auc)
_of_yes_no(
    "Acc@1",
    "1 if a right candidate is first, Yes before No, ties get the expected value",
    rule_zh="正确的候选排在第一，即得 1；回答“是”的在前，并列取期望值",
)(partial(accuracy_at, k=1))
_of_yes_no("AP", **_AP)(average_precision)
_of_yes_no("AUC", **_AUC)(auc)
