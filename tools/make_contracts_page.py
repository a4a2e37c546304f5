"""Print docs/contracts.md: what keju exchanged with which version of which program, and the result.

python -m tools.make_contracts_page > docs/contracts.md
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from tests.support.contracting import (
    RECORDED,
    RESULT,
    TABLE,
    Program,
    Result,
    programs,
    recorded_result,
)

_INTRODUCTION = """\
# Contracts with other programs

Made by `tools/make_contracts_page.py`; the test suite holds this page to its output.

`make test-contracts` installs each program of
[programs.toml](../tests/contracts/programs.toml) into an environment of its own, runs it, exchanges
requests or files with it, and writes what it recorded to
[tests/contracts/recorded](../tests/contracts/recorded). `make test-contracts ONLY=NAME` does one.
`make test-all` reads the records through keju's readers, requires the same answers and scores, and
runs the programs that are in the lock files. Both sides use a small dataset of the tests
([contract_trial.py](../tests/support/contract_trial.py)).

A program that cannot be installed or started is reported as "not run" with the reason, and the
command fails (`--allow-missing` of `tools/contracts.py` accepts it). This page keeps the result of
the last run.
"""


def page(table: Path = TABLE, recorded: Path = RECORDED) -> str:
    """The whole page as Markdown."""
    found = [
        (program, recorded_result(program.name, recorded)) for program in programs(table).values()
    ]
    return "\n".join([_INTRODUCTION, *_summary(found), "", *_details(found, recorded)])


def _summary(found: list[tuple[Program, Result | None]]) -> Iterator[str]:
    yield "| program | version | exchanged | equal |"
    yield "|---|---|---|---:|"
    for program, result in found:
        if result is None:
            yield f"| {program.title} | – | {program.exchanged} | not run yet |"
            continue
        equal = sum(each.equal for each in result.exchanges)
        yield (
            f"| {program.title} | {result.version} | {program.exchanged} "
            f"| {equal} of {len(result.exchanges)} |"
        )


def _details(found: list[tuple[Program, Result | None]], recorded: Path) -> Iterator[str]:
    for program, result in found:
        if result is None:
            continue
        yield f"## {program.title} {result.version}\n"
        where = "the project's lock files" if program.project else f"`.contracts/{program.name}`"
        needs = ", ".join(
            f"`{each}`"
            for each in (
                *program.shared,
                *program.bare,
                *program.packages,
                *program.wheels,
                *program.npm,
            )
        )
        if needs:
            yield f"Installed in {where}: {needs}.\n"
        if program.checkout:
            yield f"Used from a checkout of commit {program.commit}: `{program.checkout}=FOLDER`.\n"
        files = [
            f"`{each.relative_to(recorded / program.name)}`"
            for each in sorted((recorded / program.name).rglob("*"))
            if each.is_file() and each.name != RESULT
        ]
        if files:
            yield f"Recorded: {', '.join(files)}.\n"
        yield "| exchanged | result | |"
        yield "|---|---|---|"
        for each in result.exchanges:
            detail = each.detail.replace("|", "\\|").replace("\n", " ")
            yield f"| {each.what} | {'equal' if each.equal else '**differs**'} | {detail} |"
        yield ""


if __name__ == "__main__":
    sys.stdout.write(page())
