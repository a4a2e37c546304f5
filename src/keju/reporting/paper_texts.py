"""Sentences of a report that name the benchmarks whose papers they are about."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from keju.analysis.reasoning import OVERALL, ReasoningTable
from keju.definitions import task
from keju.published import paper, papers

_SETTINGS = (
    "One model, the same items, several settings{source}: the image; the image and the "
    "model's own transcription of it (own-ocr); the image and the true transcription "
    "(gold-ocr); own-text and gold-text are these texts without the image. The step from "
    "image to own-ocr shows the value of reading first; from own-ocr to gold-ocr, the cost "
    "of reading errors; from the text alone to image and text, the value of the image. "
    "Differences are paired, with their 95 % interval by group; “sure” where the paired "
    "randomisation test gives p ≤ .05 for that difference alone."
)


class PaperTexts(NamedTuple):
    """The texts of a report on input settings, reasoning fields and scorers."""

    settings: str
    reasoning: str
    scorers: str


def paper_texts(benchmarks: Iterable[str], reasoning: Iterable[ReasoningTable]) -> PaperTexts:
    """The sentences.

    Args:
        benchmarks: those of the report.
        reasoning: the report's tables of reasoning fields.
    """
    shown = set(benchmarks)
    cited = [
        f"{name} {section}"
        for name in papers()
        if name in shown and (section := paper(name).settings_section)
    ]
    rows = (row for table in reasoning for row in table.rows if row.task != OVERALL)
    named = dict.fromkeys(task(row.task).benchmark for row in rows)
    return PaperTexts(
        settings=_SETTINGS.format(source=f" ({', '.join(cited)})" if cited else ""),
        reasoning=f"{', '.join(named)} official with the reasoning field",
        scorers=_scorers([each for each in papers() if not paper(each).scorer]),
    )


def _scorers(names: list[str]) -> str:
    if len(names) == 1:
        return f"{names[0]} published no scorer: its official is our reading of the paper."
    listed = f"{', '.join(names[:-1])} and {names[-1]}" if names else ""
    return f"{listed} published no scorer: their official is our reading of the papers."
