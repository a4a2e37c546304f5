"""The documentation site (`make docs`): complete, without dead links, and served from one place."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from urllib.parse import unquote, urldefrag

import pytest
import typer
from lxml import html

import keju
import keju.plugins
from keju.cli import app

ROOT = Path(__file__).parents[1]
LOADED = {"script": "src", "link": "href", "img": "src", "iframe": "src", "source": "src"}
"""Elements that make a browser request a file when the page is opened."""
NOT_LOADED = {"next", "prev", "index", "search", "canonical", "author"}

pytestmark = pytest.mark.xdist_group("site")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built with warnings as errors; in continuous integration that of `make docs`."""
    if built := os.environ.get("KEJU_SITE"):
        return Path(built) / "html"
    if importlib.util.find_spec("myst_nb") is None:
        if os.environ.get("CI") == "true":
            pytest.fail("the packages of the site are not installed: make docs")
        pytest.skip("the packages of the site are not installed: make docs")
    out = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "tools.make_site", str(out)],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return out / "html"


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[str, html.HtmlElement]:
    """The parsed pages by their file names."""
    files = sorted(site.rglob("*.html"))
    return {file.relative_to(site).as_posix(): html.parse(str(file)).getroot() for file in files}


def targets(page: html.HtmlElement) -> Iterator[str]:
    """What the links of a page lead to."""
    return (str(each) for each in page.xpath("//a[@href]/@href"))


def is_elsewhere(target: str) -> bool:
    return "//" in target or target.startswith("mailto:")


def test_every_link_between_pages_leads_to_a_file_and_a_place(site, pages):
    places = {name: set(page.xpath("//@id")) for name, page in pages.items()}
    dead = []
    for name, page in pages.items():
        for target in targets(page):
            file, place = urldefrag(unquote(target))
            if is_elsewhere(target) or (file in ("", "#") and not place):
                continue
            found = os.path.normpath(Path(name).parent / file) if file else name
            if not (site / found).is_file() or (place and place not in places.get(found, {place})):
                dead.append((name, target))
    assert dead == []


def test_opening_a_page_requests_nothing_from_elsewhere(site, pages):
    loaded = [
        (name, each.tag, each.get(LOADED[each.tag]))
        for name, page in pages.items()
        for each in page.iter(*LOADED)
        if each.get(LOADED[each.tag]) and each.get("rel") not in NOT_LOADED
    ]
    assert len(loaded) > len(pages)
    assert [each for each in loaded if is_elsewhere(each[2])] == []
    styles = {file.name: file.read_text("utf-8") for file in site.rglob("*.css")}
    assert "furo.css" in styles
    assert not re.findall(r"url\(\W?(?:https?:)?//", "".join(styles.values()))


@pytest.mark.parametrize("module", [keju, keju.plugins], ids=["keju", "keju.plugins"])
def test_every_public_name_has_an_entry(pages, module):
    expected = {
        f"{module.__name__}.{name}"
        for name in module.__all__
        if not name.startswith("_") and not isinstance(getattr(module, name), ModuleType)
    }
    entries = set(pages["python.html"].xpath("//dt/@id"))
    assert len(expected) > 20
    assert expected - entries == set()


def test_every_metric_has_an_entry(pages):
    entries = set(pages["python.html"].xpath("//dt/@id"))
    names = set(dir(keju.metrics)) - set(keju.metrics.__all__)
    assert {"CER", "chrFpp", "ROUGE_L"} <= names
    assert {f"keju.metrics.{name}" for name in names} - entries == set()


def test_every_command_and_option_has_an_entry(pages):
    page = pages["commands.html"]
    headings = {each.text_content().rstrip("#\u00b6") for each in page.xpath("//h2 | //h3")}
    cells = {each.text_content() for each in page.xpath("//td[1]//code")}
    options = 0
    for path, command in commands(typer.main.get_command(app), ("keju",)):
        assert " ".join(path) in headings
        for option in command.params:
            if option.param_type_name == "option" and not option.hidden:
                options += 1
                assert any(cell.split()[0] == option.opts[-1] for cell in cells), option.opts
    assert options > 200


def commands(command, path):
    yield path, command
    for name, each in getattr(command, "commands", {}).items():
        yield from commands(each, (*path, name))


def test_every_notebook_was_executed_and_shows_a_table(pages):
    sources = sorted((ROOT / "docs" / "notebooks").glob("*.md"))
    assert len(sources) == 4
    for source in sources:
        page = pages[f"notebooks/{source.stem}.html"]
        cells = page.xpath("//div[contains(@class, 'cell_input')]")
        assert len(cells) == source.read_text("utf-8").count("```{code-cell}")
        assert page.xpath("//div[contains(@class, 'cell_output')]//table"), source.stem
        assert "\x1b" not in page.text_content()


def test_a_notebook_shows_the_lines_that_the_engine_read(pages):
    drawn = pages["notebooks/scans.html"].xpath("//*[local-name()='polygon']")
    assert len(drawn) > 5


def test_the_chinese_index_leads_to_chinese_pages_where_they_exist(site, pages):
    entries = pages["index.zh.html"].xpath("//article//section//li")
    assert len(entries) > 20
    for entry in entries:
        file = entry.xpath(".//a/@href")[0]
        chinese = (site / file.replace(".zh.html", ".html").replace(".html", ".zh.html")).is_file()
        assert file.endswith(".zh.html") == chinese, file
        if file != "glossary.html":
            assert ("（英文）" in entry.text_content()) == (not chinese), file
    assert pages["index.zh.html"].get("lang") == "zh-Hans"


def test_every_page_of_docs_is_in_both_indexes(pages):
    for language, index in (("", "index.html"), (".zh", "index.zh.html")):
        linked = {urldefrag(each)[0] for each in targets(pages[index])}
        for file in (ROOT / "docs").glob("*.md"):
            if not file.name.endswith(".zh.md") and file.stem != "index":
                names = {f"{file.stem}.html", f"{file.stem}{language}.html"}
                assert names & linked, file.name
