"""Token counts of requests: images by two formulas, text by an estimate.

The numbers of each vendor are data (image_tokens.toml). All counts are estimates for planning: the
server's own count of each response is in its `usage`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fnmatch import fnmatchcase
from functools import cache, lru_cache
from typing import TypeVar

import msgspec

from keju.files import shipped_toml
from keju.items import Request
from keju.models import Fit
from keju.text import count_han
from keju.texts import _

TEXT_RULE = _("one token for each Chinese character and one for every four other characters")
"""An approximation for current tokenisers: common characters take one or less, rare ones up to
three."""

_OTHERS = 4

T = TypeVar("T")


class Area(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An image takes a token for every `pixels` pixels, from `least` to `most` tokens.

    It is scaled down before, so that no side is longer than `long_side` pixels.
    """

    pixels: float = 1.0
    least: float = 0.0
    most: float = math.inf
    long_side: float = math.inf

    def tokens(self, width: int, height: int) -> int:
        """The tokens of an image of this size in pixels."""
        scale = min(1.0, self.long_side / max(width, height))
        area = width * height * scale * scale
        return math.ceil(min(self.most, max(self.least, area / self.pixels)))


class Tiles(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An image takes `tile` tokens for every square of `side` pixels, and `base` once.

    It is scaled down before, so that its sides are at most `long_side` and `short_side` pixels;
    with `enlarge` it is scaled up to `short_side` too. One of at most `single` pixels on each side
    is a single tile.
    """

    tile: int
    base: int = 0
    side: int = 512
    long_side: float = math.inf
    short_side: float = math.inf
    enlarge: bool = False
    single: int = 0

    def tokens(self, width: int, height: int) -> int:
        """The tokens of an image of this size in pixels."""
        if max(width, height) <= self.single:
            return self.base + self.tile
        scale = min(1.0, self.long_side / max(width, height))
        short_side = min(width, height) * scale
        if self.enlarge or short_side > self.short_side:
            scale *= self.short_side / short_side
        # Scaling leaves last bits: 768.0000001 pixels are 768.
        sides = [math.ceil(round(length * scale, 6) / self.side) for length in (width, height)]
        return self.base + self.tile * sides[0] * sides[1]


class Rule(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The formula by which one family of models counts an image, and where the vendor states it."""

    models: tuple[str, ...]
    source: str
    area: Area | None = None
    tiles: Tiles | None = None

    def tokens(self, width: int, height: int) -> int:
        """The tokens of an image of this size in pixels."""
        return (self.area or self.tiles or Area()).tokens(width, height)


class _RuleFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    seen: str
    rules: tuple[Rule, ...]


@lru_cache(maxsize=4096)
def text_tokens(text: str) -> int:
    """An estimate of the tokens of a text: see `TEXT_RULE`."""
    han = count_han(text)
    return han + math.ceil((len(text) - han) / _OTHERS)


def request_tokens(request: Request, model: str, fit: Fit) -> tuple[int, int | None]:
    """An estimate of the tokens that a request sends: of its text, and of its images.

    Those of images are None where it has some and no rule is known for the model; `fit` computes
    the size at which an image is sent.
    """
    text = text_tokens(request.system) + text_tokens(request.prompt)
    images = request.images
    if not images:
        return text, 0
    rule = image_rule(model)
    return text, sum(rule.tokens(*fit.size(ref)) for ref in images) if rule else None


def match_name(model: str, choices: Iterable[tuple[tuple[str, ...], T]]) -> T | None:
    """The first choice of which a pattern fits the name of a model, or None.

    Names are compared without case and without the part before the last "/", which is the maker on
    most servers.
    """
    name = model.rpartition("/")[2].casefold()
    for patterns, choice in choices:
        if any(fnmatchcase(name, pattern.casefold()) for pattern in patterns):
            return choice
    return None


@lru_cache(maxsize=64)
def image_rule(model: str) -> Rule | None:
    """The rule by which a model's vendor counts images, or None where none is known."""
    return match_name(model, ((rule.models, rule) for rule in image_rules()))


@cache
def image_rules() -> tuple[Rule, ...]:
    """All known rules, in the order in which they are tried."""
    return shipped_toml("keju.running", "image_tokens.toml", _RuleFile).rules
