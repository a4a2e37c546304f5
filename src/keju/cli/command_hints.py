"""`command_hint`: what the user may have meant by a command line that could not be parsed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from keju.errors import did_you_mean, printable
from keju.texts import _, in_terminal

_NO_COMMAND = re.compile(r"No such command '(.+?)'")
_EXTRA = "Got unexpected extra argument"


def command_hint(said: str, words: Sequence[str], command: Any) -> str:  # noqa: ANN401 - Typer's own
    """The command line that was probably meant, as a sentence; empty if none is known.

    A command of a group that is given without its group gets the whole line. An existing path with
    spaces that is not in quotes is named.

    Args:
        said: what the parser reported.
        words: the command line after ``keju``.
        command: the root of the command tree.
    """
    if found := _NO_COMMAND.search(said):
        return _whole_commands(found[1], words, command)
    if said.startswith(_EXTRA):
        return _unquoted(words)
    return ""


def _whole_commands(name: str, words: Sequence[str], command: Any) -> str:  # noqa: ANN401
    from keju.datasets.readers.words import shell_word

    if name not in words:
        return ""
    rest = words[words.index(name) + 1 :]
    paths = [path for path in _leaves(command) if path[-1] == name]
    lines = [" ".join(["keju", *path, *map(shell_word, rest)]) for path in paths]
    return in_terminal(did_you_mean(lines)).strip()


def _leaves(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:  # noqa: ANN401
    """The path of every command that is not a group."""
    inner = getattr(command, "commands", None)
    if inner is None:
        yield path
        return
    for name, each in inner.items():
        yield from _leaves(each, (*path, name))


def _unquoted(words: Sequence[str]) -> str:
    for start in range(len(words)):
        for end in range(len(words), start + 1, -1):
            path = " ".join(words[start:end])
            if not words[start].startswith("-") and Path(path).exists():
                return _('A path with spaces needs quotes: "{}"', printable(path))
    return ""
