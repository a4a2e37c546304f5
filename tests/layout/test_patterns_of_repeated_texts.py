"""Patterns of drawn pages whose characters are repeated: sutras, songs, accounts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

from keju.layout import find_reading_pattern
from keju.layout.anchors import find_anchors
from keju.text import counted_alike
from tests.support.drawn_readings import REPEATED, SHAPES, UNREPEATED, drawn, misread, reading

WAYS = {
    "in order": None,
    "rows from the right": "rows across columns",
    "rows from the left": "rows across columns",
    "left to right": "columns from left to right",
    "merged": "columns merged",
    "mixed": "columns merged",
    "notes at the end": "notes misplaced",
    "notes behind the column": "notes misplaced",
    "halves exchanged": "columns out of order",
}
ERRORS = (0, 0.1, 0.2)


def found(texts: list[str]) -> Iterator[tuple[str, str | None]]:
    """How each page was read, and the pattern that was found."""
    for place, text in enumerate(texts):
        for seed, shape in enumerate(SHAPES, start=100 * place):
            for variant in WAYS:
                glyphs = drawn(text, shape, seed, notes=variant.startswith("notes"))
                true = "".join(each.char for each in glyphs)
                notes = [at for at, each in enumerate(glyphs) if each.note]
                if variant.startswith("notes") and len(notes) < 6:
                    continue
                for share in ERRORS:
                    said = misread(reading(glyphs, variant, seed), share, seed)
                    yield variant, find_reading_pattern(*counted_alike([true, said]), notes)


@pytest.mark.parametrize(
    ("texts", "pages", "least"),
    [([UNREPEATED], 60, 0.97), (list(REPEATED.values()), 240, 0.93)],
    ids=["unrepeated", "repeated"],
)
def test_the_pattern_is_found_on_drawn_pages(texts, pages, least):
    confusions = Counter(found(texts))
    right = sum(count for (variant, name), count in confusions.items() if name == WAYS[variant])
    assert confusions.total() >= pages
    assert right >= least * confusions.total(), sorted(confusions.items(), key=str)


def test_rows_of_a_page_of_few_characters_are_not_merged_columns():
    names = Counter(
        name for variant, name in found([REPEATED["accounts"]]) if variant.startswith("rows")
    )
    assert names["rows across columns"] >= 0.8 * names.total(), names
    assert names["columns merged"] == 0


def test_repeated_characters_are_anchors_as_parts_of_runs():
    text = "無眼耳鼻舌身意無色聲香味觸法無眼界"
    by_themselves = find_anchors(text, text, repeated=False)
    assert len(by_themselves) == 12
    assert [(each.true, each.read) for each in find_anchors(text, text)] == [
        (place, place) for place in range(len(text))
    ]


def test_each_place_is_an_anchor_once():
    text = "采采芣苢薄言采之采采芣苢薄言有之"
    there = find_anchors(text, text[8:] + text[:8])
    assert len({each.read for each in there}) == len({each.true for each in there}) == len(there)
    assert find_anchors("", text) == find_anchors(text, "") == []
