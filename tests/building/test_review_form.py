"""The review form is data: four scales, each mark with its words."""

from __future__ import annotations

from pathlib import Path

import pytest

from keju.building.review_form import read_review_form
from keju.errors import KejuError


def test_keju_s_form_has_four_scales_in_two_languages() -> None:
    form = read_review_form()
    names = ["correct", "complete", "to the point", "fit to publish"]
    assert [scale.name for scale in form.scale] == names
    assert all(len(scale.marks) == 5 and scale.zh and scale.asks_zh for scale in form.scale)
    assert all(scale.words("zh") == scale.marks_zh != scale.marks for scale in form.scale)


@pytest.mark.parametrize("text", ["4", " ４ ", "Right but for a detail", "4 right but for a detail",
                                  "只有细节错误"])  # fmt: skip
def test_a_mark_is_read_as_number_or_words(text: str) -> None:
    assert read_review_form().scale[0].parse_mark(text) == 4


@pytest.mark.parametrize("text", ["", "0", "6", "4.0", "-4", "4 wrong", "good", "9" * 5000])
def test_other_texts_are_not_marks(text: str) -> None:
    assert read_review_form().scale[0].parse_mark(text) is None


def test_marks_are_checked_by_the_form() -> None:
    form = read_review_form()
    assert form.find_fault({}) is form.find_fault({"to the point": 5, "correct": 1}) is None
    assert form.find_fault({"clarity": 3}).values == ("clarity",)
    assert form.find_fault({"correct": 6}).values == (6, "correct", 5)


def test_the_user_s_form_is_read_and_an_invalid_one_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "form.toml"
    scale = '[[scale]]\nname = "a"\nzh = "甲"\nasks = "?"\nasks_zh = "？"\nmarks = ["no", "yes"]\n'
    path.write_text(f'version = "9"\n{scale}')
    assert read_review_form(path).scale[0].marks == ("no", "yes")
    head = 'version = "9"\n'
    alike = scale.replace('"yes"', '"No"')
    unlike = scale + 'marks_zh = ["否"]\n'
    keys = scale.replace('"a"', '"a b"') + scale.replace('"a"', '"a-b"')
    swapped = scale + 'marks_zh = ["yes", "no"]\n'
    lines = scale.replace('"a"', '"a\\nb"')
    wrong = (scale + scale, "scale = []\n", alike, unlike, keys, swapped, lines)
    for text in (*(head + each for each in wrong), "x", "version=1"):
        path.write_text(text)
        with pytest.raises(KejuError, match=r"form\.toml: .*form"):
            read_review_form(path)
