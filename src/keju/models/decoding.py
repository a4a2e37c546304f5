"""The decoding parameters of a request: those requested, and those that were actually sent.

A server may refuse a parameter, a provider's layer may not pass one on, and the token limit has two
names. So a response records the parameters of its request, under the server's names.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from keju.items import Record
from keju.models.base import ENDPOINTS
from keju.models.refusals import refusal_in

OLD_LIMIT, NEW_LIMIT = "max_tokens", "max_completion_tokens"

MAY_REFUSE = frozenset({"bad-request", "server"})
"""Kinds of failure in which a server may refuse a parameter; some reply to an unknown one with 500.
"""

ASKED_FOR = ("temperature", "top_p", "top_k", "max_tokens", "seed", "reasoning_effort")
"""Parts of a model's identity that request a parameter."""

_EXTRA = "extra_body."

_NAMES = {
    "max_tokens": frozenset({
        "max_tokens", "max_completion_tokens", "max_output_tokens", "max_new_tokens", "num_predict",
        "maxTokens", "maxOutputTokens",
    }),
    "top_p": frozenset({"top_p", "topP", "p"}),
    "top_k": frozenset({"top_k", "topK", "k"}),
    "seed": frozenset({"seed", "random_seed"}),
    "reasoning_effort": frozenset({
        "reasoning_effort", "reasoning", "output_config", "thinking", "thinking_config",
    }),
}  # fmt: skip
"""Names under which servers accept a parameter."""


class Parameters(Record, frozen=True, kw_only=True):
    """The parameters of one model's requests, without those that its server has refused so far.

    `given` are the fields as requested, with ``max_tokens`` under its old name; `limit` is the name
    under which this server accepts it.
    """

    given: dict[str, Any]
    refused: tuple[str, ...] = ()
    limit: str = OLD_LIMIT

    @property
    def sent(self) -> dict[str, Any]:
        """The fields of a request's body."""
        return {
            self.limit if name == OLD_LIMIT else name: value
            for name, value in self.given.items()
            if name not in self.refused
        }

    def after(self, words: str, tried: Parameters) -> Parameters | None:
        """Return the parameters for a new attempt; None if the message refuses none of those sent.

        Args:
            words: the server's message.
            tried: the parameters sent; other requests may have been refused more since.
        """
        refusal = refusal_in(words, tried.sent)
        if not refusal.drops and not refusal.renames:
            return None
        return Parameters(
            given=self.given,
            refused=tuple(sorted({*self.refused, *refusal.drops})),
            limit=NEW_LIMIT if refusal.renames else self.limit,
        )


def as_texts(fields: Mapping[str, Any]) -> dict[str, str]:
    """Fields of a request as they are recorded: text as it is, all other values as JSON."""
    return {
        name: value if isinstance(value, str) else msgspec.json.encode(value).decode()
        for name, value in fields.items()
    }


def not_sent(identity: Mapping[str, str], decoding: Mapping[str, str] | None) -> tuple[str, ...]:
    """The parameters that a model's identity requests and that a request did not have.

    Args:
        identity: of the model; only models behind an endpoint or provider send parameters.
        decoding: the request's fields; None where they are not known, which gives an empty result.
    """
    if decoding is None or identity.get("kind") not in ENDPOINTS:
        return ()
    named = [name for name in ASKED_FOR if name in identity]
    named += [name for name in identity if name.startswith(_EXTRA)]
    return tuple(
        name
        for name in named
        if not _NAMES.get(name, {name.removeprefix(_EXTRA)}) & decoding.keys()
    )
