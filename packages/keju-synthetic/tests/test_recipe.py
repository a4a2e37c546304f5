"""Recipes are data with a schema: what does not fit is named, not guessed."""

from __future__ import annotations

from pathlib import Path

import pytest

from keju.errors import DataError
from keju_synthetic.leaves import compose_page
from keju_synthetic.page_spec import PageSpec
from keju_synthetic.recipe import HandSpec, read_recipe
from keju_synthetic.texts import load_passages
from keju_synthetic.wear import wear_at

HEAD = 'format = "keju-synth-1"\nname = "n"\nversion = "1"\nlicence = "CC0-1.0"\nseed = 1\n'
PAGE = '[[pages]]\nid = "a"\npassage = "p"\nhand = "h"\nasks = ["T1"]\ndifficulty = 0.5\n'


SECTIONS = ("pages", "sheets")


def write(folder: Path, text: str) -> Path:
    path = folder / "r.toml"
    path.write_text(text, "utf-8")
    return path


def test_a_page_needs_little_and_the_rest_has_a_default(tmp_path: Path):
    (page,) = read_recipe(write(tmp_path, HEAD + PAGE), SECTIONS).part("pages", PageSpec)
    assert (page.form, page.scan, page.split, page.frame) == ("half-a", "colour", "test", "double")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (HEAD.replace("synth-1", "synth-9"), "keju-synth-9"),
        (HEAD + PAGE + "colour = 1\n", "r.toml: a: .*`colour`"),
        (HEAD + "colour = 1\n", "r.toml: colour: no family draws 'colour'"),
        (HEAD + PAGE.replace("pages", "scrolls"), "r.toml: scrolls: no family draws 'scrolls'"),
        (HEAD + "pages = 3\n", "r.toml: pages: 'pages' is no list"),
        (HEAD + PAGE.replace('id = "a"', ""), "r.toml: pages 1: .*`id`"),
        (HEAD + PAGE + PAGE, "a: this id stands twice"),
        (HEAD + PAGE.replace("0.5", "1.5"), r"r.toml: a: .*<= 1.0 - at `\$.difficulty`"),
        (HEAD + PAGE + 'form = "scroll"\n', "scroll"),
        ("format = ", "not readable"),
        ("a = " + "[" * 100_000, "not readable"),
        ("a = " + "9" * 10_000, "not readable"),
        (HEAD.replace("seed = 1", "seed = -1"), "seed"),
        (HEAD + PAGE.replace('"a"', '""'), r"pages 1: .*\$.id"),
        (HEAD + PAGE + "height = 0\n", "height"),
        (HEAD + PAGE + "height = 1000000\n", "height"),
        (HEAD + PAGE + "columns = -1\n", "columns"),
        (HEAD + PAGE + "rows = 0\n", "rows"),
        (HEAD + PAGE + "note_pitch = nan\n", "note_pitch"),
        (HEAD + PAGE + "wear = { show = nan }\n", "wear"),
        (HEAD + PAGE + "leaf = 200\n", "leaf"),
        (HEAD + PAGE + 'head_notes = [{ text = "書", column = -9 }]\n', "column"),
        (HEAD + PAGE + 'seals = [{ cut = { legend = "書" }, at = [5.0, 0.5] }]\n', "at"),
        (HEAD + '[hands.k]\nfamily = "f"\nstyle = "s"\nlicence = "l"\nsway = 1e308\n', "sway"),
        (HEAD + '[hands.k]\nfamily = "f"\nstyle = "s"\nlicence = "l"\nweight = nan\n', "weight"),
        (HEAD + 'include = ["../b.toml"]\n', "b.toml' lies elsewhere"),
        (HEAD + 'include = ["b.toml"]\n', "b.toml: no such file"),
        ("#" * 4_000_001, "larger than"),
    ],
)
def test_what_does_not_fit_is_named(tmp_path: Path, text: str, complaint: str):
    with pytest.raises(DataError, match=complaint):
        read_recipe(write(tmp_path, text), SECTIONS).part("pages", PageSpec)


def test_a_page_too_large_to_draw_is_named():
    spec = PageSpec(
        id="a", passage="p", hand="h", asks=(), difficulty=0.5, height=6000, columns=100
    )
    passage = load_passages()["sunzi-ji"]
    with pytest.raises(DataError, match="a: 100 columns of 18 rows at height 6000"):
        compose_page(spec, passage, lambda _: HandSpec(family="f", style="s", licence="l"))


def test_what_never_ends_is_not_read():
    with pytest.raises(DataError, match="/dev/zero: not a file"):
        read_recipe(Path("/dev/zero"), SECTIONS)


def test_a_hand_that_is_not_in_the_recipe_is_named(tmp_path: Path):
    recipe = read_recipe(write(tmp_path, HEAD + PAGE), SECTIONS)
    with pytest.raises(DataError, match="a: no hand 'h'"):
        recipe.hand("h", asked_by="a")


def test_every_kind_of_wear_grows_with_difficulty_except_resolution():
    steps = [wear_at(value / 10, {}, item="a") for value in range(11)]
    for name in steps[0].__struct_fields__:
        values = [getattr(step, name) for step in steps]
        assert values == sorted(values, reverse=name == "detail"), name
        assert values[0] != values[-1]


def test_single_kinds_of_wear_can_be_set_and_unknown_ones_are_refused():
    assert wear_at(0.5, {"show": 0.0}, item="a").show == 0
    with pytest.raises(DataError, match=r"a: wear: .*shine"):
        wear_at(0.5, {"shine": 1.0}, item="a")
