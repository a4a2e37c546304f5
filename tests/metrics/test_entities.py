"""Precision and recall of two sets of names."""

from __future__ import annotations

from keju.metrics import entities_prf


def test_sets_of_names():
    assert entities_prf({"a", "b"}, {"b", "c", "d", "e"}).precision == 0.25
    assert entities_prf(set(), set()) == (0, 0, 0)
