"""Reading answers: a value where the response commits to it plainly, and otherwise none.

A response commits itself in few plain places: in a field (a key of JSON, a box), behind an
announcement ("the answer is"), alone (all of it, its first sentence, its last line), or in a
sentence that repeats the question and completes it. Where places say different things, or where a
refusal, a hedge or a correction leaves doubt, nothing is read: such answers are `unclear`, and a
person or an extractor model decides them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from keju.extraction import boxes, entities, letters, numbers, passages, probability, short, yes_no
from keju.extraction.answer import Answer, Reading, State, body_of, unclear
from keju.extraction.passages import is_only_refusal
from keju.extraction.words import fold, refuses
from keju.metrics.boxes import Axes

__all__ = ["READER", "Reading", "State", "body_of", "read"]

READER = "reader:1"
"""Version of the rules, a part of every signature that depends on them; raised with any rule."""

_LONGEST = {"boxes": 50_000, "entities": 20_000}
"""Characters of an answer; 10,000 if it has one value. A longer one is a loop or a text."""


class _ValueReader(NamedTuple):
    """The functions of an answer form with one value.

    Attributes:
        value: reads a text that is a value and next to nothing else; it may return ``several``.
        otherwise: reads a response in which nothing announces a value and none is alone.
        alone: reads a text that nothing announces; without it `value` does.
        contradicts: whether a response ends with another value than the one that a quote says.
    """

    value: Callable[[str, Answer], str | None]
    otherwise: Callable[[Answer], Reading]
    alone: Callable[[str, Answer], str | None] | None = None
    contradicts: Callable[[str, str, Answer], bool] | None = None


_VALUE_READERS = {
    "letter": _ValueReader(letters.value, letters.otherwise, contradicts=letters.contradicts),
    "short": _ValueReader(short.value, short.otherwise, alone=short.alone),
    "number": _ValueReader(numbers.value, numbers.otherwise),
    "yes-no": _ValueReader(yes_no.value, yes_no.otherwise),
    "probability": _ValueReader(
        probability.value, probability.otherwise, probability.alone, probability.contradicts
    ),
}


def read(
    form: str, text: str, question: str = "", options: Sequence[str] = (), *, axes: Axes = "xyxy"
) -> Reading:
    """The value that a response gives in an answer form, if it gives one.

    Args:
        form: an answer form (letter, short, boxes, …), or translation.
        text: the response, with its reasoning.
        question: the question as it was asked.
        options: the texts of the options, for letters.
        axes: the order of a box's four numbers that the question declared.

    Raises:
        KeyError: the form is unknown.
    """
    body = body_of(text)
    answer = Answer(body, question, tuple(options), axes)
    longest = _LONGEST.get(form, 10_000)
    if len(body) > longest and form not in passages.FORMS:
        return unclear("long")
    if not body or (len(body) <= longest and not answer.text):
        return Reading("none", rule="empty")
    if form in passages.FORMS:
        reading = passages.read(answer, form)
    elif form == "boxes":
        reading = boxes.read(answer)
    elif form == "entities":
        reading = entities.read(answer)
    else:
        reading = _read_value(_VALUE_READERS[form], answer)
    if reading.state == "read" and not reading.value.strip():
        return Reading("none", rule="empty")
    if reading.state == "unclear" and is_only_refusal(answer):
        return Reading("none", rule="refusal", quote=answer.sentences[0])
    return reading


def _read_value(reader: _ValueReader, answer: Answer) -> Reading:
    """The value of the first kind of place that has one, unless places of that kind differ."""
    if answer.field is not None:
        value = reader.value(answer.field, answer)
        if value is None or value == "several":
            return unclear("field")
        return Reading("read", value, "field", answer.field)
    if isinstance(answer.json, dict | list):
        return unclear("field")
    announced = [
        (value, clause)
        for clause in answer.announced
        if (value := reader.value(clause, answer)) is not None
    ]
    parse = reader.alone or reader.value
    if announced:
        last = answer.edges[-1]
        value = parse(last, answer) if len(answer.edges) > 1 else None
        return _agreed(
            [*announced, *([(value, last)] if value else [])], "announced", reader, answer
        )
    if not any(refuses(fold(answer.sentences[place])) for place in (0, -1)):
        alone = [
            (value, part) for part in answer.edges if (value := parse(part, answer)) is not None
        ]
        if alone:
            return _agreed(alone, "alone", reader, answer)
    return reader.otherwise(answer)


def _agreed(
    values: list[tuple[str, str]], rule: str, reader: _ValueReader, answer: Answer
) -> Reading:
    """The value that all places of a kind say, and that the end of the response leaves as it is."""
    value, quote = values[0]
    if value == "several" or any(rival != value for rival, _ in values):
        return unclear("several")
    if reader.contradicts and reader.contradicts(value, quote, answer):
        return unclear("contradicted")
    return Reading("read", value, rule, quote)
