"""Names of benchmarks, tables and items as parts of file names."""

from __future__ import annotations

import pytest

from keju.files import slug


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("MCS-Bench", "mcs-bench"),
        ("Table 3: OCR (zh)", "table-3-ocr-zh"),
        ("史記校勘", "史記校勘"),
        ("MCS 史記/校勘", "mcs-史記-校勘"),
        ("a_b", "a-b"),
    ],
)
def test_letters_of_any_script_stay(name, expected):
    assert slug(name) == expected


def test_names_without_letters_differ():
    assert slug("——") != slug("……")
    assert slug("——").isalnum()


def test_long_names_are_cut_between_characters_and_stay_different():
    one, other = ("史" * 200 + end for end in "一二")
    assert slug(one) != slug(other)
    assert slug(one)[:20] == "史" * 20
    assert max(len(slug(name).encode()) for name in (one, other, "x" * 300, "x" + "史" * 99)) <= 80
