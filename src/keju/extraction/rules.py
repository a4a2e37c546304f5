"""Sentences for people about the rules of the reader: `explain_origin`."""

from __future__ import annotations

import re

from keju.texts import Text, _, recognised

_PAIRS = re.compile("answers to ([0-9,]+) pairs")

RULES: dict[str, Text] = {
    "JSON": _("boxes in JSON"),
    "all": _("the whole response"),
    "alone": _("the response, its first sentence or its last line is the value alone"),
    "announced": _("a phrase such as “the answer is” announces it"),
    "asked": _("the number before what was asked for"),
    "both": _("the response says yes and no"),
    "completes the question": _("a sentence repeats the question and completes it"),
    "concluded": _("a conclusion names it"),
    "contradicted": _("the rest of the response contradicts or restricts the value"),
    "decided by a model": _("an extractor model decided the unclear answer"),
    "decided by a person": _("people decided the unclear answer"),
    "empty": _("there is no answer"),
    "empty list": _("an empty list"),
    "fence": _("the text in a code block"),
    "field": _("a field for the answer, in JSON or a box"),
    "label": _("the text behind a label"),
    "last line": _("the last line"),
    "list": _("a list of names"),
    "long": _("the response is too long for one value"),
    "mixed": _("names and other text are mixed"),
    "none": _("the response says that there are none"),
    "number of boxes": _("the number of boxes"),
    "only option named": _("no other option is named"),
    "only probability": _("no other probability is named"),
    "order": _("the order of the numbers of a box is unknown"),
    "paragraph": _("the only paragraph that can be the text"),
    "paragraphs": _("the paragraphs without comments"),
    "question": _("the response asks back"),
    "quotation": _("the text in quotation marks"),
    "range": _("the response gives a range"),
    "refusal": _("the response refuses or doubts"),
    "sentence": _("the value is part of a sentence"),
    "several": _("the response gives several values"),
    "silent": _("the response commits itself to no value"),
    "stated": _("a field or label of the response has the text"),
    "table": _("a table that the rules cannot read"),
    "text": _("boxes in the text"),
    "too many": _("there are too many values"),
    "total": _("a total is named"),
}
"""A short sentence for each rule, by `Reading.rule`."""


def explain_origin(origin: str) -> str:
    """A `Reading.origin` (``rule: “quote”``) as a sentence with the quote."""
    rule, colon, quote = origin.partition(": “")
    if pairs := _PAIRS.fullmatch(origin):
        return _("answers to {} pairs", pairs[1])
    if rule not in RULES:
        return recognised(origin)
    return _("{}: “{}”", RULES[rule], quote.removesuffix("”")) if colon else RULES[rule]
