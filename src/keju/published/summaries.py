"""Summaries of an audit of tables or a run of one's own, in five lines, as of a paper."""

from __future__ import annotations

from keju.published.audit import Audit, Finding
from keju.published.sections import Section, sections
from keju.texts import _, join_clauses, recognised

_MOST_PLACES = 6


def summarise_audit(audit: Audit, benchmark: str) -> tuple[str, ...]:
    """The main facts about a table or run, made from what was found: at most five lines."""
    found = sections(audit, benchmark)
    held = [each for each in audit.held if each.benchmark == benchmark]
    wrong = _places([s for s in found if s.severity == "error"])
    doubtful = _places([s for s in found if s.severity in {"conflict", "meaning", "caution"}])
    marks = _places([s for s in found if s.severity == "marks"])
    lines: list[str] = []
    if wrong:
        lines.append(_("Do not use without correction: {}.", wrong))
    if doubtful:
        lines.append(_("Read differently: {}.", doubtful))
    if marks:
        lines.append(_("Do not trust bold and underline: {}.", marks))
    moved = [s for s in found if s.size.ranks]
    if moved:
        size = moved[0].size
        place = _place(moved[0].main)
        lines.append(_("{} of {} ranks move in {}.", size.ranks, size.ranked, place))
    cells = sum(each.compared for each in held)
    failing = {each.check for each in audit.findings if each.benchmark == benchmark}
    names = dict.fromkeys(each.holds for each in held if each.check not in failing)
    if held and names:
        all_places = join_clauses(map(recognised, names))
        lines.append(_("Certain: {:,} cells hold. In all places: {}.", cells, all_places))
    elif held:
        lines.append(_("Certain: {:,} cells hold.", cells))
    if not found:
        lines.insert(0, _("Nothing was found that contradicts the other numbers."))
    return tuple(lines)


def _places(found: list[Section]) -> str:
    """The places of findings, the first few by name."""
    places = dict.fromkeys(_place(each) for section in found for each in section.findings)
    shown = join_clauses([*places][:_MOST_PLACES])
    if len(places) > _MOST_PLACES:
        return _("{} and {} more places", shown, len(places) - _MOST_PLACES)
    return shown


def _place(finding: Finding) -> str:
    return finding.place.removeprefix(f"{finding.benchmark}, ")
