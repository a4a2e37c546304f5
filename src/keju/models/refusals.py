"""Recognise from a server's message that it does not take a decoding parameter.

The wordings are data (``refusals.toml``), because vendors, servers and gateways each have their own
and add new ones. A refusal of anything else (policy, image, length of context, a value out of its
range) is not a refusal of a parameter: nothing is dropped for it.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import cache
from typing import NamedTuple

import msgspec

from keju.files import shipped_toml

DROPPABLE = ("temperature", "top_p", "top_k", "seed")
"""Parameters that may be dropped. Others that the user sets (thinking, reasoning effort, extra
fields) are never dropped, because the request would be another experiment."""

_SPELLED = {
    "temperature": re.compile(r"(?<![a-z_])temperature(?![a-z_])", re.IGNORECASE),
    "top_p": re.compile(r"(?<![a-z_])top_?p(?![a-z_])", re.IGNORECASE),
    "top_k": re.compile(r"(?<![a-z_])top_?k(?![a-z_])", re.IGNORECASE),
    "seed": re.compile(r"(?<![a-z_])seed(?![a-z_])", re.IGNORECASE),
}


class Example(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A message of a server, and the parameters dropped for it when every parameter was sent."""

    server: str
    message: str
    drops: tuple[str, ...] = ()
    renames: bool = False


class Rule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A wording as a regular expression; `drops` where the wording does not name the parameters."""

    says: str
    drops: tuple[str, ...] = ()
    renames: bool = False
    examples: tuple[Example, ...] = ()


class Refusal(NamedTuple):
    """The refused parameters, and the old name of the token limit (`renames`)."""

    drops: frozenset[str] = frozenset()
    renames: bool = False


@cache
def rules() -> tuple[Rule, ...]:
    """All wordings, in the order in which they are tried."""
    return shipped_toml("keju.models", "refusals.toml", dict[str, tuple[Rule, ...]])["rules"]


def refusal_in(words: str, sent: Collection[str]) -> Refusal:
    """Return what a server's message refuses of the parameters that were sent.

    The first wording that refuses something decides.

    Args:
        words: the server's message.
        sent: names of the parameters in the request.
    """
    for rule, pattern in _patterns():
        names = set(rule.drops) if pattern.search(words) else set()
        if "names" in pattern.groupindex:
            named = " ".join(found["names"] for found in pattern.finditer(words))
            names = {name for name, spelled in _SPELLED.items() if spelled.search(named)}
        drops = frozenset(names.intersection(sent, DROPPABLE))
        renames = rule.renames and "max_tokens" in sent and bool(pattern.search(words))
        if drops or renames:
            return Refusal(drops, renames)
    return Refusal()


@cache
def _patterns() -> tuple[tuple[Rule, re.Pattern[str]], ...]:
    return tuple((rule, re.compile(rule.says, re.IGNORECASE)) for rule in rules())
