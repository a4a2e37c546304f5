"""The stroke models: sound, complete where tasks need them, and refused where they are not."""

from __future__ import annotations

from pathlib import Path

import pytest

from keju.errors import DataError
from keju_synthetic.bones.signs import expand_strokes, load_signs

SIGNS = load_signs()

ONE = """
[[signs]]
char = "口"
gloss = "mouth"
kind = "pictograph"
tier = 1
models = [["0,0 100,100"]]
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "signs.toml"
    path.write_text(text, "utf-8")
    return path


def test_there_are_signs_enough_for_a_gallery_and_an_inscription():
    assert len(SIGNS) >= 100
    stems = set("甲乙丙丁己庚辛壬癸")
    assert stems | set("卜貞王不雨旬亡禍今日其") <= SIGNS.keys()


@pytest.mark.parametrize("char", SIGNS)
def test_every_model_lies_in_its_square(char: str):
    sign = SIGNS[char]
    for variant in range(len(sign.models)):
        points = [p for stroke in expand_strokes(sign, variant, SIGNS) for p in stroke.points]
        assert all(-0.01 <= value <= 1.01 for point in points for value in point)
        wide = max(x for x, _ in points) - min(x for x, _ in points)
        high = max(y for _, y in points) - min(y for _, y in points)
        assert max(wide, high) >= 0.3


def test_no_two_signs_have_the_same_common_form_but_the_child_and_its_branch():
    forms = {}
    for char, sign in SIGNS.items():
        forms.setdefault(expand_strokes(sign, 0, SIGNS), []).append(char)
    assert [chars for chars in forms.values() if len(chars) > 1] == [["子", "巳"]]


@pytest.mark.parametrize("char", [c for c, sign in SIGNS.items() if sign.explains])
def test_an_explanation_names_its_sign_and_has_a_papers_length(char: str):
    text = SIGNS[char].explains
    assert text.startswith(f"“{char}”")
    assert text.endswith("。")
    assert 35 <= len(text) <= 90


def test_every_sign_that_shows_something_says_what():
    for sign in SIGNS.values():
        assert sign.gloss
        if sign.kind in {"pictograph", "ideogram"}:
            assert sign.shows
            assert not sign.shows.endswith(".")


def test_the_radical_is_the_first_part_else_the_sign_itself():
    assert SIGNS["休"].radical == "人"
    assert SIGNS["家"].radical == "宀"
    assert SIGNS["牛"].radical == "牛"


def test_a_part_is_put_into_its_box_and_mirrored_from_right_to_left():
    left, right = (
        expand_strokes(SIGNS["北"], 0, SIGNS)[n].points for n in (0, len(SIGNS["人"].models[0]))
    )
    # 北 is two persons back to back: the second is the first in a mirror at the middle.
    assert [(round(1 - x, 6), round(y, 6)) for x, y in right] == [
        (round(x, 6), round(y, 6)) for x, y in left
    ]


@pytest.mark.parametrize(
    ("broken", "problem"),
    [
        ('models = [["0,0"]]', "synthetic.model-few-points"),
        ('models = [["0,0 1;1"]]', "synthetic.model-point-invalid"),
        ('models = [["@木 0,0 1,1"]]', "synthetic.model-part-unknown"),
        ('models = [["@口 0,0 100,100"]]', "synthetic.model-part-unknown"),
    ],
)
def test_a_broken_model_is_named(tmp_path: Path, broken: str, problem: str):
    path = written(tmp_path, ONE.replace('models = [["0,0 100,100"]]', broken))
    with pytest.raises(DataError) as caught:
        load_signs(path)
    assert (caught.value.id, caught.value.item) == (problem, "口")


def test_a_sign_occurs_once(tmp_path: Path):
    with pytest.raises(DataError) as caught:
        load_signs(written(tmp_path, ONE + ONE))
    assert (caught.value.id, caught.value.item) == ("synthetic.sign-twice", "口")
