"""AncientDoc, `official`: our reading of the paper and of its tables; no scorer was published."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from keju.metrics import PRF, character_error_rate, chrf, distance, position_prf
from keju.scoring.metric import MetricValue, Pooling, Stats, declare, mean, ratio
from keju.scoring.preparations import AS_IT_IS, CANDIDATE_AS_IT_IS, RAW
from keju.scoring.semantic import token_match_f1

_official = partial(
    declare,
    protocol="official",
    benchmark="AncientDoc",
    prepare=RAW,
    source="the paper's metrics, our reading",
)
_ocr = partial(_official, form="transcription")


@_ocr(
    "CER",
    "character error rate: edit distance / true characters; white space and punctuation count, and "
    "there is no upper bound",
    rule_zh="字符错误率：编辑距离除以参考字符数；空白与标点计入，没有上限",
    worst=1.0,
    higher_is_better=False,
)
def error_rate(reference: str, response: str) -> MetricValue:
    """CER of the texts as they are."""
    value = character_error_rate(reference, response)
    return mean(value, edits=distance(reference, response), length=len(reference))


@_ocr(
    "CharRecall",
    "share of the true characters that are equal to the character read at the same position",
    rule_zh="参考字符中，与相同位置上识别出的字符相同的比例",
    part="recall",
)
@_ocr(
    "CharPrecision",
    "share of the characters read that are equal to the true character at the same position",
    rule_zh="识别出的字符中，与相同位置上的参考字符相同的比例",
    part="precision",
)
def positions(reference: str, response: str) -> PRF:
    """Rates of characters at equal positions."""
    return position_prf(reference, response)


def harmonic_of_means(scored: Sequence[Stats]) -> float:
    """F1 of mean precision and mean recall, as 23 of the 27 printed rows are."""
    precision, recall = (
        sum(stats[name] for stats in scored) / len(scored) for name in ("precision", "recall")
    )
    total = precision + recall
    return 2 * precision * recall / total if total else 0.0


@_ocr(
    "CharF1",
    "F1 of characters at equal positions",
    rule_zh="相同位置上字符的 F1",
    over=Pooling("harmonic mean of mean precision and mean recall", harmonic_of_means),
)
def position_f1(reference: str, response: str) -> MetricValue:
    """F1 of one page; a task's is the harmonic mean of mean precision and mean recall."""
    rates = position_prf(reference, response)
    return ratio(rates.f1, 1, rates.f1, precision=rates.precision, recall=rates.recall)


@_official(
    "chrF++",
    "chrF with pairs of words; each stretch of text without white space counts as one word",
    rule_zh="加上相邻两个词的 chrF；中间没有空白的一段文本算一个词",
    form="text",
    prepare=RAW._replace(name="raw+words", rule=f"{AS_IT_IS}, words parted at spaces"),
)
def chrf_plus_plus(reference: str, response: str) -> float:
    """Sentence chrF++ of the texts as they are (sacrebleu, word order 2)."""
    return chrf(reference, response, word_orders=2)


_official(
    "BS-F1",
    "BERTScore F1 by token matching, not rescaled, so unrelated text gets about half",
    rule_zh=("逐词元匹配的 BERTScore F1，没有重新标度，所以无关的文本也得到约一半"),
    form="text",
    prepare=CANDIDATE_AS_IT_IS,
    encoder="bert-base-chinese",
)(token_match_f1)
