"""The texts as the authors' script reads them, quirks included."""

from __future__ import annotations

import json
import re

from keju.benchmarks.mcs_bench.script import official_edits
from keju.errors import PrerequisiteError
from keju.items import Item
from keju.metrics import EditCounts, UndefinedMetricError
from keju.scoring.preparations import check_length
from keju.scoring.scoring_sample import ScoringSample, computed_once, json_kind
from keju.text import Pair, official_convert
from keju.texts import _

_NOT_KEPT = re.compile(r"[^\u4e00-\u9fff\w]")


def official_clean(text: str) -> str:
    r"""Delete every character outside ``[\u4e00-\u9fff\w]`` (the script's `clean_text`).

    Kept besides common ideographs: letters, digits and ``_`` of every script, kana, 〇 and the
    ideographs beyond the BMP. Deleted: □, private use, Kangxi radicals, variation selectors.
    """
    return _NOT_KEPT.sub("", text)


def official_answer(item: Item) -> str:
    """The answer that the script reads as ``Answer_Simplified``.

    Where an item has only the answer of its source, that is converted (our reading).

    Raises:
        PrerequisiteError: it must be converted, and zhconv is not installed.
    """
    if item.answer_simplified or not item.answer:
        return item.answer_simplified
    return official_convert(item.answer)


@computed_once
def simplified_answer(sample: ScoringSample) -> str:
    """The answer, simplified.

    Raises:
        UndefinedMetricError: the authors' form has none, where the script stops.
    """
    if sample.defect.answer_missing:
        raise UndefinedMetricError(_("the authors' script stops here: KeyError, no answer"))
    try:
        return official_answer(sample.item)
    except PrerequisiteError as error:
        raise UndefinedMetricError(str(error)) from None


@computed_once
def converted(sample: ScoringSample) -> str:
    """The response converted to simplified, as the script reads it where it doesn't clean.

    Raises:
        UndefinedMetricError: it is not text, and the script stops at it.
    """
    content = sample.response.not_text
    return _converted(sample, json.loads(content) if content else sample.text)


@computed_once
def unspaced(sample: ScoringSample) -> str:
    """The response without spaces (U+0020), then converted, as the script's ROUGE reads it.

    Raises:
        UndefinedMetricError: it is not text, where the script stops.
    """
    if sample.response.not_text:
        raise _stopped(sample, "AttributeError")
    if " " not in sample.text:
        return converted(sample)
    return _converted(sample, sample.text.replace(" ", ""))


@computed_once
def cleaned(sample: ScoringSample) -> str:
    """The response cleaned, then converted.

    Raises:
        UndefinedMetricError: it is not text, where the script stops.
    """
    if sample.response.not_text:
        raise _stopped(sample, "TypeError")
    return _converted(sample, official_clean(sample.text))


@computed_once
def cleaned_pair(sample: ScoringSample) -> Pair:
    """Both texts cleaned, then the response converted; a missing answer is an empty text."""
    reference = "" if sample.defect.answer_missing else simplified_answer(sample)
    return check_length(Pair(official_clean(reference), cleaned(sample)))


def cleaned_with_answer(sample: ScoringSample) -> Pair:
    """`cleaned_pair` where there is an answer."""
    simplified_answer(sample)
    return cleaned_pair(sample)


@computed_once
def edits(sample: ScoringSample) -> EditCounts:
    """Substitutions, deletions and insertions along the script's path."""
    return official_edits(*cleaned_pair(sample))


def _converted(sample: ScoringSample, content: object) -> str:
    """A text of the response, or what it has in place of one, converted as the script does."""
    try:
        return official_convert(content)
    except (TypeError, KeyError) as error:
        raise _stopped(sample, type(error).__name__) from None
    except PrerequisiteError as error:  # zhconv is an extra.
        raise UndefinedMetricError(str(error)) from None


def _stopped(sample: ScoringSample, how: str) -> UndefinedMetricError:
    what = json_kind(json.loads(sample.response.not_text))
    return UndefinedMetricError(_("the authors' script stops here: {}, Response is {}", how, what))
