"""Help texts: their paragraphs joined into lines, and their Chinese translation."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from keju.texts import _, in_terminal, language, translator

_WITHIN_A_PARAGRAPH = re.compile(r"(?<!\n)\n(?!\n)")
_USAGE = "Usage: "

_METAVARS = {"int": "N", "float": "X", "Path": "PATH"}
"""Names for the values of options that declare none, by the type of Python."""


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


def parameter_name(parameter: Any) -> str:  # noqa: ANN401 - Typer's own class
    """The name of a parameter: an option's longest name, an argument as shown."""
    option: str = max(parameter.opts, key=len)
    return option if option.startswith("-") else parameter.metavar or option


def translate_help(command: Any) -> None:  # noqa: ANN401 - Typer's own class of commands
    """Show the help of a command and of its subcommands in the current language.

    The Chinese is read when a help text is first shown.
    """
    if language() == "zh":
        _translate_when_shown(command)


def _translate_when_shown(command: Any) -> None:  # noqa: ANN401
    show, usage = command.format_help, command.get_usage

    def format_help(context: Any, formatter: Any) -> None:  # noqa: ANN401
        _translate_typer()
        _translate(command)
        _translate_parameter(command.get_help_option(context))
        show(context, formatter)

    def get_usage(context: Any) -> str:  # noqa: ANN401
        # Lines after the first are indented by the width of the first word, which is narrower.
        lines: str = usage(context).replace("\n ", "\n").replace(_USAGE, in_terminal(_("Usage: ")))
        return lines

    command.format_help, command.get_usage = format_help, get_usage
    for subcommand in getattr(command, "commands", {}).values():
        _translate_when_shown(subcommand)


def translate_made_command(command: Any) -> None:  # noqa: ANN401
    """Show the help of a command that is made from a declaration in the current language."""
    if language() == "zh":
        _translate(command)
        _translate_when_shown(command)


def _translate(command: Any) -> None:  # noqa: ANN401
    command.help = _in_chinese(command.help)
    command.options_metavar = in_terminal(_("[OPTIONS]"))
    for parameter in command.params:
        _translate_parameter(parameter)
    subcommands = getattr(command, "commands", {})
    if subcommands:
        command.subcommand_metavar = in_terminal(_("COMMAND [ARGS]..."))
    for subcommand in subcommands.values():
        _translate(subcommand)


def _translate_parameter(parameter: Any) -> None:  # noqa: ANN401
    parameter.help = _in_chinese(parameter.help)
    parameter.rich_help_panel = _in_chinese(parameter.rich_help_panel)


def _in_chinese(text: str | None) -> str | None:
    return text and translator("zh")(text)


_REPORTS: tuple[tuple[str, Callable[..., str]], ...] = (
    (
        r"No such option: (\S+) \(Possible options: (.+)\)",
        lambda name, near: _("No such option: {} (Possible options: {})", name, near),
    ),
    (r"No such option: (\S+)", lambda name: _("No such option: {}", name)),
    (
        r"No such command ('.+?')\. Did you mean (.+)\?",
        lambda name, near: _("No such command {}. Did you mean {}?", name, near),
    ),
    (r"No such command ('.+?')", lambda name: _("No such command {}", name)),
    (r"Missing argument (.+)", lambda name: _("Missing argument {}", name)),
    (r"Missing option (.+)", lambda name: _("Missing option {}", name)),
    (
        r"Invalid value for ('.+?'): (.+)",
        lambda name, why: _("Invalid value for {}: {}", name, report_text(why)),
    ),
    (r"Input should be a valid integer.*", lambda: _("a whole number is expected")),
    (r"Input should be a (?:valid|finite) number.*", lambda: _("a number is expected")),
    (
        r"Input should be greater than or equal to (\S+)",
        lambda least: _("{} or more is expected", least),
    ),
    (
        r"Input should be less than or equal to (\S+)",
        lambda most: _("{} or less is expected", most),
    ),
    (r"('.*') is not one of (.+)", lambda name, names: _("{} is not one of {}", name, names)),
    (r"Option ('.+') requires an argument", lambda name: _("Option {} requires an argument", name)),
    (
        r"Option ('.+') does not take a value",
        lambda name: _("Option {} does not take a value", name),
    ),
    (
        r"Got unexpected extra argument\(s\) \((.*)\)",
        lambda words: _("Got unexpected extra argument(s) ({})", words),
    ),
)
"""Reports of Typer and Pydantic about a command line, and the sentences that keju prints."""


def report_text(report: str) -> str:
    """Return a report of Typer about a command line in the current language."""
    for pattern, sentence in _REPORTS:
        if found := re.fullmatch(pattern, report.rstrip("."), re.DOTALL):
            return sentence(*found.groups())
    return report


def _translate_typer() -> None:
    """Set the words that Typer prints in every help text."""
    from typer import rich_utils

    rich_utils.ARGUMENTS_PANEL_TITLE = in_terminal(_("Arguments"))
    rich_utils.OPTIONS_PANEL_TITLE = in_terminal(_("Options"))
    rich_utils.COMMANDS_PANEL_TITLE = in_terminal(_("Commands"))
    rich_utils.DEFAULT_STRING = in_terminal(_("[default: {}]"))
    rich_utils.REQUIRED_LONG_STRING = in_terminal(_("[required]"))
    rich_utils.OptionHighlighter.highlights = [
        *rich_utils.OptionHighlighter.highlights,
        f"(?P<usage>{in_terminal(_('Usage: '))})",
    ]
