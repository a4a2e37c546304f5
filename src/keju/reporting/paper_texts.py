"""Sentences of a report that name the benchmarks whose papers they are about."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from keju.analysis.reasoning import OVERALL, ReasoningTable
from keju.definitions import task
from keju.messages import Message, message
from keju.published import paper, papers
from keju.texts import both, listed


class PaperTexts(NamedTuple):
    """The texts of a report on input settings, reasoning fields and scorers."""

    settings: Message
    reasoning: Message
    scorers: Message


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
        settings=message("reporting.settings-about-source", source=listed(cited))
        if cited
        else message("reporting.settings-about"),
        reasoning=message("reporting.official-reasoning-field", named=listed(named)),
        scorers=_scorers([each for each in papers() if not paper(each).scorer]),
    )


def _scorers(names: list[str]) -> Message:
    if len(names) == 1:
        return message("reporting.published-no-scorer", name=names[0])
    some = both([listed(names[:-1]), names[-1]]) if names else ""
    return message("reporting.published-no-scorers", names=some)
