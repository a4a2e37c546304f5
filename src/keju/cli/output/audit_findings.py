"""The output of `keju audit`: of a paper the summary, then findings by size, claims, what holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Literal

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from keju.cli.output.console import format_literal, name_columns, plain_table, translate
from keju.errors import printable, shortened
from keju.published import (
    OF_A_RUN,
    Audit,
    ClaimDecision,
    Finding,
    PassedCheck,
    Section,
    UnreadCells,
    paper,
    papers,
    sections,
)
from keju.reporting.audit_words import (
    claim_place,
    finding_text,
    kind_text,
    place_text,
    size_text,
    title_text,
    words,
)
from keju.texts import _, in_terminal, join_clauses, language, n_

_SHOWN = 2
_LISTED = " In all places: "


def audit_report(audit: Audit, benchmark: str, *, everything: bool) -> Iterator[RenderableType]:
    """The report on one paper, table or run.

    For a paper with a summary, findings, claims and correct values are only included with
    `everything`; for others only correct values and the method are.
    """
    is_paper = benchmark in papers()
    summary = list(_summary(benchmark)) if is_paper else []
    parts = sections(audit, benchmark)
    yield Text(benchmark, style="bold")
    for number, line in enumerate(summary, start=1):
        yield format_literal(f"{number}. {line}")
    if not (summary or parts):
        yield format_literal(_("Nothing was found that contradicts the other numbers."))
    yield from _unread([each for each in audit.unread if each.benchmark == benchmark])
    if parts and (everything or not summary):
        yield from (line for section in parts for line in _block(section))
    claims = [each for each in audit.claims if each.benchmark == benchmark]
    if claims:
        yield format_literal(("\n" if everything else "") + in_terminal(_counts(claims)))
    if claims and everything:
        yield from _claims(claims)
    is_run = any(section.main.kind == OF_A_RUN for section in parts)
    if everything or not (is_paper or is_run):
        yield _confirmed_table(audit, benchmark)
        lines = [
            _(
                "Method: values that follow from other numbers are recomputed (means, ranks, "
                "counts, bounds, marks, copies), and rounding of the printed digits is allowed "
                "for. The value after an arrow is the value that the check expects; it may be a "
                "threshold of keju, and is not always a correction. Findings are sorted by the "
                "number of ranks that move, the points that change (of 100) and the number of "
                "cells. Proved: by the printed numbers; likely: under an assumption that is "
                "named; editorial: naming or marking."
            )
        ]
        lines += (
            []
            if is_paper or is_run
            else [
                _(
                    "These parts of a table are checked: the column of means against the other "
                    "columns, ranks against the column of means, a row of means, counts under a "
                    "heading with n, bold and underline, repeated columns and rows. If a row of "
                    "means or the marks fail in most columns, another method is assumed, and they "
                    "are skipped."
                )
            ]
        )
        yield format_literal(("" if _chosen() == "zh" else " ").join(map(in_terminal, lines)))


def _unread(columns: list[UnreadCells]) -> Iterator[RenderableType]:
    """The cells that are not numbers; of a column of words only the first."""
    if not columns:
        return
    head = in_terminal(_("These cells are not read as numbers, and no check uses them:"))
    yield Text(f"\n{head}", style="bold")
    for each in columns:
        is_words = not each.numbers and not any(map(str.isdecimal, "".join(each.cells.values())))
        shown = _SHOWN if is_words else len(each.cells)
        cells = [f"{row} “{shortened(text)}”" for row, text in each.cells.items()][:shown]
        if len(each.cells) > shown:
            cells.append(_("{:,} more", len(each.cells) - shown))
        line = _(
            "{}, {} of {}: {}",
            each.column,
            len(each.cells),
            each.numbers + len(each.cells),
            join_clauses(cells)
        )  # fmt: skip
        yield Padding(format_literal(f"- {in_terminal(line)}"), (0, 0, 0, 3), expand=False)


def _chosen() -> Literal["en", "zh"]:
    return "zh" if language() == "zh" else "en"


def _summary(benchmark: str) -> Iterator[str]:
    if summary := paper(benchmark).summary:
        lines = summary.lines_zh if language() == "zh" else summary.lines
        yield from (line.replace("**", "") for line in lines)


def _block(section: Section) -> Iterator[RenderableType]:
    """One finding: title, kind and size, text, then its places with a few cells each."""
    main = section.main
    chosen = _chosen()
    yield Text("\n" + printable(translate(title_text(main, chosen))), style="bold")
    separator = words(chosen).semicolon
    lines = [f"{kind_text(section, chosen)}{separator}{size_text(section.size, chosen)}"]
    if main.title:
        lines.append(_text_of(main, chosen))
    elif main.consequence:
        lines.append(translate(main.consequence))
    lines += [f"- {in_terminal(line)}" for line in _places(section)]
    yield from (Padding(format_literal(line), (0, 0, 0, 3), expand=False) for line in lines)


def _text_of(finding: Finding, chosen: Literal["en", "zh"]) -> str:
    if chosen == "zh" and not finding.says_zh:
        return translate(finding.says) + translate(finding.consequence)
    return finding_text(finding, chosen)


def _places(section: Section) -> Iterator[str]:
    for finding in section.findings:
        place = place_text(finding.place.removeprefix(f"{finding.benchmark}, "), _chosen())
        yield _(
            "{}, {}/{}: {}",
            place,
            finding.cells,
            finding.compared,
            join_clauses(_cells(finding))
        )  # fmt: skip


def _cells(finding: Finding) -> Iterator[str]:
    for each in finding.mismatches[:_SHOWN]:
        if finding.kind == OF_A_RUN:
            yield _("{}: {} ({})", each.where, each.printed, each.recomputed)  # fmt: skip
        else:
            yield _("{} {} → {}", each.where, each.printed, each.recomputed)
    if (more := len(finding.mismatches) - _SHOWN) > 0:
        yield _("{:,} more", more)


def _counts(claims: list[ClaimDecision]) -> str:
    counts: Counter[str] = Counter(each.verdict for each in claims)
    parts = [text.format(counts[verdict]) for verdict, text in words(_chosen()).counts.items()]
    return n_(
        "{n:,} claim of the text: {}.",
        "{n:,} claims of the text: {}.",
        len(claims),
        words(_chosen()).comma.join(parts),
    )


def _claims(claims: list[ClaimDecision]) -> Iterator[RenderableType]:
    """The claims by verdict, each with its place and the values of the tables."""
    for verdict, name in words(_chosen()).verdicts.items():
        claims_of_verdict = [each.claim for each in claims if each.verdict == verdict]
        if claims_of_verdict:
            yield Text("\n" + in_terminal(_("Claims of the text: {}", name)), style="bold")
        for claim in claims_of_verdict:
            if _chosen() == "zh":
                place, texts = claim_place(claim.place, "zh"), (claim.states_zh, claim.note_zh)
            else:
                place, texts = claim.place, (claim.states, claim.note)
            line = _("- {}: {}", place, " → ".join(filter(None, texts)))
            yield Padding(format_literal(line), (0, 0, 0, 3), expand=False)


def _holds(check: PassedCheck) -> str:
    return check.holds_zh if _chosen() == "zh" and check.holds_zh else translate(check.holds)


def _confirmed_table(audit: Audit, benchmark: str) -> Table:
    table = plain_table(*name_columns("what holds", "places", "cells"), right=[1, 2])
    for each in audit.held:
        if each.benchmark == benchmark:
            table.add_row(_holds(each), f"{each.places}", f"{each.compared:,}")
    table.columns[0].no_wrap = False
    return table
