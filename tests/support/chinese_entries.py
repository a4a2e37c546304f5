"""The Chinese texts of the help."""

from __future__ import annotations

from collections.abc import Iterator

from keju.cli.chinese_help import chinese


def help_entries() -> Iterator[str]:
    """All Chinese texts of the table, also those of errors."""
    table = chinese()
    for one in (table.words, table.panels, table.shared):
        yield from one.values()
    for several in (table.commands, table.steps):
        for each in several.values():
            yield from each.values()
    for error in table.errors:
        yield error.text
        yield error.near
