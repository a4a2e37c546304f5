"""A window of what was worked out lately."""

from __future__ import annotations

import pytest

from keju.models.lru import LruCache


def worked_out(window: LruCache[str], keys: str) -> str:
    """The keys that had to be worked out, in turn."""
    done: list[str] = []

    def work_out(key: str) -> str:
        done.append(key)
        return key.upper()

    for key in keys:
        assert window.get(key, lambda key=key: work_out(key)) == key.upper()
    return "".join(done)


def test_what_was_asked_for_lately_is_not_worked_out_again():
    assert worked_out(LruCache(2), "aabab") == "ab"


def test_what_was_not_asked_for_longest_goes_first():
    assert worked_out(LruCache(2), "abacab") == "abcb"
    assert worked_out(LruCache(0), "aa") == "aa"


def test_what_cannot_be_worked_out_is_not_kept():
    window: LruCache[str] = LruCache(2)
    with pytest.raises(ZeroDivisionError):
        window.get("a", lambda: str(1 / 0))
    assert worked_out(window, "a") == "a"
