"""Write the pages of the audit of the three papers' tables: docs/audit.md and its companions.

    python -m tools.make_audit_page [DIR]

Into DIR (default docs): audit.md and audit.zh.md, audit-claims.md and audit-claims.zh.md, and
audit-cells.csv with every cell of every finding. The test suite compares them with this output.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from keju.published import (
    Audit,
    ClaimDecision,
    Section,
    audit_published,
    paper,
    papers,
    sections,
)
from keju.reporting.audit_cells import write_cells
from keju.reporting.audit_words import (
    Language,
    claim_place,
    finding_text,
    kind_text,
    place_parts,
    place_text,
    size_text,
    title_text,
    words,
)

DOCS = Path(__file__).resolve().parents[1] / "docs"


def main(folder: Path = DOCS) -> None:
    """Write all five files."""
    audit = audit_published()
    (folder / "audit.md").write_text(audit_page(audit, "en"), "utf-8")
    (folder / "audit.zh.md").write_text(audit_page(audit, "zh"), "utf-8")
    (folder / "audit-claims.md").write_text(claims_page(audit, "en"), "utf-8")
    (folder / "audit-claims.zh.md").write_text(claims_page(audit, "zh"), "utf-8")
    write_cells(audit, folder / "audit-cells.csv")


def audit_page(audit: Audit, language: Language = "en") -> str:
    """Page: for each paper the summary, findings, claims and correct values, then the method."""
    parts = [words(language).head.lstrip()]
    for benchmark in papers():
        parts += [*_paper(audit, benchmark, language)]
    return "\n".join([*parts, words(language).method.lstrip()])


def claims_page(audit: Audit, language: Language = "en") -> str:
    """Every claim of every paper with its verdict and note."""
    use = words(language)
    parts = [use.claims_head.lstrip()]
    for benchmark in papers():
        claims = [each for each in audit.claims if each.benchmark == benchmark]
        parts += [f"## {benchmark}\n", _counts(claims, language) + "\n"]
        parts += ["|" + "|".join(use.claim_columns) + "|", "|---" * len(use.claim_columns) + "|"]
        parts += [_claim_row(each, language) for each in claims]
        parts += [""]
    return "\n".join(parts)


def _paper(audit: Audit, benchmark: str, language: Language) -> Iterator[str]:
    use, summary = words(language), paper(benchmark).summary
    zh = language == "zh"
    yield f"## {benchmark}\n"
    if summary:
        lines = summary.lines_zh if zh else summary.lines
        yield from (f"{number}. {line}" for number, line in enumerate(lines, start=1))
        yield f"\n{summary.version_zh if zh else summary.version}\n"
        yield f"{summary.terms_zh if zh else summary.terms}\n"
    yield f"### {benchmark}{use.colon}{use.findings}\n"
    for section in sections(audit, benchmark):
        yield from _section(section, language)
    yield from _claims(audit, benchmark, language)
    yield from _format_checks_held(audit, benchmark, language)


def _section(section: Section, language: Language) -> Iterator[str]:
    use = words(language)
    yield f"#### {_escape(title_text(section.main, language))}\n"
    yield _escape(finding_text(section.main, language))
    about = f"{kind_text(section, language)}{use.semicolon}{size_text(section.size, language)}"
    if len({each.place for each in section.findings}) == 1:
        yield f"*{about}*{use.colon}{place_text(section.main.place, language)}\n"
        return
    yield f"*{about}*\n"
    yield from _places(section, language)


def _places(section: Section, language: Language) -> Iterator[str]:
    """The places as rows; a table common to all of them is named in the heading."""
    use = words(language)
    places = {each.place: place_parts(each.place, language) for each in section.findings}
    tables = {table for table, _ in places.values()}
    shared = tables.pop() if len(tables) == 1 else ""
    yield f"|{shared or use.place}|{use.cells}|\n|---|---:|"
    for place, (table, column) in places.items():
        found = [each for each in section.findings if each.place == place]
        name = column if shared else " ".join(filter(None, (table, column)))
        mark = "†" if found[0].artefact and not section.artefact else ""
        yield f"|{name}{mark}|{sum(e.cells for e in found)}/{sum(e.compared for e in found)}|"
    yield ""


def _claims(audit: Audit, benchmark: str, language: Language) -> Iterator[str]:
    """Number of claims that hold, and those that do not, unless a finding above repeats them."""
    use = words(language)
    claims = [each for each in audit.claims if each.benchmark == benchmark]
    yield f"### {benchmark}{use.colon}{use.claims}\n"
    yield _counts(claims, language) + use.failing + "\n"
    for each in claims:
        if each.verdict == "does not hold" and not each.claim.finding:
            short = each.claim.short_zh if language == "zh" else each.claim.short
            yield f"- {claim_place(each.claim.place, language)}{use.colon}{short}"
    yield ""


def _counts(claims: Sequence[ClaimDecision], language: Language) -> str:
    use = words(language)
    counts: Counter[str] = Counter(each.verdict for each in claims)
    parts = [text.format(counts[verdict]) for verdict, text in use.counts.items()]
    return use.tested.format(len(claims)) + use.semicolon.join(parts) + use.stop


def _claim_row(decided: ClaimDecision, language: Language) -> str:
    claim, zh = decided.claim, language == "zh"
    cells = (
        claim_place(claim.place, "zh") if zh else claim.place,
        claim.states_zh if zh else claim.states,
        words(language).verdicts[decided.verdict],
        claim.note_zh if zh else claim.note,
    )
    return f"|{'|'.join(map(_escape, cells))}|"


def _format_checks_held(audit: Audit, benchmark: str, language: Language) -> Iterator[str]:
    """The checks without any finding, after the number of all correct cells."""
    use = words(language)
    failing = {each.check for each in audit.findings if each.benchmark == benchmark}
    held = [each for each in audit.held if each.benchmark == benchmark]
    cells = sum(each.compared for each in held)
    texts = [
        each.holds_zh if language == "zh" else each.holds
        for each in held
        if each.check not in failing
    ]
    yield f"### {benchmark}{use.colon}{use.held}\n"
    yield use.whole.format(f"{cells:,}") + use.semicolon.join(texts) + use.stop + "\n"


def _escape(text: str) -> str:
    return text.replace("<", "&lt;").replace("|", "\\|").replace("*", "\\*")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:2]))
