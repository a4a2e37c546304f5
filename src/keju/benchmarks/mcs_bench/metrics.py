"""MCS-Bench's metrics.

The protocol `official` is what the authors' script does, quirks included; `printed` are the paper's
formulas where the script computes something else. All but BERTScore take (reference, hypothesis),
two texts prepared alike.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from keju.benchmarks.mcs_bench import BENCHMARK, script
from keju.definitions import choices_of
from keju.metrics import (
    PRF,
    EditCounts,
    accurate_rate,
    correct_rate,
    distance,
    f_beta,
    normalised_distance,
    rouge_l,
    rouge_n,
    sentence_bleu,
    set_prf,
)
from keju.scoring.metric import MetricValue, declare, mean
from keju.scoring.preparations import Preparation
from keju.scoring.scoring_sample import ScoringSample
from keju.scoring.semantic import first_token_cosine, token_match_f1

_CLEANED = (
    "letters, digits, ideographs are kept on both sides; then the response alone is made "
    "simplified, by phrases (zhconv)"
)
_CONVERTED = "the response alone is made simplified, by phrases (zhconv)"
CLEANED = Preparation("clean>convert", _CLEANED, script.cleaned_pair)
CLEANED_WITH_ANSWER = CLEANED._replace(inputs=script.cleaned_with_answer)
CLEANED_CHARACTERS = CLEANED_WITH_ANSWER._replace(name="clean>convert>chars")
EDITS = CLEANED._replace(inputs=lambda sample: (script.edits(sample),))
CONTAINED = CLEANED._replace(
    inputs=lambda sample: (script.simplified_answer(sample), script.cleaned(sample))
)
CONVERTED = Preparation(
    "convert",
    f"{_CONVERTED}; nothing is removed",
    lambda sample: (script.simplified_answer(sample), script.converted(sample)),
)
CONVERTED_CHARACTERS = CONVERTED._replace(name="convert>chars")
CHARACTERS = CONVERTED_CHARACTERS._replace(
    inputs=lambda sample: (script.simplified_answer(sample), script.unspaced(sample))
)
WORDS = CONVERTED._replace(
    name="convert>jieba", rule=f"{_CONVERTED}; both are cut into words (jieba)"
)
CANDIDATE_AND_ANSWER = CONVERTED._replace(
    inputs=lambda sample: (script.converted(sample), script.simplified_answer(sample))
)

_official = partial(
    declare, protocol="official", benchmark=BENCHMARK, source="the authors' scoring script"
)
_ocr = partial(_official, form="transcription", prepare=CLEANED_WITH_ANSWER)
_text = partial(_official, form="text", prepare=CHARACTERS)


def _declare_rates(
    declare_form: Callable[..., Any], rates: Callable[[str, str], PRF], **rules: tuple[str, str]
) -> None:
    """Declare precision, recall and F1 that one function returns, each with its rule."""
    for name, (rule, rule_zh) in rules.items():
        declare_form(name, rule, rule_zh=rule_zh, part=name.lower())(rates)


@_ocr(
    "AR",
    "1 - edits / true characters; below 0 where edits outnumber them",
    rule_zh="1 减去编辑次数与参考字符数之比；编辑次数多于参考字符数时小于 0",
    prepare=EDITS,
)
def _accurate_rate(counts: EditCounts) -> MetricValue:
    return mean(accurate_rate(counts), **counts._asdict())


@_ocr(
    "CR",
    "share of the true characters kept along the edit path of the authors' script; added "
    "characters cost nothing",
    rule_zh="沿作者脚本的编辑路径保留下来的参考字符的比例；多出的字符不扣分",
    prepare=EDITS,
)
def _correct_rate(counts: EditCounts) -> MetricValue:
    return mean(correct_rate(counts), **counts._asdict())


_ocr(
    "Edit_Distance",
    "edit distance / the longer length",
    rule_zh="编辑距离除以两者中较长的长度",
    prepare=CLEANED,
    worst=1.0,
    higher_is_better=False,
)(normalised_distance)
_declare_rates(
    _ocr,
    set_prf,
    F1=("F1 of the sets of distinct characters; order and number do not count",
        "不同字符的集合的 F1；不计顺序和次数"),
    Precision=("precision of the sets of distinct characters", "不同字符的集合的精确率"),
    Recall=("recall of the sets of distinct characters", "不同字符的集合的召回率"),
)  # fmt: skip
_ocr(
    "BLEU",
    "BLEU-4 of characters, method-1 smoothing",
    rule_zh="按字符的 BLEU-4，平滑方法 1",
    prepare=CLEANED_CHARACTERS,
)(sentence_bleu)
_text(
    "BLEU",
    "BLEU-4 of words, method-4 smoothing",
    rule_zh="按词的 BLEU-4，平滑方法 4",
    prepare=WORDS,
)(script.bleu_of_words)
_text("ROUGE-1", "F1 of characters", rule_zh="字符的 F1", part="f1")(partial(rouge_n, order=1))
_text("ROUGE-2", "F1 of pairs of characters", rule_zh="相邻两个字符的 F1", part="f1")(
    partial(rouge_n, order=2)
)
_text("ROUGE-L", "F1 of the longest common subsequence", rule_zh="最长公共子序列的 F1", part="f1")(
    rouge_l
)


@_text(
    "ANLS",
    "1 - edit distance / the longer length, no threshold",
    rule_zh="1 减去编辑距离与两者中较长的长度之比，没有阈值",
    prepare=CONVERTED,
)
def anls(reference: str, response: str) -> float:
    """ANLS as the script computes it: 1 where both texts are empty, for which it returns early."""
    return 1 - normalised_distance(reference, response) if reference or response else 1.0


_declare_rates(
    partial(_official, form="punctuated", prepare=CONVERTED),
    script.official_punctuation_prf,
    F1=("F1 of punctuation marks, each with the character before it; a right pair counts each time "
        "it is repeated, so the value can be above 1",
        "标点的 F1，每个标点与它前面的一个字符成对；正确的一对每重复一次就计一次，所以可以大于 1"),
    Precision=("share of the marks in the answer whose pair occurs anywhere in the true text",
               "回答的标点中，其标点对在参考答案任何一处出现的比例"),
    Recall=("right pairs in the answer, repeats included / true marks; can be above 1",
            "回答中正确的标点对（含重复）除以参考答案的标点数；可以大于 1"),
)  # fmt: skip
_declare_rates(
    partial(_official, form="entities", prepare=CONVERTED),
    script.official_entities_prf,
    F1=("F1 of sets of names, split at 、 only and compared as written",
        "名称集合的 F1，只在“、”处切分，按原样比较"),
    Precision=("precision of sets of names, split at 、 only",
               "名称集合的精确率，只在“、”处切分"),
    Recall=("recall of sets of names, split at 、 only", "名称集合的召回率，只在“、”处切分"),
)  # fmt: skip


@_official(
    "Acc",
    "1 if the letter of the right option occurs anywhere in the response",
    rule_zh="回答中任何一处出现正确选项的字母，即得 1",
    form="letter",
    prepare=CONTAINED,
)
@_official(
    "Acc",
    "1 if the true answer occurs anywhere in the response",
    rule_zh="回答中任何一处出现参考答案，即得 1",
    form="short",
    prepare=CONTAINED,
)
def _contains_answer(reference: str, response: str) -> float:
    return float(reference in response)


_encoded = partial(_text, prepare=CANDIDATE_AND_ANSWER, encoder="chinese-bert-wwm")
_encoded(
    "BERTScore",
    "cosine of the mean first-token vectors of blocks of 512 tokens, which is not BERTScore; "
    "unrelated text gets about half",
    rule_zh=(
        "每 512 个词元一段，各段首词元向量的均值的余弦，不是 BERTScore；无关的文本也得到约一半"
    ),
)(first_token_cosine)
_encoded("Avg", "mean of BERTScore and ANLS", rule_zh="BERTScore 与 ANLS 的均值", beside="ANLS")(
    first_token_cosine
)

# The paper's formulas.

_printed = partial(
    declare,
    benchmark=BENCHMARK,
    protocol="printed",
    form="text",
    prepare=CHARACTERS,
    source="the paper's C.2",
)
# Eqs. 5 and 6: without smoothing, an order without a match makes the value 0, so that texts of
# fewer than four characters earn nothing.
_bleu = partial(
    _printed,
    "BLEU_eq5",
    "BLEU-4 of characters without smoothing",
    rule_zh="按字符的 BLEU-4，不平滑",
)
_unsmoothed = partial(sentence_bleu, smoothing="none")
_bleu(form="transcription", prepare=CLEANED_CHARACTERS)(_unsmoothed)
_bleu(prepare=CONVERTED_CHARACTERS)(_unsmoothed)
# Eqs. 11 and 12.
_printed("ROUGE-1_recall", "recall of characters", rule_zh="字符的召回率", part="recall")(
    partial(rouge_n, order=1)
)
_printed(
    "ROUGE-2_recall",
    "recall of pairs of characters",
    rule_zh="相邻两个字符的召回率",
    part="recall",
)(partial(rouge_n, order=2))


@_printed(
    "ROUGE-L_beta1.2",
    "F of the longest common subsequence, beta 1.2",
    rule_zh="最长公共子序列的 F 值，beta 为 1.2",
)
def rouge_l_leaning(reference: str, hypothesis: str) -> float:
    """Eqs. 13 to 15: F of the longest common subsequence, beta 1.2."""
    rates = rouge_l(reference, hypothesis)
    return f_beta(rates.precision, rates.recall, 1.2)


@_printed(
    "ANLS_eq7",
    "1 - normalised edit distance / length of the reference (eqs. 7 and 8)",
    rule_zh="1 减去归一化编辑距离与参考答案长度之比（式 7、8）",
    prepare=CONVERTED,
)
def anls_paper(reference: str, hypothesis: str) -> float:
    """Eqs. 7 and 8: max(0, 1 - NLD / len(reference)), NLD normalised already."""
    longer = max(len(reference), len(hypothesis))
    if not reference:
        return float(not hypothesis)
    return max(0.0, 1 - distance(reference, hypothesis) / longer / len(reference))


@_printed(
    "ANLS_biten",
    "1 - edit distance / the longer length, 0 from a distance of .5 (Biten et al. 2019)",
    rule_zh="1 减去编辑距离与两者中较长的长度之比，距离达到 0.5 时为 0（Biten et al. 2019）",
    prepare=CONVERTED,
)
def anls_threshold(reference: str, hypothesis: str) -> float:
    """Biten et al. 2019: the script's value where the normalised distance is under .5."""
    value = anls(reference, hypothesis)
    return value if 1 - value < 0.5 else 0.0


def _reviewed_pair(sample: ScoringSample) -> tuple[str, str]:
    """Answer and response as the script compares them; after a review, the option that is chosen.

    The script counts "ABCD" as right, so the authors reviewed answers with several letters by hand
    (C.2). Here such an answer counts by the letter that is read or decided, as does every answer
    that people or a model decided. Which ones the authors reviewed is not published.
    """
    pair: tuple[str, str] = CONTAINED.inputs(sample)
    letters = choices_of(sample.item) or "ABCDEF"
    if sample.decision is None and sum(letter in sample.text for letter in letters) < 2:
        return pair
    return sample.reference.strip().upper(), sample.reading.value


_printed(
    "Acc_reviewed",
    "as the script; an answer with several letters counts by the letter that is read or decided",
    rule_zh="与脚本相同；有多个字母的回答按读出或判定的字母计",
    form="letter",
    prepare=CONTAINED._replace(name="one letter", inputs=_reviewed_pair),
)(_contains_answer)
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
