"""MCS-Bench's metrics as its paper prints them, where its script computes something else.

They are the protocol `printed`, for a comparison of the two. All but BERTScore take (reference,
hypothesis), two texts prepared alike, and return 0 to 1.
"""

from __future__ import annotations

from functools import partial

from keju.benchmarks.mcs_bench import BENCHMARK, texts
from keju.benchmarks.mcs_bench.metrics import (
    CANDIDATE_AND_ANSWER,
    CHARACTERS,
    CLEANED_CHARACTERS,
    CONTAINED,
    CONVERTED,
    contains_answer,
)
from keju.definitions import choices_of
from keju.metrics import distance, f_beta, rouge_l, rouge_n, sentence_bleu
from keju.scoring.metric import declare
from keju.scoring.scoring_sample import ScoringSample
from keju.scoring.semantic import token_match_f1


def bleu_eq5(reference: str, hypothesis: str) -> float:
    """MCS-Bench eqs. 5 and 6: BP x exp(sum of log p_n / 4), over characters, without smoothing.

    An order without a match makes it 0, so that texts of fewer than four characters earn nothing.
    """
    return sentence_bleu(reference, hypothesis, smoothing="none")


def rouge_1_recall(reference: str, hypothesis: str) -> float:
    """MCS-Bench eq. 11: the share of the reference's characters that are met."""
    return rouge_n(reference, hypothesis, 1).recall


def rouge_2_recall(reference: str, hypothesis: str) -> float:
    """MCS-Bench eq. 12: the share of the reference's pairs of characters."""
    return rouge_n(reference, hypothesis, 2).recall


def rouge_l_leaning(reference: str, hypothesis: str) -> float:
    """MCS-Bench eqs. 13 to 15: F of the longest common subsequence, beta 1.2."""
    rates = rouge_l(reference, hypothesis)
    return f_beta(rates.precision, rates.recall, 1.2)


def anls_paper(reference: str, hypothesis: str) -> float:
    """The paper's eqs. 7, 8: max(0, 1 - NLD / len(reference)), NLD normalised already."""
    longer = max(len(reference), len(hypothesis))
    if not reference:
        return float(not hypothesis)
    return max(0.0, 1 - distance(reference, hypothesis) / longer / len(reference))


def anls_threshold(reference: str, hypothesis: str, *, threshold: float = 0.5) -> float:
    """Biten et al. 2019: the script's value where the normalised distance is under `threshold`."""
    longer = max(len(reference), len(hypothesis))
    normalised = distance(reference, hypothesis) / longer if longer else 0.0
    return 1 - normalised if normalised < threshold else 0.0


def reviewed_pair(sample: ScoringSample) -> tuple[str, str]:
    """Answer and response as the script compares them; after a review, the option that is chosen.

    The script counts "ABCD" as right, so the authors reviewed answers with several letters by hand
    (C.2). Here such an answer counts by the letter that is read or decided, as does every answer
    that people or a model decided. Which ones the authors reviewed is not published.
    """
    pair = CONTAINED.inputs(sample)
    letters = choices_of(sample.item) or "ABCDEF"
    if sample.decision is None and sum(letter in sample.text for letter in letters) < 2:
        return pair
    return sample.reference.strip().upper(), sample.reading.value


_printed = partial(
    declare,
    benchmark=BENCHMARK,
    protocol="printed",
    form="text",
    prepare=CHARACTERS,
    source="the paper's C.2",
)
_CONVERTED_CHARACTERS = CHARACTERS._replace(inputs=texts.converted_pair)
_BLEU = "BLEU-4 of characters without smoothing"
_BLEU_ZH = "按字符的 BLEU-4，不平滑"

_printed("BLEU_eq5", _BLEU, rule_zh=_BLEU_ZH, form="transcription", prepare=CLEANED_CHARACTERS)(
    bleu_eq5
)
_printed("BLEU_eq5", _BLEU, rule_zh=_BLEU_ZH, prepare=_CONVERTED_CHARACTERS)(bleu_eq5)
_printed("ROUGE-1_recall", "recall of characters", rule_zh="字符的召回率")(rouge_1_recall)
_printed("ROUGE-2_recall", "recall of pairs of characters", rule_zh="相邻两个字符的召回率")(
    rouge_2_recall
)
_printed(
    "ROUGE-L_beta1.2",
    "F of the longest common subsequence, beta 1.2",
    rule_zh="最长公共子序列的 F 值，beta 为 1.2",
)(rouge_l_leaning)
_printed(
    "ANLS_eq7",
    "1 - normalised edit distance / length of the reference (eqs. 7 and 8)",
    rule_zh="1 减去归一化编辑距离与参考答案长度之比（式 7、8）",
    prepare=CONVERTED,
)(anls_paper)
_printed(
    "ANLS_biten",
    "1 - edit distance / the longer length, 0 from a distance of .5 (Biten et al. 2019)",
    rule_zh="1 减去编辑距离与两者中较长的长度之比，距离达到 0.5 时为 0（Biten et al. 2019）",
    prepare=CONVERTED,
)(anls_threshold)
_printed(
    "Acc_reviewed",
    "as the script; an answer with several letters counts by the letter that is read or decided",
    rule_zh="与脚本相同；有多个字母的回答按读出或判定的字母计",
    form="letter",
    prepare=CONTAINED._replace(name="one letter", inputs=reviewed_pair),
)(contains_answer)
# C.2 and 3.2 name BERTScore (Zhang et al. 2020), F1 by token matching; the script computes another
# number. The paper names neither encoder, layer nor rescaling. Ours are bert-score's defaults for
# Chinese: bert-base-chinese, layer 8, not rescaled (our reading).
_printed(
    "BERTScore_zhang",
    "BERTScore F1 by token matching (Zhang et al. 2020), not rescaled",
    rule_zh="逐词元匹配的 BERTScore F1（Zhang et al. 2020），不重新标度",
    prepare=CANDIDATE_AND_ANSWER,
    encoder="bert-base-chinese",
    source="the paper's C.2; the encoder is our reading",
)(token_match_f1)
