"""Metric ``GapAcc``: the gaps of a damaged text that a transcription has too."""

from __future__ import annotations

import keju

GAP = "□"


@keju.metric(
    name="GapAcc",
    form="transcription",
    rule="share of the gaps (□) of the reference that the answer has too",
    rule_zh="参考文本中的缺字号（□）在回答中也有的比例",
    prepare="raw",
)
def gaps(reference: str, answer: str) -> float:
    """The share of gaps, from 0 to 1.

    Raises:
        ValueError: the reference has no gap, so that the page has no value.
    """
    wanted = reference.count(GAP)
    if not wanted:
        raise ValueError("the reference has no gap")
    return min(wanted, answer.count(GAP)) / wanted
