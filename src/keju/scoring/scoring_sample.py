"""One item with one response, and the work that several metrics share."""

from __future__ import annotations

import re
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import msgspec

from keju.definitions import (
    NO_REFERENCE,
    Query,
    choices_of,
    missing_reference,
    options_of,
    query_of,
)
from keju.definitions.protocols import DECIDED_FORMS, ProtocolRow
from keju.extraction import Reading, body_of, read
from keju.items import AnswerForm, Failure, Item, ReadBy, Response, get_group
from keju.metrics import UndefinedMetricError
from keju.metrics.boxes import Axes, BoxConvention, box_convention
from keju.scoring.decisions import (
    NO_DECISIONS,
    Decision,
    Decisions,
    answer_code,
    check_value,
)
from keju.scoring.verdicts import Verdict, verdict_of

_FIRST_YES_NO = re.compile(
    r"是否|是不是|yes\s?(?:or|/)\s?no\b"
    r"|(?P<no>\bno\b|不是|并非|並非|否)|(?P<yes>\byes\b|是)",
    re.IGNORECASE,
)

_FENCE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)

LONGEST = 1_000_000
"""Characters of the longest response that is scored. Metrics take up to 150 bytes for each."""


class Defect(NamedTuple):
    """A defect of an item or response that is known before scoring; empty if there is none.

    `answer_missing` is set where the authors' form has no answer at all, which part of their
    script reads as an empty one. `in_file` is set where the item and its response are from a file
    in the authors' form. `too_long` is the reason why a response is not read at all: it gets the
    value of an empty response.
    """

    answer: str = ""
    answer_missing: bool = False
    in_file: bool = False
    too_long: str = ""


class ScoringSample:
    """An item and its response; what several metrics need of them is computed once.

    `form` is the form of answer, by default that for which the query asks. `text` is the content as
    it was returned; nothing where the response is a failure. `decisions` are those of people and
    extractor models. `signature_part` is the end of the signature of every score.
    """

    pairs_part = ""

    def __init__(
        self,
        item: Item,
        response: Response,
        defect: Defect = Defect(),  # noqa: B008
        decisions: Decisions = NO_DECISIONS,
        form: AnswerForm | None = None,
        signature_part: str = "",
    ) -> None:
        self.item = item
        self.response = response
        self.defect = defect
        self.decisions = decisions
        self.signature_part = signature_part
        self.form = form or self.query.form
        self.text = "" if response.status in {"failed", "filtered"} else response.text

    @classmethod
    def of_texts(cls, form: AnswerForm, reference: str, hypothesis: str) -> ScoringSample:
        """A reference with the whole of a text as the answer to it: nothing is read from it."""
        item = Item(id="", benchmark="", task="", answer=reference, answer_simplified=reference)
        sample = cls(item, text_response(item, hypothesis), form=form)
        sample.reading = Reading("read", hypothesis, "the whole text", hypothesis)
        sample.options = ()
        return sample

    @cached_property
    def query(self) -> Query:
        """The question form of the item."""
        return query_of(self.item)

    def seen_by(self, protocol: ProtocolRow) -> ScoringSample:
        """The sample with the response as a protocol sees it; itself where that changes nothing.

        Decisions are on answers as they were returned, so a changed one has none.
        """
        response = protocol.view(self.response) if protocol.view else self.response
        if response is self.response:
            return self
        part = protocol.view_signature + self.signature_part
        return ScoringSample(self.item, response, self.defect, signature_part=part)

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
    def options(self) -> tuple[str, ...]:
        """The texts of the options, where they are known."""
        return options_of(self.item)

    @cached_property
    def answer(self) -> str | None:
        """The value that the response gives (`Reading.value`); None if none is read."""
        return self.reading.value if self.reading.state == "read" else None

    @cached_property
    def reading(self) -> Reading:
        """The answer as the rules read it; of an unclear one as people or a model decided."""
        if self.decision is None:
            return self.rule_reading
        choices = choices_of(self.item)
        value = check_value(self.form, self.decision, self.item.id, choices)
        rule = f"decided by a {self.decision.by}"
        return Reading("read" if value else "none", value, rule, self.rule_reading.quote)

    @cached_property
    def rule_reading(self) -> Reading:
        """The answer as the rules read it, without decisions."""
        question, axes = self.item.question or self.query.template, self.box_convention.axes
        if self.form == "number" and self.response.box_convention:
            return _count_beside_boxes(self.text, question, axes)
        form = "translation" if self.query.translation else self.form
        return read(form, self.text, question, self.options, axes=axes)

    @cached_property
    def is_unclear(self) -> bool:
        """Whether the rules do not read the answer, so that people or a model can decide it."""
        return self.form in DECIDED_FORMS and self.rule_reading.state == "unclear"

    @cached_property
    def decision(self) -> Decision | None:
        """The decision on an unclear answer; None if it is not decided yet, and for all others."""
        if not self.decisions.by_code or not self.is_unclear:
            return None
        return self.decisions.of(answer_code(self.response))

    @property
    def read_by(self) -> ReadBy:
        """Who read the answer; `unclear` and `none` where there is no value."""
        if self.decision is not None:
            return self.decision.by
        state = self.reading.state
        return "reader" if state == "read" else state

    @property
    def first_yes_no(self) -> str | None:
        """``Yes`` or ``No`` by the first word for it after the reasoning (`official`).

        It is our reading where a paper has no rule. 是否, 是不是 and "yes or no" are passed over.
        """
        for match in _FIRST_YES_NO.finditer(body_of(self.text)):
            if match.lastgroup:
                return match.lastgroup.capitalize()
        return None

    @cached_property
    def box_convention(self) -> BoxConvention:
        """The meaning of the four numbers of a box, as the response's request declared it."""
        return box_convention(self.response.box_convention or self.query.box_convention or "xyxy")

    @cached_property
    def verdict(self) -> Verdict:
        """The verdict on the response."""
        return verdict_of(self)


def text_response(item: Item, text: str | None, model: str = "", key: str = "") -> Response:
    """A response made of its text; None where there is none, which is a failure."""
    missing = Failure(kind="missing-answer", message="the file has no response")
    return Response(
        key=key,
        item=item.id,
        model=model,
        benchmark=item.benchmark,
        task=item.task,
        query=item.query,
        status="failed" if text is None else "answered" if text.strip() else "empty",
        text=text or "",
        error=missing if text is None else None,
    )


computed_once = lru_cache(maxsize=4)
"""Decorator of a function that several metrics call with the same sample, one after the other."""


def _count_beside_boxes(text: str, question: str, axes: Axes) -> Reading:
    """The count in a response that was asked for a number and for boxes in one prompt.

    It is the number that the words beside the boxes give, else the number of boxes. Our reading:
    the authors' script for Gemini asks for both at once and reads the boxes alone.
    """
    lines = _FENCE.sub("", body_of(text)).splitlines()
    words = "\n".join(
        line
        for line in lines
        if not line.lstrip().startswith(("{", "[", "}", "]"))
        and read("boxes", line, axes=axes).state != "read"
    )
    reading, boxes = read("number", words, question), read("boxes", text, question, axes=axes)
    if reading.state == "read":
        return reading
    if boxes.state == "read":
        rows = msgspec.json.decode(boxes.value, type=list[object])
        return Reading("read", str(len(rows)), "number of boxes", boxes.quote)
    return reading if words.strip() else read("number", text, question)


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
