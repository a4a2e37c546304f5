"""Texts and metrics as the authors' script computes them, quirks included."""

from __future__ import annotations

import json
import logging
import os
import re
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import cache, lru_cache

from keju.errors import PrerequisiteError
from keju.items import Item
from keju.metrics import PRF, EditCounts, UndefinedMetricError, entities_prf, prf, sentence_bleu
from keju.metrics.base import TooLongError
from keju.object_stores import cache_folder
from keju.scoring.preparations import check_length
from keju.scoring.scoring_sample import ScoringSample, computed_once, json_kind
from keju.text import Pair, official_convert
from keju.texts import _

_NOT_KEPT = re.compile(r"[^\u4e00-\u9fff\w]")
_BLOCK = 4096
_MARK = re.compile(r"[^a-zA-Z0-9\u4e00-\u9fa5]")

# jieba's time grows with the square of a run of characters that are in no word of its dictionary.
_LONGEST_CUT = 20_000

# ---- texts


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

    This and the next two raise `UndefinedMetricError` at a response that is not text, where the
    script stops; some other content converts.
    """
    content = sample.response.not_text
    return _converted(sample, json.loads(content) if content else sample.text)


@computed_once
def unspaced(sample: ScoringSample) -> str:
    """The response without spaces (U+0020), then converted, as the script's ROUGE reads it."""
    if " " not in _text(sample, "AttributeError"):
        return converted(sample)
    return _converted(sample, sample.text.replace(" ", ""))


@computed_once
def cleaned(sample: ScoringSample) -> str:
    """The response cleaned, then converted."""
    return _converted(sample, official_clean(_text(sample, "TypeError")))


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


def _text(sample: ScoringSample, error: str) -> str:
    """The response; at one that is not text the script stops with that error."""
    if sample.response.not_text:
        raise _stopped(sample, error)
    return sample.text


def _stopped(sample: ScoringSample, how: str) -> UndefinedMetricError:
    what = json_kind(json.loads(sample.response.not_text))
    return UndefinedMetricError(_("the authors' script stops here: {}, Response is {}", how, what))


# ---- metrics


def bleu_of_words(reference: str, response: str) -> float:
    """BLEU over jieba's words, method-4 smoothing (T2).

    Raises:
        UndefinedMetricError: the reference is too long; `TooLongError` where the response is.
        PrerequisiteError: jieba is not installed.
    """
    if max(len(reference), len(response)) > _LONGEST_CUT:
        error = UndefinedMetricError if len(reference) > _LONGEST_CUT else TooLongError
        raise error(f"longer than {_LONGEST_CUT:,} characters, too long for jieba")
    return sentence_bleu(words(reference), words(response), smoothing="method4")


# The answers of several models are compared with the same reference.
@lru_cache(maxsize=512)
def words(text: str) -> list[str]:
    """The words that jieba's default mode cuts a text into; a list that all callers share."""
    return _segment()(text)


@cache
def _segment() -> Callable[[str], list[str]]:
    try:
        # Importing jieba takes pkg_resources along, which warns of its own age.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import jieba  # noqa: PLC0415
    except ImportError:
        raise PrerequisiteError(
            _("BLEU over words, which needs jieba,"), 'pip install "keju[official]"'
        ) from None
    jieba.setLogLevel(logging.CRITICAL)
    # By default jieba unmarshals a file in the temporary folder, where anybody can write one. It
    # cannot read or write below os.devnull: it parses its dictionary again, which takes a second.
    jieba.dt.tmp_dir = os.devnull
    with suppress(OSError, RuntimeError):
        folder = cache_folder()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        jieba.dt.tmp_dir = str(folder)
    jieba.initialize()
    segment: Callable[[str], list[str]] = jieba.lcut
    return segment


def official_punctuation_prf(reference: str, hypothesis: str) -> PRF:
    r"""P, R, F1 as the script computes them.

    A mark is any character outside ``[a-zA-Z0-9\u4e00-\u9fa5]`` (so white space, 〇 and rare
    ideographs are marks too), taken with the character before it; the first character has the
    last one before it. A predicted pair counts as right each time it occurs, if the reference has
    it at all, so recall and F1 can pass 1.
    """
    wanted, found = _pairs(reference), _pairs(hypothesis)
    known = set(wanted)
    return prf(sum(pair in known for pair in found), len(found), len(wanted))


def _pairs(text: str) -> list[str]:
    return [text[mark.start() - 1] + mark[0] for mark in _MARK.finditer(text)]


def official_entities_prf(reference: str, hypothesis: str) -> PRF:
    """P, R, F1 over sets, both texts split at 、 alone, the hypothesis stripped at its ends.

    An empty text is the set of one empty name, so two empty texts agree.
    """
    wanted = set(reference.split("、"))
    return entities_prf(wanted, set(hypothesis.strip().split("、")))


def official_edits(reference: str, hypothesis: str) -> EditCounts:
    """The counts of the path that the script takes through the distance matrix.

    From the end: equal characters go diagonally; else a substitution where that is optimal; else
    a deletion where that is; else an insertion.

    Computed bit-parallel (Hyyrö 2003): for each hypothesis character, an integer holds which
    diagonal steps are free and another which vertical steps cost one, and the walk reads its
    choices from them. They are computed forward once, and once more a block at a time as the walk
    reaches it, so that memory stays small for long input.
    """
    i, j = len(reference), len(hypothesis)
    while i and j and reference[i - 1] == hypothesis[j - 1]:
        i -= 1
        j -= 1
    matches, substitutions, deletions, insertions = len(reference) - i, 0, 0, 0
    places: dict[str, int] = {}
    for place, char in enumerate(reference[:i]):
        places[char] = places.get(char, 0) | 1 << place
    full = (1 << i) - 1
    starts = range(0, j, _BLOCK)
    states = [(full, 0)]
    for start in starts[:-1]:
        states.append(_sweep(hypothesis[start : start + _BLOCK], places, full, states[-1])[2])
    for start, state in zip(reversed(starts), reversed(states), strict=False):
        diagonal, vertical, _state = _sweep(hypothesis[start:j], places, full, state)
        while i and j > start:
            if reference[i - 1] == hypothesis[j - 1]:
                matches += 1
                i -= 1
                j -= 1
            elif not diagonal[j - 1 - start] >> (i - 1) & 1:
                substitutions += 1
                i -= 1
                j -= 1
            elif vertical[j - 1 - start] >> (i - 1) & 1:
                deletions += 1
                i -= 1
            else:
                insertions += 1
                j -= 1
        if not i:
            break
    return EditCounts(matches, substitutions, deletions + i, insertions + j)


def _sweep(
    columns: str, places: dict[str, int], full: int, state: tuple[int, int]
) -> tuple[list[int], list[int], tuple[int, int]]:
    """For each column: free diagonal steps, and vertical steps that cost one; and the last state.

    A state has the vertical steps down the last column that add one, and those that take one away.
    """
    up, down = state
    diagonal, vertical = [], []
    for char in columns:
        equal = places.get(char, 0)
        free = ((((equal & up) + up) ^ up) | equal | down) & full
        right_up = ((down | (full ^ (free | up))) << 1 | 1) & full
        right_down = (free & up) << 1 & full
        up = right_down | (full ^ (free | right_up))
        down = right_up & free
        diagonal.append(free)
        vertical.append(up)
    return diagonal, vertical, (up, down)
