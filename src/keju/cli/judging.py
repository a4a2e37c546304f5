"""Commands about judges: grade a run, read unclear answers, probe the judge, compare it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from msgspec.structs import replace

from keju.cli.app import WITH_FAILURES, app, err, note, out, print_json, say
from keju.cli.asking_output import show_plan
from keju.cli.figures import draw_all
from keju.cli.grouped_options import with_groups
from keju.cli.options import (
    AsJson,
    BaseUrl,
    Concurrency,
    ExtraBody,
    KeyName,
    MaxCost,
    MaxTokens,
    PriceFile,
    RetryFailed,
    TaskIds,
    out_option,
)
from keju.cli.permission import SendRestricted, permission
from keju.texts import _, language, n_

if TYPE_CHECKING:
    from keju.items import Request
    from keju.judging.store import JudgementFolder, ReplyFolder
    from keju.models import Model

judge_app = typer.Typer(
    no_args_is_help=True,
    help="Grade open answers from 0 to 10 with a language model, read unclear answers with one, "
    "probe the judge for bias, and measure its agreement with people. See docs/judging.md",
)
app.add_typer(judge_app, name="judge")


@dataclass(frozen=True)
class JudgeOptions:
    """The server, decoding parameters and budget of judges, which decode at temperature 0."""

    base_url: BaseUrl = ""
    api_key_env: KeyName = "OPENAI_API_KEY"
    extra_body: ExtraBody = None
    max_tokens: MaxTokens = None
    concurrency: Concurrency = None
    prices: PriceFile = None
    max_cost: MaxCost = None
    retry_failed: RetryFailed = False
    send_restricted_data: SendRestricted = False
    plan: Annotated[
        bool,
        typer.Option("--plan", help="Estimate requests, tokens and cost; send nothing."),
    ] = False


RunPath = Annotated[Path, typer.Argument(metavar="RUN", help="Run directory.")]
Judges = Annotated[
    list[str] | None,
    typer.Option(
        "--model", metavar="MODEL", help="Model that reads or grades. Can be given several times."
    ),
]
RubricsFile = Annotated[
    Path | None,
    typer.Option("--rubrics", metavar="FILE.toml", help="File of your own rubrics."),
]


def _open(run: Path, rubrics: Path | None) -> JudgementFolder:
    """The judgements of a run by some rubrics, stored or not."""
    from keju.judging.prompting import read_rubrics
    from keju.judging.store import JudgementFolder
    from keju.runs import RunFolder

    return JudgementFolder(RunFolder.open(run), read_rubrics(rubrics))


def _ask(
    folder: ReplyFolder,
    models: list[str],
    server: JudgeOptions,
    questions: Callable[[Model], Iterable[Request]],
    *,
    answers: int,
    as_json: bool,
) -> bool:
    """Send the requests to the judges; True if every one was answered.

    With ``--plan``, nothing is sent: the cost is printed, and the command ends.
    """
    from keju.cli.output.judge_tables import judging_lines
    from keju.judging.store import ask_judges, open_judges, plan_judging, sent_data
    from keju.models.decoding import parse_extra_body
    from keju.running.options import RunOptions
    from keju.running.restricted_data import permitting, sending_question

    fields = asdict(server) | {"extra_body": parse_extra_body(server.extra_body or ())}
    del fields["plan"]
    run_options = RunOptions(temperature=0.0, **fields)
    options, policy = run_options.model_options(), run_options.policy()
    judges = open_judges(models, replace(options, asking=not server.plan))
    if not server.plan:
        with permitting(permission(server.send_restricted_data)):
            summary = ask_judges(folder, judges, questions, policy=policy, console=err)
        note(*judging_lines(summary))
        return summary.complete
    planned = plan_judging(folder, judges, questions, answers=answers, policy=policy)
    if as_json:
        print_json(planned)
        raise typer.Exit
    show_plan(planned)
    if restricted := sending_question(judges, sent_data(folder.run)):
        note(
            _(
                "Before the first request you will be asked: {}. In scripts: "
                "--send-restricted-data",
                restricted,
            )
        )
    raise typer.Exit


@judge_app.command()
@with_groups
def grade(
    run: RunPath,
    *,
    model: Judges = None,
    task: TaskIds = None,
    only: Annotated[
        Path | None,
        typer.Option(
            metavar="SAMPLE.csv", help="Sheet of `keju judge sample`: grade only its answers."
        ),
    ] = None,
    repeats: Annotated[
        int, typer.Option(metavar="N", min=1, max=100, help="Number of grades per answer.")
    ] = 1,
    rubrics: RubricsFile = None,
    server: JudgeOptions,
    as_json: AsJson = False,
) -> None:
    """Grade a run's open answers from 0 to 10, and print the grades. The same command resumes.

    Each judge sees the rubric, the question, the reference and the answer, but not the model's
    name, the image, or the text on it. By default, open questions, translations, descriptions and
    all tasks that their own benchmark grades in this way are graded; --task selects others. Judges
    decode at temperature 0, unless --extra-body has another one. Without --model, the command shows
    the stored grades.
    """
    from keju.cli.output.judge_tables import agreement_table, grade_lines, grades_table
    from keju.judging.answers import answers_of, grading_requests
    from keju.judging.grading import grades_of, judgements_of
    from keju.judging.raters import sampled_codes

    folder = _open(run, rubrics)
    codes = sampled_codes(only) if only else None
    answers = answers_of(folder.run, folder.rubrics, tasks=task, only=codes)
    if codes and (absent := len(codes - {answer.code for answer in answers})):
        note(
            n_(
                "{n:,} answer of {} is not graded: the run has no such answer to these tasks",
                "{n:,} answers of {} are not graded: the run has no such answers to these tasks",
                absent,
                only,
            )
        )
    complete = True
    if model:
        complete = _ask(
            folder, model, server,
            lambda _judge: grading_requests(answers, folder.rubrics, repeats),
            answers=len(answers), as_json=as_json,
        )  # fmt: skip
    judged = judgements_of(answers, folder, model or ())
    graded = grades_of(judged, folder)
    if as_json:
        print_json(graded)
    elif not graded.tasks:
        name = folder.rubrics.id
        say(_("{} has no grades under the rubrics {}. Name a judge with --model", run, name))
    else:
        out.print(grades_table(graded))
        if graded.repeats:
            out.print(agreement_table(graded.repeats, _("Repeats of one judge")))
        if graded.judges:
            out.print(agreement_table(graded.judges, _("Agreement among judges")))
        say(*grade_lines(graded))
    if not complete:
        raise typer.Exit(WITH_FAILURES)


@judge_app.command()
@with_groups
def extract(
    run: RunPath,
    *,
    model: Judges = None,
    server: JudgeOptions,
    as_json: AsJson = False,
) -> None:
    """Read unclear answers with a language model. The same command resumes.

    The model sees the question, the options and the answer, but not the image, the reference or
    the model's name. Its value counts only if the answer contains it; else the answer stays
    unclear. The replies count in: keju score RUN --extractor MODEL. Without --model, the command
    shows what was read.
    """
    from keju.cli.output.judge_tables import extraction_lines, extractions_table
    from keju.items import Request
    from keju.judging.extracting import count_extractions, extraction_requests
    from keju.judging.store import ExtractionFolder
    from keju.runs import RecordList, RunFolder

    opened = RunFolder.open(run)
    folder = ExtractionFolder(opened)
    complete, extractors = True, folder.replied()
    if model:
        requests = RecordList(Request, extraction_requests(opened))
        if not len(requests):
            say(_("{}: no answer is unclear", run))
            return
        complete = _ask(
            folder, model, server, lambda _extractor: iter(requests),
            answers=len(requests), as_json=as_json,
        )  # fmt: skip
        extractors = [name for name in folder.replied() if name not in extractors or name in model]
    counted = count_extractions(opened, extractors)
    if as_json:
        print_json({"run": str(run), "prompts": folder.prompts.id, "tasks": counted})
    elif not counted:
        say(_("{} has no replies of extractors. Name one with --model", run))
    else:
        out.print(extractions_table(counted))
        say(*extraction_lines(run, counted))
    if not complete:
        raise typer.Exit(WITH_FAILURES)


@judge_app.command()
@with_groups
def probe(
    run: RunPath,
    *,
    model: Annotated[
        list[str],
        typer.Option("--model", metavar="MODEL", help="Judge. Can be given several times."),
    ],
    task: TaskIds = None,
    limit: Annotated[
        int,
        typer.Option(metavar="N", min=1, help="Number of items per task, evenly over groups."),
    ] = 20,
    rubrics: RubricsFile = None,
    server: JudgeOptions,
    as_json: AsJson = False,
) -> None:
    """Probe a judge for bias: length, verbosity, its own name, instructions in answers, and more.

    An answer to each sampled item is changed in eleven ways, and the grades are compared.
    Differences that a reliable judge does not show are flagged.
    """
    from keju.cli.output.judge_tables import probe_lines, probes_table
    from keju.judging.answers import answers_of, grading_requests
    from keju.judging.probes import probe_answers, probe_results
    from keju.judging.raters import draw_sample

    folder = _open(run, rubrics)
    answers = answers_of(folder.run, folder.rubrics, tasks=task)
    drawn = draw_sample(answers, folder.run, per_task=limit)

    def questions(judge: Model) -> Iterable[Request]:
        return grading_requests(probe_answers(drawn, judge.name), folder.rubrics)

    complete = _ask(folder, model, server, questions, answers=len(drawn), as_json=as_json)
    changed = {judge: list(probe_answers(drawn, judge)) for judge in model}
    results = probe_results(folder, changed)
    if as_json:
        print_json({"run": str(run), "rubrics": folder.rubrics.id, "results": results})
    else:
        out.print(probes_table(results))
        say(*probe_lines(results))
    if not complete:
        raise typer.Exit(WITH_FAILURES)


@judge_app.command("align")
def align_(
    run: RunPath,
    sheets: Annotated[
        list[Path],
        typer.Argument(metavar="RATINGS.csv", help="Rating sheets of one or more people."),
    ],
    rubrics: RubricsFile = None,
    figure: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Directory for scatter plots, each with its CSV file."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Compare judges with people: correlations, errors and bias.

    A sheet is a completed one of `keju judge sample`, or RUN/people/ratings.csv, in which `keju
    serve` stores the ratings.
    """
    from keju.cli.output.judge_tables import alignment_lines, alignment_tables
    from keju.judging.aligning import align
    from keju.judging.answers import graded_answers
    from keju.judging.grading import judgements_of, mean_grades
    from keju.judging.raters import read_ratings

    folder = _open(run, rubrics)
    answers = graded_answers(folder.run, folder.rubrics)
    grades = mean_grades(judgements_of(answers, folder))
    aligned = align(read_ratings(sheets, answers), grades)
    if as_json:
        print_json(aligned)
    else:
        out.print(*alignment_tables(aligned))
        say(*alignment_lines(aligned))
        if not aligned.points:
            say(_("No judge graded these answers. Grade them with: keju judge grade {}", run))
    if figure is not None:
        from keju.figures import judges

        if not draw_all(judges(aligned), figure, "svg", language(), quiet=as_json):
            raise typer.Exit(WITH_FAILURES)


@judge_app.command()
def sample(
    run: RunPath,
    sheet: Annotated[Path, out_option(metavar="FILE.csv", help="Rating sheet to write.")],
    per_task: Annotated[
        int, typer.Option(metavar="N", min=1, help="Number of answers per task.")
    ] = 50,
    task: TaskIds = None,
    rubrics: RubricsFile = None,
) -> None:
    """Sample answers for people to rate, 50 of each task, without the models' names.

    Items are drawn evenly over books and pages and over models, in random order. Give each rater a
    copy; then: keju judge grade RUN --only FILE.csv --model M, and keju judge align.
    """
    from keju.judging.answers import answers_of
    from keju.judging.raters import draw_sample, write_sample

    folder = _open(run, rubrics)
    answers = answers_of(folder.run, folder.rubrics, tasks=task)
    answers_to_rate = draw_sample(answers, folder.run, per_task=per_task)
    write_sample(sheet, answers_to_rate)
    counts = Counter(answer.item.task for answer in answers_to_rate)
    tasks = ", ".join(f"{name}: {count:,}" for name, count in counts.items())
    say(
        n_(
            "{}: {n:,} answer ({}). Raters fill the columns rater and score, 0 to 10",
            "{}: {n:,} answers ({}). Raters fill the columns rater and score, 0 to 10",
            len(answers_to_rate),
            sheet,
            tasks,
        )
    )
