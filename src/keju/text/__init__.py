"""Text processing: conversion by phrases, layers of normalisation, and Han characters.

Normalisation is explicit and layered; each layer includes those before it::

    exact → nfc → compatibility → variants → script

Both sides of a comparison are normalised in the same way, character by character; no later layer
separates what an earlier one joined. OCR scoring (`counted`) follows this policy:

* **White space and punctuation** are ignored on both sides at every layer: pages have none, or an
  editor's. So are symbols and markup. Letters and digits of every script count, so that text around
  a transcription is an error.
* **Gap marks** (□ ■ ▢ 〓 and other symbols) are not characters: where the reference has one, a
  model's character there is an insertion; where a model marks a gap instead of a character, that is
  a deletion, as costly as an omission. 囗 (U+56D7) is an ideograph and counts.
* **Ideographic description sequences** (⿰木皆) represent one character without a code: one unit,
  equal only to the same sequence. Malformed ones count as their ideographs.
* **Variation selectors** choose a glyph, not a character: dropped from ``compatibility`` on.
* **Private-use characters** count; each equals only itself.
* **〇** is a Han character. The circles ○ and ◯, which replace it in many transcriptions, count as
  themselves and become 〇 at ``compatibility``. 零 is a different character at every layer (only
  numeric answers treat them as equal, by value).
* **々** counts as itself and is not expanded: that is left to editors. 〻 and ⺀ become 々 at
  ``compatibility``.
* **Radicals** (⼀, ⺈) become their ideographs at ``compatibility``.
* **Variants** (爲 為, 旣 既, 羣 群, 鉄 鐵) are joined by a table made from Unihan and OpenCC's
  Japanese forms under rules that keep different words apart (tools/make_variants.py); 於 and 于,
  being traditional and simplified, are joined by ``script`` only.
"""

from keju.items import Script
from keju.text.content import read_content
from keju.text.han import all_han, count_han, han_only, has_han, is_han, to_half_width
from keju.text.normalise import (
    LAYERS,
    Layer,
    Pair,
    counted,
    counted_alike,
    counted_pair,
    normalisation_signature,
    normalise,
)
from keju.text.numerals import parse_english_number, parse_number
from keju.text.reasoning import add_reasoning, answer_part
from keju.text.repeats import unrepeated_share
from keju.text.scripts import conversion_missing, in_script, official_convert

__all__ = [
    "LAYERS",
    "Layer",
    "Pair",
    "Script",
    "add_reasoning",
    "all_han",
    "answer_part",
    "conversion_missing",
    "count_han",
    "counted",
    "counted_alike",
    "counted_pair",
    "han_only",
    "has_han",
    "in_script",
    "is_han",
    "normalisation_signature",
    "normalise",
    "official_convert",
    "parse_english_number",
    "parse_number",
    "read_content",
    "to_half_width",
    "unrepeated_share",
]
