"""Normalisation in layers, each including those before it, and the text that OCR scoring counts."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from functools import cache, lru_cache, reduce
from importlib.resources import files
from typing import Literal, NamedTuple, get_args

from keju.text.han import CharacterTable, is_han

Layer = Literal["exact", "nfc", "compatibility", "variants", "script"]
LAYERS: tuple[Layer, ...] = get_args(Layer)

_SELECTORS = (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))
_LIKE_IDEOGRAPHS = {"○": "〇", "◯": "〇", "〻": "々", "⺀": "々"}
_RADICALS = range(0x2E80, 0x2FE0)
_IDEOGRAPHIC_DESCRIPTION = {chr(code): 2 for code in range(0x2FF0, 0x2FFC)}
_IDEOGRAPHIC_DESCRIPTION |= {"⿲": 3, "⿳": 3, "\u2ffe": 1, "\u2fff": 1, "\u31ef": 2}
_PLACEHOLDER = 0x100000
_PLACEHOLDERS = 0xFFFD


def normalise(text: str, layer: Layer = "script") -> str:
    """Normalise up to and including `layer`.

    ``exact`` does not change the text; ``nfc`` composes it, which also unifies the compatibility
    ideographs that have a canonical equivalent; ``compatibility`` applies NFKC, converts radicals
    to ideographs, ○ into 〇 and 〻 into 々, and drops variation selectors; ``variants`` replaces
    variant characters by their standard form; ``script`` replaces traditional characters by
    simplified ones with OpenCC's t2s, character by character, never by phrases.
    """
    depth = LAYERS.index(layer)
    return _composed(text, min(depth, 2)).translate(_characters(depth))


# A transcription is normalised in all layers, one after the other.
@lru_cache(maxsize=8)
def _composed(text: str, depth: int) -> str:
    """A text in the layers up to ``compatibility``, which look at several characters at once."""
    if depth >= 1:
        text = unicodedata.normalize("NFC", text)
    if depth >= 2:
        text = unicodedata.normalize("NFKC", text.translate(_compatible()))
    return text


def counted(text: str, layer: Layer = "script") -> str:
    """The characters that OCR scoring counts, at one layer of normalisation.

    White space, punctuation, symbols and gap marks (□ ■ 〓 …) are removed; ideographs, letters,
    digits, combining marks and private-use characters stay, and so does ○ for 〇.
    """
    depth = LAYERS.index(layer)
    return _composed(text, min(depth, 2)).translate(_characters(depth, only_counted=True))


class Pair(NamedTuple):
    """A reference and a hypothesis, prepared in the same way."""

    reference: str
    hypothesis: str


def counted_pair(reference: str, hypothesis: str, layer: Layer = "script") -> Pair:
    """Both texts as `counted_alike` prepares them."""
    return Pair(*counted_alike((reference, hypothesis), layer))


def counted_alike(texts: Sequence[str], layer: Layer = "script") -> list[str]:
    """Texts as `counted` prepares them, each ideographic description sequence as one character.

    A well-formed sequence, such as ⿰木皆 describes one character that has no code, so it is one
    unit: equal only to the same sequence. It becomes a private-use character of plane 16, the same
    in all these texts.
    """
    depth = LAYERS.index(layer)
    composed = [_composed(text, min(depth, 2)) for text in texts]
    if any(char in text for text in composed for char in _IDEOGRAPHIC_DESCRIPTION):
        units: dict[str, str] = {}
        plain = _characters(depth)
        composed = [_described(text.translate(plain), units) for text in composed]
    characters = _characters(depth, only_counted=True)  # both conversions in one pass
    return [text.translate(characters) for text in composed]


def normalisation_signature(layer: Layer) -> str:
    """The layer and the versions of its tables, for the signature of a number."""
    import opencc  # noqa: PLC0415

    parts: list[str] = [layer]
    if layer != "exact":
        parts.append(f"unicode-{unicodedata.unidata_version}")
    if layer in {"variants", "script"}:
        # The second table: the first lacked Japanese forms and pairs like 獘 and 弊.
        parts.append("unihan-15.0.0-table-2")
    if layer == "script":
        parts.append(f"opencc-t2s-{opencc.__version__}")
    return "+".join(parts)


def _described(text: str, known: dict[str, str]) -> str:
    """The text with each well-formed description sequence replaced by one placeholder."""
    out: list[str] = []
    place = 0
    while place < len(text):
        end = _description_end(text, place)
        if end > place + 1 and len(known) < _PLACEHOLDERS:
            sequence = text[place:end]
            out.append(known.setdefault(sequence, chr(_PLACEHOLDER + len(known))))
            place = end
        else:
            out.append(text[place])
            place += 1
    return "".join(out)


def _description_end(text: str, start: int) -> int:
    """The end of the sequence that begins at `start`; `start` itself if it is not well formed."""
    wanted, place = 1, start
    while wanted:
        if place == len(text):
            return start
        operands = _IDEOGRAPHIC_DESCRIPTION.get(text[place])
        if operands is None and not is_han(text[place]) and ord(text[place]) not in _RADICALS:
            return start
        wanted += (operands or 0) - 1
        place += 1
    return place


@cache
def _characters(depth: int, *, only_counted: bool = False) -> CharacterTable:
    """The replacement of a character by the layers above ``compatibility``, and by `counted`."""
    steps = [_standard()] * (depth >= 3) + [_simplified()] * (depth >= 4)
    steps += [CharacterTable(_counted)] * only_counted
    return CharacterTable(lambda char: reduce(str.translate, steps, char))


def _counted(char: str) -> str:
    # Python's Unicode data may be older than the newest ideographs, so blocks are checked first.
    kept = is_han(char) or char in "○◯" or unicodedata.category(char)[0] in "LNM"
    kept = kept or unicodedata.category(char) == "Co" or ord(char) in _RADICALS
    return char if kept else ""


@cache
def _simplified() -> CharacterTable:
    """OpenCC's t2s for one character at a time."""
    import opencc  # noqa: PLC0415

    convert = opencc.OpenCC("t2s").convert

    def simplify(char: str) -> str:
        # Repeated until nothing changes, since t2s converts 薴 to 苧 but 苧 to 苎.
        while is_han(char) and (simple := convert(char)) != char:
            char = simple
        return char

    return CharacterTable(simplify)


@cache
def _standard() -> CharacterTable:
    standard = {char: line[0] for line in _table("variants.txt") for char in line[1:]}
    return CharacterTable(lambda char: standard.get(char, char))


@cache
def _compatible() -> CharacterTable:
    compatible = {line[0]: line[1] for line in _table("radicals.txt")} | _LIKE_IDEOGRAPHS
    compatible |= dict.fromkeys(map(chr, _SELECTORS), "")
    # In NFKC already, so that normalising the text finds nothing to do and is a hundred times
    # faster: a single full-width comma makes it go through all of it.
    return CharacterTable(lambda char: unicodedata.normalize("NFKC", compatible.get(char, char)))


def _table(name: str) -> list[str]:
    text = files("keju.text").joinpath("data", name).read_text("utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("#")]
