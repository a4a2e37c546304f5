"""docs/api.md: its examples run, and it names everything that is public."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

import keju
from keju.datasets import mini
from keju.running import Selection, run

PAGE = (Path(__file__).parents[1] / "docs" / "api.md").read_text("utf-8")
XML = (
    '<PcGts xmlns="http://schema.primaresearch.org/PAGE/gts/pagecontent/2019-07-15">'
    '<Page imageFilename="p.png" imageWidth="100" imageHeight="320">{}</Page></PcGts>'
)
LINE = (
    '<TextLine id="l{x}"><Coords points="{x},0 {right},0 {right},300 {x},300"/>'
    "<TextEquiv><Unicode>{text}</Unicode></TextEquiv></TextLine>"
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the files that the page's examples read."""
    lines = (LINE.format(x=x, right=x + 20, text=text) for x, text in ((20, "左"), (60, "右")))
    region = f'<TextRegion id="r">{"".join(lines)}</TextRegion>'
    (tmp_path / "page.xml").write_text(XML.format(region), "utf-8")
    run(
        mini.path(),
        ["baseline:chance"],
        tmp_path / "my-run",
        selection=Selection(tasks=("T1", "T7")),
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_every_example_gives_what_the_page_shows(folder):
    examples = doctest.DocTestParser().get_doctest(PAGE, {}, "api.md", "docs/api.md", 0)
    assert len(examples.examples) == PAGE.count("\n>>> ")
    printed: list[str] = []
    result = doctest.DocTestRunner(verbose=False).run(examples, out=printed.append)
    assert result.failed == 0, "".join(printed)


def test_it_names_everything_that_is_public():
    cells = re.findall(r"^\| (`.*?) \|", PAGE.split("\n## ")[0], re.MULTILINE)
    named = {name for cell in cells for name in re.findall(r"`(\w+)[(`]", cell)}
    assert named == set(keju.__all__) - {"__version__"}
