"""Commands that score responses and report scores."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from keju.cli.app import app, out, say
from keju.cli.options import ProtocolName
from keju.errors import UsageError
from keju.items import Protocol

MOST_PICTURES = 1000.0
"""Megabytes; a larger page opens in no browser."""


@app.command()
def score(
    what: Annotated[
        Path, typer.Argument(metavar="RUN|RESPONSES.json", help="A run, or the authors' form.")
    ],
    protocol: ProtocolName = "both",
    json_out: Annotated[
        Path | None, typer.Option("--json", metavar="OUT.json", help="Write every number here.")
    ] = None,
    semantic: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=DIR",
            help="Weights of an encoder: chinese-bert-wwm, bert-base-chinese, roberta-large or "
            "minilm; a bare DIR serves all of them. Without weights those metrics are unscored.",
        ),
    ] = None,
) -> None:
    """Score responses, as often as you like: no model, key or network is needed.

    RESPONSES.json is the MCS-Bench authors' form: a list of objects with ID, Task_ID,
    Answer_Simplified and Response. The scores of a run are kept in RUN/scores.
    """
    from keju.encoders import Encoders, default_cache_path, parse_semantic
    from keju.files import write_json
    from keju.reporting.terminal import scores_table, unfinished_lines, unscored_lines
    from keju.runs import RunFolder
    from keju.scoring import PROTOCOLS, aggregate, models_of, score_responses, score_run, to_json

    protocols: tuple[Protocol, ...] = PROTOCOLS if protocol == "both" else (protocol,)
    encoders = Encoders(parse_semantic(semantic or []), default_cache_path())
    if what.is_dir():
        scores = score_run(RunFolder.open(what), protocols, encoders)
    else:
        scores = score_responses(what, protocols, encoders)
    if not scores:
        raise UsageError(f"{what}: no responses to score")
    if json_out is not None:
        write_json(json_out, to_json(scores))
    out.print(scores_table(aggregate(scores), models_of(scores)))
    if what.is_dir():
        for line in unfinished_lines(what):
            say(line)
    for line in unscored_lines(scores):
        say(line)
    failed = len({(each.model, each.key) for each in scores if each.status == "failed"})
    if failed:
        say(f"{failed} responses are failures; they count at each metric's worst value")
    if json_out is not None:
        say(f"Every number: {json_out}")


@app.command()
def report(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN", help="One or several runs.")],
    page: Annotated[
        Path, typer.Option("-o", "--out", metavar="FILE.html", help="The HTML file.")
    ] = (Path("report.html")),
    csv: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Also write the scores as CSV files into this folder."),
    ] = None,
    pictures: Annotated[
        float, typer.Option(metavar="MB", help="Megabytes of pictures at most.")
    ] = 24.0,
) -> None:
    """Write the report: one HTML file with tables, and every item with picture and difference."""
    from keju.reporting import write_csv, write_report

    if not 0 <= pictures <= MOST_PICTURES:
        raise UsageError(f"--pictures must be 0 to {MOST_PICTURES:,} megabytes, not {pictures:g}")
    gathered = write_report(runs, page, picture_bytes=round(pictures * 1e6))
    say(f"{page}: {page.stat().st_size / 1e6:.1f} MB")
    if csv is not None:
        for path in write_csv(gathered, csv):
            say(str(path))
