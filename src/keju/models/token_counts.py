"""`checked_usage`: the token counts of a reply, without implausible ones.

Costs and limits are computed from these numbers, and a gateway may report anything. A count that is
not a whole number from 0 to `MOST` is not used, nor is 0 for a prompt or for a text that exist;
keju's own estimate then replaces it.
"""

from __future__ import annotations

from typing import NamedTuple

from keju.items import Usage
from keju.models.openai_errors import excerpt

MOST = 20_000_000
"""Maximum tokens in one direction of one request: more than any context of current models."""


class CheckedUsage(NamedTuple):
    """Plausible token counts, and those that were ignored as ``name value``, joined by commas."""

    usage: Usage
    ignored: str = ""


def checked_usage(prompt: object, completion: object, reasoning: object, text: str) -> CheckedUsage:
    """Check the counts that a server reports for a reply.

    Args:
        prompt: tokens of the prompt; None where the server reports none.
        completion: tokens of the answer, reasoning included.
        reasoning: tokens of the reasoning.
        text: the answer.
    """
    ignored: list[str] = []

    def count(name: str, value: object, least: int) -> int | None:
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, int) and not isinstance(value, bool) and least <= value <= MOST:
            return value
        if value is not None:
            ignored.append(f"{name} {_format_count(value)}")
        return None

    usage = Usage(
        input_tokens=count("prompt_tokens", prompt, 1),
        output_tokens=count("completion_tokens", completion, 1 if text.strip() else 0),
        thinking_tokens=count("reasoning_tokens", reasoning, 0),
    )
    return CheckedUsage(usage, ", ".join(ignored))


def _format_count(value: object) -> str:
    """A value for a message; the digits of a huge number are not written out."""
    if isinstance(value, int) and abs(value) > 10**18:
        return f"{'-' if value < 0 else ''}more than 10^18"
    return excerpt(str(value), 40)
