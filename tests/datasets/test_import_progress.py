"""The progress of an import: what is counted, and what is shown where."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from keju.cli.import_progress import import_display
from keju.datasets import import_log
from keju.datasets.import_log import count, logging_import, showing_progress
from keju.datasets.readers import import_dataset
from tests.support.released import FORMS

ABOUT = {"name": "n", "version": "1", "licence": "CC0-1.0", "source": "test"}


@pytest.fixture
def at_once(monkeypatch):
    monkeypatch.setattr(import_log, "EVERY", 0.0)


def test_files_images_and_items_are_counted(tmp_path, at_once):
    FORMS["pages"].build(tmp_path / "src")
    shown = []
    with showing_progress(lambda log: shown.append((log.files, log.images, log.items))):
        import_dataset("pages", tmp_path / "src", tmp_path / "out", **ABOUT)
    assert shown[-1] == (6, 3, 3)


def test_nothing_is_counted_outside_the_block():
    with logging_import() as log:
        count(items=2)
    count(items=1)
    assert log.items == 2


def test_the_display_is_not_called_more_often_than_it_is_due():
    calls = []
    with showing_progress(lambda log: calls.append(log.items)), logging_import():
        for _ in range(1000):
            count(items=1)
    assert len(calls) < 10


@pytest.mark.parametrize(("every", "lines"), [(0.0, True), (60.0, False)])
def test_lines_are_printed_now_and_then_where_there_is_no_terminal(tmp_path, at_once, every, lines):
    FORMS["pages"].build(tmp_path / "src")
    said = io.StringIO()
    with import_display(tmp_path / "src", Console(file=said), every):
        import_dataset("pages", tmp_path / "src", tmp_path / "out", **ABOUT)
    assert ("importing: 6 files read, 3 images, 3 items" in said.getvalue()) is lines
    assert bool(said.getvalue()) is lines


def test_a_bar_is_shown_on_a_terminal(tmp_path, at_once):
    FORMS["pages"].build(tmp_path / "src")
    said = io.StringIO()
    console = Console(file=said, force_terminal=True, width=120)
    with import_display(tmp_path / "src", console):
        import_dataset("pages", tmp_path / "src", tmp_path / "out", **ABOUT)
    assert "6 files read, 3 images, 3 items" in said.getvalue()
