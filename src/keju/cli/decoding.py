"""Decoding parameters from the options of a command."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from keju.errors import UsageError

if TYPE_CHECKING:
    from keju.models import Decoding


def decoding_of(
    *,
    temperature: float | None = None,
    top_p: float | None = None,
    top_k: int | None = None,
    max_tokens: int | None = None,
    sampling_seed: int | None = None,
    reasoning_effort: str | None = None,
    thinking: Literal["on", "off"] | None = None,
    extra_body: list[str] | None = None,
) -> Decoding:
    """Return the decoding parameters that the options give.

    Raises:
        UsageError: the reasoning effort is empty, or an extra field is not spelled NAME=JSON or may
            not be set.
    """
    from keju.models import Decoding
    from keju.models.request_fields import parse_extra_body

    if reasoning_effort is not None and not reasoning_effort.strip():
        raise UsageError(
            "--reasoning-effort is empty. Give a value such as low, or drop the option"
        )
    return Decoding(
        temperature=temperature,
        top_p=top_p,
        top_k=top_k,
        max_tokens=max_tokens,
        seed=sampling_seed,
        reasoning_effort=reasoning_effort,
        thinking=thinking,
        extra_body=parse_extra_body(extra_body or []),
    )
