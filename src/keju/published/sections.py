"""The findings of an audit by topic, the largest first: the sections of a report."""

from __future__ import annotations

from keju.items import Record
from keju.published.audit import OF_A_RUN, Audit, Finding
from keju.published.checks import Certainty, Severity
from keju.published.checks.base import Size


class Section(Record, frozen=True, kw_only=True, omit_defaults=False):
    """All findings of one topic of one table or paper.

    `main` has the text of the section; `size` is that of the most severe finding, with the cells of
    all of them.
    """

    benchmark: str
    topic: str
    main: Finding
    findings: tuple[Finding, ...]
    size: Size

    @property
    def severity(self) -> Severity:
        """The severity of the findings."""
        return self.main.severity

    @property
    def certainty(self) -> Certainty:
        """The certainty of the section's text."""
        return self.main.certainty

    @property
    def artefact(self) -> bool:
        """Whether all of it may be due to the extraction of the text."""
        return all(each.artefact for each in self.findings)


def sections(audit: Audit, benchmark: str) -> list[Section]:
    """The sections of one paper or table: by changed ranks, changed points, then cells.

    Those of a run stay in the order of the checks, errors first, because their cells are not
    comparable.
    """
    topics = dict.fromkeys(each.topic for each in audit.findings if each.benchmark == benchmark)
    found = [
        _section(
            [each for each in audit.findings if (each.benchmark, each.topic) == (benchmark, topic)]
        )
        for topic in topics
    ]
    if any(section.main.kind == OF_A_RUN for section in found):
        return found
    return sorted(found, key=lambda section: section.size.weight, reverse=True)


def _section(findings: list[Finding]) -> Section:
    main = next((each for each in findings if each.check == each.topic), findings[0])
    gravest = max((each.size for each in findings), key=lambda size: size.weight)
    return Section(
        benchmark=main.benchmark,
        topic=main.topic,
        main=main,
        findings=tuple(findings),
        size=Size(
            cells=sum(each.cells for each in findings),
            compared=sum(each.compared for each in findings),
            ranks=gravest.ranks,
            ranked=gravest.ranked,
            pairs=gravest.pairs,
            points=gravest.points,
        ),
    )


def benchmarks_of(audit: Audit) -> tuple[str, ...]:
    """The papers or tables that an audit is of, in its order."""
    found = [each.benchmark for each in audit.findings] + [each.benchmark for each in audit.held]
    return tuple(dict.fromkeys(found))
