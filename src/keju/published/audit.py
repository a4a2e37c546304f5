"""The audit of the published tables: every declared check, and each that does not hold."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from functools import cache
from importlib.resources import files

import msgspec

from keju.errors import DataError
from keju.items import Record
from keju.published.book import Book, open_book
from keju.published.checks import AnyCheck, Check, Mismatch, Outcome, Severity
from keju.published.tables import papers


class Finding(Record, frozen=True, kw_only=True, omit_defaults=False):
    """Something printed that does not hold.

    `check` is the declared check's id; `says` what was found, `consequence` what follows from it.
    `mismatches` are the cells; `compared` says how many were looked at in this place.
    """

    benchmark: str
    place: str
    check: str
    kind: str
    severity: Severity
    says: str
    consequence: str
    compared: int
    mismatches: tuple[Mismatch, ...]


class Held(Record, frozen=True, kw_only=True, omit_defaults=False):
    """A declared check that held in `places` places, over `compared` cells."""

    benchmark: str
    check: str
    holds: str
    places: int
    compared: int


class Audit(Record, frozen=True, kw_only=True, omit_defaults=False):
    """What the audit of one or more papers found, and what it found in order."""

    findings: tuple[Finding, ...]
    held: tuple[Held, ...]


class _Declarations(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    checks: tuple[AnyCheck, ...]


def audit_published(benchmark: str = "") -> Audit:
    """Recompute what can be recomputed of one paper's tables, or of all three.

    Raises:
        UsageError: there is no such benchmark.
    """
    audits = [
        examine(open_book(name), declared_checks(name))
        for name in ((benchmark,) if benchmark else papers())
    ]
    return Audit(
        findings=tuple(found for audit in audits for found in audit.findings),
        held=tuple(held for audit in audits for held in audit.held),
    )


def examine(book: Book, checks: Iterable[Check]) -> Audit:
    """Apply checks to tables.

    Raises:
        DataError: a check names a column that there is not.
    """
    findings: list[Finding] = []
    held: list[Held] = []
    for check in checks:
        outcomes = list(check.examine(book))
        findings += [
            _finding(book.benchmark, check, outcome) for outcome in outcomes if outcome.mismatches
        ]
        if kept := [outcome for outcome in outcomes if not outcome.mismatches]:
            held.append(
                Held(
                    benchmark=book.benchmark,
                    check=check.id,
                    holds=check.holds,
                    places=len(kept),
                    compared=sum(outcome.compared for outcome in kept),
                )
            )
    return Audit(findings=tuple(findings), held=tuple(held))


def _finding(benchmark: str, check: Check, outcome: Outcome) -> Finding:
    return Finding(
        benchmark=benchmark,
        place=outcome.place,
        check=check.id,
        kind=str(check.__struct_config__.tag),
        severity=check.severity,
        says=" ".join(filter(None, (check.says, outcome.note))),
        consequence=check.consequence,
        compared=outcome.compared,
        mismatches=outcome.mismatches,
    )


@cache
def declared_checks(benchmark: str) -> tuple[AnyCheck, ...]:
    """The checks that are declared for one paper.

    Raises:
        DataError: the file of declarations is not what it must be.
    """
    name = benchmark.lower().replace("-", "_")
    source = files("keju.published").joinpath("data", "checks", f"{name}.toml")
    try:
        return msgspec.convert(tomllib.loads(source.read_text("utf-8")), _Declarations).checks
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise DataError(f"not a file of checks: {error}", file=source.name) from None
