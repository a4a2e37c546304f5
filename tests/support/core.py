"""Which tests are left to `make test-all`: those marked ``slow`` and those of tests/slow_tests.txt.

``pytest -p tests.support.core --processor-seconds FILE`` measures: a line for each test, with the
seconds of the processor that it and its processes used, the fixtures that it was first to need
included. ``python -m tools.choose_core FILE`` then writes the list.
"""

from __future__ import annotations

import contextlib
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.support import ROOT

with contextlib.suppress(ImportError):  # not on Windows
    import resource

LIST = ROOT / "tests" / "slow_tests.txt"


def listed() -> list[str]:
    """The names of the list, such as ``tests/test_cli.py::test_version``."""
    lines = LIST.read_text("utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def function_of(nodeid: str) -> str:
    """The name of a test without its parameters, as the list has it."""
    return nodeid.partition("[")[0]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what the list names."""
    names = set(listed())
    for item in items:
        if function_of(item.nodeid) in names:
            item.add_marker("slow")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that measures."""
    parser.addoption("--processor-seconds", metavar="FILE", help="append a line for each test")


def _used() -> float:
    """Processor seconds of this process and of those that it waited for."""
    usages = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Write the line of a test."""
    before = _used()
    try:
        return (yield)
    finally:
        if file := item.config.getoption("--processor-seconds", None):
            with Path(file).open("a", encoding="utf-8") as stream:
                stream.write(f"{_used() - before:.3f}\t{item.nodeid}\n")
