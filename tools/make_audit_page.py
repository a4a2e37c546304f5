"""Print docs/audit.md: what of the three papers' tables does not hold, cell by cell.

    python tools/make_audit_page.py > docs/audit.md

It is `keju audit published` with every cell written out; the test suite holds the page to it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

from keju.published import Audit, Finding, audit_published, papers

_INTRODUCTION = """\
# What the published tables say that does not hold

Made by `tools/make_audit_page.py` from `keju audit published`; the test suite holds this page to
it. Every number here is computed from the printed tables, which ship as data with keju
(`src/keju/published/data`); the checks are declared beside them (`data/checks`). A cell counts
only if rounding of the printed digits can't explain it.

| word | meaning |
|---|---|
| error | it cannot be as printed |
| conflict | two places disagree, or a claim and a table |
| meaning | the number is not what its name says |
| marks | the wrong cells are bold or underlined |
| caution | true, but easily read for more than it is |

The tables were transcribed from the papers' text and pictures: a wrong digit may be the
transcription's. MCS-Bench's Tables 21 to 24 and its bold marks are not in the transcription, nor
are the analyses of its appendices E and F, so that nothing is said of them. How many options,
queries and relevant images a task has is read from the papers' text and examples.
"""


def page() -> str:
    """The whole page."""
    audit = audit_published()
    return "\n".join([_INTRODUCTION, *_summary(audit), *_findings(audit), *_held(audit)]) + "\n"


def _summary(audit: Audit) -> Iterator[str]:
    severities = dict.fromkeys(("error", "conflict", "meaning", "marks", "caution"))
    yield "| benchmark | " + " | ".join(severities) + " | checked cells that hold |"
    yield "|---|" + "---:|" * (len(severities) + 1)
    for name in papers():
        counts = [
            sum(each.benchmark == name and each.severity == word for each in audit.findings)
            for word in severities
        ]
        held = sum(each.compared for each in audit.held if each.benchmark == name)
        yield f"| {name} | " + " | ".join(map(str, counts)) + f" | {held:,} |"


def _findings(audit: Audit) -> Iterator[str]:
    for name in papers():
        yield f"\n## {name}"
        for each in audit.findings:
            if each.benchmark == name:
                yield from _finding(each)


def _finding(finding: Finding) -> Iterator[str]:
    yield f"\n### {finding.severity}: {_code(finding.place)}"
    yield f"\n{finding.says}\n"
    yield f"*What follows:* {finding.consequence}\n"
    yield f"{len(finding.mismatches)} of {finding.compared} (`{finding.check}`):\n"
    yield "| where | printed | recomputed |"
    yield "|---|---:|---:|"
    for each in finding.mismatches:
        yield f"| {_code(each.where)} | {_code(each.printed)} | {_code(each.recomputed)} |"


def _held(audit: Audit) -> Iterator[str]:
    yield "\n## What holds\n"
    yield "| benchmark | what holds | places | cells |"
    yield "|---|---|---:|---:|"
    for each in audit.held:
        yield f"| {each.benchmark} | {each.holds} | {each.places} | {each.compared:,} |"


def _code(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*").replace("_", "\\_")


if __name__ == "__main__":
    sys.stdout.write(page())
