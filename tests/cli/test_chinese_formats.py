"""The Chinese texts of formats and sources: each declared text has one, and no other exists."""

from __future__ import annotations

from collections import defaultdict

import pytest

from keju.building.sources import SOURCES, get_source_form
from keju.building.sources.keys import Key, list_keys
from keju.building.sources.saved_pages import Sidecar
from keju.cli.chinese_formats import (
    chinese_formats,
    format_text,
    layout_lines,
    option_text,
    source_text,
    type_text,
)
from keju.datasets.readers import FORMATS
from keju.datasets.readers.base import Reader
from keju.datasets.writers import FORMATS as WRITTEN
from keju.texts import using

READ = [reader for reader in FORMATS.list_usable() if FORMATS.get_plugin(reader.name) is None]


def keys() -> dict[str, dict[str, Key]]:
    """The keys of each form of a source; the forms of formats have the same keys."""
    settings = {name: SOURCES[name].settings for name in SOURCES if name not in FORMATS}
    settings |= {"sidecar": Sidecar, "format": get_source_form("pages", place="").settings}
    return {name: {key.name: key for key in list_keys(each)} for name, each in settings.items()}


def test_every_format_and_no_other_has_a_chinese_entry() -> None:
    assert set(chinese_formats().read) == {reader.name for reader in READ}
    assert set(chinese_formats().written) == set(WRITTEN.builtin)


def test_every_option_of_a_format_has_a_chinese_entry() -> None:
    shared = set(chinese_formats().options)
    used: dict[str, set[str]] = defaultdict(set)
    for reader in READ:
        own = set(chinese_formats().read[reader.name].options)
        declared = set(reader.every_option)
        assert own <= declared, reader.name
        assert declared - own <= shared, reader.name
        for name in declared - own:
            used[name].add(reader.every_option[name])
    assert {name: texts for name, texts in used.items() if len(texts) > 1} == {}
    assert set(used) == shared


@pytest.mark.parametrize("reader", READ, ids=lambda each: each.name)
def test_a_chinese_layout_shows_the_same_files(reader: Reader) -> None:
    """The left column of a layout, file names and examples, is the same in both languages."""
    text = chinese_formats().read[reader.name].layout
    for line in reader.layout.strip().splitlines():
        name, gap, _ = line.strip().partition("  ")
        if gap and line.startswith("  ") and name.isascii() and "/" in name:
            assert name in text, name


def test_every_source_and_key_has_a_chinese_entry() -> None:
    table = chinese_formats()
    declared = keys()
    assert set(table.sources) == set(declared)
    for form, found in declared.items():
        own = set(table.sources[form]) - {"summary"}
        assert own <= set(found), form
        assert set(found) - own <= set(table.keys), form


def test_every_type_of_a_key_is_chinese() -> None:
    with using("zh"):
        for found in keys().values():
            for key in found.values():
                text = type_text(key.type_name, key.default, key.description)
                assert "required" not in text
                assert "whole number" not in text
        assert type_text("list of text", None, "") == "文本的列表，必填"
        assert type_text("whole number", "50", "") == "整数，默认 50"


def test_texts_are_english_otherwise_and_those_of_plugins_always() -> None:
    assert format_text("pages", "page images") == "page images"
    assert layout_lines("pages", "\nSRC  a folder\n") == ["SRC  a folder"]
    with using("zh"):
        assert "页面图像" in format_text("pages", "page images")
        assert format_text("my-form", "my scans") == "my scans"
        assert option_text("my-form", "task", "my task") == "my task"
        assert source_text("my-source", "path", "my folder") == "my folder"
        assert layout_lines("my-form", "SRC  a folder") == ["SRC  a folder"]
