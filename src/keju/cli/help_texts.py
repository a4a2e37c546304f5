"""Help texts: their paragraphs joined into lines, and their Chinese translation."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from keju.texts import language

if TYPE_CHECKING:
    from keju.cli.chinese_help import ChineseHelp

_WITHIN_A_PARAGRAPH = re.compile(r"(?<!\n)\n(?!\n)")
_USAGE = "Usage: "

_METAVARS = {"int": "N", "float": "X", "Path": "PATH"}
"""Names for the values of options that declare none, by the type of Python."""

STEP = ("build", "STEP")
"""The path under which the table has the options that all steps share."""


def join_lines(command: Any) -> None:  # noqa: ANN401 - Typer's own class of commands
    """Join the lines of each paragraph in the help of a command and of its subcommands."""
    if command.help:
        command.help = _WITHIN_A_PARAGRAPH.sub(" ", command.help)
    for each in getattr(command, "commands", {}).values():
        join_lines(each)


def hide_python_types() -> None:
    """Show no type of Python in help texts, such as ``<bool>``; choices are shown as before."""
    from typer.core import TyperArgument, TyperOption

    shown = TyperOption.display_type

    def of_argument(parameter: Any, ctx: Any) -> str | None:  # noqa: ANN401
        choices = parameter.type_descriptor.is_choice
        return shown(parameter, ctx) if choices else None

    def of_option(parameter: Any, ctx: Any) -> str | None:  # noqa: ANN401
        if parameter.type_descriptor.is_choice:
            return shown(parameter, ctx)
        return None if parameter.is_flag else _METAVARS.get(parameter.bare_type(), "TEXT")

    setattr(TyperArgument, "display_type_rich", of_argument)  # noqa: B010 - typed as a method
    setattr(TyperOption, "display_type", of_option)  # noqa: B010


def _chinese() -> ChineseHelp:
    # Imported only where it is shown: it brings the registry and the reading of files.
    from keju.cli.chinese_help import chinese

    return chinese()


def word(name: str, english: str) -> str:
    """A word of the help in the current language."""
    return _chinese().words[name] if language() == "zh" else english


def step_text(step: str, setting: str, english: str) -> str:
    """The help of a step (`setting` is ``help``) or of one of its settings, if it is translated."""
    if language() != "zh":
        return english
    return _chinese().steps.get(step, {}).get(setting, english)


def translate_help(command: Any) -> None:  # noqa: ANN401 - Typer's own class of commands
    """Show the help of a command and of its subcommands in the current language.

    The Chinese table is read when a help text is first shown.
    """
    if language() == "zh":
        _translate_when_shown(command, (), None)


def translate_made_command(
    command: Any,  # noqa: ANN401 - Typer's own class of commands
    path: tuple[str, ...],
    only: Collection[str] | None = None,
) -> None:
    """Show the help of a command that is made from a declaration in the current language.

    Args:
        command: the command, which is changed in place.
        path: its name, after those of its groups.
        only: the parameters that are translated, by `parameter_name`; by default all.
    """
    if language() == "zh":
        _translate(command, path, only)
        _translate_when_shown(command, path, only)


def _translate_when_shown(
    command: Any,  # noqa: ANN401 - Typer's own class of commands
    path: tuple[str, ...],
    only: Collection[str] | None,
) -> None:
    show, usage = command.format_help, command.get_usage

    def format_help(context: Any, formatter: Any) -> None:  # noqa: ANN401
        _translate_typer()
        _translate(command, path, only)
        _translate_parameter(command.get_help_option(context), {})
        show(context, formatter)

    def get_usage(context: Any) -> str:  # noqa: ANN401
        words = _chinese().words
        # Lines after the first are indented by the width of the first word, which is narrower.
        lines: str = usage(context).replace("\n ", "\n").replace(_USAGE, words["usage"])
        return lines

    command.format_help, command.get_usage = format_help, get_usage
    for name, each in getattr(command, "commands", {}).items():
        _translate_when_shown(each, (*path, name), None)


def parameter_name(parameter: Any) -> str:  # noqa: ANN401 - Typer's own class
    """The name of a parameter in the table: an option's longest name, an argument as shown."""
    option: str = max(parameter.opts, key=len)
    return option if option.startswith("-") else parameter.metavar or option


def _translate(command: Any, path: tuple[str, ...], only: Collection[str] | None) -> None:  # noqa: ANN401
    texts, words = _chinese().commands.get(" ".join(path), {}), _chinese().words
    command.help = texts.get("help", command.help)
    command.options_metavar = words["options_metavar"]
    for each in command.params:
        if only is None or parameter_name(each) in only:
            _translate_parameter(each, texts)
    subcommands = getattr(command, "commands", {})
    if subcommands:
        command.subcommand_metavar = words["commands_metavar"]
    for name, each in subcommands.items():
        _translate(each, (*path, name), None)


def _translate_parameter(parameter: Any, texts: dict[str, str]) -> None:  # noqa: ANN401
    name = parameter_name(parameter)
    parameter.help = texts.get(name) or _chinese().shared.get(name, parameter.help)
    panel = parameter.rich_help_panel
    parameter.rich_help_panel = _chinese().panels.get(panel, panel)


_PLAIN = {
    "Input should be a valid integer.*": "a whole number is expected",
    "Input should be a (?:valid|finite) number.*": "a number is expected",
    r"Input should be greater than or equal to (\S+)": r"\1 or more is expected",
    r"Input should be less than or equal to (\S+)": r"\1 or less is expected",
}
"""Texts of Pydantic in Typer's reports, as regular expressions, and plainer ones."""


def error_text(said: str) -> str:
    """Return a report of Typer about a command line in the current language."""
    if language() != "zh":
        for pattern, plain in _PLAIN.items():
            said = re.sub(pattern, plain, said)
        return said
    for each in _chinese().errors:
        if found := re.fullmatch(each.said, said.rstrip(".")):
            words = {name: value for name, value in found.groupdict().items() if value}
            if "inner" in words:
                words["inner"] = error_text(words["inner"])
            return (each.near if "near" in words else each.text).format_map(words)
    return said


def _translate_typer() -> None:
    """Set the words that Typer prints in every help text."""
    from typer import rich_utils

    words = _chinese().words
    rich_utils.ARGUMENTS_PANEL_TITLE = words["arguments"]
    rich_utils.OPTIONS_PANEL_TITLE = words["options"]
    rich_utils.COMMANDS_PANEL_TITLE = words["commands"]
    rich_utils.DEFAULT_STRING = words["default"]
    rich_utils.REQUIRED_LONG_STRING = words["required"]
    rich_utils.OptionHighlighter.highlights = [
        *rich_utils.OptionHighlighter.highlights,
        f"(?P<usage>{words['usage']})",
    ]
