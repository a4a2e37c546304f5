"""What notebooks show: escaped, without requests, and short as plain text."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from lxml import html

import keju
from keju.errors import KejuError
from keju.notebook import Outline, block, facts, folded, picture, table, text

HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>&"


def check(markup: str) -> html.HtmlElement:
    """The parsed markup, in which nothing runs and nothing is loaded."""
    tree = html.fromstring(f"<div>{markup}</div>")
    tags = {each.tag for each in tree.iter()}
    assert tags <= {
        "b", "details", "div", "g", "image", "p", "polygon", "summary", "svg", "table", "tbody",
        "td", "text", "th", "thead", "title", "tr",
    }  # fmt: skip
    names = {name for each in tree.iter() for name in each.attrib}
    assert not any(name.startswith("on") or name in ("src", "srcset", "class") for name in names)
    for each in tree.iter("image"):
        assert each.get("href").startswith("data:image/jpeg;base64,")
    assert not re.search(r"url\(|https?:|color:#|background:(?!none)", markup)
    return tree


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> keju.Run:
    function = lambda images, prompt: HOSTILE  # noqa: E731
    models = [keju.PythonModel("<b>&x", function), "baseline:chance"]
    run = keju.run("mini", models, tmp_path_factory.mktemp("nb") / "run", tasks=["T1", "T7"])
    run.score()
    return run


def test_every_part_escapes_hostile_text():
    parts = [
        text(HOSTILE), table([HOSTILE], [[HOSTILE]]), facts({HOSTILE: HOSTILE}),
        block(HOSTILE, HOSTILE), folded(HOSTILE, text(HOSTILE)),
        picture(10, 10, [Outline(((0, 0), (1, 1)), HOSTILE, HOSTILE)]),
    ]  # fmt: skip
    for part in parts:
        assert HOSTILE in "".join(check(part).itertext())


def test_results_leaderboards_comparisons_and_runs_are_shown(run):
    results = run.score()
    shown = [run, results, results.leaderboard(), keju.compare(run), keju.load("mini")]
    for each in shown:
        tree = check(each._repr_html_())
        assert tree.find(".//table") is not None
        assert len(repr(each)) < 300
    assert "<b>&x" in "".join(check(results._repr_html_()).itertext())


def test_a_leaderboard_has_protocols_and_roles_together_and_the_best_first(run):
    overall = run.score().leaderboard().overall
    assert overall.select("protocol", "role").rows() == [
        ("official", "model"),
        ("official", "baseline"),
        ("strict", "model"),
        ("strict", "baseline"),
    ]


def test_an_item_is_shown_with_its_image_and_numbered_lines():
    dataset = keju.load("mini")
    item = next(item for item in dataset if item.lines)
    assert repr(item) == "Item('lunyu-t1', 'T1', '')"
    assert item.answer in "".join(check(item._repr_html_()).itertext())
    view = keju.show(item, dataset)
    tree = check(view._repr_html_())
    assert len(tree.findall(".//image")) == 1
    assert [each.text for each in tree.iter("text")] == [str(n + 1) for n in range(len(item.lines))]
    assert view.html == view._repr_html_()
    boxes = next(item for item in dataset if item.boxes)
    assert len(check(keju.show(boxes, dataset).html).findall(".//polygon")) == len(boxes.boxes)


def test_a_page_is_shown_in_reading_order_and_on_its_image(tmp_path):
    dataset = keju.load("mini")
    item = next(item for item in dataset if item.lines)
    (tmp_path / "p.jpg").write_bytes(dataset.image_bytes(item.images[0]))
    for name, image, images in ((HOSTILE, None, 0), ("p.jpg", tmp_path / "p.jpg", 1)):
        page = keju.Page(
            file="p.xml", image_name=name, width=0, height=0, lines=item.lines[::-1],
            explicit_order=False,
        )  # fmt: skip
        tree = check(keju.show(page, image).html)
        assert len(tree.findall(".//image")) == images
        ordered = [line.text for line in keju.reading_order(page)]
        assert [each.text or "" for each in tree.iter("title")] == ordered
    assert len(repr(page)) < 100


def test_lines_of_an_engine_are_shown_on_the_image_that_is_given(tmp_path):
    dataset = keju.load("mini")
    item = next(item for item in dataset if item.lines)
    image = tmp_path / "scan.jpg"
    image.write_bytes(dataset.image_bytes(item.images[0]))
    tree = check(keju.show(list(item.lines), str(image)).html)
    assert len(tree.findall(".//image")) == 1
    assert len(tree.findall(".//polygon")) == len(item.lines)


def test_show_refuses_what_it_cannot_show(tmp_path):
    dataset = keju.load("mini")
    item = next(iter(dataset))
    for what, image in (
        (item, None),
        (item, "x.jpg"),
        ("x", None),
        (item.lines, dataset),
        (3, None),
    ):
        with pytest.raises(TypeError):
            keju.show(what, image)
    bad = tmp_path / "bad.jpg"
    bad.write_bytes(b"no image")
    for path in (bad, Path("none.jpg")):
        with pytest.raises(KejuError):
            keju.show(item.lines, path)


def test_coordinates_that_are_no_numbers_are_not_drawn():
    nan, inf = float("nan"), float("inf")
    assert picture(nan, 10) == picture(inf, 10) == picture(0, 10) == ""
    assert "polygon" not in picture(10, 10, [Outline(((nan, 0), (inf, 1)))])
