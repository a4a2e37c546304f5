"""The output of `keju verify`: comparisons, differences, and what could not be verified."""

from __future__ import annotations

from collections.abc import Iterator

from rich.table import Table

from keju.bundles import Verification, meaning_of_verified
from keju.cli.output.console import name_columns, plain_table, translate
from keju.formatting import NOTHING
from keju.texts import _, n_

_SHOWN = 20


def verification_tables(found: Verification) -> Iterator[Table]:
    """The comparisons with their numbers, and the first differences."""
    table = plain_table(*name_columns("compared", "number", "differ"), right=(1, 2))
    for check in found.checks:
        table.add_row(check_name(check.id), f"{check.compared:,}", f"{check.differ:,}")
    yield table
    if found.differences:
        table = plain_table(*name_columns("file in the bundle", "item", "problem"))
        table.columns[0].no_wrap = False
        for each in found.differences[:_SHOWN]:
            table.add_row(each.member, each.item or NOTHING, each.problem)
        yield table


def check_name(check: str) -> str:
    """The name of a comparison in the current language."""
    names = {
        "members": _("files of the bundle"),
        "manifest": _("fields of bundle.json and run.json"),
        "crate": _("RO-Crate metadata"),
        "definitions": _("definitions of benchmarks"),
        "responses": _("responses, compared with the hashes from scoring"),
        "items": _("items"),
        "images": _("images"),
        "scores": _("scores, computed again"),
        "keys": _("keys of responses, computed again"),
        "grades": _("grades of judges"),
    }
    return names.get(check, check)


def result_lines(found: Verification) -> Iterator[str]:
    """The result with its meaning, and who computed it."""
    yield result_line(found)
    yield meaning_of_verified()
    who = found.verified_by or _("no name given")
    yield _("Computed with keju {} on {}; verified by: {}", found.keju, found.verified, who)


def detail_lines(found: Verification, *, verbose: bool) -> Iterator[str]:
    """Further differences, parts that were not verified, and the audit or its number of findings.

    Args:
        found: the verification.
        verbose: whether to list every finding of the audit, of a verified bundle too; otherwise
            equal findings are one line.
    """
    more = len(found.differences) - _SHOWN
    if more > 0:
        yield n_(
            "{n:,} more difference; --output stores them in a file",
            "{n:,} more differences; --output stores them in a file",
            more + found.more_differences,
        )
    for each in found.not_verified:
        if each.count:
            yield _("Not verified: {} ({:,}). Reason: {}", each.part, each.count, each.reason)
        else:
            yield _("Not verified: {}. Reason: {}", each.part, each.reason)
    if found.audit and found.result == "verified" and not verbose:
        yield n_(
            "The audit has {n:,} finding on the run (--verbose lists them)",
            "The audit has {n:,} findings on the run (--verbose lists them)",
            len(found.audit),
        )
        return
    if verbose:
        for finding in found.audit:
            yield _("Audit: {}: {}", translate(finding.place), translate(finding.says))  # fmt: skip
        return
    places: dict[str, list[str]] = {}
    for finding in found.audit:
        places.setdefault(finding.says, []).append(finding.place)
    for says, its in places.items():
        place = translate(its[0])
        if len(its) > 1:
            place = n_("{} and {n:,} place more", "{} and {n:,} places more", len(its) - 1, place)
        yield _("Audit: {}: {}", place, translate(says))


def result_line(found: Verification) -> str:
    """The result in one sentence."""
    if found.result == "verified":
        return _("{}: verified", found.bundle)
    if found.result == "incomplete":
        return _(
            "{}: incomplete. Nothing differs, but the parts above could not be verified",
            found.bundle,
        )
    count = len(found.differences) + found.more_differences
    return n_("{}: differs in {n:,} place", "{}: differs in {n:,} places", count, found.bundle)
