"""Audit of published tables: the declared checks, their findings, and the checks that hold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from functools import cache

import msgspec
from msgspec.structs import replace

from keju.files import read_toml
from keju.items import Record
from keju.published.checks import (
    AnyCheck,
    Certainty,
    Check,
    Mismatch,
    Outcome,
    Severity,
    Size,
    size_of,
)
from keju.published.claims import ClaimDecision, decide, declared_claims
from keju.published.papers import paper_file, papers
from keju.published.printed_tables import PrintedTables, load_printed_tables
from keju.texts import _, recognised

OF_A_RUN = "run"
"""The kind of a finding about a run and not about printed tables."""


class Finding(Record, frozen=True, kw_only=True, omit_defaults=False):
    """A printed value that is wrong, in one place.

    `check` is the declared check's id; `says` the finding, `consequence` its consequence. Of the
    `compared` cells of this place `cells` are concerned; `mismatches` shows them. `size` is that of
    the check in all its places. `artefact`: the text extraction may be wrong, not the print.
    Findings of one `topic` are one section of a report.
    """

    benchmark: str
    place: str
    check: str
    kind: str
    severity: Severity
    says: str
    consequence: str
    compared: int
    cells: int
    mismatches: tuple[Mismatch, ...]
    size: Size
    certainty: Certainty = "proved"
    artefact: bool = False
    topic: str = ""
    title: str = ""
    title_zh: str = ""
    says_zh: str = ""
    consequence_zh: str = ""


class PassedCheck(Record, frozen=True, kw_only=True, omit_defaults=False):
    """A declared check that held in `places` places, over `compared` cells."""

    benchmark: str
    check: str
    holds: str
    places: int
    compared: int
    holds_zh: str = ""


class UnreadCells(Record, frozen=True, kw_only=True, omit_defaults=False):
    """The cells of a column that are not numbers, by row; `numbers` other cells are."""

    benchmark: str
    column: str
    numbers: int
    cells: dict[str, str]


class Audit(Record, frozen=True, kw_only=True, omit_defaults=False):
    """The findings and the checks that hold, for papers the claims of their texts.

    `unread` are the cells of a leaderboard that are not numbers, and that no check uses.
    """

    findings: tuple[Finding, ...]
    held: tuple[PassedCheck, ...]
    claims: tuple[ClaimDecision, ...] = ()
    unread: tuple[UnreadCells, ...] = ()


class _Declarations(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    checks: tuple[AnyCheck, ...]


def audit_published(benchmark: str = "") -> Audit:
    """Recompute the tables and claims of one paper, or of all, as far as possible.

    Raises:
        UsageError: the benchmark does not exist.
    """
    audits = [_audit(name) for name in ((benchmark,) if benchmark else papers())]
    return Audit(
        findings=tuple(found for audit in audits for found in audit.findings),
        held=tuple(held for audit in audits for held in audit.held),
        claims=tuple(claim for audit in audits for claim in audit.claims),
    )


def _audit(benchmark: str) -> Audit:
    paper = load_printed_tables(benchmark)
    audit = examine(paper, declared_checks(benchmark))
    claims = tuple(decide(paper, claim) for claim in declared_claims(benchmark))
    return replace(audit, claims=claims)


def examine(paper: PrintedTables, checks: Iterable[Check]) -> Audit:
    """Apply checks to tables.

    Raises:
        DataError: a check names a column that does not exist.
    """
    findings: list[Finding] = []
    held: list[PassedCheck] = []
    for check in checks:
        outcomes = list(check.examine(paper))
        size = size_of(paper, check.weigh, outcomes)
        findings += [
            finding_of(paper.benchmark, check, outcome, size)
            for outcome in outcomes
            if outcome.mismatches
        ]
        held += held_check(paper.benchmark, check, outcomes)
    return Audit(findings=tuple(findings), held=tuple(held))


def held_check(benchmark: str, check: Check, outcomes: Iterable[Outcome]) -> Iterator[PassedCheck]:
    """A check with the places in which it holds; nothing where it holds in none."""
    if kept := [outcome for outcome in outcomes if not outcome.mismatches]:
        yield PassedCheck(
            benchmark=benchmark,
            check=check.id,
            holds=check.holds,
            holds_zh=check.holds_zh,
            places=len(kept),
            compared=sum(outcome.compared for outcome in kept),
        )


def finding_of(benchmark: str, check: Check, outcome: Outcome, size: Size) -> Finding:
    """The finding of a check in a place where it fails."""
    moved = [topic for place, topic in check.topics.items() if fnmatchcase(outcome.place, place)]
    return Finding(
        benchmark=benchmark,
        place=outcome.place,
        check=check.id,
        kind=str(check.__struct_config__.tag),
        severity=check.severity,
        says=_("{} {}", recognised(check.says), outcome.note) if outcome.note else check.says,
        says_zh="".join((check.says_zh, outcome.note_zh)) if check.says_zh else "",
        consequence=check.consequence,
        consequence_zh=check.consequence_zh,
        compared=outcome.compared,
        cells=outcome.cells,
        mismatches=outcome.mismatches,
        size=size,
        certainty=check.certainty,
        artefact=any(fnmatchcase(outcome.place, pattern) for pattern in check.artefacts),
        topic=moved[0] if moved else check.topic or check.id,
        title=check.title,
        title_zh=check.title_zh,
    )


@cache
def declared_checks(benchmark: str) -> tuple[AnyCheck, ...]:
    """The checks that are declared for one paper.

    Raises:
        DataError: the file of declarations is not valid.
    """
    path = paper_file(benchmark, "checks.toml")
    return read_toml(path, _Declarations, what="a file of checks").checks if path else ()
