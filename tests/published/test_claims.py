"""Each claim of the papers' texts: the declared verdict is the one that the printed cells give."""

import re

import pytest

from keju.published import papers
from keju.published.claims import decide, declared_claims
from keju.published.printed_tables import load_printed_tables
from tests.published.claim_numbers import numbers_in, unsupported_numbers

MOST_QUOTED_WORDS = 12
MOST_SHORT_WORDS = 14

CLAIMS = [(name, claim) for name in papers() for claim in declared_claims(name)]
EACH = pytest.mark.parametrize(
    ("benchmark", "claim"), CLAIMS, ids=[f"{name}-{claim.id}" for name, claim in CLAIMS]
)


CITATION = re.compile(r" \([^()]{0,80}\b(?:19|20)\d\d[a-z]?\b[^()]{0,80}\)")


@pytest.fixture(scope="module")
def words_of(shared):
    def of(benchmark):
        text = (shared / "papers" / f"{benchmark.lower()}.txt").read_text("utf-8")
        return CITATION.sub("", " ".join(text.replace("*", "").split()))

    return {name: of(name) for name in papers()}


def decimals(text):
    return sorted(number for number in numbers_in(text) if "." in number)


@EACH
def test_the_declared_verdict_is_the_computed_one(benchmark, claim):
    decided = decide(load_printed_tables(benchmark), claim)
    assert decided.verdict == claim.verdict, decided
    assert all(decided.facts), decided


@EACH
def test_a_claim_is_complete_in_both_languages(benchmark, claim):
    assert all((claim.place, claim.states, claim.states_zh))
    assert len(claim.quote.split()) <= MOST_QUOTED_WORDS
    assert bool(claim.note) == bool(claim.note_zh) == (claim.verdict != "holds")
    assert bool(claim.short) == bool(claim.short_zh) == (claim.verdict == "does not hold")
    assert len(claim.short.split()) <= MOST_SHORT_WORDS
    assert decimals(claim.states) == decimals(claim.states_zh)
    assert decimals(claim.note) == decimals(claim.note_zh)


@EACH
def test_every_decimal_number_of_a_claim_is_computed(benchmark, claim):
    decided = decide(load_printed_tables(benchmark), claim)
    if decided.values:
        said = f"{claim.states} {claim.note} {claim.short}"
        assert unsupported_numbers(decided, said) == []


@EACH
def test_a_quote_is_the_papers_own_words(words_of, benchmark, claim):
    for part in claim.quote.split(" … "):
        assert part in words_of[benchmark]


def test_ids_of_claims_are_unique_within_a_paper():
    for name in papers():
        ids = [claim.id for claim in declared_claims(name)]
        assert len(ids) == len(set(ids))


def test_findings_named_by_claims_exist(audit):
    found = {(each.benchmark, each.topic) for each in audit.findings}
    named = {(name, claim.finding) for name, claim in CLAIMS if claim.finding}
    assert named <= found
    assert named
