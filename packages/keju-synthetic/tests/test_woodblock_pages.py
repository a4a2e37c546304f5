"""Pages as composed: every form shows what it must, read from right to left."""

from __future__ import annotations

import itertools

import pytest

from keju_synthetic.page_images import SealSpec
from keju_synthetic.page_layout import READ
from keju_synthetic.page_spec import HeadNoteSpec, PageSpec, list_page_specs
from keju_synthetic.recipe import HandSpec
from keju_synthetic.seals.carving import SealDesign
from keju_synthetic.texts import load_passages
from keju_synthetic.woodblock_pages import compose_page

HAND = HandSpec(family="f", style="s", licence="l", forms={"說": "説"})
PASSAGE = load_passages()["lunyu-xueer"]


def compose(**changes):
    fields = {"id": "a", "passage": "p", "hand": "h", "asks": (), "difficulty": 0.0, **changes}
    return compose_page(PageSpec(**fields), PASSAGE, lambda _: HAND)


@pytest.mark.parametrize("form", ["half-a", "half-b", "sheet", "opening"])
def test_columns_follow_one_another_from_right_to_left(form: str):
    layout = compose(form=form)
    main = [line.box for line in layout.lines if line.kind in {"title", "author", "main"}]
    for one, following in itertools.pairwise(main):
        same_column = one.x0 < following.x1 and following.x0 < one.x1
        assert following.y0 >= one.y1 if same_column else following.x1 <= one.x0
    assert all(0 <= box.x0 < box.x1 <= layout.width for box in main)
    assert all(0 <= box.y0 < box.y1 <= layout.height for box in main)


@pytest.mark.parametrize(
    ("form", "numbers"),
    [("half-a", ["十"]), ("half-b", ["十"]), ("sheet", ["十"]), ("opening", ["十", "十一"])],
)
def test_the_centre_column_carries_title_and_leaf_number(form: str, numbers: list[str]):
    layout = compose(form=form, leaf=10)
    kinds = [(line.kind, line.text) for line in layout.lines if line.kind not in READ]
    assert [text for kind, text in kinds if kind == "number"] == numbers
    assert [text for kind, text in kinds if kind == "centre"] == ["論語卷一"] * len(numbers)
    paper = layout.paper
    assert all(
        paper.x0 <= line.box.x0 < line.box.x1 <= paper.x1
        for line in layout.lines
        if line.kind == "centre"
    )


def test_a_folded_leaf_shows_half_of_its_centre_column():
    whole, half = (
        next(line for line in compose(form=form).lines if line.kind == "centre").box
        for form in ("sheet", "half-a")
    )
    assert half.x1 - half.x0 == pytest.approx((whole.x1 - whole.x0) / 2, abs=1)


def test_the_reference_has_the_form_that_the_hand_writes():
    text = "".join(line.text for line in compose().lines)
    assert "説" in text
    assert "說" not in text


def test_head_notes_stand_above_the_frame():
    layout = compose(head_notes=(HeadNoteSpec(text="此章言學", column=3),))
    top = min(bar.y0 for bar in layout.bars)
    head = [line for line in layout.lines if line.kind == "head"]
    assert "".join(line.text for line in head) == "此章言學"
    assert all(0 <= line.box.y0 < line.box.y1 < top for line in head)


@pytest.mark.parametrize("form", ["half-a", "half-b", "sheet", "opening"])
def test_a_second_image_continues_where_the_first_ends(form: str):
    spec = PageSpec(
        id="a", passage="p", hand="h", asks=(), difficulty=0.0, form=form, rows=8, columns=5,
        pictures=2, leaf=3, seals=(SealSpec(cut=SealDesign(legend="藏書"), at=(0.5, 0.5)),),
    )  # fmt: skip
    seen = list(list_page_specs(spec))
    assert [bool(each.seals) for each in seen] == [True, False]
    first, second = (compose_page(each, PASSAGE, lambda _: HAND) for each in seen)
    long = compose_page(
        PageSpec(id="a", passage="p", hand="h", asks=(), difficulty=0.0, rows=8,
                 columns=10 if form in {"half-a", "half-b"} else 20),
        PASSAGE, lambda _: HAND,
    )  # fmt: skip
    read = [
        "".join(line.text for line in layout.lines if line.kind in READ)
        for layout in (first, second, long)
    ]
    assert read[0] + read[1] == read[2]
    numbers = [[n.text for n in each.lines if n.kind == "number"] for each in (first, second)]
    assert numbers[0] != numbers[1] or form == "half-a", "front and back are one leaf"


def test_a_leaf_from_within_a_book_has_no_heading():
    assert {line.kind for line in compose(heading=False).lines} >= {"main", "note"}
    assert not {line.kind for line in compose(heading=False).lines} & {"title", "author"}


def test_a_manuscript_keeps_no_grid_but_its_columns_keep_their_length():
    text = "學而第一"
    page = {made: compose(made=made) for made in ("print", "manuscript")}
    steps = {}
    for made, layout in page.items():
        at = "".join(glyph.char for glyph in layout.glyphs).index(text)
        signs = layout.glyphs[at : at + len(text)]
        steps[made] = [low.y - high.y for high, low in itertools.pairwise(signs)]
    assert max(steps["print"]) == pytest.approx(min(steps["print"]))
    assert steps["manuscript"][-1] < steps["manuscript"][0]
    boxes = [[line.box for line in layout.lines] for layout in page.values()]
    assert boxes[0] == boxes[1]
