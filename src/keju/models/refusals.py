"""Recognise, in a server's words, that it does not take a parameter of decoding.

The wordings are data (``refusals.toml``), because vendors, servers and gateways each have their own
and add new ones. A refusal of anything else (policy, image, length of context, a value out of its
range) is not a refusal of a parameter: nothing is dropped for it.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection
from functools import cache
from importlib.resources import files
from typing import NamedTuple

import msgspec

DROPPABLE = ("temperature", "top_p", "top_k", "seed")
"""Parameters without which a request is still the same question; those of the user's own choice
beside them (thinking, reasoning effort, extra fields) are never dropped."""

_SPELLED = {
    "temperature": re.compile(r"(?<![a-z_])temperature(?![a-z_])", re.IGNORECASE),
    "top_p": re.compile(r"(?<![a-z_])top_?p(?![a-z_])", re.IGNORECASE),
    "top_k": re.compile(r"(?<![a-z_])top_?k(?![a-z_])", re.IGNORECASE),
    "seed": re.compile(r"(?<![a-z_])seed(?![a-z_])", re.IGNORECASE),
}


class Example(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A message of a server, and what follows from it when every parameter was sent."""

    server: str
    message: str
    drops: tuple[str, ...] = ()
    renames: bool = False


class Rule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A wording, as a regular expression; `drops` where it does not itself name the parameters."""

    says: str
    drops: tuple[str, ...] = ()
    renames: bool = False
    examples: tuple[Example, ...] = ()


class Refusal(NamedTuple):
    """What a server refuses: parameters, and the old name of the token limit (`renames`)."""

    drops: frozenset[str] = frozenset()
    renames: bool = False


@cache
def rules() -> tuple[Rule, ...]:
    """Every wording, in the order in which they are tried."""
    text = files("keju.models").joinpath("refusals.toml").read_text("utf-8")
    return msgspec.convert(tomllib.loads(text)["rules"], tuple[Rule, ...])


def refusal_in(words: str, sent: Collection[str]) -> Refusal:
    """What a server's words refuse of the parameters that were sent; empty where nothing.

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
