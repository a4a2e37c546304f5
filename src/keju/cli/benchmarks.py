"""Commands on benchmark definitions: new, check, show, list."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from keju.cli.app import app, note, out, print_json, say
from keju.cli.benchmark_files import load_checked
from keju.cli.options import AsJson, out_option
from keju.errors import error_text
from keju.texts import _, n_

if TYPE_CHECKING:
    from keju.definitions import Query, Task

benchmark_app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="Benchmarks of your own: [b]keju benchmark new NAME[/b] writes a draft, "
    "[b]keju benchmark check FILE[/b] validates it and prints its prompts, and "
    "[b]keju data import FORMAT SRC --benchmark FILE --out DATASET[/b] uses it.",
)
app.add_typer(benchmark_app, name="benchmark")


@benchmark_app.command()
def new(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the benchmark.")],
    file: Annotated[
        Path | None,
        out_option(metavar="FILE", help="New file. Default: NAME.toml."),
    ] = None,
) -> None:
    """Write a commented draft of a definition, for you to change."""
    from keju.datasets.readers.words import shell_word
    from keju.definitions.draft import write_draft
    from keju.scoring.lookup import strict_metrics

    path = file or Path(f"{name}.toml")
    write_draft(name, path, strict_metrics())
    say(_("Draft: {}", path))
    say(_("Next: change it, then keju benchmark check {}", shell_word(str(path))))


@benchmark_app.command()
def check(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Definition file (TOML).")],
) -> None:
    """Validate a definition, and print its prompts as a model receives them.

    Blanks of the prompts are filled with sample content, such as （问题） for {question}.
    """
    definition = load_checked(file)
    for task in definition.tasks:
        for query in task.queries:
            _say_question_form(task, query)
    name = f"{definition.name} {definition.version}"
    count = len(definition.tasks)
    say(n_("{}: {n:,} task, no error in {}", "{}: {n:,} tasks, no error in {}", count, name, file))


def _say_question_form(task: Task, query: Query) -> None:
    from keju.definitions.draft import sample_prompt

    name = f"{task.id}/{query.name}" if query.name else task.id
    say(f"{name}  {task.name_zh} {task.name_en}")
    for protocol in ("official", "strict"):
        if metrics := getattr(query, protocol):
            say(f"  {protocol}: {', '.join(metrics)}")
    answer = _("answer: {}", query.form)
    if query.form == "letter":
        answer = _("answer: {}, one of {}", query.form, "ABCD")
    say(_("  {}", answer))
    say(_("  prompt:"))
    for line in sample_prompt(task, query).splitlines():
        say(f"    {line}")


@benchmark_app.command()
def show(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the benchmark.")],
    as_json: AsJson = False,
) -> None:
    """Print what a known benchmark is, how to cite it, and its licence."""
    from keju.cli.output.console import name_columns
    from keju.definitions import benchmark, register_all_installed

    register_all_installed()
    found = benchmark(name)
    rows = {
        "name": found.name,
        "version": found.version,
        "tasks": len(found.tasks),
        "from": found.place,
        "url": found.url,
        "licence": found.licence,
        "citation": found.citation,
    }
    if as_json:
        print_json(rows)
        return
    heads = name_columns("name", "version", "tasks", "from", "url", "licence", "citation")
    for head, value in zip(heads, rows.values(), strict=True):
        stated = value or _("not stated")
        say(_("{}: {}", head, stated))


@benchmark_app.command("list")
def list_(as_json: AsJson = False) -> None:
    """List the benchmarks that keju ships and those that installed packages provide."""
    from keju.cli.output.console import name_columns, plain_table
    from keju.definitions import definitions, register_all_installed
    from keju.registry import list_broken

    register_all_installed()
    for error in list_broken().values():
        note(error_text(error))
    rows = [
        {
            "name": each.name,
            "version": each.version,
            "tasks": len(each.tasks),
            "licence": each.licence,
            "from": each.place,
        }
        for each in definitions()
    ]
    if as_json:
        print_json(rows)
        return
    table = plain_table(
        *name_columns("benchmark", "version", "tasks", "licence", "from"), right=[2]
    )
    for row in rows:
        table.add_row(*(str(value) for value in row.values()))
    out.print(table)
