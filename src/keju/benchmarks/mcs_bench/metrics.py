"""MCS-Bench, `official`: what the authors' script does, quirks included."""

from __future__ import annotations

from functools import partial

from keju.benchmarks.mcs_bench import BENCHMARK, texts
from keju.benchmarks.mcs_bench.script import official_entities_prf, official_punctuation_prf
from keju.benchmarks.mcs_bench.segmentation import words
from keju.metrics import (
    PRF,
    EditCounts,
    UndefinedMetricError,
    accurate_rate,
    correct_rate,
    normalised_distance,
    rouge_l,
    rouge_n,
    sentence_bleu,
    set_prf,
)
from keju.metrics.base import TooLongError
from keju.scoring.metric import MetricValue, declare, mean
from keju.scoring.preparations import Preparation
from keju.scoring.scoring_sample import ScoringSample
from keju.scoring.semantic import first_token_cosine

# jieba's time grows with the square of a run of characters that are in no word of its dictionary.
_LONGEST_CUT = 20_000

_CLEANED = (
    "letters, digits, ideographs are kept on both sides; then the response alone is made "
    "simplified, by phrases (zhconv)"
)
_CONVERTED = "the response alone is made simplified, by phrases (zhconv)"
CLEANED = Preparation("clean>convert", _CLEANED, texts.cleaned_pair)
CLEANED_WITH_ANSWER = CLEANED._replace(inputs=texts.cleaned_with_answer)
CLEANED_CHARACTERS = CLEANED_WITH_ANSWER._replace(name="clean>convert>chars")
EDITS = CLEANED._replace(inputs=lambda sample: (texts.edits(sample),))
CONTAINED = CLEANED._replace(
    inputs=lambda sample: (texts.simplified_answer(sample), texts.cleaned(sample))
)
CONVERTED = Preparation("convert", f"{_CONVERTED}; nothing is removed", texts.converted_pair)
CHARACTERS = CONVERTED._replace(name="convert>chars", inputs=texts.unspaced_pair)
WORDS = Preparation(
    "convert>jieba", f"{_CONVERTED}; both are cut into words (jieba)", texts.converted_pair
)

_official = partial(
    declare, protocol="official", benchmark=BENCHMARK, source="the authors' scoring script"
)
_ocr = partial(_official, form="transcription", prepare=CLEANED_WITH_ANSWER)
_text = partial(_official, form="text", prepare=CHARACTERS)
_punctuated = partial(_official, form="punctuated", prepare=CONVERTED)
_entities = partial(_official, form="entities", prepare=CONVERTED)


@_ocr(
    "AR",
    "1 - edits / true characters; below 0 where edits outnumber them",
    rule_zh="1 减去编辑次数与参考字符数之比；编辑次数多于参考字符数时小于 0",
    prepare=EDITS,
)
def cleaned_accurate_rate(counts: EditCounts) -> MetricValue:
    """AR of the cleaned texts."""
    return mean(accurate_rate(counts), **counts._asdict())


@_ocr(
    "CR",
    "share of the true characters kept along the edit path of the authors' script; added "
    "characters cost nothing",
    rule_zh="沿作者脚本的编辑路径保留下来的参考字符的比例；多出的字符不扣分",
    prepare=EDITS,
)
def cleaned_correct_rate(counts: EditCounts) -> MetricValue:
    """CR of the cleaned texts."""
    return mean(correct_rate(counts), **counts._asdict())


@_ocr(
    "Edit_Distance",
    "edit distance / the longer length",
    rule_zh="编辑距离除以两者中较长的长度",
    prepare=CLEANED,
    worst=1.0,
    higher_is_better=False,
)
def edit_distance(reference: str, response: str) -> float:
    """Normalised edit distance of the cleaned texts."""
    return normalised_distance(reference, response)


@_ocr(
    "Recall",
    "recall of the sets of distinct characters",
    rule_zh="不同字符的集合的召回率",
    part="recall",
)
@_ocr(
    "Precision",
    "precision of the sets of distinct characters",
    rule_zh="不同字符的集合的精确率",
    part="precision",
)
@_ocr(
    "F1",
    "F1 of the sets of distinct characters; order and number do not count",
    rule_zh="不同字符的集合的 F1；不计顺序和次数",
    part="f1",
)
def set_rates(reference: str, response: str) -> PRF:
    """Rates over sets of characters."""
    return set_prf(reference, response)


@_ocr(
    "BLEU",
    "BLEU-4 of characters, method-1 smoothing",
    rule_zh="按字符的 BLEU-4，平滑方法 1",
    prepare=CLEANED_CHARACTERS,
)
def bleu_of_characters(reference: str, response: str) -> float:
    """BLEU over the characters of the cleaned texts, method-1 smoothing."""
    return sentence_bleu(reference, response)


@_text(
    "BLEU",
    "BLEU-4 of words, method-4 smoothing",
    rule_zh="按词的 BLEU-4，平滑方法 4",
    prepare=WORDS,
)
def bleu_of_words(reference: str, response: str) -> float:
    """BLEU over jieba's words, method-4 smoothing."""
    if max(len(reference), len(response)) > _LONGEST_CUT:
        error = UndefinedMetricError if len(reference) > _LONGEST_CUT else TooLongError
        raise error(f"longer than {_LONGEST_CUT:,} characters, too long for jieba")
    return sentence_bleu(words(reference), words(response), smoothing="method4")


@_text("ROUGE-1", "F1 of characters", rule_zh="字符的 F1")
def rouge_1(reference: str, response: str) -> float:
    """F1 of characters."""
    return rouge_n(reference, response, 1).f1


@_text("ROUGE-2", "F1 of pairs of characters", rule_zh="相邻两个字符的 F1")
def rouge_2(reference: str, response: str) -> float:
    """F1 of pairs of characters."""
    return rouge_n(reference, response, 2).f1


@_text("ROUGE-L", "F1 of the longest common subsequence", rule_zh="最长公共子序列的 F1")
def rouge_longest(reference: str, response: str) -> float:
    """F1 of the longest common subsequence."""
    return rouge_l(reference, response).f1


@_text(
    "ANLS",
    "1 - edit distance / the longer length, no threshold",
    rule_zh="1 减去编辑距离与两者中较长的长度之比，没有阈值",
    prepare=CONVERTED,
)
def anls(reference: str, response: str) -> float:
    """ANLS as the script computes it: 1 where both texts are empty, for which it returns early."""
    return 1 - normalised_distance(reference, response) if reference or response else 1.0


@_punctuated(
    "Recall",
    "right pairs in the answer, repeats included / true marks; can be above 1",
    rule_zh="回答中正确的标点对（含重复）除以参考答案的标点数；可以大于 1",
    part="recall",
)
@_punctuated(
    "Precision",
    "share of the marks in the answer whose pair occurs anywhere in the true text",
    rule_zh="回答的标点中，其标点对在参考答案任何一处出现的比例",
    part="precision",
)
@_punctuated(
    "F1",
    "F1 of punctuation marks, each with the character before it; a right pair counts each time it "
    "is repeated, so the value can be above 1",
    rule_zh=(
        "标点的 F1，每个标点与它前面的一个字符成对；正确的一对每重复一次就计一次，所以可以大于 1"
    ),
    part="f1",
)
def punctuation_rates(reference: str, response: str) -> PRF:
    """Rates of marks with the character before them; recall and F1 can pass 1."""
    return official_punctuation_prf(reference, response)


@_entities(
    "Recall",
    "recall of sets of names, split at 、 only",
    rule_zh="名称集合的召回率，只在“、”处切分",
    part="recall",
)
@_entities(
    "Precision",
    "precision of sets of names, split at 、 only",
    rule_zh="名称集合的精确率，只在“、”处切分",
    part="precision",
)
@_entities(
    "F1",
    "F1 of sets of names, split at 、 only and compared as written",
    rule_zh="名称集合的 F1，只在“、”处切分，按原样比较",
    part="f1",
)
def entity_rates(reference: str, response: str) -> PRF:
    """Rates of names."""
    return official_entities_prf(reference, response)


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
def contains_answer(reference: str, response: str) -> float:
    """1 if the response, cleaned and converted, contains the answer unchanged."""
    return float(reference in response)


def _pair(sample: ScoringSample) -> tuple[str, str]:
    """Candidate and reference."""
    return texts.converted(sample), texts.simplified_answer(sample)


CANDIDATE_AND_ANSWER = CONVERTED._replace(inputs=_pair)

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
