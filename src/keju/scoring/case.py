"""One item with one response, and the work that several metrics share."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cached_property, lru_cache
from typing import NamedTuple

from keju.benchmarks import NO_REFERENCE, choices_of, options_of, query_of
from keju.errors import PrerequisiteError
from keju.items import AnswerForm, Item, Response
from keju.metrics import (
    EditCounts,
    MarkCounts,
    UndefinedMetricError,
    best_edits,
    official_edits,
    punctuation_counts,
)
from keju.metrics.base import TooLongError
from keju.metrics.boxes import BoxConvention, box_convention
from keju.scoring.answers import Extracted
from keju.scoring.asked_counts import extract_asked_count
from keju.scoring.box_lists import (
    BoxList,
    extract_any_boxes,
    extract_boxes,
    extract_count_beside,
)
from keju.scoring.entities import extract_entities
from keju.scoring.letters import extract_letter
from keju.scoring.open_text import open_text_of
from keju.scoring.passages import passage_of, transcription_of
from keju.scoring.phrases import extract_short
from keju.scoring.short import entity_set
from keju.scoring.stated import extract_count, extract_final_probability
from keju.scoring.unanswered import reason_for_none
from keju.scoring.verdicts import Verdict, verdict_of
from keju.scoring.yes_no import extract_yes_no
from keju.text import (
    LAYERS,
    Layer,
    Pair,
    counted_alike,
    counted_pair,
    normalise,
    official_clean,
    official_convert,
    official_convert_value,
)

LONGEST = 1_000_000
"""Characters of the longest response that is scored. Metrics take up to 150 bytes for each."""

MAX_CELLS = 10**10
"""Edit distances between longer texts (product of their lengths) are not computed."""


class Flaw(NamedTuple):
    """What is wrong with an item or response before any metric sees it; empty where nothing is.

    `answer_missing` is set where the authors' form has no answer at all, which part of their
    script reads as an empty one. `in_file` is set where the item and its response are from a file
    in the authors' form. `cut` is set where a run of keju 0.1.0 has the response, which
    removed reasoning before storing it. `too_long` says why a response is not read at all: it is
    worth what an empty one is.
    """

    response: str = ""
    answer: str = ""
    answer_missing: bool = False
    cut: bool = False
    in_file: bool = False
    too_long: str = ""


class Case:
    """An item and its response, prepared for the metrics; shared steps are done once."""

    def __init__(self, item: Item, response: Response, flaw: Flaw = Flaw()) -> None:  # noqa: B008
        self.item = item
        self.response = response
        self.flaw = flaw
        self.query = query_of(item)

    @property
    def form(self) -> AnswerForm:
        """The form of answer that the query asks for."""
        return self.query.form

    @property
    def text(self) -> str:
        """The content as it was returned; nothing where the response is a failure."""
        return "" if self.response.status in {"failed", "filtered"} else self.response.text

    @cached_property
    def official_truth(self) -> str:
        """The answer as the MCS-Bench script reads it: simplified.

        Raises:
            UndefinedMetricError: there is none, where the script stops.
        """
        self.require_answer()
        try:
            return official_answer(self.item)
        except PrerequisiteError as error:
            raise UndefinedMetricError(str(error)) from None

    def require_answer(self) -> None:
        """Stop where the script stops for want of an answer.

        Raises:
            UndefinedMetricError: the authors' form has no answer.
        """
        if self.flaw.answer_missing:
            raise UndefinedMetricError("the authors' script stops here: KeyError, no answer")

    @cached_property
    def official_text(self) -> str:
        """The response converted to simplified, as the script reads it where it doesn't clean.

        Raises:
            UndefinedMetricError: it is not text, and the script stops at it.
        """
        if not self.response.not_text:
            return _converted(self.text)
        try:
            return official_convert_value(json.loads(self.response.not_text))
        except (TypeError, KeyError) as error:
            raise self._stopped(type(error).__name__) from None
        except PrerequisiteError as error:
            raise UndefinedMetricError(str(error)) from None

    @cached_property
    def official_unspaced(self) -> str:
        """The response without spaces (U+0020), then converted, as the script's ROUGE reads it.

        Raises:
            UndefinedMetricError: it is not text, where the script stops.
        """
        if self.response.not_text:
            raise self._stopped("AttributeError")
        return _converted(self.text.replace(" ", ""))

    def _stopped(self, how: str) -> UndefinedMetricError:
        what = kind_of(json.loads(self.response.not_text))
        return UndefinedMetricError(f"the authors' script stops here: {how}, Response is {what}")

    @cached_property
    def official_pair(self) -> Pair:
        """Both texts cleaned, then the response converted."""
        truth = "" if self.flaw.answer_missing else self.official_truth
        return _bounded(Pair(official_clean(truth), self.official_cleaned))

    @cached_property
    def official_cleaned(self) -> str:
        """The response cleaned, then converted.

        Raises:
            UndefinedMetricError: it is not text, where the script stops.
        """
        if self.response.not_text:
            raise self._stopped("TypeError")
        return _converted(official_clean(self.text))

    @cached_property
    def official_counts(self) -> EditCounts:
        """Substitutions, deletions and insertions along the script's path."""
        return official_edits(*self.official_pair)

    @cached_property
    def raw_pair(self) -> Pair:
        """Both texts as they are (AncientDoc)."""
        return _bounded(Pair(self.truth, self.text))

    @cached_property
    def truth(self) -> str:
        """The true answer in the script of the source.

        Raises:
            UndefinedMetricError: the item has none.
        """
        truth = self.item.answer or self.item.answer_simplified
        if not truth:
            raise UndefinedMetricError(NO_REFERENCE)
        return truth

    @cached_property
    def transcription(self) -> Extracted:
        """The transcription in the response."""
        return self._unanswered or transcription_of(self.text)

    @cached_property
    def pairs(self) -> dict[Layer, Pair]:
        """Truth and transcription as OCR scoring counts them, at each layer."""
        read = self.transcription.answer or ""
        pairs = {layer: counted_pair(self.truth, read, layer) for layer in LAYERS}
        for pair in pairs.values():
            _bounded(pair)
        return pairs

    @cached_property
    def lines(self) -> tuple[list[str], list[str]]:
        """The lines of truth and transcription, each as `pairs` has them at the last layer."""
        truth = self.truth.split("\n")
        every = counted_alike([*truth, *(self.transcription.answer or "").split("\n")])
        return every[: len(truth)], every[len(truth) :]

    @cached_property
    def best_counts(self) -> EditCounts:
        """Edits of the alignment with most matches, at the last layer."""
        return best_edits(*self.pairs["script"])

    @cached_property
    def options(self) -> tuple[str, ...]:
        """The texts of the options, where they are known."""
        return options_of(self.item)

    @cached_property
    def _unanswered(self) -> Extracted | None:
        """That the response gives no answer, where that shows before a value is sought."""
        if self.form == "text" and self.item.task in _TRANSLATIONS:
            return None
        question = self.item.question or self.query.template
        reason = reason_for_none(self.text, self.form, question, self.options)
        return Extracted(None, reason, self.text) if reason else None

    @cached_property
    def taken(self) -> Extracted:
        """The answer as `strict` takes it, by the form that was asked for."""
        return self._unanswered or self._sought

    @property
    def _sought(self) -> Extracted:  # noqa: PLR0911
        """The value that the extractor of the form finds."""
        match self.form:
            case "letter":
                return extract_letter(
                    self.text, choices_of(self.item), self.options, self.item.question
                )
            case "transcription":
                return self.transcription
            case "boxes":
                return self.box_list.extracted
            case "number":
                if self.response.box_convention:
                    return self.official_count
                return extract_asked_count(self.text, self.item.question)
            case "short":
                return extract_short(self.text, self.item.question)
            case "punctuated":
                return passage_of(self.text, "punctuated")
            case "text":
                if self.item.task in _TRANSLATIONS:
                    return passage_of(self.text, "translation")
                return open_text_of(self.text)
            case "yes-no":
                return extract_yes_no(self.text, self.item.question or self.query.template)
        return _EXTRACT[self.form](self.text)

    @cached_property
    def official_count(self) -> Extracted:
        """The count as `official` takes it."""
        if self.response.box_convention:
            return extract_count_beside(self.text, self.box_convention.axes)
        return extract_count(self.text)

    @cached_property
    def official_box_list(self) -> BoxList:
        """The boxes as `official` reads them."""
        return extract_boxes(self.text, self.box_convention.axes)

    @cached_property
    def box_convention(self) -> BoxConvention:
        """What four numbers of a box mean, as the response's request declared it."""
        return box_convention(self.response.box_convention or self.query.box_convention or "xyxy")

    @cached_property
    def box_list(self) -> BoxList:
        """The boxes in the response, in the convention that was asked for."""
        if self._unanswered:
            return BoxList(None, self._unanswered)
        return extract_any_boxes(self.text, self.box_convention.axes)

    @cached_property
    def marks(self) -> MarkCounts:
        """Punctuation marks matched one to one, characters compared at the last layer."""
        return punctuation_counts(self.truth, self.taken.answer or "", fold=_folded)

    @cached_property
    def names(self) -> tuple[frozenset[str], frozenset[str]]:
        """The true and the predicted set of names, normalised."""
        return entity_set(self.truth), entity_set(self.taken.answer or "")

    @cached_property
    def strict_texts(self) -> Pair:
        """Running text on both sides at the last layer, for translation and open answers."""
        return _bounded(Pair(normalise(self.truth), normalise(self.taken.answer or "")))

    @cached_property
    def verdict(self) -> Verdict:
        """The verdict on the response."""
        return verdict_of(
            self.response,
            self.form,
            transcription=self.item.transcription,
            answer=self.item.answer or self.item.answer_simplified,
            taken=self.taken.answer is not None,
            wrapped=self.form == "transcription" and self.taken.rule == "JSON text",
            in_english=self.form == "text" and self.item.benchmark == "OBI-Bench",
        )


def official_answer(item: Item) -> str:
    """The answer that the script reads as ``Answer_Simplified``.

    Where an item has only the answer of its source, that is converted (our reading).

    Raises:
        PrerequisiteError: it must be converted, and zhconv is not installed.
    """
    if item.answer_simplified or not item.answer:
        return item.answer_simplified
    return official_convert(item.answer)


def _converted(text: str) -> str:
    """A text converted as the script does.

    Raises:
        UndefinedMetricError: zhconv, an extra, is not installed.
    """
    try:
        return official_convert(text)
    except PrerequisiteError as error:
        raise UndefinedMetricError(str(error)) from None


def kind_of(value: object) -> str:
    """What a JSON value is, in a word or two."""
    match value:
        case None:
            return "null"
        case bool():
            return "true or false"
        case int() | float():
            return f"the number {value:g}"
        case str():
            return "text" if value.strip() else "empty text"
        case list():
            return "a list"
    return "an object"


_TRANSLATIONS = frozenset({"T2", "vernacular_translation"})
_EXTRACT: dict[AnswerForm, Callable[[str], Extracted]] = {
    "entities": extract_entities,
    "probability": extract_final_probability,
}

_folded = lru_cache(maxsize=1 << 16)(normalise)


def _bounded(pair: Pair) -> Pair:
    if len(pair.reference) * len(pair.hypothesis) > MAX_CELLS:
        too_long = len(pair.hypothesis) > len(pair.reference)
        raise (TooLongError if too_long else UndefinedMetricError)(
            f"too long to compare: {len(pair.reference):,} and {len(pair.hypothesis):,} characters"
        )
    return pair
