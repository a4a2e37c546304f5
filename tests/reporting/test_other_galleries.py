"""Which galleries are the paper's."""

from __future__ import annotations

import pytest

from keju.analysis.galleries import Gallery, gallery_notes, other_galleries


@pytest.mark.parametrize(
    ("task", "of", "size"),
    [
        ("classification", "HWOBC", 100), ("classification", "Oracle-50K", 100),
        ("classification", "mine", 100), ("retrieval", "OBC306", 450),
        ("retrieval", "OBI-IJDH", 90), ("rejoining", "OBI-rejoin", 482),
    ],
)  # fmt: skip
def test_the_papers_sizes_are_the_papers(task, of, size):
    assert other_galleries({(task, "How", "q"): Gallery(of, size)}) == {}


@pytest.mark.parametrize(
    ("task", "of", "size"),
    [
        ("classification", "HWOBC", 50), ("classification", "mixed", 100),
        ("retrieval", "OBC306", 90), ("retrieval", "OBI-IJDH", 45), ("rejoining", "OBI-rejoin", 60),
    ],
)  # fmt: skip
def test_other_sizes_and_mixed_galleries_are_not(task, of, size):
    found = {(task, "How", "q"): Gallery(of, size)}
    assert other_galleries(found) == found
    ((named, note),) = gallery_notes(found)
    assert named == task
    assert f"{size} images ({of})" in note
