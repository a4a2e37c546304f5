"""The metrics of `strict`, which belong to no benchmark, by answer form.

Importing this module declares them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import partial
from statistics import fmean, median

from keju.metrics import (
    EditCounts,
    HitCounts,
    UndefinedMetricError,
    chrf_counts,
    chrf_of_counts,
    distance,
    error_parts,
    sentence_bleu,
)
from keju.metrics import relative_error as relative_error_of
from keju.metrics.boxes import Boxes, box_hits, mean_iou
from keju.metrics.ranking import accuracy_at, auc, average_precision
from keju.scoring.metric import MEAN, Hits, MetricValue, Pooling, Stats, declare, mean, ratio
from keju.scoring.preparations import (
    AS_IT_IS,
    BOXES,
    COUNTED,
    NAMES,
    ONE_LETTER,
    ONE_NUMBER,
    SCRIPT,
    YES_NO,
    Preparation,
    best_edit_counts,
    letter_pair,
    mark_counts,
    normalised_pair,
    ranking_preparation,
    transcription_pairs,
)
from keju.scoring.rankings import Gallery
from keju.scoring.scoring_sample import ScoringSample
from keju.scoring.semantic import sentence_cosine_above_floor, token_match_f1_above_floor
from keju.scoring.short_answer import same_short
from keju.text import Layer, Pair
from keju.texts import _

_strict = partial(declare, protocol="strict", source="keju")


# Multiple choice and short answers.


def letter_pair_with_count(sample: ScoringSample) -> tuple[str, str | None, int]:
    """`letter_pair`, and how many options there are.

    Raises:
        UndefinedMetricError: their number is not known.
    """
    offered = len(sample.options)
    if offered < 2:
        raise UndefinedMetricError(_("the number of options is not known"))
    return *letter_pair(sample), offered


def accepted_answers(sample: ScoringSample) -> tuple[Sequence[str], Sequence[str]]:
    """The answers that are right, and the one that the response gives, if it gives one."""
    answers = () if sample.answer is None else (sample.answer,)
    return (sample.reference, *sample.item.also_accepted), answers


@_strict(
    "Acc",
    "accuracy: 1 if the one extracted option is right; an unparsable answer is wrong",
    rule_zh="准确率：提取的唯一选项正确，即得 1；不能提取出答案的回答算错",
    form="letter",
    prepare=ONE_LETTER,
)
def right_letter(truth: str, taken: str | None) -> float:
    """1 if the one option that was taken is the right one; unparsable is wrong."""
    return float(taken == truth)


@_strict(
    "Acc_chance_corrected",
    "accuracy corrected for chance: right 1, wrong -1/(k-1) for k options, unparsable 0, so that "
    "guessing gets 0",
    rule_zh=(
        "校正随机猜测的准确率：有 k 个选项时，答对得 1，答错得 -1/(k-1)"
        "，不能提取出答案得 0，所以随机猜测得 0"
    ),
    form="letter",
    prepare=ONE_LETTER._replace(inputs=letter_pair_with_count),
)
def right_letter_above_chance(truth: str, taken: str | None, offered: int) -> float:
    """Right 1, wrong -1/(k-1) for k options, no answer 0: chance and silence both earn 0."""
    if taken is None:
        return 0.0
    return 1.0 if taken == truth else -1 / (offered - 1)


@_strict(
    "ExactMatch",
    "1 if the extracted answer is the reference or an accepted one; numbers are compared by value",
    rule_zh="提取的答案与参考答案相同，或是可接受的答案，即得 1；数字按数值比较",
    form="short",
    prepare=COUNTED._replace(inputs=accepted_answers),
)
def exact_match(references: Sequence[str], answers: Sequence[str]) -> float:
    """1 if the short answer is the true one or an accepted one, numbers by value."""
    return float(
        any(same_short(reference, answer) for reference in references for answer in answers)
    )


# Yes or no, counts and boxes.


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
    return mean_iou(truth, predicted)


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
    hits = box_hits(truth, predicted)
    numerator = 2 * sum(hits.hits) / len(hits.hits)
    return ratio(numerator, hits.truth + hits.predicted, hits.f1)


# Punctuation and names.

_marks = partial(
    _strict,
    form="punctuated",
    prepare=SCRIPT._replace(inputs=lambda sample: (mark_counts(sample),)),
    over=Pooling("marks of all items together"),
)
_names = partial(
    _strict,
    form="entities",
    prepare=NAMES,
    over=Pooling("names of all items together"),
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
def marks_found(counts: HitCounts) -> Hits:
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


# Pairs: the ranking that the answers to all pairs of an item make.


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
_of_pairs = partial(_strict, of_pairs=True)
_of_probabilities = partial(
    _of_pairs, form="probability", prepare=ranking_preparation("one-probability", "strict")
)
_of_yes_no = partial(_of_pairs, form="yes-no", prepare=ranking_preparation("yes-no", "strict"))

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


# Translations and open answers.

_text = partial(_strict, form="text")


@_text(
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


@_text(
    "BLEU_char",
    "BLEU-4 of characters, method-1 smoothing",
    rule_zh="按字符的 BLEU-4，平滑方法 1",
    prepare=SCRIPT._replace(name="script>chars"),
)
def bleu_of_characters(reference: str, answer: str) -> float:
    """Mean sentence BLEU over characters, without white space, method-1 smoothing."""
    truth, text = ("".join(each.split()) for each in (reference, answer))
    return sentence_bleu(truth, text)


_SCRIPT_ONCE = SCRIPT._replace(
    name="script>once", inputs=lambda sample: normalised_pair(sample)[::-1]
)
ANSWER_ONCE = Preparation(
    "answer>once", AS_IT_IS, lambda sample: (sample.answer or "", sample.reference)
)
_RESCALED = (
    "rescaled so that another item's true text gets 0 and identical text 1; repeated text gets "
    "nothing"
)
_RESCALED_ZH = "重新标度，使另一题的参考答案得 0，相同的文本得 1；重复的文本不得分"
matched_above_floor = partial(
    _text,
    "BERTScore_floor",
    f"BERTScore F1 by token matching, {_RESCALED}",
    rule_zh=f"逐词元匹配的 BERTScore F1，{_RESCALED_ZH}",
    encoder="bert-base-chinese",
    prepare=_SCRIPT_ONCE,
)
"""For benchmarks whose answers are in another language, with another encoder."""

matched_above_floor()(token_match_f1_above_floor)
_text(
    "cosine_floor",
    f"cosine of sentence vectors, {_RESCALED}",
    rule_zh=f"句向量的余弦，{_RESCALED_ZH}",
    encoder="minilm",
    prepare=ANSWER_ONCE,
)(sentence_cosine_above_floor)


# Transcriptions: character error rates and rates of matched characters.

_LAYERED = COUNTED._replace(inputs=lambda case: (transcription_pairs(case), best_edit_counts(case)))
"""For functions of the pairs of texts by layer of normalisation, and of the edit counts."""

_EDITS = COUNTED._replace(inputs=lambda case: (best_edit_counts(case),))
"""For functions of the edit counts alone; `COUNTED` is for functions of reference and answer."""

_EDITS_OF_ALL = Pooling("edits of all items over their true characters")

_transcription = partial(_strict, form="transcription", prepare=COUNTED)


@_transcription(
    "CharAcc",
    "character accuracy: 1 - edits / true characters, at least 0; an added character costs as much "
    "as a wrong one",
    rule_zh=(
        "字符准确率：1 减去编辑次数与参考字符数之比，最低为 0；多出一个字符与认错一个字符扣分相同"
    ),
    prepare=_EDITS,
)
def character_accuracy(counts: EditCounts) -> float:
    """1 - min(1, CER): bounded, higher is better."""
    return 1 - min(1.0, counts.distance / counts.expected)


@_transcription(
    "CER",
    "character error rate: edit distance / true characters",
    rule_zh="字符错误率：编辑距离除以参考字符数",
    prepare=_LAYERED,
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


@_transcription(
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


@_transcription(
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


_matched = partial(_transcription, prepare=_EDITS, over=Pooling("matches of all items together"))


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
