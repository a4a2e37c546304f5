"""A report in a directory has several pages of items if there are many, and one otherwise."""

from __future__ import annotations

import json
import shutil
import subprocess

import pytest
from lxml import html

from keju.reporting.page import write_report

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "chrome"))), None)
QUIET = [
    "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip


@pytest.fixture
def folder(scored_run, tmp_path, monkeypatch):
    monkeypatch.setattr("keju.reporting.item_browser.PER_CHUNK", 1)
    monkeypatch.setattr("keju.reporting.page.ITEMS_PER_PAGE", 2)
    write_report([scored_run], tmp_path / "folder")
    return tmp_path / "folder"


def read(path):
    page = html.fromstring(path.read_text("utf-8"))
    return page, json.loads(page.get_element_by_id("data").text)


def test_each_page_has_an_index_and_files_of_its_own_items(folder):
    files = {path.relative_to(folder).as_posix() for path in folder.rglob("*.*")}
    assert files == {
        "index.html", "items/0.js", "items/1.js", "pictures/0.jpg", "pictures/1.jpg",
        "part-2/index.html", "part-2/items/0.js", "part-2/pictures/0.jpg",
    }  # fmt: skip
    _, first = read(folder / "index.html")
    page, second = read(folder / "part-2" / "index.html")
    assert [[each[0] for each in data["items"]] for data in (first, second)] == [
        ["page-0", "page-1"], ["question"],
    ]  # fmt: skip
    assert first["pages"] == {"first": 0, "starts": [0, 2]}
    assert second["pages"] == {"first": 2, "starts": [0, 2]}
    links = page.xpath("//nav[@class='pages']/a/@href")
    assert [(folder / "part-2" / link.partition("#")[0]).resolve() for link in links] == [
        (folder / "index.html").resolve()
    ]


def test_a_report_with_fewer_items_removes_the_pages_of_the_one_before(
    folder, scored_run, monkeypatch
):
    monkeypatch.setattr("keju.reporting.page.ITEMS_PER_PAGE", 3)
    write_report([scored_run], folder)
    assert not (folder / "part-2").exists()
    page, data = read(folder / "index.html")
    assert "pages" not in data
    assert not page.xpath("//nav[@class='pages']")


def test_one_file_has_all_items(folder, scored_run):
    write_report([scored_run], folder.parent / "one.html")
    _, data = read(folder.parent / "one.html")
    assert len(data["items"]) == 3
    assert "pages" not in data


def shown(path, tmp_path, place):
    """The page as Chromium shows it, opened from the disk."""
    done = subprocess.run(
        [
            CHROMIUM, *QUIET, f"--user-data-dir={tmp_path / 'profile'}",
            "--virtual-time-budget=3000", "--dump-dom", f"{path.as_uri()}#item-{place}",
        ],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    return html.fromstring(done.stdout)


@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium (Debian: chromium)")
def test_a_link_to_an_item_opens_it_on_its_page(scored_run, tmp_path, monkeypatch):
    monkeypatch.setattr("keju.reporting.item_browser.PER_CHUNK", 1)
    monkeypatch.setattr("keju.reporting.page.ITEMS_PER_PAGE", 1)
    folder = tmp_path / "folder"
    write_report([scored_run], folder)
    places = {"page-0": 0, "page-1": 1, "question": 2}
    page = shown(folder / "part-2" / "index.html", tmp_path, 1)
    assert page.xpath("//article[@id='item']/h3")[0].text.startswith("page-1 · T1")
    static, _ = read(folder / "index.html")
    elsewhere = {
        f"part-{places[button.text] + 1}/index.html#item-{places[button.text]}"
        for button in static.xpath("//button[@data-item]")
        if places.get(button.text)
    }
    page = shown(folder / "index.html", tmp_path, 0)
    links = page.xpath("//a[contains(@href, '#item-')]/@href")
    assert elsewhere
    assert set(links) == elsewhere
