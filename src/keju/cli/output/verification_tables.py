"""The output of `keju verify`: comparisons, differences, and what could not be verified."""

from __future__ import annotations

from collections.abc import Iterator

from rich.table import Table

from keju.bundles import Verification, meaning_of_verified
from keju.cli.output.console import name_columns, plain_table, translate
from keju.formatting import NOTHING
from keju.messages import message

_SHOWN = 20


def verification_tables(found: Verification) -> Iterator[Table]:
    """The comparisons with their numbers, and the first differences."""
    table = plain_table(*name_columns("compared", "number", "differ"), right=(1, 2))
    for check in found.checks:
        table.add_row(check_name(check.id), f"{check.compared:,}", f"{check.differ:,}")
    yield table
    if found.differences:
        table = plain_table(*name_columns("member", "item", "problem"))
        table.columns[0].no_wrap = False
        for each in found.differences[:_SHOWN]:
            table.add_row(each.member, each.item or NOTHING, each.problem)
        yield table


def check_name(check: str) -> str:
    """The name of a comparison in the current language."""
    names = {
        "members": message("bundles.check-members"),
        "manifest": message("bundles.check-manifest"),
        "crate": message("bundles.check-crate"),
        "definitions": message("bundles.check-definitions"),
        "responses": message("bundles.check-responses"),
        "items": message("bundles.check-items"),
        "images": message("bundles.check-images"),
        "scores": message("bundles.check-scores"),
        "keys": message("bundles.check-keys"),
        "grades": message("bundles.check-grades"),
    }
    return names.get(check, check)


def result_lines(found: Verification) -> Iterator[str]:
    """The result with its meaning, and who computed it."""
    yield result_line(found)
    yield meaning_of_verified()
    who = found.verified_by or message("terminal.no-name-given")
    yield message("terminal.verified-with", version=found.keju, time=found.verified, who=who)


def detail_lines(found: Verification, *, verbose: bool) -> Iterator[str]:
    """Further differences, parts that were not verified, and the audit or its number of findings.

    Args:
        found: the verification.
        verbose: whether to list every finding of the audit, of a verified bundle too; otherwise
            equal findings are one line.
    """
    more = len(found.differences) - _SHOWN
    if more > 0:
        yield message("terminal.more-differences", count=more + found.more_differences)
    for each in found.not_verified:
        if each.count:
            yield message(
                "terminal.not-verified-count", part=each.part, count=each.count, reason=each.reason
            )
        else:
            yield message("terminal.not-verified", part=each.part, reason=each.reason)
    if found.audit and found.result == "verified" and not verbose:
        yield message("terminal.audit-findings", count=len(found.audit))
        return
    if verbose:
        for finding in found.audit:
            yield message(
                "terminal.audit-finding", place=translate(finding.place),
                says=translate(finding.says),
            )  # fmt: skip
        return
    places: dict[str, list[str]] = {}
    for finding in found.audit:
        places.setdefault(finding.says, []).append(finding.place)
    for says, its in places.items():
        place = translate(its[0])
        if len(its) > 1:
            place = message("terminal.place-and-more", place=place, count=len(its) - 1)
        yield message("terminal.audit-finding", place=place, says=translate(says))


def result_line(found: Verification) -> str:
    """The result in one sentence."""
    if found.result == "verified":
        return message("terminal.result-verified", bundle=found.bundle)
    if found.result == "incomplete":
        return message("terminal.result-incomplete", bundle=found.bundle)
    count = len(found.differences) + found.more_differences
    return message("terminal.result-differs", bundle=found.bundle, count=count)
