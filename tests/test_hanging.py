"""The guard of calls that must end, and that no test asserts a speed."""

import re
from pathlib import Path

import pytest

from tests.support.hanging import ends

TESTS = Path(__file__).parent
SPEED = re.compile(r"assert [^\n]*(?:monotonic|process_time|perf_counter)\(\)[^\n]*<")


def test_a_call_that_ends_is_accepted() -> None:
    ends(lambda: sum(range(1000)))


def test_a_call_that_hangs_is_ended_and_fails() -> None:
    def hang() -> None:
        while True:
            pass

    with pytest.raises(AssertionError, match="more than 1 s of processor time"):
        ends(hang, seconds=1)


def test_a_call_that_raises_fails() -> None:
    with pytest.raises(AssertionError, match="the call raised"):
        ends(lambda: 1 // 0)


def test_no_test_asserts_how_fast_something_is() -> None:
    found = [path.name for path in TESTS.rglob("*.py") if SPEED.search(path.read_text("utf-8"))]
    assert found == []
