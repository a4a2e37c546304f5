"""The review form is data: three scales, each mark with its words."""

from __future__ import annotations

from pathlib import Path

import pytest

from keju.building.review_form import review_form
from keju.errors import UsageError


def test_keju_s_form_has_three_scales_in_two_languages() -> None:
    form = review_form()
    assert [scale.name for scale in form.scale] == ["correct", "to the point", "fit to publish"]
    assert all(len(scale.marks) == 5 and scale.zh and scale.asks_zh for scale in form.scale)


def test_a_form_of_the_users_replaces_it_and_a_broken_one_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "form.toml"
    scale = '[[scale]]\nname = "a"\nzh = "甲"\nasks = "?"\nasks_zh = "？"\nmarks = ["no", "yes"]\n'
    path.write_text(f'version = "9"\n{scale}')
    assert review_form(path).scale[0].marks == ("no", "yes")
    for text in (f'version = "9"\n{scale}{scale}', 'version = "9"\nscale = []\n', "x", "version=1"):
        path.write_text(text)
        with pytest.raises(UsageError, match=r"form\.toml: .*form"):
            review_form(path)
