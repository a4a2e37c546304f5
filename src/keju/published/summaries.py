"""Summaries of an audit of tables or a run of one's own, in five lines, as of a paper."""

from __future__ import annotations

from keju.published.audit import Audit, Finding
from keju.published.sections import Section, sections

_MOST_PLACES = 6


def summarise_audit(audit: Audit, benchmark: str) -> tuple[str, ...]:
    """The main facts about a table or run, made from what was found: at most five lines."""
    found = sections(audit, benchmark)
    held = [each for each in audit.held if each.benchmark == benchmark]
    lines = [
        _line("Do not use without correction", [s for s in found if s.severity == "error"]),
        _line(
            "Read differently",
            [s for s in found if s.severity in {"conflict", "meaning", "caution"}],
        ),
        _line("Do not trust bold and underline", [s for s in found if s.severity == "marks"]),
    ]
    moved = [s for s in found if s.size.ranks]
    if moved:
        size = moved[0].size
        lines.append(f"{size.ranks} of {size.ranked} ranks move in {_place(moved[0].main)}.")
    cells = sum(each.compared for each in held)
    failing = {each.check for each in audit.findings if each.benchmark == benchmark}
    names = dict.fromkeys(each.holds for each in held if each.check not in failing)
    lines.append(f"Certain: {cells:,} cells hold." if held else "")
    if names:
        lines[-1] += f" In all places: {'; '.join(names)}."
    if not found:
        lines.insert(0, "Nothing was found that contradicts the other numbers.")
    return tuple(filter(None, lines))


def _line(start: str, found: list[Section]) -> str:
    places = dict.fromkeys(_place(each) for section in found for each in section.findings)
    shown = [*places][:_MOST_PLACES]
    more = f" and {len(places) - len(shown)} more places" if len(places) > len(shown) else ""
    return f"{start}: {'; '.join(shown)}{more}." if shown else ""


def _place(finding: Finding) -> str:
    return finding.place.removeprefix(f"{finding.benchmark}, ")
