"""The metrics of `strict`, which belong to no benchmark, by answer form.

Importing this module declares them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import partial
from itertools import product, starmap
from statistics import fmean, median

from keju.items import AnswerForm
from keju.metrics import (
    EditCounts,
    ErrorParts,
    HitCounts,
    UndefinedMetricError,
    chrf_counts,
    chrf_of_counts,
    distance,
    prf,
    sentence_bleu,
)
from keju.metrics import relative_error as relative_error_of
from keju.metrics.boxes import Boxes, box_hits, mean_iou
from keju.metrics.ranking import accuracy_at, auc, average_precision
from keju.scoring.metric import MEAN, MetricValue, Pooling, Stats, declare, mean, ratio
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
    transcription_parts,
)
from keju.scoring.scoring_sample import ScoringSample
from keju.scoring.semantic import sentence_cosine_above_floor, token_match_f1_above_floor
from keju.scoring.short_answer import same_short
from keju.text import Layer, Pair
from keju.texts import _

_strict = partial(declare, protocol="strict", source="keju")


# Multiple choice and short answers.


def _letter_pair_with_count(sample: ScoringSample) -> tuple[str, str | None, int]:
    """`letter_pair`, and how many options there are.

    Raises:
        UndefinedMetricError: their number is not known.
    """
    offered = len(sample.options)
    if offered < 2:
        raise UndefinedMetricError(_("the number of options is not known"))
    return *letter_pair(sample), offered


def _accepted_answers(sample: ScoringSample) -> tuple[Sequence[str], Sequence[str]]:
    """The answers that are right, and the one that the response gives, if it gives one."""
    answers = () if sample.answer is None else (sample.answer,)
    return (sample.reference, *sample.item.also_accepted), answers


_strict(
    "Acc",
    "accuracy: 1 if the one extracted option is right; an unparsable answer is wrong",
    form="letter",
    prepare=ONE_LETTER,
)(lambda reference, answer: float(answer == reference))


@_strict(
    "Acc_chance_corrected",
    "accuracy corrected for chance: right 1, wrong -1/(k-1) for k options, unparsable 0, so that "
    "guessing gets 0",
    form="letter",
    prepare=ONE_LETTER._replace(inputs=_letter_pair_with_count),
)
def _right_letter_above_chance(reference: str, answer: str | None, offered: int) -> float:
    if answer is None:
        return 0.0
    return 1.0 if answer == reference else -1 / (offered - 1)


_strict(
    "ExactMatch",
    "1 if the extracted answer is the reference or an accepted one; numbers are compared by value",
    form="short",
    prepare=COUNTED._replace(inputs=_accepted_answers),
)(lambda references, answers: float(any(starmap(same_short, product(references, answers)))))


# Yes or no, counts and boxes.


def _mean_of_recalls(scored: Sequence[Stats]) -> float:
    """Balanced accuracy: the mean over the classes that there are of the share that is right."""
    by_class: dict[float, list[float]] = defaultdict(list)
    for stats in scored:
        by_class[stats["positive"]].append(stats["numerator"])
    return fmean(fmean(right) for right in by_class.values())


@_strict(
    "BalancedAcc",
    "balanced accuracy: 1 if the extracted answer (yes or no) is the reference",
    form="yes-no",
    prepare=YES_NO,
    over=Pooling("mean of the shares of true yeses and true noes that are right", _mean_of_recalls),
)
def right_polarity(truth: str, taken: str | None) -> MetricValue:
    """1 if the answer taken is the true one; a task's value is the mean of its two recalls.

    `positive` says which recall the item belongs to. Where all items are of one class the value is
    their recall alone, and the aggregate says so.
    """
    return mean(float(taken == truth), positive=float(truth == "Yes"))


_number = partial(_strict, form="number", prepare=ONE_NUMBER)


@_number(
    "CountAcc", "1 - relative error of the count, at least 0; an answer without a number gets 0"
)
def _count_accuracy(truth: float, stated: float | None) -> float:
    return 1 - min(1.0, relative_error(truth, stated))


@_number(
    "MedRE",
    "relative error of the count",
    over=Pooling(
        "the median over the items",
        lambda scored: median(stats["numerator"] for stats in scored),
    ),
    worst=1.0,
    higher_is_better=False,
)
def relative_error(truth: float, stated: float | None) -> float:
    """Relative error of the count stated; no number is an error of 1."""
    return 1.0 if stated is None else relative_error_of(truth, stated)


_boxes = partial(_strict, form="boxes", prepare=BOXES)

_boxes("mIoU", "sum of the IoU of boxes matched one to one / the greater number of boxes")(mean_iou)


@_boxes(
    "F1_IoU",
    "F1 of the boxes found, mean over IoU thresholds .5 to .95",
    over=Pooling("boxes of all items together"),
)
def _overlap_f1(truth: Boxes, predicted: Boxes) -> MetricValue:
    hits = box_hits(truth, predicted)
    numerator = 2 * sum(hits.hits) / len(hits.hits)
    return ratio(numerator, hits.truth + hits.predicted, hits.f1)


# Rates of marks, names and characters found.


class _Hits(HitCounts):
    """Counts with their rates; each is a value whose parts a task sums, but for `f1_macro`."""

    @property
    def precision(self) -> MetricValue:
        return ratio(self.hits, self.predicted, prf(*self).precision)

    @property
    def recall(self) -> MetricValue:
        return ratio(self.hits, self.expected, prf(*self).recall)

    @property
    def f1(self) -> MetricValue:
        """F1 as a ratio of sums; nothing predicted where nothing was to be found is right."""
        value = prf(*self).f1 if self.predicted or self.expected else 1.0
        return ratio(2 * self.hits, self.predicted + self.expected, value, **self._asdict())

    @property
    def f1_macro(self) -> MetricValue:
        return mean(self.f1.value)


def _declare_rates(
    function: Callable[..., _Hits],
    form: AnswerForm,
    prepare: Preparation,
    things: str,
    **rules: str,
) -> None:
    """Declare the rates of the counts of things that a function returns, each with its rule."""
    for name, rule in rules.items():
        over = MEAN if name == "F1_macro" else Pooling(f"{things} of all items together")
        _strict(name, rule, form=form, prepare=prepare, over=over, part=name.lower())(function)


_declare_rates(
    lambda counts: _Hits(*counts),
    "punctuated",
    SCRIPT._replace(inputs=lambda sample: (mark_counts(sample),)),
    "marks",
    F1="F1 of punctuation marks, matched one to one in the gaps of the aligned texts",
    Precision="precision: share of the marks in the answer that are matched",
    Recall="recall: share of the true marks that are matched",
    F1_macro="mean of the F1 of each item",
)
_declare_rates(
    lambda reference, answer: _Hits(len(reference & answer), len(answer), len(reference)),
    "entities",
    NAMES,
    "names",
    F1="F1 of sets of names",
    Precision="precision: share of the names in the answer that are true",
    Recall="recall: share of the true names that are in the answer",
    F1_macro="mean of the F1 of each item",
)


# Pairs: the ranking that the answers to all pairs of an item make.

FIRST = "1 if a right candidate is first, ties get the expected value"
"""The rule of the accuracy at the first rank."""

for _form, _reading, _first in (
    ("probability", "one-probability", FIRST),
    (
        "yes-no",
        "yes-no",
        "1 if a right candidate is first, Yes before No, ties get the expected value",
    ),
):
    _ranked = partial(
        _strict, form=_form, prepare=ranking_preparation(_reading, "strict"), of_pairs=True
    )
    _ranked("Acc@1", _first)(partial(accuracy_at, k=1))
    _ranked("AP", "average precision over all candidates, ties get the expected value")(
        average_precision
    )
    _ranked(
        "AUC",
        "area under the ROC curve: how often a right candidate is ranked above a wrong one; a tie "
        "counts half",
    )(auc)


# Translations and open answers.

_text = partial(_strict, form="text")


@_text(
    "chrF",
    "chrF: F-score of sequences of 2 to 6 characters",
    prepare=SCRIPT._replace(name="script>chars-2-6"),
)
def _chrf_of_characters(reference: str, answer: str) -> float:
    """Mean sentence chrF over runs of 2 to 6 characters.

    Single characters are not counted, since a text read backwards has them all and would earn a
    sixth; they count only where the truth is a single character.
    """
    counts = chrf_counts(reference, answer)
    return chrf_of_counts(counts[1:] if counts[1].expected else counts)


_text(
    "BLEU_char",
    "BLEU-4 of characters, method-1 smoothing",
    prepare=SCRIPT._replace(name="script>chars"),
)(lambda *texts: sentence_bleu(*("".join(text.split()) for text in texts)))


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
matched_above_floor = partial(
    _text,
    "BERTScore_floor",
    f"BERTScore F1 by token matching, {_RESCALED}",
    encoder="bert-base-chinese",
    prepare=_SCRIPT_ONCE,
)
"""For benchmarks whose answers are in another language, with another encoder."""

matched_above_floor()(token_match_f1_above_floor)
_text("cosine_floor", f"cosine of sentence vectors, {_RESCALED}", encoder="minilm",
      prepare=ANSWER_ONCE)(sentence_cosine_above_floor)  # fmt: skip


# Transcriptions: character error rates and rates of matched characters.

_LAYERED = COUNTED._replace(inputs=lambda case: (transcription_pairs(case), best_edit_counts(case)))
"""For functions of the pairs of texts by layer of normalisation, and of the edit counts."""

_EDITS = COUNTED._replace(inputs=lambda case: (best_edit_counts(case),))
"""For functions of the edit counts alone; `COUNTED` is for functions of reference and answer."""

_PARTS = COUNTED._replace(inputs=lambda case: (transcription_parts(case),))

_strict(
    "CharAcc",
    "character accuracy: 1 - edits / true characters, at least 0; an added character costs as much "
    "as a wrong one",
    form="transcription",
    prepare=_EDITS,
)(lambda counts: 1 - min(1.0, counts.distance / counts.expected))

_error = partial(
    _strict,
    form="transcription",
    prepare=COUNTED,
    over=Pooling("edits of all items over their true characters"),
    higher_is_better=False,
)


@_error(
    "CER",
    "character error rate: edit distance / true characters",
    prepare=_LAYERED,
    worst=1.0,
)
def _error_rate(pairs: dict[Layer, Pair], _counts: EditCounts) -> MetricValue:
    """CER at the last layer, with edits and length at each layer (`edits_exact` …)."""
    stats = {}
    for layer, pair in pairs.items():
        stats[f"edits_{layer}"] = distance(*pair)
        stats[f"length_{layer}"] = len(pair.reference)
    edits, length = stats["edits_script"], stats["length_script"]
    return ratio(edits, length, edits / length, **stats)


@_error(
    "CER_recognition",
    "recognition error: the CER if the characters read could be in any order ((the longer length - "
    "the characters in common) / true characters)",
    prepare=_PARTS,
    worst=1.0,
)
def _recognition_error(parts: ErrorParts) -> MetricValue:
    return ratio(parts.recognition, parts.expected, parts.recognition_error)


@_error("CER_layout", "layout error: CER minus the recognition error", prepare=_PARTS)
def _layout_error(parts: ErrorParts) -> MetricValue:
    return ratio(parts.layout, parts.expected, parts.layout_error)


_declare_rates(
    lambda counts: _Hits(counts.matches, counts.predicted, counts.expected),
    "transcription",
    _EDITS,
    "matches",
    F1="F1 of characters matched in the alignment with most matches",
    Precision="precision: share of the characters read that are matched in the alignment with most "
    "matches",
    Recall="recall: share of the true characters that are matched in the alignment with most "
    "matches",
)
