"""The Chinese texts of `keju data formats` and `keju build sources`."""

from __future__ import annotations

import re
from functools import cache

from msgspec import Struct, field

from keju.files import shipped_file, shipped_toml
from keju.registry import list_shipped_folders
from keju.texts import language

_LIST = re.compile(r"list of (.+)")
_TABLE = re.compile(r"table of (.+)")


class FormatText(Struct, forbid_unknown_fields=True):
    """A format: what it is, the layout of its files, and its options."""

    what: str
    layout: str
    options: dict[str, str] = field(default_factory=dict)


class ChineseFormats(Struct, forbid_unknown_fields=True):
    """The Chinese texts; ``cli/assets/zh_formats.toml`` explains its parts.

    The folder of a benchmark has a ``zh_formats.toml`` with its own formats.
    """

    options: dict[str, str]
    read: dict[str, FormatText]
    written: dict[str, FormatText]
    keys: dict[str, str]
    sources: dict[str, dict[str, str]]
    types: dict[str, str]


class _OwnFormats(Struct, forbid_unknown_fields=True):
    read: dict[str, FormatText] = field(default_factory=dict)
    written: dict[str, FormatText] = field(default_factory=dict)


@cache
def chinese_formats() -> ChineseFormats:
    """The table of Chinese texts, with those of the bundled benchmarks; it is read once."""
    table = shipped_toml("keju.cli", "assets/zh_formats.toml", ChineseFormats)
    for folder in list_shipped_folders():
        file = folder.joinpath("zh_formats.toml")
        if file.is_file():
            own = shipped_file(file, _OwnFormats)
            table.read.update(own.read)
            table.written.update(own.written)
    return table


def format_text(form: str, what: str, *, written: bool = False) -> str:
    """The description of a format in the current language; in English for a plug-in's."""
    known = _format(form, written=written)
    return known.what if known else what


def layout_lines(form: str, layout: str, *, written: bool = False) -> list[str]:
    """The layout of a format's files, in the current language."""
    known = _format(form, written=written)
    return (known.layout if known else layout).strip().splitlines()


def option_text(form: str, option: str, text: str) -> str:
    """The description of an option of a format in the current language."""
    if not (known := _format(form)):
        return text
    return known.options.get(option) or chinese_formats().options.get(option, text)


def source_text(form: str, key: str, text: str) -> str:
    """The summary of a source's form (`key` is ``summary``) or one of its keys."""
    if language() != "zh":
        return text
    table = chinese_formats()
    own = table.sources["format" if form in table.read else form] if _known(form) else {}
    return own.get(key) or (table.keys.get(key, text) if own else text)


def type_text(takes: str, default: str | None, english: str) -> str:
    """The type of a source's key and whether it is required; `english` is the English text."""
    if language() != "zh":
        return english
    words = chinese_formats().types
    if listed := _LIST.fullmatch(takes):
        text = words["list"].format(words.get(listed[1], listed[1]))
    elif table := _TABLE.fullmatch(takes):
        text = words["table-of"].format(table[1])
    else:
        text = words.get(takes, takes)
    if default is None:
        return words["required"].format(text)
    return words["default"].format(text, words.get(default, default)) if default else text


def _known(form: str) -> bool:
    return form in chinese_formats().sources or form in chinese_formats().read


def _format(form: str, *, written: bool = False) -> FormatText | None:
    if language() != "zh":
        return None
    table = chinese_formats()
    return (table.written if written else table.read).get(form)
