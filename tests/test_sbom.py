"""The software bill of materials lists every locked package once, with its licence and scope."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tools import make_sbom
from tools.make_licences_page import locked


@pytest.fixture(scope="module")
def bill() -> dict:
    return make_sbom.bill()


def by_name(bill: dict) -> dict[str, dict]:
    return {each["name"]: each for each in bill["components"]}


@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="the page is of Python 3.11")
def test_it_lists_the_locked_packages_with_their_versions(bill: dict) -> None:
    found = {each["name"]: each["version"] for each in bill["components"]}
    assert len(bill["components"]) == len(found)
    assert found == locked()


@pytest.mark.parametrize(
    ("name", "scope", "needed_by"),
    [
        ("polars", "required", "keju"),
        ("zhconv", "optional", "official"),
        ("jieba", "optional", "official"),
        ("ruff", "excluded", "dev"),
        ("playwright", "excluded", "tests"),
    ],
)
def test_the_scope_is_that_of_who_needs_it(
    bill: dict, name: str, scope: str, needed_by: str
) -> None:
    found = by_name(bill)[name]
    assert found["scope"] == scope
    assert found["properties"] == [{"name": "keju:needed-by", "value": needed_by}]


def test_a_licence_is_an_expression_of_spdx_or_a_name(bill: dict) -> None:
    found = by_name(bill)
    assert found["numpy"]["licenses"] == [
        {"expression": "BSD-3-Clause AND 0BSD AND MIT AND Zlib AND CC0-1.0"}
    ]
    assert found["zhconv"]["licenses"] == [{"license": {"name": "GPLv2+"}}]


def test_every_reference_is_to_a_component(bill: dict) -> None:
    component = bill["metadata"]["component"]
    known = {each["bom-ref"] for each in bill["components"]}
    (dependencies,) = bill["dependencies"]
    assert dependencies["ref"] == component["bom-ref"] == component["purl"]
    assert "pkg:pypi/pyarrow@" in " ".join(dependencies["dependsOn"])
    assert set(dependencies["dependsOn"]) <= known


def test_the_file_is_the_same_every_time(bill: dict, tmp_path: Path) -> None:
    first = make_sbom.write(tmp_path / "a")
    second = make_sbom.write(tmp_path / "b")
    assert first.read_bytes() == second.read_bytes()
    assert json.loads(first.read_bytes()) == bill
