"""Commands on benchmark definitions: new, check, show, list."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from keju.cli.app import app, out, say
from keju.cli.benchmark_files import load_checked
from keju.cli.options import AsJson
from keju.errors import number_of

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
        typer.Option("-o", "--out", metavar="FILE", help="New file. Default: NAME.toml."),
    ] = None,
) -> None:
    """Write a commented draft of a definition, for you to change."""
    from keju.datasets.readers.words import shell_word
    from keju.definitions.draft import write_draft

    path = file or Path(f"{name}.toml")
    write_draft(name, path)
    say(f"Draft: {path}")
    say(f"Next: change it, then keju benchmark check {shell_word(str(path))}")


@benchmark_app.command()
def check(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Definition file (TOML).")],
) -> None:
    """Validate a definition, and print its prompts as a model receives them.

    Blanks of the prompts are filled with sample content, such as （问题） for {question}.
    """
    from keju.definitions.draft import sample_prompts

    definition = load_checked(file)
    for each in sample_prompts(definition):
        name = f"{each.task.id}/{each.query.name}" if each.query.name else each.task.id
        say(f"{name}  {each.task.name_zh} {each.task.name_en}")
        for protocol in ("official", "strict"):
            if metrics := getattr(each.query, protocol):
                say(f"  {protocol}: {', '.join(metrics)}")
        answer = f"{each.query.form}, one of {each.letters}" if each.letters else each.query.form
        say(f"  answer: {answer}")
        say("  prompt:")
        for line in each.text.splitlines():
            say(f"    {line}")
    tasks = number_of(len(definition.tasks), "task")
    say(f"{definition.name} {definition.version}: {tasks}, no error in {file}")


@benchmark_app.command()
def show(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the benchmark.")],
    as_json: AsJson = False,
) -> None:
    """Print what a known benchmark is, how to cite it, and its licence."""
    from keju.cli.output.console import print_json
    from keju.definitions import benchmark, know_all_installed
    from keju.definitions.registry import place_of

    know_all_installed()
    found = benchmark(name)
    rows = {
        "name": found.name,
        "version": found.version,
        "tasks": len(found.tasks),
        "from": place_of(found.name),
        "url": found.url,
        "licence": found.licence,
        "citation": found.citation,
    }
    if as_json:
        print_json(rows)
        return
    for key, value in rows.items():
        say(f"{key}: {value or 'not stated'}")


@benchmark_app.command("list")
def list_(as_json: AsJson = False) -> None:
    """List the benchmarks that keju ships and those that installed packages provide."""
    from keju.cli.output.console import plain_table, print_json
    from keju.definitions import definitions, know_all_installed
    from keju.definitions.registry import place_of

    know_all_installed()
    rows = [
        {
            "name": each.name,
            "version": each.version,
            "tasks": len(each.tasks),
            "licence": each.licence,
            "from": place_of(each.name),
        }
        for each in definitions()
    ]
    if as_json:
        print_json(rows)
        return
    table = plain_table("benchmark", "version", "tasks", "licence", "from", right=[2])
    for row in rows:
        table.add_row(*(str(value) for value in row.values()))
    out.print(table)
