"""Token counts of requests: images by the vendors' published rules, text by an estimate.

The rules are data (image_tokens.toml); this module implements the few methods by which images are
counted. All counts are estimates for planning: the server's own count of each response is in its
`usage`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from functools import cache, lru_cache

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
_RULES = "image_tokens.toml"


class Rule(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The rule by which one family of models counts an image, and its source."""

    models: tuple[str, ...]
    way: str
    source: str
    given: dict[str, float] = {}

    def tokens(self, width: int, height: int) -> int:
        """The tokens of an image of this size in pixels."""
        return math.ceil(_WAYS[self.way](width, height, **self.given))


class _Declared(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    seen: str
    rules: tuple[Rule, ...]


@lru_cache(maxsize=4096)
def text_tokens(text: str) -> int:
    """An estimate of the tokens of a text: see `TEXT_RULE`."""
    han = count_han(text)
    return han + math.ceil((len(text) - han) / _OTHERS)


def request_tokens(request: Request, model: str, fit: Fit | None = None) -> tuple[int, int | None]:
    """An estimate of the tokens that a request sends: of its text, and of its images.

    Those of images are None where it has some and no rule is known for the model; `fit` computes
    the size at which an image is sent.
    """
    images = 0
    text = sum(map(text_tokens, texts_of(request)))
    for ref in request.all_images:
        size = fit.size(ref) if fit else (ref.width, ref.height)
        tokens = _image_tokens(model, *size)
        if tokens is None:
            return text, None
        images += tokens
    return text, images


def texts_of(request: Request) -> Iterator[str]:
    """Every text of a request: the wording's system prompt, the examples and the prompt."""
    if request.system:
        yield request.system
    for example in request.examples:
        yield from (example.prompt, example.answer)
    yield request.prompt


@lru_cache(maxsize=65536)
def _image_tokens(model: str, width: int, height: int) -> int | None:
    rule = image_rule(model)
    return rule.tokens(width, height) if rule else None


def image_rule(model: str) -> Rule | None:
    """The rule by which a model's vendor counts images, or None where none is known."""
    name = model.rpartition("/")[2].casefold()
    return next(
        (rule for rule in image_rules() if any(fnmatchcase(name, each) for each in rule.models)),
        None,
    )


@cache
def image_rules() -> tuple[Rule, ...]:
    """All known rules, in the order in which they are tried."""
    return shipped_toml("keju.running", _RULES, _Declared).rules


def _fixed(width: int, height: int, *, tokens: float) -> float:
    """The same number for every image."""
    del width, height
    return tokens


def _tiles(width: int, height: int, *, base: float, tile: float) -> float:
    """OpenAI: fit into a square of 2,048, short side down to 768, count tiles of 512."""
    scale = min(1.0, 2048 / max(width, height))
    scale = min(scale, 768 / min(width, height)) if min(width, height) * scale > 768 else scale
    across, down = (math.ceil(_near(side * scale) / 512) for side in (width, height))
    return base + tile * across * down


def _patches(width: int, height: int, *, times: float) -> float:
    """OpenAI: patches of 32, scaled down to 1,536 of them at most, multiplied by a factor."""
    side, most = 32, 1536
    across, down = math.ceil(width / side), math.ceil(height / side)
    if across * down > most:
        scale = math.sqrt(side * side * most / (width * height))
        wide, high = width * scale / side, height * scale / side
        scale *= min(math.floor(wide) / wide, math.floor(high) / high)
        across, down = (math.ceil(_near(size * scale / side)) for size in (width, height))
    return min(across * down, most) * times


def _area(width: int, height: int, *, pixels: float, long_side: float, most: float) -> float:
    """Anthropic: one token per `pixels` pixels, after scaling down to the size limits."""
    scale = min(1.0, long_side / max(width, height))
    return min(width * height * scale * scale / pixels, most)


def _crops(width: int, height: int, *, tokens: float, small: float) -> float:
    """Google: one tile if small, otherwise tiles cropped at 2/3 of the short side."""
    if max(width, height) <= small:
        return tokens
    crop = max(1, math.floor(min(width, height) / 1.5))
    return tokens * math.ceil(width / crop) * math.ceil(height / crop)


def _grid(
    width: int, height: int, *, side: float, fewest_pixels: float, most_pixels: float
) -> float:
    """Qwen-VL: sides rounded to multiples of `side`, scaled into a range of pixels."""
    wide, high = (max(side, round(size / side) * side) for size in (width, height))
    if wide * high > most_pixels:
        shrink = math.sqrt(width * height / most_pixels)
        wide, high = (
            max(side, math.floor(size / shrink / side) * side) for size in (width, height)
        )
    elif wide * high < fewest_pixels:
        grow = math.sqrt(fewest_pixels / (width * height))
        wide, high = (math.ceil(size * grow / side) * side for size in (width, height))
    return wide * high / (side * side)


def _ratio_tiles(
    width: int, height: int, *, side: float, tokens: float, most_tiles: float
) -> float:
    """InternVL: the grid of tiles nearest in shape, and a thumbnail where there are several."""
    grids = sorted(
        (
            (across, down)
            for across in range(1, int(most_tiles) + 1)
            for down in range(1, int(most_tiles) + 1)
            if across * down <= most_tiles
        ),
        key=lambda grid: grid[0] * grid[1],
    )
    best, least = grids[0], math.inf
    for across, down in grids:
        off = abs(width / height - across / down)
        fits = off == least and width * height > 0.5 * side * side * across * down
        if off < least or fits:
            best, least = (across, down), off
    tiles = best[0] * best[1]
    return tokens * (tiles + (tiles > 1))


def _near(value: float) -> float:
    """Remove the last bits that scaling leaves: 768.0000001 pixels are 768."""
    return round(value, 6)


_WAYS: dict[str, Callable[..., float]] = {
    "fixed": _fixed,
    "tiles": _tiles,
    "patches": _patches,
    "area": _area,
    "crops": _crops,
    "grid": _grid,
    "ratio_tiles": _ratio_tiles,
}
