"""The site in a real browser, from the disk and from a static server: items, search, downloads."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from keju.site import write_site
from tests.annotation.conftest import browser
from tests.support.children import started

try:
    from axe_playwright_python.sync_playwright import Axe
except ImportError:
    Axe = None

__all__ = ["browser"]

pytestmark = pytest.mark.xdist_group("browser")
GRAVE = {"serious", "critical"}


@pytest.fixture
def page(browser):
    """A page; errors in it, dialogs and requests to servers fail the test."""
    context = browser.new_context(viewport={"width": 1200, "height": 800})
    page, wrong = context.new_page(), []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("dialog", lambda dialog: wrong.append(dialog.message))
    own = re.compile(r"file:|http://127\.0\.0\.1:")
    page.on("request", lambda asked: None if own.match(asked.url) else wrong.append(asked.url))
    page.on("response", lambda got: wrong.append(got.url) if got.status >= 400 else None)
    yield page
    context.close()
    assert not wrong


@pytest.fixture(params=["disk", "server"])
def root(request, site):
    """The address of the site: of its folder, or of a static server in a process of its own."""
    if request.param == "disk":
        yield site.as_uri()
        return
    command = [sys.executable, "-u", "-m", "http.server", "0", "--bind", "127.0.0.1"]
    server = started([*command, "--directory", site], stdout=subprocess.PIPE,
                     stderr=subprocess.DEVNULL, text=True)  # fmt: skip
    try:
        yield f"http://127.0.0.1:{re.search('port ([0-9]+)', server.stdout.readline())[1]}"
    finally:
        server.kill()
        server.wait()
        server.stdout.close()


def board_page(root: str, site: Path, kind: str, language: str = "en"):
    (path,) = (site / language / kind).glob("*.html")
    return f"{root}/{path.relative_to(site).as_posix()}"


def test_an_item_shows_every_answer_as_text_and_has_an_address(site, root, page):
    page.goto(board_page(root, site, "items"))
    page.locator("#list a").filter(has_text="page-0").click()
    page.wait_for_selector(".answer-of >> nth=2")
    assert page.locator("#item h2").text_content() == "page-0"
    answers = page.locator(".answer-of .plain").all_text_contents()
    assert any(text.startswith("</script><script>") for text in answers)
    assert "天地玄黄\n宇宙洪荒" in answers
    assert page.title().startswith("Items")
    address = page.url
    assert "i=page-0" in address
    page.goto("about:blank")
    page.goto(address)
    page.wait_for_selector(".answer-of >> nth=2")
    assert page.locator("#item h2").text_content() == "page-0"
    page.locator("#language").click()
    page.wait_for_selector(".answer-of >> nth=2")
    assert "/zh/" in page.url
    assert page.locator("#item h2").text_content() == "page-0"


def test_the_search_finds_words_of_questions_and_references(site, root, page):
    page.goto(board_page(root, site, "items"))
    page.wait_for_selector("#list a >> nth=2")
    page.fill("#word", "辰宿")
    page.wait_for_function("() => document.querySelectorAll('#list a').length === 1")
    assert "page-1" in page.locator("#list a").text_content()
    page.fill("#word", "no such words")
    page.wait_for_function("() => document.querySelectorAll('#list a').length === 0")


def test_filters_change_rows_and_values_and_are_part_of_the_address(site, root, page):
    page.goto(board_page(root, site, "boards"))
    row = page.locator("tr[data-role=answers]").first
    before = row.text_content()
    options = page.locator("#view option").filter(has_text="T7 ")
    page.select_option("#view", options.first.get_attribute("value"))
    page.wait_for_function("() => location.hash.includes('items=')")
    assert row.text_content() != before
    page.select_option("[data-filter=role]", "printed")
    assert not page.locator("tr[data-role=answers] >> visible=true").count()
    address = page.url
    page.goto("about:blank")
    page.goto(address)
    page.wait_for_function("() => document.querySelector('[data-filter=role]').value === 'printed'")
    assert not page.locator("tr[data-role=answers] >> visible=true").count()
    page.select_option("[data-filter=role]", "")
    page.select_option("#view", "")
    assert before in page.locator("tr[data-role=answers]").all_text_contents()


def test_names_of_models_are_readable_and_cannot_change_the_order_of_other_text(site, root, page):
    page.goto(board_page(root, site, "boards"))
    for width, least in ((1200, 150), (390, 100)):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.locator("tr[data-entry] th.name").first.bounding_box()["width"] >= least
    isolation = "each => getComputedStyle(each).unicodeBidi"
    assert page.locator("tr[data-entry] th.name a").first.evaluate(isolation) == "isolate"
    assert page.locator("main bdi").first.evaluate(isolation) == "isolate"


def test_the_keyboard_reaches_the_content_and_opens_an_item(site, root, page):
    page.goto(board_page(root, site, "items"))
    page.wait_for_selector("#list a >> nth=2")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    page.locator("#list a").nth(1).focus()
    page.keyboard.press("Enter")
    page.wait_for_function("() => location.hash.includes('i=')")
    assert page.locator("#list a[aria-current=true]").count() == 1
    page.wait_for_selector(".answer-of")
    assert page.evaluate("document.activeElement.getAttribute('aria-current')") == "true"


def test_the_first_page_leads_to_every_page(site, root, page):
    page.goto(f"{root}/index.html")
    page.wait_for_url("**/index.html*")
    page.goto(f"{root}/en/index.html")
    seen, left = set(), [page.url]
    while left:
        page.goto(left.pop())
        assert page.locator("h1").count() == 1, page.url
        links = page.locator("a[href]").evaluate_all("all => all.map(each => each.href)")
        found = {link.partition("#")[0] for link in links} - seen
        seen |= found
        left += [link for link in found if link.endswith(".html") and "/en/" in link]
    pages = {link.removeprefix(f"{root}/") for link in seen if "/en/" in link}
    assert pages == {path.relative_to(site).as_posix() for path in site.glob("en/**/*.html")}


def test_downloads_are_the_files_of_the_site(site, root, page):
    page.goto(f"{root}/en/about.html")
    links = page.locator("a[download]")
    names = []
    for number in range(links.count()):
        link = links.nth(number)
        path = site / link.evaluate("each => each.href").removeprefix(f"{root}/")
        assert path.is_file()
        names.append(path.name)
        # Chromium shows a file of the disk in place of storing a copy.
        if not root.startswith("file:"):
            with page.expect_download() as download:
                link.click()
            assert download.value.path().read_bytes() == path.read_bytes()
    assert {"leaderboard.csv", "leaderboard.json", "tasks.parquet", "scores.parquet"} <= {*names}


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_page_of_closed_data_shows_hashes(bundles, tmp_path, page, language):
    write_site([bundles / "closed"], tmp_path / "site")
    made = tmp_path / "site"
    page.goto(board_page(made.as_uri(), made, "items", language))
    page.wait_for_selector(".answer-of .mono")
    assert "SHA-256" in page.locator(".answer-of .mono").first.text_content()
    assert "天地" not in page.content()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_have_no_serious_accessibility_defect(site, browser, scheme):
    if Axe is None:
        reason = "the package axe-playwright-python is not installed: make install-semantic"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    context = browser.new_context(color_scheme=scheme, viewport={"width": 390, "height": 800})
    page = context.new_page()
    for language in ("en", "zh"):
        for path in sorted((site / language).rglob("*.html")):
            page.goto(path.as_uri())
            if path.parent.name == "items":
                page.wait_for_selector(".answer-of")
            found = Axe().run(page).response["violations"]
            grave = [each["id"] for each in found if each["impact"] in GRAVE]
            assert not grave, path
            width = page.evaluate("document.documentElement.scrollWidth")
            assert width <= 390, path
    context.close()
