"""`retry_after`: the wait that a server requests in the headers of its reply.

Servers and gateways use several headers. The first header that can be parsed counts:

- ``retry-after-ms`` (OpenAI, Azure), ``retry-after`` (RFC 9110: seconds or an HTTP date);
- the same two after ``llm_provider-``, with which LiteLLM passes on the headers of its upstream;
- with HTTP 429, ``x-ratelimit-reset-requests``, ``-tokens``, ``x-ratelimit-reset`` and
  ``ratelimit-reset``, if the header ``…-remaining…`` of the same limit is 0 or missing.

A number may be seconds, or a time as seconds or milliseconds since 1970; a duration may be written
as OpenAI does (``6m0s``, ``120ms``).
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Iterator, Mapping
from email.utils import parsedate_to_datetime

LONGEST_WAIT = 7 * 24 * 3600.0
"""Seconds; a wait longer than a week counts as a week."""

_TOO_MANY = 429
_EPOCH, _EPOCH_MS = 1e8, 1e11
_GATEWAY = "llm_provider-"
_LIMITS = ("x-ratelimit-reset-requests", "x-ratelimit-reset-tokens", "x-ratelimit-reset",
           "ratelimit-reset")  # fmt: skip
_SECONDS_OF = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_DURATION = re.compile(r"(?:\d{1,12}(?:\.\d{1,12})?(?:ms|[smhd])){1,5}")
_PART = re.compile(r"([\d.]+)(ms|[smhd])")


def retry_after(headers: Mapping[str, str], status: int = _TOO_MANY) -> float | None:
    """The wait that a server requests in seconds, from 0 to `LONGEST_WAIT`; None without one.

    Args:
        headers: of the reply; names in lower case, or a mapping that ignores case.
        status: the HTTP status. Some servers report unused limits in every reply.
    """
    for value, unit in _stated(headers, status):
        seconds = _seconds(value.strip(), unit)
        if seconds is not None and not math.isnan(seconds):
            return min(max(seconds, 0.0), LONGEST_WAIT)
    return None


def _stated(headers: Mapping[str, str], status: int) -> Iterator[tuple[str, float]]:
    for prefix in ("", _GATEWAY):
        for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
            if (value := headers.get(f"{prefix}{name}")) is not None:
                yield value, unit
    if status != _TOO_MANY:
        return
    for prefix in ("", _GATEWAY):
        for name in _LIMITS:
            left = headers.get(f"{prefix}{name.replace('reset', 'remaining')}", "0")
            value = headers.get(f"{prefix}{name}")
            if value is not None and left.strip() in {"0", "0.0"}:
                yield value, 1.0


def _seconds(value: str, unit: float) -> float | None:
    try:
        number = float(value)
    except ValueError:
        return _seconds_in_words(value)
    if unit == 1.0 and _EPOCH < number < math.inf:
        return number * (0.001 if number > _EPOCH_MS else 1.0) - time.time()
    return number * unit


def _seconds_in_words(value: str) -> float | None:
    if _DURATION.fullmatch(value):
        return sum(float(number) * _SECONDS_OF[unit] for number, unit in _PART.findall(value))
    try:
        return parsedate_to_datetime(value).timestamp() - time.time()
    except (ValueError, TypeError, OverflowError):
        return None
