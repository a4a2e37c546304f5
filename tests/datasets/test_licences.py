"""Which licences allow copies, and the items under each."""

from __future__ import annotations

import pytest

from keju.datasets.licences import LicenceCounts, forbids_copies, list_restricted
from keju.items import Item, Provenance


def item(name: str, *licences: str) -> Item:
    steps = tuple(Provenance(step="scan", licence=each) for each in licences)
    return Item(id=name, benchmark="b", task="T1", provenance=steps)


@pytest.mark.parametrize(
    "licence",
    ["CC-BY-4.0", "cc by 4.0", "CC-BY-3.0-DE", "CC-BY-SA-3.0-TW", "MIT-0", "MIT", "BSD-3-Clause",
     "https://creativecommons.org/licenses/by-nc/4.0/deed.zh-hans", "CC-PDM-1.0",
     "https://creativecommons.org/publicdomain/mark/1.0/", "LicenseRef-public-domain",
     "http://rightsstatements.org/vocab/NKC/1.0/", "CC0-1.0 AND Apache-2.0", "ours OR MIT"],
)  # fmt: skip
def test_copies_are_allowed(licence: str) -> None:
    assert forbids_copies(licence) == ""


@pytest.mark.parametrize(
    ("licence", "reason"),
    [
        ("research-only", "does not know"),
        ("CC-BYY-4.0", "does not know"),
        ("", "does not know"),
        ("MIT AND ours", "does not know"),
        ("InC-1.0", "permission"),
        ("all rights reserved", "permission"),
        ("http://rightsstatements.org/vocab/InC/1.0/", "permission"),
        ("ours OR InC-1.0", "does not know"),
    ],
)
def test_copies_are_not_known_to_be_allowed(licence: str, reason: str) -> None:
    assert reason in forbids_copies(licence)


def test_licences_that_the_dataset_does_not_name_are_counted() -> None:
    counts = LicenceCounts("CC-BY-4.0 AND MIT")
    for name, licences in (("a", ()), ("b", ("ours",)), ("c", ("X", "mit")), ("d", ("X",))):
        counts.add(item(name, *licences))
    assert counts.list_others() == [("X", 2), ("ours", 1)]


def test_restricted_licences_are_listed_once_and_the_whole_one_first() -> None:
    items = [item("a", "CC0-1.0"), item("b", "ours", "InC-1.0"), item("c", "ours"), item("d")]
    assert [licence for licence, _ in list_restricted("unknown", items)] == [
        "unknown", "ours", "InC-1.0"
    ]  # fmt: skip
    assert [licence for licence, _ in list_restricted("CC-BY-ND-4.0", items)] == ["ours", "InC-1.0"]
    assert list(list_restricted("CC0-1.0", [items[0], items[3]])) == []
