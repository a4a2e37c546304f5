"""Which licence covers which, and what odd wordings may mean."""

from __future__ import annotations

import pytest

from keju.datasets.licences import (
    LicenceCounts,
    describe_unusual,
    explain_conflict,
    format_demands,
    list_restricted,
)
from keju.items import Item, Provenance


@pytest.mark.parametrize(
    ("source", "release"),
    [
        ("CC0-1.0", "MIT"),
        ("CC0-1.0", "research-only"),
        ("research-only", "Research-only"),
        ("CC-BY-4.0", "CC-BY-NC-SA-4.0"),
        ("CC BY 2.0", "CC-BY-4.0"),
        ("CC-BY-SA-3.0-TW", "CC-BY-SA-4.0"),
        ("https://creativecommons.org/licenses/by-nc/4.0/deed.zh-hans", "CC-BY-NC-ND-4.0"),
        ("http://rightsstatements.org/vocab/NKC/1.0/", "CC0-1.0"),
        ("https://creativecommons.org/publicdomain/mark/1.0/", "CC0-1.0"),
        ("LicenseRef-public-domain", "CC0-1.0"),
        ("MIT-0", "CC0-1.0"),
        ("research-only", "CC-BY-4.0 AND research-only"),
        ("CC-BY-SA-4.0 AND MIT", "MIT AND CC-BY-SA-4.0 AND CC0-1.0"),
        ("CC-BY-SA-4.0 OR MIT", "CC-BY-4.0"),
        ("CC-BY-4.0", "CC-BY-SA-4.0 OR MIT"),
    ],
)
def test_a_licence_that_demands_as_much_covers(source: str, release: str) -> None:
    assert explain_conflict(source, release) == ""


@pytest.mark.parametrize(
    ("source", "release", "why"),
    [
        ("research-only", "CC0-1.0", "its demands are not known"),
        ("CC-BY-4.0", "research-only", "it demands attribution; the demands of research-only are"),
        ("CC-BY-NC-ND-4.0", "CC0-1.0", "attribution, non-commercial, no-derivatives, which CC0-1"),
        ("CC-BY-SA-4.0", "CC-BY-4.0", "share-alike, but CC-BY-4.0 is another"),
        ("CC-BY-SA-4.0", "CC-BY-NC-SA-4.0", "share-alike"),
        ("CC-BY-SA-4.0", "CC-BY-SA-3.0", "share-alike"),
        ("CC-BY-NC-4.0", "CC-BY-SA-4.0", "non-commercial"),
        ("http://rightsstatements.org/vocab/InC/1.0/", "CC-BY-4.0", "leave"),
        ("MIT", "CC0-1.0", "attribution"),
        ("CC0-1.0 AND MIT", "CC0-1.0", "attribution"),
        ("CC-BY-NC-4.0", "CC-BY-NC-4.0 OR MIT", "non-commercial"),
        ("CC-BY-SA-4.0 OR GFDL-1.3", "MIT", "share-alike"),
    ],
)
def test_one_that_demands_less_does_not(source: str, release: str, why: str) -> None:
    assert why in explain_conflict(source, release)


def test_misfits_are_counted_by_item_with_the_first() -> None:
    def of(name: str, *licences: str) -> Item:
        steps = tuple(Provenance(step="s", licence=each) for each in licences)
        return Item(id=name, benchmark="MCS-Bench", task="T1", provenance=steps)

    items = [of("a"), of("b", "research-only"), of("c", "CC-BY-SA-4.0"), of("d", "CC-BY-SA-4.0")]
    counts = LicenceCounts("CC-BY-4.0")
    for item in items:
        counts.add(item)
    assert [(each.licence, each.items, each.first) for each in counts.find_conflicts()] == [
        ("CC-BY-SA-4.0", 2, "c"), ("research-only", 1, "b"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("licence", "meant"),
    [
        ("CC-BY 4.0", "CC-BY-4.0 may be meant"),
        ("CC BY-NC-SA", "CC-BY-NC-SA-4.0 may be meant"),
        ("CC-BY-5.0", "CC-BY-4.0 may be meant"),
        ("CC0", "CC0-1.0 may be meant"),
        ("CC-BYY-4.0", "Did you mean 'CC-BY-4.0'?"),
        (
            "MIT AND reserch",
            "the licence 'reserch' is not known to keju, so its demands are unknown",
        ),
    ],
)
def test_an_odd_wording_is_named_with_what_may_be_meant(licence: str, meant: str) -> None:
    assert meant in describe_unusual(licence)


@pytest.mark.parametrize(
    "licence",
    ["CC-BY-4.0", "cc-by-4.0", "MIT", "CC-BY-3.0-DE", "CC0-1.0 AND Apache-2.0", "", "MIT-0",
     "LicenseRef-ours", "https://creativecommons.org/licenses/by/4.0/", "CC-PDM-1.0",
     "http://rightsstatements.org/vocab/InC/1.0/"],
)  # fmt: skip
def test_a_usual_wording_is_not(licence: str) -> None:
    assert describe_unusual(licence) == ""


def test_demands_are_said_in_words() -> None:
    assert format_demands("CC0-1.0") == "nothing"
    assert format_demands("CC-BY-SA-4.0 AND ours") == "attribution, share-alike; not known"


def test_restricted_licences_are_listed_once_and_the_whole_one_first() -> None:
    def item(name: str, *licences: str) -> Item:
        steps = tuple(Provenance(step="scan", licence=each) for each in licences)
        return Item(id=name, benchmark="b", task="T1", provenance=steps)

    items = [item("a", "CC0-1.0"), item("b", "ours", "InC-1.0"), item("c", "ours"), item("d")]
    assert [licence for licence, _ in list_restricted("unknown", items)] == [
        "unknown", "ours", "InC-1.0"
    ]  # fmt: skip
    assert [licence for licence, _ in list_restricted("CC-BY-ND-4.0", items)] == ["ours", "InC-1.0"]
    assert list(list_restricted("CC0-1.0", [items[0], items[3]])) == []
    reasons = dict(list_restricted("CC0-1.0", items))
    assert "not known" in reasons["ours"]
    assert "leave" in reasons["InC-1.0"]
