"""Commands that score responses and report scores."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from keju.cli.app import WITH_FAILURES, app, err, note, out, print_json, program, say
from keju.cli.grouped_options import with_groups
from keju.cli.options import (
    AsJson,
    Everything,
    ProtocolName,
    TaskIds,
    out_option,
)
from keju.cli.report_options import ContentOptions, CostOptions, TableFiles
from keju.errors import UsageError
from keju.texts import _, n_
from keju.texts import language as terminal_language

if TYPE_CHECKING:
    from keju.runs import RunFolder
    from keju.scoring import Result, Summary

MOST_PICTURES = 1000.0
"""Megabytes; browsers cannot open a larger page."""


@app.command()
def score(
    what: Annotated[
        Path,
        typer.Argument(
            metavar="RUN|RESPONSES.json",
            help="Run directory, or a response file of the authors' script.",
        ),
    ],
    protocol: ProtocolName = "both",
    json_out: Annotated[
        Path | None,
        typer.Option("--json", metavar="OUT.json", help="New JSON file with all numbers."),
    ] = None,
    semantic: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=DIR",
            help="Weights of an encoder: chinese-bert-wwm, bert-base-chinese, roberta-large or "
            "minilm. Can be given several times. Without weights its metrics are unscored.",
        ),
    ] = None,
    adjudicated: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.csv",
            help="People's decisions on unclear answers (see `keju serve`). They count in strict.",
        ),
    ] = None,
    extractor: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL",
            help="Extractor whose stored replies decide the unclear answers that people did not"
            " decide (see `keju judge extract`).",
        ),
    ] = None,
    everything: Everything = False,
) -> None:
    """Score the responses of a run. This needs no model, key or network.

    You can score a run again at any time; its scores are stored in RUN/scores. RESPONSES.json is
    a response file of the authors' script: a list of objects with ID, Task_ID,
    Answer_Simplified and Response.

    Example: keju score RUN --semantic bert-base-chinese=DIR
    """
    from keju.analysis.blank_pages import invented_in, with_blank_pages
    from keju.cli.output.brief import print_briefly
    from keju.cli.output.console import translate
    from keju.cli.output.run_summary import unfinished_lines
    from keju.cli.output.score_tables import means_table, scores_tables, summary_lines
    from keju.definitions import without_official
    from keju.definitions.protocols import asked_protocols
    from keju.encoders import Encoders, default_cache_path, parse_semantic
    from keju.files import write_atomic
    from keju.judging.extracting import gather_decisions
    from keju.reporting.answer_readings import readings_lines
    from keju.runs import RunFolder
    from keju.scoring import Tally, encode_json, join_json, score_models, score_responses
    from keju.scoring.stored import read_frames, scores_frame, scores_path

    protocols = asked_protocols(protocol)
    encoders = Encoders(parse_semantic(semantic or []), default_cache_path())
    run = RunFolder.open(what) if what.is_dir() else None
    if run is None:
        if (adjudicated or extractor) and what.exists():
            raise UsageError("--adjudicated and --extractor are for a run, not for a response file")
        frame = scores_frame(score_responses(what, protocols, encoders))
        scored = iter([Tally([frame]).summary(what.stem, {})])
    else:
        if "strict" not in protocols and (why := without_official(run.iter_items())):
            # Before anything is written: the scores of the other protocol would be lost.
            raise UsageError("{}: {}", what, why)
        decisions = gather_decisions(run, adjudicated, extractor or "")
        cores = os.cpu_count() or 1
        scored = score_models(run, protocols, encoders, decisions=decisions, workers=cores)
    summaries: list[Summary] = []

    def summed() -> Iterator[Summary]:
        for summary in scored:
            summaries.append(summary)
            yield summary
        if not any(summary.results for summary in summaries):
            raise UsageError("{}: no responses to score", what)

    def json_of(summary: Summary) -> dict[str, bytes]:
        frames = read_frames(scores_path(run, summary.model)) if run else iter([frame])
        return with_blank_pages(encode_json(frames, summary.results), summary.results, blank)

    if json_out is None:
        deque(summed(), maxlen=0)
    else:
        blank = invented_in(run) if run else {}
        write_atomic(json_out, join_json(map(json_of, summed())))
    results = [result for summary in summaries for result in summary.results]
    models = [summary.model for summary in summaries]
    lines = [
        *(unfinished_lines(run) if run else ()),
        *map(translate, [*summary_lines(summaries), *readings_lines(results)]),
        *(_lines_of_run(run, adjudicated, extractor, results) if run else ()),
    ]
    print_briefly(
        [*scores_tables(results, models, width=out.width), *lines],
        [means_table(results, models), *lines],
        everything=everything,
    )
    if json_out is not None:
        say(_("All numbers: {}", json_out))
    if any(summary.strays for summary in summaries):
        raise typer.Exit(WITH_FAILURES)


def _lines_of_run(
    run: RunFolder, adjudicated: Path | None, extractor: str | None, results: Sequence[Result]
) -> Iterator[str]:
    """The run's label, and lines on decisions of unclear answers: unused ones, how to make them."""
    from keju.judging.store import ExtractionFolder
    from keju.reporting.answer_readings import MOST_UNCLEAR, decision_line
    from keju.scoring import read_decisions, unused_decisions

    if label := run.manifest().label:
        yield _("Label of the run: {}", label)
    extractors = ExtractionFolder(run).replied() if (run.path / "extractions").is_dir() else []
    unclear = any(task.unclear > MOST_UNCLEAR for result in results for task in result.tasks)
    if extractor in run.manifest().models:
        yield _(
            "{} reads its own answers. Use another extractor to compare it with others", extractor
        )
    elif not extractor and extractors:
        yield _(
            "Stored replies of the extractor {} are not used. Use them: keju score {} "
            "--extractor {}",
            ", ".join(extractors),
            run.path,
            extractors[0],
        )
    if (extractor or not extractors) and unclear:
        yield decision_line([run.path])
    if not adjudicated and (run.path / "decisions.csv").is_file():
        yield _(
            "People's decisions on unclear answers are not used. Use them: keju score {0} "
            "--adjudicated {0}/decisions.csv",
            run.path,
        )
    if adjudicated and (unused := unused_decisions(read_decisions(adjudicated), run)):
        yield n_(
            "{n:,} decision in {} not counted: the run does not have the answer, or it has changed",
            "{n:,} decisions in {} not counted: the run does not have the answer, or it has "
            "changed",
            unused,
            adjudicated,
        )


@app.command()
def memorization(
    run: Annotated[
        Path,
        typer.Argument(
            metavar="RUN", help="Run directory of a dataset with altered control pages."
        ),
    ],
    as_json: AsJson = False,
) -> None:
    """Measure how much of altered pages each model reads, and how much it recites from memory.

    Make the altered pages with: keju build perturb. "Beyond slips" is the share of altered
    characters for which the model gives the original one, minus the share of the same mistakes on
    unaltered pages. It is tested, because misreading gives the original one now and then, too.
    """
    from keju.cli.output.memorization_table import memorization_lines, memorization_table
    from keju.runs import RunFolder
    from keju.scoring.memorization import measure_memorization

    folder = RunFolder.open(run)
    measured = measure_memorization(folder.items(), folder.responses())
    if not measured:
        raise UsageError("{}: no answered controls. Make some with: keju build perturb", run)
    if as_json:
        print_json(measured)
    else:
        out.print(memorization_table(measured))
        say(*memorization_lines(measured))


@app.command()
def protocols(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Scored run directory.")],
    model: Annotated[
        list[str] | None,
        typer.Option(metavar="MODEL", help="Use only this model. Can be given several times."),
    ] = None,
    task: TaskIds = None,
    top: Annotated[
        int, typer.Option(metavar="N", min=0, help="Number of items to list per task.")
    ] = 3,
    as_json: AsJson = False,
) -> None:
    """Show where official and strict differ in a run: by how much, on which items, and why.

    A difference is strict - official on one scale; an error counts as 1 - min(1, error). While
    answers are unclear, values under strict and differences are ranges.
    docs/protocols.md lists what the two protocols do on every task, on example answers.
    """
    from keju.cli.output.protocol_tables import (
        list_protocol_differences,
        protocol_lines,
        protocol_tables,
    )
    from keju.runs import RunFolder

    differences = list_protocol_differences(
        RunFolder.open(run), models=model or (), tasks=task or (), most=top
    )
    if as_json:
        print_json(differences)
        return
    if not differences:
        say(
            _(
                "No task has a value under both protocols. Only tasks of published benchmarks, and "
                "tasks of a definition with official_as or official metrics, have an official "
                "protocol"
            )
        )
        return
    out.print(*protocol_tables(differences))
    say(*protocol_lines(differences))


@app.command()
def compare(
    runs: Annotated[
        list[Path],
        typer.Argument(metavar="RUN", help="One or two scored run directories or bundles."),
    ],
    by: Annotated[
        Literal["model", "setting", "script", "wording"] | None,
        typer.Option(help="What differs between the two sides, where the run has two of it."),
    ] = None,
    model: Annotated[
        list[str] | None,
        typer.Option(metavar="MODEL", help="Model of both sides; given twice, of each side."),
    ] = None,
    setting: Annotated[
        list[str] | None,
        typer.Option(metavar="SETTING", help="Input setting of both sides, or given twice."),
    ] = None,
    script: Annotated[
        list[str] | None,
        typer.Option(metavar="SCRIPT", help="Script of both sides, or given twice."),
    ] = None,
    wording: Annotated[
        list[str] | None,
        typer.Option(metavar="WORDING", help="Prompt wording of both sides, or given twice."),
    ] = None,
    protocol: Annotated[
        Literal["official", "strict"],
        typer.Option(help="Protocol whose main metrics are compared."),
    ] = "strict",
    margin: Annotated[
        float | None,
        typer.Option(
            metavar="POINTS",
            help="Percent points within which two values count as equal, e.g. 2. Default: none.",
        ),
    ] = None,
    as_json: AsJson = False,
    everything: Everything = False,
) -> None:
    """Compare two models, runs, settings, scripts or wordings: overall, then task by task.

    Items are paired: a randomisation test and a bootstrap by group (book, plate, bone). The overall
    mean has one test; those of the tasks are adjusted (Holm). Two runs can have the same model with
    different settings. Two sides of one run are named by giving an option twice (--model A --model
    B), or by --by. With --margin, two values are equal if the 95 % interval of their difference is
    inside it.
    """
    from keju.analysis.comparison import comparison_of
    from keju.analysis.comparison_sides import SideChoice
    from keju.analysis.score_sources import bundle_lines, open_scored
    from keju.cli.output.brief import print_briefly
    from keju.cli.output.comparison_table import MOST_LINES, comparison_table, first_rows
    from keju.cli.output.console import translate
    from keju.reporting.comparison_text import comparison_lines, overall_lines, verdict_of_tasks

    wanted = SideChoice(
        by=by or "", model=tuple(model or ()), setting=tuple(setting or ()),
        script=tuple(script or ()), wording=tuple(wording or ()),
    )  # fmt: skip
    with open_scored(runs) as scored:
        compared = comparison_of(scored, protocol, wanted, margin=margin)
    if as_json:
        print_json(compared)
        return
    overall = list(overall_lines(compared))
    lines = [
        *filter(None, [verdict_of_tasks(compared)]),
        *map(translate, comparison_lines(compared)),
        *bundle_lines(runs),
    ]
    print_briefly(
        [*overall, comparison_table(compared), *lines],
        [*overall, comparison_table(first_rows(compared)), *lines],
        everything=everything,
        most=MOST_LINES,
    )


@app.command()
@with_groups
def report(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN", help="Run directories.")],
    files: TableFiles,
    content: ContentOptions,
    costs: CostOptions,
    page: Annotated[
        Path,
        out_option(
            metavar="FILE.html|DIR", help="Report: an HTML file, or a folder for many items."
        ),
    ] = (Path("report.html")),
) -> None:
    """Write the report: tables, and every item with its images, answers and differences.

    The report is one HTML file, or a folder if -o does not end in .html; a folder opens quickly
    also with thousands of items. It needs no server and no network.
    """
    from keju.analysis.same_models import read_same_as
    from keju.cli.output.run_summary import missing_lines
    from keju.cli.page_progress import stage_bar
    from keju.reporting.csv_export import write_csv
    from keju.reporting.latex import write_latex
    from keju.reporting.page import write_report
    from keju.reporting.time_table import time_lines

    if content.same_as and not content.published:
        raise UsageError("--same-as needs --published: only then are a paper's rows shown")
    given = content.pictures
    if not 0 <= given <= MOST_PICTURES:
        raise UsageError("--pictures must be 0 to {:,} megabytes, not {:g}", MOST_PICTURES, given)
    with stage_bar(err):
        made = write_report(
            runs,
            page,
            picture_bytes=round(given * 1e6),
            published=content.published,
            same_as=read_same_as(content.same_as or ()),
            language=content.language or terminal_language(),
            costs=costs.costs(),
        )
    if costs.pages and made.view.times:
        say(*time_lines(made.view.times))
    note(*missing_lines(made.view.unfinished, program()))
    say(_("{}: {:.1f} MB", made.page, made.size / 1e6))
    for folder, write in ((files.csv, write_csv), (files.latex, write_latex)):
        if folder is not None:
            for path in write(made, folder):
                say(str(path))
