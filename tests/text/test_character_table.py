"""Full-width forms become ASCII, one character for each, and nothing else changes."""

from __future__ import annotations

import pytest

from keju.text import to_half_width


@pytest.mark.parametrize(
    ("text", "half"),
    [
        ("！＂～", '!"~'),
        ("Ｙｅｓ：１２", "Yes:12"),
        ("天\u3000地", "天 地"),
        ("｟、。｡￥", "｟、。｡￥"),
    ],
)
def test_only_forms_with_an_ascii_character_are_converted(text: str, half: str) -> None:
    assert to_half_width(text) == half
