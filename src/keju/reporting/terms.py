"""The terms of reports beside the metrics, which are defined in `keju.scoring.strict`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from keju.layout import ReadingPattern
from keju.texts import Text, _, p_


class Term(NamedTuple):
    """A term and its meaning."""

    name: Text
    meaning: Text


class PatternSense(NamedTuple):
    """The meaning of a reading pattern, and what can be done about it."""

    what: Text
    do: Text


TERMS: Mapping[str, Term] = {
    "item": Term(
        _("item"),
        _("One question with its true answer: a page to transcribe, or an image with a question."),
    ),
    "page": Term(
        p_("term", "page"),
        _(
            "The image of one page of a book with its text. In a dataset of own pages, every "
            "item is a page."
        ),
    ),
    "reference": Term(
        _("reference"),
        _(
            "The true answer of an item: the text of a page, an option, a number, boxes. "
            "Responses are compared with it."
        ),
    ),
    "response": Term(
        _("response"),
        _("What a model or an engine returned for an item, unchanged."),
    ),
    "extracted-answer": Term(
        _("extracted answer"),
        _("The part of a response that is scored. It is extracted by rules."),
    ),
    "ocr-engine": Term(
        _("OCR engine"),
        _("A program that transcribes the text of an image and answers no questions."),
    ),
    "model": Term(
        _("model"),
        _(
            "The program or person that answers: a vision language model, an OCR engine, a "
            "person or a baseline."
        ),
    ),
    "baseline": Term(
        _("baseline"),
        _(
            "A simple rule that answers in place of a model: chance, the most common answer, or "
            "a copy of the question."
        ),
    ),
    "floor": Term(
        _("floor"),
        _(
            "The value of an answer that does not use the image: of a baseline, of a guess, or "
            "of the text of another page. A value near its floor is not evidence of any skill."
        ),
    ),
    "task": Term(
        _("task"),
        _("Items with the same kind of question, the same prompt and the same metrics."),
    ),
    "domain": Term(
        _("domain"),
        _("A subject area of a benchmark that has several tasks, such as calligraphy or painting."),
    ),
    "group": Term(
        _("group"),
        _(
            "Items from the same book, plate or bone; if the dataset names none, items on the "
            "same image. They resemble each other, so intervals and tests resample whole groups "
            "and never single items."
        ),
    ),
    "mean": Term(
        _("mean"),
        _("The arithmetic mean of the values of items or tasks, each with the same weight."),
    ),
    "median": Term(
        _("median"),
        _(
            "The middle value when the values are sorted: half of them are below it and half "
            "above. Unlike the mean, it is not moved by a few very bad pages."
        ),
    ),
    "pooled": Term(
        _("pooled"),
        _(
            "Computed over all characters of a task together, not as the mean of its items. Long "
            "pages weigh more."
        ),
    ),
    "interval": Term(
        _("interval"),
        _(
            "The 95 % interval by group: how far a value may change with other books, plates or "
            "bones of the same kind. It is computed for 6 groups or more in each task. Where all "
            "groups are wholly right or wholly wrong, it is the exact binomial interval over "
            "groups."
        ),
    ),
    "significant": Term(
        _("significant"),
        _(
            "A difference with p ≤ .05 in the paired randomisation test by group, with the Holm "
            "correction if several differences are tested together. A difference that is not "
            "significant may be due to chance; it does not show that two models are equal."
        ),
    ),
    "rank": Term(
        _("rank"),
        _(
            "The position by the printed value; equal values share a rank. Below it are the "
            "ranks that remain possible after paired tests of all models, because a small "
            "difference may be due to chance."
        ),
    ),
    "recognition-error": Term(
        _("recognition error"),
        _(
            "The character error rate (CER) if the characters read could be in any order: "
            "characters that were misread, missed or added."
        ),
    ),
    "layout-error": Term(
        _("layout error"),
        _(
            "The CER minus the recognition error: characters that were read correctly, but in "
            "another order."
        ),
    ),
    "reading-order": Term(
        _("reading order"),
        _(
            "The order in which the lines of a page are read: in classical books columns from "
            "right to left, and each column from top to bottom."
        ),
    ),
    "protocol": Term(
        _("protocol"),
        _(
            "A fixed way of scoring: how an answer is extracted from a response, how texts are "
            "normalised, and which metrics are computed. The report has values under one or both "
            "of the protocols official and strict, and never mixes them."
        ),
    ),
    "official": Term(
        _("official"),
        _(
            "The protocol that computes what the authors of a benchmark compute, so that a value "
            "can be compared with their paper."
        ),
    ),
    "strict": Term(
        _("strict"),
        _(
            "The recommended protocol: both texts are normalised in the same way, answers are "
            "extracted by rules and never guessed, and unrelated text earns no points."
        ),
    ),
    "signature": Term(
        _("signature"),
        _(
            "The metric, protocol, normalisation and version of a number. Compare numbers only "
            "if their signatures are equal."
        ),
    ),
    "judge": Term(
        _("judge"),
        _("A model that grades responses from 0 to 10 by given rubrics."),
    ),
    "failure": Term(
        _("failure"),
        _("An item without a complete response. It counts as the worst value of each metric."),
    ),
    "unscored": Term(
        _("unscored"),
        _(
            "Without a value because the metric could not be computed; the reason is shown. It "
            "does not mean wrong."
        ),
    ),
}
"""The terms that every report defines, by a key."""

LAYERS: Mapping[str, Term] = {
    "exact-characters": Term(
        _("exact characters"),
        _("The CER of the characters as they are, without punctuation and white space."),
    ),
    "nfc": Term(
        _("NFC"),
        _(
            "The CER after composing characters (Unicode NFC), which unifies the compatibility "
            "ideographs that are canonically equal."
        ),
    ),
    "nfkc": Term(
        _("NFKC"),
        _(
            "The CER after folding full and half width and radicals (Unicode NFKC) and dropping "
            "variation selectors."
        ),
    ),
    "variants-folded": Term(
        _("variants folded"),
        _("The CER after replacing variant characters by their standard form."),
    ),
    "script-folded": Term(
        _("script folded"),
        _(
            "The CER after replacing traditional characters by simplified ones, character by "
            "character. This is the CER of the first column."
        ),
    ),
}
"""The layers of normalisation at which characters are compared."""

PATTERNS: Mapping[ReadingPattern, PatternSense] = {
    "rows across columns": PatternSense(
        _(
            "The page was read in horizontal rows across its vertical columns: one character of "
            "each column after the other."
        ),
        _(
            "The engine took vertical text for horizontal. Set it to vertical text in columns "
            "from right to left, or ask its vendor for that; with Tesseract, use a language of "
            "vertical text (chi_tra_vert)."
        ),
    ),
    "columns from left to right": PatternSense(
        _(
            "Each column was read from top to bottom, but the columns were taken from left to "
            "right instead of from right to left."
        ),
        _(
            "Set the engine to columns from right to left. If keju ran the engine with "
            "--no-reading-order, run it without. If the results have line boxes (PAGE-XML, ALTO, "
            "hOCR), keju.reading_order in Python puts the lines in order."
        ),
    ),
    "columns merged": PatternSense(
        _(
            "Characters of two neighbouring columns, or of the two rows of a note, alternate: "
            "two columns were taken for one line."
        ),
        _(
            "Try scans of a higher resolution, or ask the vendor for line detection that is "
            "trained on vertical pages, and whether lines can be corrected before they are read."
        ),
    ),
    "notes misplaced": PatternSense(
        _(
            "Notes in small double rows were read at another place of the text, such as behind "
            "the column; the main text is in order."
        ),
        _(
            "Decide whether you need the notes. If you do, choose an engine that reads them in "
            "their place, or ask the vendor for it."
        ),
    ),
    "columns out of order": PatternSense(
        _(
            "Columns were read whole, but in an order that is neither from right to left nor "
            "from left to right; often the page has several blocks."
        ),
        _(
            "Cut double pages in two, and crop margins before the pages are read. If the results "
            "have line boxes (PAGE-XML, ALTO, hOCR), keju.reading_order in Python puts the lines "
            "in order."
        ),
    ),
    "no regular order": PatternSense(
        _("The characters are out of order, in none of the patterns that keju knows."),
        _(
            "Look at these answers among the items: tables, damage, or several texts on one page "
            "are common causes."
        ),
    ),
}
"""The reading patterns."""
