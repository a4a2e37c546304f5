"""One item with one response, and the work that several metrics share."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

from keju.definitions import (
    NO_REFERENCE,
    choices_of,
    missing_reference,
    options_of,
    query_of,
)
from keju.extraction import Reading
from keju.items import AnswerForm, Item, ReadBy, Response, get_group
from keju.metrics import UndefinedMetricError
from keju.metrics.boxes import BoxConvention, box_convention
from keju.scoring.asked_counts import extract_asked_count
from keju.scoring.box_parsing import BoxList, extract_any_boxes, extract_count_beside
from keju.scoring.entities import extract_entities
from keju.scoring.extraction import Extracted, strict_body
from keju.scoring.multiple_choice import extract_letter
from keju.scoring.numeric_answer import extract_count, extract_final_probability
from keju.scoring.open_text import open_text_of
from keju.scoring.passages import passage_of, transcription_of
from keju.scoring.phrases import extract_short
from keju.scoring.unanswered import no_answer_reason
from keju.scoring.verdicts import Verdict, is_refusal, verdict_of_answer, verdict_without_answer
from keju.scoring.yes_no import extract_yes_no

LONGEST = 1_000_000
"""Characters of the longest response that is scored. Metrics take up to 150 bytes for each."""


class Defect(NamedTuple):
    """A defect of an item or response that is known before scoring; empty if there is none.

    `answer_missing` is set where the authors' form has no answer at all, which part of their
    script reads as an empty one. `in_file` is set where the item and its response are from a file
    in the authors' form. `too_long` is the reason why a response is not read at all: it gets the
    value of an empty response.
    """

    response: str = ""
    answer: str = ""
    answer_missing: bool = False
    in_file: bool = False
    too_long: str = ""


class ScoringSample:
    """An item and its response; what several metrics need of them is computed once.

    `form` is the form of answer that the query asks for. `text` is the content as it was returned;
    nothing where the response is a failure.
    """

    def __init__(self, item: Item, response: Response, defect: Defect = Defect()) -> None:  # noqa: B008
        self.item = item
        self.response = response
        self.defect = defect
        self.query = query_of(item)
        self.form: AnswerForm = self.query.form
        self.text = "" if response.status in {"failed", "filtered"} else response.text

    @cached_property
    def score_fields(self) -> dict[str, Any]:
        """The fields of `Score` that all scores of the sample share."""
        item, response = self.item, self.response
        return {
            "key": response.key,
            "item": item.id,
            "model": response.model,
            "benchmark": item.benchmark,
            "task": item.task,
            "query": item.query,
            "setting": response.setting,
            "script": response.script,
            "wording": response.wording,
            "round": response.round,
            "group": get_group(item),
            "status": response.status,
            "verdict": self.verdict,
        }

    @cached_property
    def reference(self) -> str:
        """The true answer in the script of the source.

        Raises:
            UndefinedMetricError: the item has none.
        """
        truth = self.item.answer or self.item.answer_simplified
        if not truth:
            raise UndefinedMetricError(NO_REFERENCE)
        return truth

    @cached_property
    def missing_reference(self) -> str:
        """Why the item has no reference; empty if it has one."""
        return missing_reference(self.item)

    @cached_property
    def transcription(self) -> Extracted:
        """The transcription in the response."""
        return self._unanswered or transcription_of(self.text)

    @cached_property
    def options(self) -> tuple[str, ...]:
        """The texts of the options, where they are known."""
        return options_of(self.item)

    @cached_property
    def _unanswered(self) -> Extracted | None:
        """That the response gives no answer, where that shows before a value is sought."""
        if self.query.translation:
            return None
        question = self.item.question or self.query.template
        reason = no_answer_reason(self.text, self.form, question, self.options)
        return Extracted(None, reason, self.text) if reason else None

    @cached_property
    def extracted(self) -> Extracted:
        """The answer as `strict` takes it, by the form that was asked for."""
        return self._unanswered or self._sought

    @cached_property
    def reading(self) -> Reading:
        """The answer as `strict` reads it; until the compact reader is complete, by these rules."""
        answer, rule, source, _ = self.extracted
        if answer is not None:
            return Reading("read", answer, rule, source)
        body = strict_body(self.text)
        silent = not body.strip() or is_refusal(body)
        return Reading("none" if silent else "unclear", rule=rule, quote=source)

    @property
    def read_by(self) -> ReadBy:
        """Who read the answer; `unclear` and `none` where there is no value."""
        state = self.reading.state
        return "reader" if state == "read" else state

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
            case "entities":
                return extract_entities(self.text, self.item.question or self.query.template)
            case "short":
                return extract_short(self.text, self.item.question)
            case "punctuated":
                return passage_of(self.text, "punctuated")
            case "text":
                if self.query.translation:
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
    def box_convention(self) -> BoxConvention:
        """The meaning of the four numbers of a box, as the response's request declared it."""
        return box_convention(self.response.box_convention or self.query.box_convention or "xyxy")

    @cached_property
    def box_list(self) -> BoxList:
        """The boxes in the response, in the convention that was asked for."""
        if self._unanswered:
            return BoxList(None, self._unanswered)
        return extract_any_boxes(self.text, self.box_convention.axes)

    @cached_property
    def verdict(self) -> Verdict:
        """The verdict on the response.

        An answer is extracted only where the verdict depends on it: of a loop, a long response,
        extraction takes longer than everything else.
        """
        answer = self.item.answer or self.item.answer_simplified
        return verdict_without_answer(
            self.response, self.form, transcription=self.item.transcription, answer=answer
        ) or verdict_of_answer(
            self.response,
            answer=answer,
            extracted=self.extracted.answer is not None,
            wrapped=self.form == "transcription" and self.extracted.rule == "JSON text",
            in_english=self.form == "text" and self.query.answer_language == "en",
        )


computed_once = lru_cache(maxsize=4)
"""Decorator of a function that several metrics call with the same sample, one after the other."""


def json_kind(value: object) -> str:
    """The type of a JSON value, in a word or two."""
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


_EXTRACT: dict[AnswerForm, Callable[[str], Extracted]] = {
    "probability": extract_final_probability,
}
