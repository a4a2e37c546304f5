"""The output of `keju audit`: the summary, then findings by size, claims and correct values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from keju.cli.output.console import plain_table, shown
from keju.errors import printable
from keju.published import (
    OF_A_RUN,
    Audit,
    Decided,
    Finding,
    Section,
    own_summary,
    paper_summary,
    papers,
    sections,
)
from keju.reporting.audit_words import (
    finding_text,
    kind_text,
    place_text,
    size_text,
    title_text,
    words,
)

_SHOWN = 2
_METHOD = (
    "Method: what the numbers imply for one another is recomputed (means, ranks, counts, bounds, "
    "marks, copies); rounding of printed digits is allowed for. After an arrow is what the check "
    "expects; it may be a threshold of ours, and is not always a correction. Findings are sorted "
    "by the ranks that move, the points that change (100 are the whole scale) and the cells. "
    "Proved: by the printed numbers; likely: with an assumption that is named; editorial: naming "
    "or marking."
)
_OWN_METHOD = (
    "Of a table are checked: a column of means against the other columns, ranks against it, a row "
    "of means, counts under a heading with n, bold and underline, repeated columns and rows. A "
    "row of means or marks that fail in most columns are taken to be made otherwise, and skipped."
)


def audit_report(audit: Audit, benchmark: str, *, everything: bool) -> Iterator[RenderableType]:
    """The report on one paper, table or run.

    For a paper, findings, claims and correct values are only included with `everything`; for others
    only correct values and the method are.
    """
    paper = benchmark in papers()
    yield Text(benchmark, style="bold")
    for number, line in enumerate(_lines(audit, benchmark, paper=paper), start=1):
        yield shown(f"{number}. {line}")
    found = sections(audit, benchmark)
    if found and (everything or not paper):
        yield from (line for section in found for line in _block(section))
    claims = [each for each in audit.claims if each.benchmark == benchmark]
    if claims:
        yield shown(("\n" if everything else "") + _counts(claims))
    if claims and everything:
        yield from _claims(claims)
    is_run = any(section.main.kind == OF_A_RUN for section in found)
    if everything or not (paper or is_run):
        yield _held_table(audit, benchmark)
        yield shown(_METHOD if paper or is_run else f"{_METHOD} {_OWN_METHOD}")


def _lines(audit: Audit, benchmark: str, *, paper: bool) -> tuple[str, ...]:
    if paper and (known := paper_summary(benchmark)):
        return tuple(line.replace("**", "") for line in known.lines)
    return own_summary(audit, benchmark)


def _block(section: Section) -> Iterator[RenderableType]:
    """One finding: title, kind and size, text, then its places with a few cells each."""
    main = section.main
    yield Text("\n" + printable(title_text(main, "en")), style="bold")
    lines = [f"{kind_text(section, 'en')}; {size_text(section.size, 'en')}"]
    if main.title:
        lines.append(finding_text(main, "en"))
    elif main.consequence:
        lines.append(main.consequence)
    lines += [f"- {line}" for line in _places(section)]
    yield from (Padding(shown(line), (0, 0, 0, 3), expand=False) for line in lines)


def _places(section: Section) -> Iterator[str]:
    for finding in section.findings:
        place = place_text(finding.place.removeprefix(f"{finding.benchmark}, "), "en")
        yield f"{place}, {finding.cells}/{finding.compared}: {'; '.join(_cells(finding))}"


def _cells(finding: Finding) -> Iterator[str]:
    for each in finding.mismatches[:_SHOWN]:
        if finding.kind == OF_A_RUN:
            yield f"{each.where}: {each.printed} ({each.recomputed})"
        else:
            yield f"{each.where} {each.printed} → {each.recomputed}"
    if (more := len(finding.mismatches) - _SHOWN) > 0:
        yield f"{more} more"


def _counts(claims: list[Decided]) -> str:
    counts: Counter[str] = Counter(each.verdict for each in claims)
    parts = [text.format(counts[verdict]) for verdict, text in words("en").counts.items()]
    return f"{len(claims)} claims of the text: {', '.join(parts)}."


def _claims(claims: list[Decided]) -> Iterator[RenderableType]:
    """The claims by verdict, each with its place and the values of the tables."""
    for verdict, name in words("en").verdicts.items():
        found = [each.claim for each in claims if each.verdict == verdict]
        if found:
            yield Text(f"\nClaims of the text: {name}", style="bold")
        for claim in found:
            line = " → ".join(filter(None, (claim.states, claim.note)))
            yield Padding(shown(f"- {claim.place}: {line}"), (0, 0, 0, 3), expand=False)


def _held_table(audit: Audit, benchmark: str) -> Table:
    table = plain_table("what holds", "places", "cells", right=[1, 2])
    for each in audit.held:
        if each.benchmark == benchmark:
            table.add_row(each.holds, f"{each.places}", f"{each.compared:,}")
    table.columns[0].no_wrap = False
    return table
