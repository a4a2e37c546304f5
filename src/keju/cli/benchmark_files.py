"""`--benchmark FILE.toml` of the commands that need the definition of a benchmark."""

from __future__ import annotations

from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from keju.errors import printable
from keju.texts import _, in_terminal

if TYPE_CHECKING:
    from keju.definitions import Definition

_COMMANDS = frozenset(
    {
        ("tasks",),
        ("data", "detect"),
        ("data", "import"),
        ("data", "validate"),
        ("data", "stats"),
        ("build", "recipe"),
        ("plan",),
        ("run",),
        ("score",),
        ("report",),
        ("serve",),
        ("figures",),
    }
)
"""Commands that read items or tasks which no dataset or run may define."""


def add_benchmark_option(command: Any) -> None:  # noqa: ANN401 - Typer's own class of commands
    """Give the option to every subcommand that needs it."""
    option = next(each for each in typer.main.get_command(_alone).params if each.name == "files")
    option.expose_value, option.callback = False, _load
    _add(command, option, ())


def _add(command: Any, option: Any, path: tuple[str, ...]) -> None:  # noqa: ANN401
    for name, each in getattr(command, "commands", {}).items():
        place = *path, name
        if place in _COMMANDS:
            each.params.append(copy(option))
        _add(each, option, place)


_alone = typer.Typer(add_completion=False)


@_alone.command()
def _declared(
    files: Annotated[
        list[str] | None,
        typer.Option(
            "--benchmark",
            metavar="FILE.toml",
            is_eager=True,
            help="Definition file of your own benchmark (see `keju benchmark new`). Can be"
            " given several times. Datasets and runs contain their own definitions.",
        ),
    ] = None,
) -> None:
    """Only declares the option."""
    del files


def _load(context: Any, parameter: Any, value: Any) -> None:  # noqa: ANN401
    del context, parameter
    for each in value or ():
        load_checked(Path(each))


def load_checked(path: Path) -> Definition:
    """Make a definition file known whose metrics and rubrics exist.

    A note names the plug-in files that were loaded because the definition is beside them.

    Raises:
        KejuError: it is not a definition, or names what does not exist.
    """
    from keju.definitions import load_benchmark
    from keju.registry import list_plugin_sources
    from keju.scoring import check_metrics

    before = list_plugin_sources()
    definition = load_benchmark(path)
    for source in list_plugin_sources()[len(before) :]:
        loaded = _(
            "{} names the plug-in {} beside it, which is loaded; other commands need --plugin",
            path,
            source.path,
        )
        typer.echo(printable(in_terminal(loaded)), err=True)
    check_metrics(definition, str(path))
    if any(query.rubric for task in definition.tasks for query in task.queries):
        from keju.judging.prompting import check_rubrics

        check_rubrics(definition, str(path))
    return definition
