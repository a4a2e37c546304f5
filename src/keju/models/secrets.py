"""`Secrets`: hides keys in texts, also where JSON escapes their characters."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

SHORTEST = 8
"""The minimum length of a key; a shorter one, such as EMPTY for a local server, is a word."""

_HIDDEN = "***"
_PLACEHOLDERS = frozenset({
    "lm-studio", "not-needed", "not-required", "no-key-required", "no-api-key", "placeholder",
    "dummy-key", "fake-key", "anything", "your-api-key", "undefined",
})  # fmt: skip
"""Placeholder keys from the documentation of local servers, which are not hidden."""

_MIN_KEY_LENGTH = 16
_KEY_NAMES = re.compile("KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL", re.IGNORECASE)


def find_keys(environment: Mapping[str, str]) -> list[str]:
    """Values of an environment that look like keys by their names and lengths.

    Shorter ones are settings rather than keys (``MAX_TOKENS``), and hiding them would damage texts.
    """
    return [
        value
        for name, value in environment.items()
        if len(value) >= _MIN_KEY_LENGTH and _KEY_NAMES.search(name)
    ]


class Secrets:
    """Hides keys in texts.

    Args:
        keys: the keys; empty ones, short ones (`SHORTEST`) and placeholders are not hidden.
    """

    def __init__(self, keys: Iterable[str]) -> None:
        secrets = (
            key for key in keys if len(key) >= SHORTEST and key.casefold() not in _PLACEHOLDERS
        )
        # A longer key may contain a shorter one.
        self._keys = sorted(set(secrets), key=len, reverse=True)
        pattern = "|".join(
            "".join(
                rf"(?:{re.escape(mark)}|\\u{ord(mark):04x}|\\{re.escape(mark)})" for mark in key
            )
            for key in self._keys
        )
        self._text = re.compile(pattern, re.IGNORECASE)
        self._bytes = re.compile(pattern.encode(), re.IGNORECASE)

    def hide(self, text: str) -> str:
        """Return a text without the keys."""
        for key in self._keys:
            text = text.replace(key, _HIDDEN)
        return self._text.sub(_HIDDEN, text) if self._keys and "\\" in text else text

    def hide_bytes(self, body: bytes) -> bytes:
        """Return a reply without the keys."""
        for key in self._keys:
            body = body.replace(key.encode(), _HIDDEN.encode())
        if self._keys and b"\\" in body:
            return self._bytes.sub(_HIDDEN.encode(), body)
        return body
