"""The reader: which place of a response commits itself to a value, if any does."""

from __future__ import annotations

from keju.extraction import boxes, entities, letters, numbers, passages, probability, short, yes_no
from keju.extraction.answer import Answer, Reading, body_of, unclear
from keju.extraction.words import fold, refuses
from keju.metrics.boxes import Axes

_LONGEST = 10_000
"""Characters of an answer with one value; a longer one is a loop or a text."""
_VALUE_READERS = {
    "letter": letters, "short": short, "number": numbers, "yes-no": yes_no,
    "probability": probability,
}  # fmt: skip
_WHOLE = {form: passages.reader(form) for form in passages.FORMS}
_WHOLE |= {"boxes": boxes.read, "entities": entities.read}


def read(
    form: str, text: str, question: str = "", options: tuple[str, ...] = (), *, axes: Axes = "xyxy"
) -> Reading:
    body = body_of(text)
    answer = Answer(body, question, tuple(options), axes)
    if not body or not answer.text:
        return Reading("none", rule="empty")
    if form in _WHOLE:
        return _WHOLE[form](answer)
    if len(body) > _LONGEST:
        return unclear("long")
    module = _VALUE_READERS[form]
    if answer.field is not None:
        places = [("field", [answer.field])]
    else:
        places = [("announced", answer.announced), ("alone", answer.edges)]
    for rule, texts in places:
        if rule == "alone" and any(refuses(fold(answer.sentences[at])) for at in (0, -1)):
            break
        parse = getattr(module, "alone", module.value) if rule == "alone" else module.value
        values = [(value, part) for part in texts if (value := parse(part, answer)) is not None]
        if values and (values[0][0] == "several" or any(v != values[0][0] for v, _ in values)):
            return unclear("several")
        if values:
            contradicts = getattr(module, "contradicts", None)
            if rule == "announced" and contradicts and contradicts(values[0][0], answer):
                return unclear("contradicted")
            return Reading("read", values[0][0], rule, values[0][1])
    return unclear("field") if answer.field is not None else module.otherwise(answer)
