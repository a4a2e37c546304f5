"""`keju cite`: BibTeX of benchmarks and of keju."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from keju import __version__
from keju.cli.app import app, out
from keju.errors import UsageError, printable
from keju.texts import listed

if TYPE_CHECKING:
    from keju.definitions import Definition


@app.command()
def cite(
    what: Annotated[
        str,
        typer.Argument(
            metavar="RUN|BENCHMARK",
            help="Run directory, or name of a benchmark. Default: all benchmarks of papers.",
            show_default=False,
        ),
    ] = "",
) -> None:
    """Print BibTeX entries of the benchmarks of a run, or of one benchmark, and of keju.

    An entry contains only fields that the paper or its web page states.
    Example: keju cite my-run > my-run.bib
    """
    from keju.definitions.draft import benchmark_entry, keju_entry

    found, version = _cited(what)
    entries = [*map(benchmark_entry, found), keju_entry(version)]
    for line in "\n".join(entries).splitlines():
        out.print(printable(line), markup=False, emoji=False, highlight=False, soft_wrap=True)


def _cited(what: str) -> tuple[list[Definition], str]:
    """The benchmarks to cite, and the version of keju.

    Raises:
        UsageError: there is no run and no benchmark of that name.
        DataError: the run is damaged.
    """
    from keju.definitions import benchmark, definitions, paper_tasks, register_all_installed
    from keju.runs import RunFolder

    version = __version__
    if not what:
        names = dict.fromkeys(each.benchmark for each in paper_tasks())
    elif Path(what).is_dir():
        run = RunFolder.open(Path(what))
        version = run.manifest().keju
        names = dict.fromkeys(each.benchmark for each in run.iter_items())
    else:
        register_all_installed()
        known = [each.name for each in definitions()]
        if what not in known:
            raise UsageError(
                "{} is neither a run directory nor a benchmark. Benchmarks: {}", what, listed(known)
            )
        names = {what: None}
    # The benchmark of own pages has no source: keju defines it.
    return [each for each in map(benchmark, names) if _has_source(each)], version


def _has_source(definition: Definition) -> bool:
    return bool(definition.bibtex or definition.citation or definition.url or definition.licence)
