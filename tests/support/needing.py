"""What a test needs that is not in the base: skipped with the reason, an error under CI=true."""

from __future__ import annotations

import os
from importlib.metadata import entry_points
from importlib.util import find_spec

import pytest


def needs(package: str, extra: str) -> pytest.MarkDecorator:
    """A mark for tests that need an optional package."""
    lacking = find_spec(package) is None and os.environ.get("CI") != "true"
    return pytest.mark.skipif(lacking, reason=f"{package} is not installed: {extra}")


def synthetic_missing() -> pytest.MarkDecorator:
    """A mark for tests of names that keju-synthetic adds: its entry points must be installed."""
    lacking = not entry_points(group="keju", name="synthetic")
    reason = "keju-synthetic is not installed: make install"
    return pytest.mark.skipif(lacking and os.environ.get("CI") != "true", reason=reason)


inspect_missing = pytest.mark.skipif(
    find_spec("inspect_ai") is None and os.environ.get("CI") != "true",
    reason="keju-inspect is not installed: make install-semantic",
)
"""A mark for tests of names that keju-inspect adds."""
