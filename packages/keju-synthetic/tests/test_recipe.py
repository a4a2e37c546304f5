"""Recipes are data with a schema: what does not fit is named, not guessed."""

from __future__ import annotations

from pathlib import Path

import pytest

from keju.errors import DataError
from keju_synthetic.page_spec import PageSpec
from keju_synthetic.recipe import HandSpec, read_recipe
from keju_synthetic.texts import load_passages
from keju_synthetic.wear import compute_wear
from keju_synthetic.woodblock_pages import compose_page

HEAD = 'format = "keju-synth-1"\nname = "n"\nversion = "1"\nlicence = "CC0-1.0"\nseed = 1\n'
PAGE = '[[pages]]\nid = "a"\npassage = "p"\nhand = "h"\nasks = ["T1"]\ndifficulty = 0.5\n'


SECTIONS = ("pages", "sheets")


def write(folder: Path, text: str) -> Path:
    path = folder / "r.toml"
    path.write_text(text, "utf-8")
    return path


def test_a_page_needs_little_and_the_rest_has_a_default(tmp_path: Path):
    (page,) = read_recipe(write(tmp_path, HEAD + PAGE), SECTIONS).read_section("pages", PageSpec)
    assert (page.form, page.scan, page.split, page.frame) == ("half-a", "colour", "test", "double")


@pytest.mark.parametrize(
    ("text", "problem", "item", "detail"),
    [
        (HEAD.replace("synth-1", "synth-9"), "synthetic.recipe-format", None, "keju-synth-9"),
        (HEAD + PAGE + "colour = 1\n", "synthetic.entry-invalid", "a", "`colour`"),
        (HEAD + "colour = 1\n", "synthetic.recipe-key-unknown", "colour", "'colour'"),
        (
            HEAD + PAGE.replace("pages", "scrolls"),
            "synthetic.recipe-key-unknown",
            "scrolls",
            "'scrolls'",
        ),
        (HEAD + "pages = 3\n", "synthetic.not-a-list-of-tables", "pages", "'pages'"),
        (HEAD + PAGE.replace('id = "a"', ""), "synthetic.entry-invalid", "pages 1", "`id`"),
        (HEAD + PAGE + PAGE, "synthetic.id-twice", "a", ""),
        (
            HEAD + PAGE.replace("0.5", "1.5"),
            "synthetic.entry-invalid",
            "a",
            "<= 1.0 - at `$.difficulty`",
        ),
        (HEAD + PAGE + 'form = "scroll"\n', "synthetic.entry-invalid", "a", "scroll"),
        ("format = ", "", None, "not readable"),
        ("a = " + "[" * 100_000, "", None, "not readable"),
        ("a = " + "9" * 10_000, "", None, "not readable"),
        (HEAD.replace("seed = 1", "seed = -1"), "synthetic.recipe-invalid", None, "seed"),
        (HEAD + PAGE.replace('"a"', '""'), "synthetic.entry-invalid", "pages 1", "$.id"),
        (HEAD + PAGE + "height = 0\n", "synthetic.entry-invalid", "a", "height"),
        (HEAD + PAGE + "height = 1000000\n", "synthetic.entry-invalid", "a", "height"),
        (HEAD + PAGE + "columns = -1\n", "synthetic.entry-invalid", "a", "columns"),
        (HEAD + PAGE + "rows = 0\n", "synthetic.entry-invalid", "a", "rows"),
        (HEAD + PAGE + "note_pitch = nan\n", "synthetic.entry-invalid", "a", "note_pitch"),
        (HEAD + PAGE + "wear = { show = nan }\n", "synthetic.entry-invalid", "a", "wear"),
        (HEAD + PAGE + "leaf = 200\n", "synthetic.entry-invalid", "a", "leaf"),
        (
            HEAD + PAGE + 'head_notes = [{ text = "書", column = -9 }]\n',
            "synthetic.entry-invalid",
            "a",
            "column",
        ),
        (
            HEAD + PAGE + 'seals = [{ cut = { legend = "書" }, at = [5.0, 0.5] }]\n',
            "synthetic.entry-invalid",
            "a",
            "at",
        ),
        (
            HEAD + '[hands.k]\nfamily = "f"\nstyle = "s"\nlicence = "l"\nsway = 1e308\n',
            "synthetic.recipe-invalid",
            None,
            "sway",
        ),
        (
            HEAD + '[hands.k]\nfamily = "f"\nstyle = "s"\nlicence = "l"\nweight = nan\n',
            "synthetic.recipe-invalid",
            None,
            "weight",
        ),
        (HEAD + 'include = ["../b.toml"]\n', "synthetic.file-outside", None, "'../b.toml'"),
        (HEAD + 'include = ["b.toml"]\n', "files.missing", None, ""),
        ("#" * 4_000_001, "files.too-large", None, ""),
    ],
)
def test_what_does_not_fit_is_named(
    tmp_path: Path, text: str, problem: str, item: str | None, detail: str
):
    with pytest.raises(DataError) as caught:
        read_recipe(write(tmp_path, text), SECTIONS).read_section("pages", PageSpec)
    assert (caught.value.id, caught.value.item) == (problem, item)
    assert detail in str(caught.value)


def test_a_page_too_large_to_draw_is_named():
    spec = PageSpec(
        id="a", passage="p", hand="h", asks=(), difficulty=0.5, height=6000, columns=100
    )
    passage = load_passages()["sunzi-ji"]
    with pytest.raises(DataError) as caught:
        compose_page(spec, passage, lambda _: HandSpec(family="f", style="s", licence="l"))
    assert (caught.value.id, caught.value.item) == ("synthetic.page-too-large", "a")


def test_what_never_ends_is_not_read():
    with pytest.raises(DataError) as caught:
        read_recipe(Path("/dev/zero"), SECTIONS)
    assert (caught.value.id, caught.value.file) == ("files.not-a-file", "/dev/zero")


def test_a_hand_that_is_not_in_the_recipe_is_named(tmp_path: Path):
    recipe = read_recipe(write(tmp_path, HEAD + PAGE), SECTIONS)
    with pytest.raises(DataError) as caught:
        recipe.find_hand("h", image_id="a")
    assert (caught.value.id, caught.value.item) == ("errors.unknown-name", "a")
    assert caught.value.fields["kind"] == "hand"


def test_every_kind_of_wear_grows_with_difficulty_except_resolution():
    steps = [compute_wear(value / 10, {}, item="a") for value in range(11)]
    for name in steps[0].__struct_fields__:
        values = [getattr(step, name) for step in steps]
        assert values == sorted(values, reverse=name == "detail"), name
        assert values[0] != values[-1]


def test_single_kinds_of_wear_can_be_set_and_unknown_ones_are_refused():
    assert compute_wear(0.5, {"show": 0.0}, item="a").show == 0
    with pytest.raises(DataError) as caught:
        compute_wear(0.5, {"shine": 1.0}, item="a")
    assert (caught.value.id, caught.value.item) == ("synthetic.wear-invalid", "a")
    assert "shine" in caught.value.fields["reason"]
