"""`Secrets`: hides the keys of a model in everything that its server returns."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import msgspec

from keju.models.base import Answer, AskError

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
    """Hides keys in texts, also where JSON escapes their characters.

    Args:
        keys: the keys; empty ones, short ones (`SHORTEST`) and placeholders are not hidden.
    """

    def __init__(self, keys: Iterable[str]) -> None:
        self._all = {key for key in keys if key}
        found = sorted(filter(_is_secret, self._all), key=len, reverse=True)
        self._plain = tuple(found)
        self._text = re.compile("|".join(map(_escaped, found)), re.IGNORECASE)
        self._bytes = re.compile(self._text.pattern.encode(), re.IGNORECASE)

    def hide(self, text: str) -> str:
        """Return a text without the keys."""
        for key in self._plain:
            text = text.replace(key, _HIDDEN)
        return self._text.sub(_HIDDEN, text) if self._plain and "\\" in text else text

    def hide_bytes(self, body: bytes) -> bytes:
        """Return a reply without the keys."""
        for key in self._plain:
            body = body.replace(key.encode(), _HIDDEN.encode())
        if self._plain and b"\\" in body:
            return self._bytes.sub(_HIDDEN.encode(), body)
        return body

    def hide_headers(self, headers: Mapping[str, str]) -> dict[str, str]:
        """Return the headers of a reply, names in lower case, without the keys."""
        return {name.lower(): self.hide(value) for name, value in headers.items()}

    def hide_stored(self, text: str) -> str:
        """Return a text that a run stores: empty if it is a key, however short."""
        return "" if text in self._all else self.hide(text)

    def hide_in_failure(self, failure: AskError) -> AskError:
        """Return a failure without the keys in its message."""
        hidden = self.hide(str(failure))
        return failure if hidden == str(failure) else failure.with_message(hidden)

    def hide_in(self, answer: Answer) -> Answer:
        """Return an answer without the keys in any of its texts."""
        if not self._plain:
            return answer
        return msgspec.convert(self._hidden(msgspec.to_builtins(answer)), Answer)

    def _hidden(self, value: object) -> object:
        if isinstance(value, str):
            return self.hide(value)
        if isinstance(value, dict):
            return {name: self._hidden(each) for name, each in value.items()}
        if isinstance(value, list | tuple):
            return [self._hidden(each) for each in value]
        return value


def _is_secret(key: str) -> bool:
    return len(key) >= SHORTEST and key.casefold() not in _PLACEHOLDERS


def _escaped(key: str) -> str:
    """A pattern of a key with any of its characters escaped as JSON allows."""
    return "".join(rf"(?:{re.escape(mark)}|\\u{ord(mark):04x}|\\{re.escape(mark)})" for mark in key)
