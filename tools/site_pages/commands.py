"""The reference of the command line, in Markdown, from the `keju` command itself."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import typer

from keju.cli import app
from keju.cli.benchmark_files import add_benchmark_option

_HEAD = """# Commands

Every command with its arguments, options and defaults, as `--help` prints them.
`--plugin FILE.py` ([plug-ins](plugins.md)) can be given to every command. Exit status: 0 done;
1 finished with failures, which are named; 2 wrong use, or input that cannot be read.

"""


def page() -> str:
    """The whole page."""
    command = typer.main.get_command(app)
    add_benchmark_option(command)
    return _HEAD + "\n".join(_sections(command, ("keju",)))


def names(command: Any, path: tuple[str, ...] = ("keju",)) -> Iterator[str]:  # noqa: ANN401
    """The names of a command and of all below it, such as `keju data import`."""
    yield " ".join(path)
    for name, each in _below(command):
        yield from names(each, (*path, name))


def _sections(command: Any, path: tuple[str, ...]) -> Iterator[str]:  # noqa: ANN401
    if command.hidden:
        return
    yield f"{'#' * (2 if len(path) <= 2 else 3)} {' '.join(path)}\n"
    yield _text(command.help or "") + "\n"
    shown = [each for each in command.params if not getattr(each, "hidden", False)]
    yield f"```\n{_usage(command, path, shown)}\n```\n"
    if shown:
        yield "| argument or option | meaning | default |\n|---|---|---|"
        yield from map(_row, shown)
        yield ""
    for name, each in _below(command):
        yield from _sections(each, (*path, name))


def _below(command: Any) -> Iterator[tuple[str, Any]]:  # noqa: ANN401
    """The commands of a group in the order of its help, those that are made when asked for too."""
    if hasattr(command, "commands"):
        context = typer.Context(command)
        for name in command.list_commands(context):
            yield name, command.get_command(context, name)


def _usage(command: Any, path: tuple[str, ...], shown: list[Any]) -> str:  # noqa: ANN401
    arguments = [_metavar(each) for each in shown if each.param_type_name == "argument"]
    parts = [" ".join(path), *(["COMMAND"] if hasattr(command, "commands") else arguments)]
    required = [f"{each.opts[-1]} {_metavar(each)}" for each in _options(shown) if each.required]
    optional = ["[OPTIONS]"] if any(not each.required for each in _options(shown)) else []
    return " ".join([*parts, *required, *optional])


def _options(shown: list[Any]) -> list[Any]:
    return [each for each in shown if each.param_type_name == "option"]


def _row(option: Any) -> str:  # noqa: ANN401
    if option.param_type_name == "argument":
        name = f"`{_metavar(option)}`"
    else:
        value = "" if option.is_flag else f" {_metavar(option)}"
        name = ", ".join(f"`{each}{value}`" for each in [*option.opts, *option.secondary_opts])
    meaning = _text(option.help or "").replace("\n", " ").replace("|", r"\|")
    return f"| {name} | {meaning} | {_default(option)} |".replace("``", "")


def _metavar(option: Any) -> str:  # noqa: ANN401
    return str(option.metavar or option.name.upper()).replace("|", "∣")


def _default(option: Any) -> str:  # noqa: ANN401
    if option.required:
        return "required"
    if option.default in (None, "", (), []):
        return ""
    if option.is_flag and not option.secondary_opts:
        return "off"
    if option.is_flag:
        return f"`{(option.opts if option.default else option.secondary_opts)[0]}`"
    return f"`{option.default}`"


def _text(help_text: str) -> str:
    """The help of a command as Markdown: bold words stay bold, all else is literal text."""
    text = re.sub(r"([\\<*_$~^`])", r"\\\1", help_text)
    text = re.sub(r"(?<!\w)(--[a-z][a-z-]*)", r"`\1`", text)
    return re.sub(r"\[(b|bold)\](.*?)\[/\1\]", r"**\2**", text, flags=re.DOTALL)
