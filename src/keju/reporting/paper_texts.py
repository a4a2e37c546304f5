"""Sentences of a report that name the benchmarks whose papers they are about."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from keju.analysis.reasoning import OVERALL, ReasoningTable
from keju.definitions import task
from keju.published import paper, papers
from keju.texts import Text, _, both, listed


class PaperTexts(NamedTuple):
    """The texts of a report on input settings, reasoning fields and scorers."""

    settings: Text
    reasoning: Text
    scorers: Text


def paper_texts(reasoning: Iterable[ReasoningTable]) -> PaperTexts:
    """The sentences.

    Args:
        reasoning: the report's tables of reasoning fields.
    """
    rows = (row for table in reasoning for row in table.rows if row.task != OVERALL)
    named = dict.fromkeys(task(row.task).benchmark for row in rows)
    return PaperTexts(
        settings=_(
            "The same model on the same items with different inputs: the image; the image and "
            "the model's own transcription of it (own-ocr); the image and the reference "
            "transcription (gold-ocr); own-text and gold-text are these transcriptions without "
            "the image. From image to own-ocr, the difference is the effect of transcribing "
            "first; from own-ocr to gold-ocr, the cost of OCR errors; from the text alone to "
            "image and text, the effect of the image. Differences are paired and have 95 % "
            "intervals by group; “significant” means p ≤ .05 in the paired randomisation test, "
            "adjusted over all differences of these tables under one protocol (Holm)."
        ),
        reasoning=_("{} official with the reasoning field", listed(named)),
        scorers=_scorers([each for each in papers() if not paper(each).scorer]),
    )


def _scorers(names: list[str]) -> Text:
    if len(names) == 1:
        return _(
            "{} has not published its scorer: its official protocol is our reading of the paper.",
            names[0],
        )
    some = both([listed(names[:-1]), names[-1]]) if names else ""
    return _(
        "{} have not published their scorers: their official protocols are our reading of the "
        "papers.",
        some,
    )
