"""The Chinese of formats and sources."""

from __future__ import annotations

import pytest

from keju.building.sources import SOURCES, get_source_form
from keju.building.sources.keys import Key, list_keys
from keju.datasets.readers import FORMATS
from keju.datasets.readers.base import Reader
from keju.texts import in_terminal, translator, using

READ = [reader for reader in FORMATS.list_usable() if FORMATS.plugin_of(reader.name) is None]


def keys() -> list[Key]:
    """The keys of every form of a source; the forms of formats have the same keys."""
    shapes = [SOURCES[name].settings for name in SOURCES if name not in FORMATS]
    shapes.append(get_source_form("pages", place="").settings)
    return [key for shape in shapes for key in list_keys(shape)]


@pytest.mark.parametrize("reader", READ, ids=lambda reader: reader.name)
def test_a_chinese_layout_shows_the_same_files(reader: Reader) -> None:
    """The left column of a layout, file names and examples, is the same in both languages."""
    text = translator("zh")(reader.layout.strip())
    assert text != reader.layout.strip()
    for line in reader.layout.strip().splitlines():
        name, gap, _ = line.strip().partition("  ")
        if gap and line.startswith("  ") and name.isascii() and "/" in name:
            assert name in text, name


def test_every_type_of_a_key_is_chinese() -> None:
    with using("zh"):
        descriptions = {in_terminal(key.description) for key in keys()}
    assert not any("required" in each or "whole number" in each for each in descriptions)
    assert {"路径，必填", "文本的列表"} <= descriptions
