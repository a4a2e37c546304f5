"""The list of tests that `make test` skips names tests that exist."""

from __future__ import annotations

import ast
from functools import cache

import pytest

from tests.support import ROOT
from tests.support.core import listed
from tools.choose_core import KEPT


@cache
def functions(file: str) -> frozenset[str]:
    """The names of the functions and methods of a file."""
    tree = ast.parse((ROOT / file).read_text("utf-8"))
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, kinds))


@pytest.mark.parametrize("names", [listed(), KEPT], ids=["slow", "kept"])
def test_every_test_of_the_list_exists(names: list[str]) -> None:
    assert names
    parts = [(name, *name.split("::")) for name in names]
    assert [name for name, file, *_ in parts if not (ROOT / file).is_file()] == []
    assert [name for name, file, *_, last in parts if last and last not in functions(file)] == []


def test_no_test_that_is_always_in_the_core_is_listed_as_slow() -> None:
    assert [name for name in listed() if name.startswith(KEPT)] == []
