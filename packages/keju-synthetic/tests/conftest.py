"""Fixtures that the tests of keju-synthetic share with those of keju (tests/support)."""

from __future__ import annotations

from tests.support.shared_material import shared

__all__ = ["shared"]
