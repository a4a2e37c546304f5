"""`join_lines`: help texts whose paragraphs are wrapped by the terminal, not by the source."""

from __future__ import annotations

import re
from typing import Any

_WITHIN_A_PARAGRAPH = re.compile(r"(?<!\n)\n(?!\n)")


def join_lines(command: Any) -> None:  # noqa: ANN401 - Typer's own class of commands
    """Join the lines of each paragraph in the help of a command and of its subcommands."""
    if command.help:
        command.help = _WITHIN_A_PARAGRAPH.sub(" ", command.help)
    for each in getattr(command, "commands", {}).values():
        join_lines(each)
