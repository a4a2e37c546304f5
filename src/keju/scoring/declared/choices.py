"""Multiple choice and short answers, `strict`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from keju.metrics import UndefinedMetricError
from keju.scoring.metric import Preparation, declare
from keju.scoring.preparations import COUNTED, NO_TEXT
from keju.scoring.scoring_sample import ScoringSample
from keju.scoring.short_answer import same_short
from keju.texts import _


def letter_pair(sample: ScoringSample) -> tuple[str, str | None]:
    """The letter of the right option and the one that was extracted."""
    return sample.reference.strip().upper(), sample.answer


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


ONE_LETTER = Preparation("one letter", NO_TEXT, letter_pair)

_strict = partial(declare, protocol="strict", source="keju")


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
