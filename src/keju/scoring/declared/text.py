"""Translations and open answers, `strict`."""

from __future__ import annotations

from functools import partial

from keju.encoders import Pair
from keju.metrics import chrf_counts, chrf_of_counts, sentence_bleu
from keju.scoring.metric import Preparation, declare
from keju.scoring.preparations import AS_IT_IS, SCRIPT, normalised_pair
from keju.scoring.scoring_sample import ScoringSample
from keju.scoring.semantic import sentence_cosine_above_floor, token_match_f1_above_floor

_strict = partial(declare, form="text", protocol="strict", source="keju")


@_strict(
    "chrF",
    "chrF: F-score of sequences of 2 to 6 characters",
    rule_zh="chrF：2 到 6 个连续字符的 F 值",
    prepare=SCRIPT._replace(name="script>chars-2-6"),
)
def chrf_of_characters(reference: str, answer: str) -> float:
    """Mean sentence chrF over runs of 2 to 6 characters.

    Single characters are not counted, since a text read backwards has them all and would earn a
    sixth; they count only where the truth is a single character.
    """
    counts = chrf_counts(reference, answer)
    return chrf_of_counts(counts[1:] if counts[1].expected else counts)


@_strict(
    "BLEU_char",
    "BLEU-4 of characters, method-1 smoothing",
    rule_zh="按字符的 BLEU-4，平滑方法 1",
    prepare=SCRIPT._replace(name="script>chars"),
)
def bleu_of_characters(reference: str, answer: str) -> float:
    """Mean sentence BLEU over characters, without white space, method-1 smoothing."""
    truth, text = ("".join(each.split()) for each in (reference, answer))
    return sentence_bleu(truth, text)


def _normalised(sample: ScoringSample) -> Pair:
    reference, hypothesis = normalised_pair(sample)
    return hypothesis, reference


def _answer(sample: ScoringSample) -> Pair:
    return sample.answer or "", sample.reference


_SCRIPT_ONCE = SCRIPT._replace(name="script>once", inputs=_normalised)
ANSWER_ONCE = Preparation("answer>once", AS_IT_IS, _answer)
_RESCALED = (
    "rescaled so that another item's true text gets 0 and identical text 1; repeated text gets "
    "nothing"
)
_RESCALED_ZH = "重新标度，使另一题的参考答案得 0，相同的文本得 1；重复的文本不得分"
matched_above_floor = partial(
    _strict,
    "BERTScore_floor",
    f"BERTScore F1 by token matching, {_RESCALED}",
    rule_zh=f"逐词元匹配的 BERTScore F1，{_RESCALED_ZH}",
    encoder="bert-base-chinese",
    prepare=_SCRIPT_ONCE,
)
"""For benchmarks whose answers are in another language, with another encoder."""

matched_above_floor()(token_match_f1_above_floor)
_strict(
    "cosine_floor",
    f"cosine of sentence vectors, {_RESCALED}",
    rule_zh=f"句向量的余弦，{_RESCALED_ZH}",
    encoder="minilm",
    prepare=ANSWER_ONCE,
)(sentence_cosine_above_floor)
