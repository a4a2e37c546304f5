"""`Claim`: a claim of a paper's text, and its verdict by the printed tables."""

from __future__ import annotations

from functools import cache
from typing import Literal

import msgspec

from keju.files import read_toml
from keju.items import Record
from keju.published.claims.statements import AnyStatement
from keju.published.papers import paper_file
from keju.published.printed_tables import PrintedTables

Verdict = Literal["holds", "holds with a qualification", "does not hold", "cannot be checked"]


class Claim(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One statement of a paper, in our own words.

    `place` is section and paragraph; `quote` has the disputed words only, at most 12. `checks` are
    what the claim says; `facts` are what the note says, each of which must be true; `text_fact` is
    the place in the paper's text on which a note rests instead. `verdict` is what the author of the
    entry declares; `decide` computes it. `short` is the contradiction in a few words, and `finding`
    the id of the check whose finding shows it too, so that the page does not list it twice.
    """

    id: str
    place: str
    states: str
    states_zh: str
    verdict: Verdict
    quote: str = ""
    note: str = ""
    note_zh: str = ""
    checks: tuple[AnyStatement, ...] = ()
    facts: tuple[AnyStatement, ...] = ()
    text_fact: str = ""
    short: str = ""
    short_zh: str = ""
    finding: str = ""


class ClaimDecision(Record, frozen=True, kw_only=True, omit_defaults=False):
    """A claim with the verdict that its checks give, and the numbers that decided it."""

    benchmark: str
    claim: Claim
    verdict: Verdict
    checks: tuple[bool, ...]
    facts: tuple[bool, ...]
    values: tuple[float, ...]


class _Claims(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    claims: tuple[Claim, ...] = ()


def decide(paper: PrintedTables, claim: Claim) -> ClaimDecision:
    """Compute the verdict of a claim from the printed cells.

    Without checks it cannot be checked; with one that is false it does not hold; with all true it
    holds, and with a qualification if there are facts or a place in the text against it.

    Raises:
        DataError: a check names a column or row that does not exist.
    """
    checks = [each.test(paper) for each in claim.checks]
    facts = [each.test(paper) for each in claim.facts]
    verdict: Verdict
    if not checks:
        verdict = "cannot be checked"
    elif not all(each.is_true for each in checks):
        verdict = "does not hold"
    elif facts or claim.text_fact:
        verdict = "holds with a qualification"
    else:
        verdict = "holds"
    return ClaimDecision(
        benchmark=paper.benchmark,
        claim=claim,
        verdict=verdict,
        checks=tuple(each.is_true for each in checks),
        facts=tuple(each.is_true for each in facts),
        values=tuple(value for each in (*checks, *facts) for value in each.values),
    )


@cache
def declared_claims(benchmark: str) -> tuple[Claim, ...]:
    """The claims that are stored of one paper, in the file's order.

    Raises:
        DataError: the file of claims is not in this format.
    """
    path = paper_file(benchmark, "claims.toml")
    return read_toml(path, _Claims, what="a file of claims").claims if path else ()
