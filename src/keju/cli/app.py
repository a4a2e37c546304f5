"""The root command: its groups, exit status, output and error handling."""

from __future__ import annotations

import gc
import io
import os
import re
import sys
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, NoReturn

import msgspec
import typer
from typer.exceptions import TyperException

from keju import __version__
from keju.cli.addresses import refuse_addresses
from keju.cli.benchmark_files import add_benchmark_option
from keju.cli.command_hints import command_hint
from keju.cli.help_texts import hide_python_types, join_lines, report_text, translate_help
from keju.cli.line_breaks import break_between_characters
from keju.console import Console
from keju.errors import KejuError, UsageError, printable, shortened
from keju.files import encode_stored
from keju.local_paths import check_local, shell_quoted
from keju.registry import PLUGIN_FILES, add_plugin_files, is_debugging, naming_faults
from keju.texts import _, in_terminal, language

DONE, WITH_FAILURES, WRONG_USE = 0, 1, 2

app = typer.Typer(
    name="keju",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    help="keju (科舉, the imperial examination): build, run, score and audit multimodal "
    "benchmarks of Chinese classical studies.\n\nTypical order of commands: [b]keju run[/b] (run "
    "models on a dataset; with --plan count requests and cost), [b]keju score[/b], "
    "[b]keju report[/b]. Each command reads and writes files and can be repeated. Start with: "
    "[b]keju demo[/b]",
)
data_app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="Datasets on disk: import, validate, statistics.\n\n"
    "For a new source: [b]keju data detect SRC[/b] reports what it is and how to import it; "
    "[b]keju data import auto SRC --out DATASET[/b] imports it; [b]keju data validate DATASET[/b] "
    "checks it; [b]keju run DATASET --model MODEL --out RUN[/b] runs a model on it.",
)
app.add_typer(data_app, name="data")

_PIPED_WIDTH = 120
_said_width = os.environ.get("COLUMNS", "")
out = Console(width=None if sys.stdout.isatty() or _said_width.isdigit() else _PIPED_WIDTH)
err = Console(stderr=True, highlight=False)


def main() -> NoReturn:
    """Run the command line; an error that keju knows is one line, without KEJU_DEBUG=1."""
    # A command keeps most of the records that it makes until it ends: by default, searching them
    # for cycles takes a twentieth of its time.
    gc.set_threshold(50_000, 20, 50)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # Characters outside of the terminal's encoding are printed as escapes.
            stream.reconfigure(errors="backslashreplace")
    command = typer.main.get_command(app)
    add_benchmark_option(command)
    refuse_addresses(command)
    join_lines(command)
    hide_python_types()
    translate_help(command)
    if language() == "zh":
        break_between_characters()
    try:
        _check_encoding(sys.argv[1:], os.environ)
        arguments = _with_plugins(sys.argv[1:])
        with naming_faults():
            status = command(args=arguments, standalone_mode=False)
    except KejuError as error:
        if is_debugging():
            traceback.print_exc()
        _fail(error.render(language()))
    except TyperException as error:
        _misused(error, command)
    except BrokenPipeError:
        # The reader of our output has closed it (``keju tasks | head``), which is not an error.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(DONE)
    except MemoryError:
        _fail(_("not enough memory for this input. Split it, or run on a machine with more memory"))
    except UnicodeEncodeError as error:
        # A name of a file or folder that no earlier check has refused.
        shown = shortened(printable(str(error.object)))
        wrong = UsageError(
            "a name or text is not UTF-8: {}",
            shown,
            hint="Rename the file or folder; a whole tree: convmv -r -f ENCODING -t UTF-8",
        )
        _fail(wrong.render(language()))
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        _fail(f"{place}{error.strerror or error}")
    sys.exit(status if isinstance(status, int) else DONE)


def _check_encoding(arguments: Sequence[str], environment: Mapping[str, str]) -> None:
    """Refuse arguments, and variables of keju and of servers, that no file can store.

    Raises:
        UsageError: one has bytes that are not in the terminal's encoding, or half a character.
    """
    for number, argument in enumerate(arguments, start=1):
        if _HALF.search(argument):
            shown = shortened(os.fsencode(argument).decode("utf-8", "backslashreplace"))
            raise UsageError(
                "argument {} is not UTF-8: {}",
                number,
                shown,
                hint=(
                    "Set the terminal to UTF-8 and type it again; rename a file that has such a "
                    "name"
                ),
            )
    for name, value in environment.items():
        if _READ_VARIABLE.match(name) and _HALF.search(value):
            # The value may be a secret.
            raise UsageError(
                "the environment variable {} is not UTF-8",
                name,
                hint="Set the terminal to UTF-8 and set it again",
            )


_HALF = re.compile("[\ud800-\udfff]")
"""Python's form of a byte that is not in the terminal's encoding, or half a character."""

_READ_VARIABLE = re.compile(r"KEJU_|.*_(?:API_KEY|BASE_URL|PROXY)$", re.IGNORECASE)


def _with_plugins(arguments: list[str]) -> list[str]:
    """Load the plug-in files that the user names, and return the other arguments.

    ``--plugin FILE.py`` can be anywhere, because a step of a plug-in is itself a command.

    Raises:
        UsageError: no file follows the option, or an address.
        PluginError: a file cannot be imported.
    """
    left, rest, files = iter(arguments), list[str](), list[Path]()
    for each in left:
        name, __, value = each.partition("=")
        if name != "--plugin" or "--" in rest:
            rest.append(each)
        elif file := value or next(left, ""):
            check_local(file, "--plugin")
            files.append(Path(file))
        else:
            raise UsageError("--plugin needs a file: --plugin FILE.py")
    add_plugin_files(files)
    _PLUGINS_GIVEN.extend(str(file) for file in files)
    return rest


_PLUGINS_GIVEN: list[str] = []
"""The plug-in files that the command line names."""


def program() -> str:
    """How commands that keju prints begin: ``keju``, with the plug-in files of this command."""
    return " ".join(["keju", *(f"--plugin {shell_quoted(file)}" for file in _PLUGINS_GIVEN)])


def say(*lines: str) -> None:
    """Print plain lines on standard output; what would steer the terminal is made visible."""
    for line in map(in_terminal, lines):
        out.print(printable(line), markup=False, emoji=False, highlight=False, soft_wrap=True)


def note(*lines: str) -> None:
    """Print plain lines on standard error."""
    for line in map(in_terminal, lines):
        err.print(printable(line), markup=False, emoji=False, soft_wrap=True)


def print_json(value: object) -> None:
    """Print `value` as indented JSON on standard output, in UTF-8 on any terminal."""
    sys.stdout.flush()
    data = msgspec.json.encode(value, enc_hook=encode_stored)
    sys.stdout.buffer.write(msgspec.json.format(data, indent=2) + b"\n")
    sys.stdout.buffer.flush()


def _misused(error: TyperException, root: Any) -> NoReturn:  # noqa: ANN401 - Typer's own class
    """Print in one line what is wrong with the command line."""
    said = " ".join(error.format_message().split()).replace("Value error, ", "").rstrip(".")
    if not said:
        # A group without a command: its help is printed already.
        sys.exit(WRONG_USE)
    if hint := command_hint(said, sys.argv[1:], root):
        problem = report_text(said.partition(" Did you mean")[0].rstrip("."))
        _fail(_("{}. {}", problem, hint))
    context = getattr(error, "ctx", None)
    command = context.command_path if context else "keju"
    problem = report_text(said)
    if said.endswith("?"):
        _fail(_("{} See: {} --help", problem, command))
    _fail(_("{}. See: {} --help", problem, command))


def _fail(text: str) -> NoReturn:
    for line in in_terminal(text).splitlines():
        note(f"keju: {line}")
    sys.exit(WRONG_USE)


def _version(asked: bool) -> None:
    if asked:
        out.print(f"keju {__version__}", highlight=False)
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
    plugin: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE.py",
            help="Python file of yours that adds models, formats, steps or sources (also: "
            f"{PLUGIN_FILES}). It can be given several times and anywhere in the command.",
        ),
    ] = None,
) -> None:
    del version
    add_plugin_files(plugin or ())
