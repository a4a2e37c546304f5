"""API keys in the environment for `openai:` models and Inspect's `openai-api/local`."""

from __future__ import annotations

import pytest


def set_api_keys(monkeypatch: pytest.MonkeyPatch, key: str) -> None:
    """Set the key of both kinds of model, and remove addresses that the environment names."""
    for name in ("OPENAI_API_KEY", "LOCAL_API_KEY"):
        monkeypatch.setenv(name, key)
    for name in ("OPENAI_BASE_URL", "LOCAL_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
