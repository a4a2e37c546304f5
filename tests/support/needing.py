"""What a test needs that is not in the base: skipped with the reason, an error under CI=true."""

from __future__ import annotations

import os
from importlib.util import find_spec

import pytest


def needs(package: str, extra: str) -> pytest.MarkDecorator:
    """A mark for tests that need an optional package."""
    lacking = find_spec(package) is None and os.environ.get("CI") != "true"
    return pytest.mark.skipif(lacking, reason=f"{package} is not installed: {extra}")


inspect_missing = needs("inspect_ai", "make install-semantic")
