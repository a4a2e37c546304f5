"""Figures as files: the same bytes twice, hostile texts as text, glyphs that are there."""

from __future__ import annotations

import csv
import io
import shutil
import subprocess
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from keju.datasets import mini
from keju.datasets.stats import Stats, stats
from keju.figures import embedded, of_dataset, of_papers, of_run, svg, write_figure
from keju.figures.breaking import wide, wrapped
from keju.figures.datasets import OfDataset
from keju.figures.figure import Figure, Undrawn
from keju.figures.glyphs import missing
from keju.figures.in_report import report_figures
from keju.figures.theme import DARK
from keju.items import Item
from keju.words import Words

EN = Words("en")
HOSTILE = "</text><script>alert(1)</script>&amp;\"'`${1}<!--\u202egnp\x1b[31m\x00\ufffe"
SVG = "{http://www.w3.org/2000/svg}"


def standings(source):
    (figure,) = (f for f in of_run(source, ["standings"]) if isinstance(f, Figure))
    return figure


def texts(drawing: str) -> str:
    """All that stands in an SVG's texts; fails where it is no XML."""
    return " ".join("".join(t.itertext()) for t in ET.fromstring(drawing).iter(f"{SVG}text"))


def test_svg_png_and_csv_are_the_same_bytes_twice_and_the_csv_has_what_is_drawn(source, tmp_path):
    figure = standings(source)
    written = []
    for name in ("one", "two"):
        paths = write_figure(figure, tmp_path / name, ("svg", "png", "pdf"), EN).paths
        assert [path.suffix for path in paths] == [".svg", ".png", ".pdf", ".csv"]
        written.append({path.suffix: path.read_bytes() for path in paths})
    pdf = written[0].pop(".pdf")
    del written[1][".pdf"]
    assert written[0] == written[1]
    drawn, png, table = written[0].values()
    assert Image.open(io.BytesIO(png)).width > 600
    assert pdf.startswith(b"%PDF-")
    assert pdf.count(b"/BaseFont") >= 2
    rows = list(csv.DictReader(io.StringIO(table.decode("utf-8-sig"))))
    assert [float(row["value"]) for row in rows] == [row["value"] for row in figure.rows]
    assert all(row["label"] in texts(drawn.decode()) for row in figure.rows)


def test_hostile_names_and_answers_are_text_in_every_figure(made):
    options = (HOSTILE, "B=1+1", "丙", "丁")
    items = [
        Item(id=f"{HOSTILE} {n}", benchmark="MCS-Bench", task="T7", options=options, answer="A",
             question=HOSTILE, group=f"g{n}")
        for n in range(4)
    ]  # fmt: skip
    source = made(items, {f"openai:{HOSTILE}": 0.9, "openai:b": 0.4, "openai:c": 0.6})
    figures = [figure for figure in of_run(source) if isinstance(figure, Figure)]
    assert {"standings", "options", "specimens", "heatmap", "boxes"} <= {f.kind for f in figures}
    for figure in figures:
        if figure.name.endswith("official"):
            continue
        whole = svg(figure, EN)
        for drawing in (whole, embedded(figure, EN)) if figure.kind == "options" else (whole,):
            tree = ET.fromstring(drawing)
            assert {each.tag.removeprefix(SVG) for each in tree.iter()} <= {
                "svg", "g", "path", "rect", "line", "text", "tspan", "circle", "image", "defs",
                "clipPath", "style", "linearGradient", "stop",
            }  # fmt: skip
            assert not [name for each in tree.iter() for name in each.attrib if name[:2] == "on"]
            assert "\x1b" not in drawing
            assert "\u202e" not in drawing
        if figure.kind in {"standings", "options", "specimens"}:
            assert "</text><script>" in texts(whole)
    assert all("<" not in figure.name and "/" not in figure.name for figure in figures)


def test_a_csv_holds_no_formula(made, tmp_path):
    items = [
        Item(id=f"q{n}", benchmark="MCS-Bench", task="T7", options=("=1+1", "乙"), answer="A")
        for n in range(3)
    ]
    figures = of_run(made(items, {"openai:a": 0.5}), ["options"])
    (figure,) = figures
    (_, table) = write_figure(figure, tmp_path, ("svg",), EN).paths
    assert {row["option"] for row in csv.DictReader(table.open(encoding="utf-8-sig"))} == {"'=1+1"}


def test_rare_characters_are_drawn_or_named(source):
    if not shutil.which("fc-list") or not subprocess.check_output(["fc-list", "Noto Sans CJK TC"]):
        pytest.skip("the font Noto Sans CJK TC is not installed")
    assert missing(["騰㖫𠀋", "plain"]) == ""
    assert "騰" in texts(svg(standings(source), EN))


def test_what_no_font_has_is_named():
    assert missing(["a\U0010fffcb", "\ue9f3"]) == "\ue9f3\U0010fffc"


def test_inside_a_page_a_figure_takes_its_colours_and_names_nothing_twice(source):
    shown = list(report_figures(source, EN))
    assert {each.name.split("-")[0] for each in shown} == {
        "standings", "differences", "heatmap", "costs",
    }  # fmt: skip
    for each in shown:
        assert not any(f'"{colour}"' in each.drawing for colour in DARK)
        assert 'style="' not in each.drawing
        assert "font-family" not in each.drawing
        tree = ET.fromstring(str(each.drawing))
        assert tree.attrib["role"] == "img"
        assert tree.attrib["aria-label"] == each.title
        assert all(e.attrib["id"].startswith(each.name) for e in tree.iter() if "id" in e.attrib)


def test_a_report_of_one_model_has_no_figures(made):
    source = made([Item(id="q", benchmark="MCS-Bench", task="T7", options=("a", "b"), answer="A")],
                  {"openai:m": 1.0})  # fmt: skip
    assert list(report_figures(source, EN)) == []


def test_chinese_figures_are_in_chinese(source):
    zh = Words("zh")
    figure = standings(source)
    said = texts(svg(figure, zh))
    assert zh(figure.title) != figure.title
    assert zh(figure.title) in said
    assert "percent" not in said


def test_every_title_and_caption_of_the_papers_figures_is_said_in_chinese():
    zh = Words("zh")
    for figure in of_papers():
        assert not isinstance(figure, Undrawn)
        for line in (figure.title, *figure.caption.splitlines()):
            assert not line or zh(line) != line, line


def test_an_empty_dataset_says_so_in_a_line_for_each_figure():
    empty = Stats(*(frame.clear() for frame in stats(mini.path())))
    found = list(of_dataset(OfDataset("s", empty)))
    assert len(found) == 4
    assert all(isinstance(each, Undrawn) and each.why for each in found)


@given(st.text(st.sampled_from("ab 天地，。\u3000word"), max_size=80), st.integers(4, 30))
def test_lines_keep_within_their_width_and_lose_nothing_but_spaces(text, width):
    lines = list(wrapped(text, width))
    assert "".join("".join(lines).split()) == "".join(text.split())
    for line in lines:
        assert wide(line.rstrip("，。")) <= max(width, 2)
