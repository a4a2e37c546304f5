"""The Chinese texts of `--help` and of errors about command lines."""

from __future__ import annotations

from functools import cache

from msgspec import Struct

from keju.files import shipped_file, shipped_toml
from keju.registry import list_shipped_folders


class ErrorText(Struct):
    """A report of Typer as a regular expression, with its texts; `near` suggests names."""

    said: str
    text: str
    near: str = ""


class ChineseHelp(Struct):
    """The Chinese texts; ``cli/assets/zh_help.toml`` explains its parts.

    The folder of a benchmark has a ``zh_help.toml`` with the commands that the benchmark provides.
    """

    words: dict[str, str]
    panels: dict[str, str]
    shared: dict[str, str]
    commands: dict[str, dict[str, str]]
    steps: dict[str, dict[str, str]]
    errors: list[ErrorText]


class _OwnHelp(Struct, forbid_unknown_fields=True):
    commands: dict[str, dict[str, str]]


@cache
def chinese() -> ChineseHelp:
    """The table of Chinese texts, with those of the bundled benchmarks; it is read once."""
    table = shipped_toml("keju.cli", "assets/zh_help.toml", ChineseHelp)
    for folder in list_shipped_folders():
        file = folder.joinpath("zh_help.toml")
        if file.is_file():
            table.commands.update(shipped_file(file, _OwnHelp).commands)
    return table
