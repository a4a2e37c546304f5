"""Output that fits on a screen: the most important lines first, everything with ``--all``."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import RenderableType

from keju.cli.app import out, say
from keju.texts import _

MOST_LINES = 40
"""Maximum number of lines of a command without ``--all``."""


def print_briefly(
    output: Sequence[RenderableType],
    brief: Sequence[RenderableType],
    *,
    everything: bool,
    most: int = MOST_LINES,
) -> None:
    """Print everything if it is asked for or fits on a screen, else the brief form of it.

    Args:
        output: tables, and lines of text.
        brief: the same in brief, the most important part first; lines that do not fit are dropped.
        everything: whether ``--all`` is given.
        most: the maximum number of lines without it.
    """
    total = sum(map(_count_lines, output))
    if everything or total <= most:
        _print(output)
        return
    lines_left = most - 1
    shown: list[RenderableType] = []
    for each in brief:
        if (lines := _count_lines(each)) <= lines_left:
            shown.append(each)
            lines_left -= lines
    _print(shown)
    say(_("--all prints all {:,} lines", total))


def _print(parts: Sequence[RenderableType]) -> None:
    for each in parts:
        if isinstance(each, str):
            say(each)
        else:
            out.print(each)


def _count_lines(part: RenderableType) -> int:
    """The number of lines; a text is one, which terminals wrap."""
    if isinstance(part, str):
        return part.count("\n") + 1
    return len(out.render_lines(part, pad=False))
