"""Which tests are left to `make test-all`: those marked ``slow`` and those of tests/slow_tests.txt.

Tests that share a fixture of their file or package run in one worker, which makes it once.

``pytest -p tests.support.core --processor-seconds FILE`` measures: a line for each test, with the
seconds of the processor that it and its processes used, the fixtures that it was first to need
included. ``python -m tools.choose_core FILE`` then writes the list.
"""

from __future__ import annotations

import gc
import re
from collections.abc import Generator
from functools import cache
from pathlib import Path

import pytest

from tests.support import ROOT
from tests.support.processor_time import used

LIST = ROOT / "tests" / "slow_tests.txt"
CORE = "not slow"
"""The expression of ``-m`` for which what the list names is not collected at all."""
_TEST = re.compile(r"^ *(?:async def |def )?(test\w*)(?:\(|(?:: \w+)? = )", re.MULTILINE)


def listed() -> list[str]:
    """The names of the list, such as ``tests/test_cli.py::test_scoring_the_authors_form``."""
    lines = LIST.read_text("utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def function_of(nodeid: str) -> str:
    """The name of a test without its parameters and its group, as the list has it."""
    return nodeid.partition("[")[0].partition("@")[0]


@cache
def _names() -> frozenset[str]:
    return frozenset(listed())


@cache
def _files() -> frozenset[str]:
    return frozenset(name.partition("::")[0] for name in _names())


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Import no file for the core of which the list names every test."""
    if config.getoption("markexpr") != CORE or collection_path.suffix != ".py":
        return None
    file = collection_path.relative_to(ROOT).as_posix()
    if file not in _files():
        return None
    tests = {f"{file}::{name}" for name in _TEST.findall(collection_path.read_text("utf-8"))}
    return tests <= _names() or None


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Look for no garbage among the modules and tests: nearly all of them stay to the end."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makeitem(
    collector: pytest.Module | pytest.Class, name: str
) -> list[pytest.Item] | None:
    """Collect no test for the core that the list names."""
    if name.startswith("test") and collector.config.getoption("markexpr") == CORE:
        return [] if f"{collector.nodeid}::{name}" in _names() else None
    return None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what the list names, and let one worker run the tests that share a fixture."""
    for item in items:
        if function_of(item.nodeid) in _names():
            item.add_marker("slow")
        if item.get_closest_marker("xdist_group") is None and (group := _group_of(item)):
            item.add_marker(pytest.mark.xdist_group(group))


def _group_of(item: pytest.Item) -> str:
    """The file or package of whose fixtures a test uses one that is made once; or empty."""
    if item.get_closest_marker("semantic"):
        return "encoders"  # torch takes seconds to import
    info = getattr(item, "_fixtureinfo", None)
    made = [found[-1] for found in info.name2fixturedefs.values()] if info else []
    packages = {each.baseid for each in made if each.scope == "package"}
    if packages:
        return min(packages)
    return item.nodeid.partition("::")[0] if any(each.scope == "module" for each in made) else ""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that measures."""
    parser.addoption("--processor-seconds", metavar="FILE", help="append a line for each test")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Write the line of a test."""
    before = used()
    try:
        return (yield)
    finally:
        if file := item.config.getoption("--processor-seconds", None):
            with Path(file).open("a", encoding="utf-8") as stream:
                stream.write(f"{used() - before:.3f}\t{item.nodeid}\n")
