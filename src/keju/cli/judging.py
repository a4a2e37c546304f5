"""Commands about judges: grade a run, read unclear answers, probe the judge, compare it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer.core import TyperGroup

from keju.cli.app import WITH_FAILURES, app, out, print_json, say
from keju.cli.figures import FormatNames, draw_all
from keju.cli.grouped_options import with_groups
from keju.cli.judges import JudgeOptions, ask_judging
from keju.cli.options import AsJson, SampleSeed, TaskIds, out_option
from keju.cli.request_options import run_options
from keju.texts import _, language, n_

if TYPE_CHECKING:
    from typer._click.core import Context

    from keju.items import Request
    from keju.models import Model

_GRADE = "grade"


class _Judging(TyperGroup):
    """A group in which ``keju judge RUN`` means ``keju judge grade RUN``."""

    def parse_args(self, ctx: Context, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] != "--help":
            args = [_GRADE, *args]
        return super().parse_args(ctx, args)


judge_app = typer.Typer(
    cls=_Judging,
    no_args_is_help=True,
    help="Grade open answers from 0 to 10 with a language model ([b]keju judge RUN --model"
    " M[/b]), read unclear answers with one, probe the judge for bias, and measure its agreement"
    " with people. See docs/judging.md",
)
app.add_typer(judge_app, name="judge")

RunPath = Annotated[Path, typer.Argument(metavar="RUN", help="Run directory.")]
Judges = Annotated[
    list[str] | None,
    typer.Option("--model", metavar="MODEL", help="Model that grades. Can be given several times."),
]
Answerers = Annotated[
    list[str] | None,
    typer.Option(
        "--of",
        metavar="MODEL",
        help="Grade only the answers of this model. Can be given several times.",
    ),
]
First = Annotated[
    int | None, typer.Option(metavar="N", help="Number of items per task, from the first.")
]
RubricsFile = Annotated[
    Path | None,
    typer.Option("--rubrics", metavar="FILE.toml", help="File of your own rubrics."),
]
PageText = Annotated[
    bool,
    typer.Option(
        "--page-text",
        help="Also give the judge the text on the image, where the dataset has it. Such grades are "
        "kept apart, and their signature names page-text.",
    ),
]
PlanOnly = Annotated[
    bool, typer.Option("--plan", help="Estimate requests, tokens, cost and hours; send nothing.")
]


@judge_app.command(_GRADE)
@with_groups
def grade(
    run: RunPath,
    *,
    model: Judges = None,
    task: TaskIds = None,
    of: Answerers = None,
    limit: First = None,
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
    page_text: PageText = False,
    server: JudgeOptions,
    plan: PlanOnly = False,
    as_json: AsJson = False,
) -> None:
    """Grade a run's open answers from 0 to 10, and print the grades. The same command resumes.

    Each judge sees the rubric, the question, the reference and the answer, but not the model's
    name, the image, or the text on it (--page-text adds the text). By default, open questions,
    translations, descriptions and all tasks that their own benchmark grades in this way are graded;
    --task selects others. Without --model, the command shows the stored grades.
    """
    from keju.cli.output.judge_tables import agreement_table, grade_lines, grades_table
    from keju.judging import (
        AnswerSelection,
        JudgementFolder,
        answers_of,
        grades_of,
        grading_requests,
        judgements_of,
        read_rubrics,
        sampled_codes,
    )
    from keju.runs import RunFolder

    opened = RunFolder.open(run)
    used = read_rubrics(rubrics, page_text=page_text)
    chosen = AnswerSelection(
        tasks=tuple(task) if task else None,
        limit=limit,
        models=tuple(of) if of else None,
        only=sampled_codes(only) if only else None,
    )
    answers = answers_of(opened, used, chosen)
    folder = JudgementFolder(opened, used)
    complete = True
    if model:
        options = run_options(server)
        questions = lambda _: grading_requests(answers.judged, folder, repeats)  # noqa: E731
        complete = ask_judging(
            folder, model, options, questions,
            answers=len(answers.judged), plan=plan, as_json=as_json,
        )  # fmt: skip
    judged = judgements_of(answers.judged, folder, repeats if model else None, model or ())
    graded = grades_of(judged, folder, answers.left_out)
    if as_json:
        print_json(graded)
    elif not graded.tasks:
        say(_("{} has no grades under the rubrics {}. Name a judge with --model", run, used.id))
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
    model: Annotated[
        list[str] | None,
        typer.Option(
            "--model", metavar="MODEL", help="Extractor model. Can be given several times."
        ),
    ] = None,
    task: TaskIds = None,
    server: JudgeOptions,
    plan: PlanOnly = False,
    as_json: AsJson = False,
) -> None:
    """Read unclear answers with a language model. The same command resumes.

    The model sees the question, the options and the answer, but not the image, the reference or
    the model's name. Its value counts only if the answer contains it; else the answer stays
    unclear. The replies count in: keju score RUN --extractor MODEL. Without --model, the command
    shows what was read.
    """
    from keju.cli.output.judge_tables import extraction_lines, extractions_table
    from keju.definitions import QuestionForms
    from keju.items import Request
    from keju.judging import (
        EXTRACTION,
        ExtractionFolder,
        count_extractions,
        extraction_requests,
        stored_extractors,
    )
    from keju.runs import RecordList, RunFolder

    opened = RunFolder.open(run)
    folder, forms = ExtractionFolder(opened), QuestionForms(task)
    complete, extractors = True, stored_extractors(opened)
    if model:
        requests = RecordList(Request, extraction_requests(opened, forms))
        options = run_options(server)
        if not len(requests):
            say(_("{}: no answer is unclear", run))
            return
        questions = lambda _: iter(requests)  # noqa: E731
        complete = ask_judging(
            folder, model, options, questions,
            answers=len(requests), plan=plan, as_json=as_json, reply=EXTRACTION,
        )  # fmt: skip
        stored = stored_extractors(opened)
        extractors = [name for name in stored if name not in extractors or name in model]
    counted = count_extractions(opened, extractors, forms)
    if as_json:
        print_json(counted)
    elif not counted.tasks:
        say(_("{} has no replies of extractors. Name one with --model", run))
    else:
        out.print(extractions_table(counted))
        say(*extraction_lines(counted))
    if not complete:
        raise typer.Exit(WITH_FAILURES)


@judge_app.command()
@with_groups
def probe(
    run: RunPath,
    *,
    model: Judges = None,
    task: TaskIds = None,
    of: Answerers = None,
    limit: Annotated[
        int,
        typer.Option(
            metavar="N", min=1, help="Number of answers per task, drawn evenly over groups."
        ),
    ] = 20,
    seed: SampleSeed = 0,
    rubrics: RubricsFile = None,
    page_text: PageText = False,
    server: JudgeOptions,
    plan: PlanOnly = False,
    as_json: AsJson = False,
) -> None:
    """Probe a judge for bias: length, verbosity, its own name, instructions in answers, and more.

    Each sampled answer is changed in twelve ways, and the grades are compared. Differences that a
    reliable judge does not show are flagged.
    """
    from keju.cli.output.judge_tables import probe_lines, probes_table
    from keju.judging import (
        AnswerSelection,
        JudgementFolder,
        ProbingResult,
        answers_of,
        declared_probes,
        draw_sample,
        probe_results,
        probings,
        read_rubrics,
    )
    from keju.runs import RunFolder

    opened = RunFolder.open(run)
    used = read_rubrics(rubrics, page_text=page_text)
    chosen = AnswerSelection(tasks=tuple(task) if task else None, models=tuple(of) if of else None)
    answers = answers_of(opened, used, chosen)
    drawn = draw_sample(answers.judged, opened, per_task=limit, seed=seed)
    folder = JudgementFolder(opened, used)
    options = run_options(server)

    def questions(judge: Model) -> Iterable[Request]:
        return (each.request for each in probings(drawn, used, judge.name))

    complete = ask_judging(
        folder, model or [], options, questions,
        answers=len(drawn), plan=plan, as_json=as_json,
    )  # fmt: skip
    probed = ProbingResult(
        run=str(run),
        rubrics=used.id,
        results=tuple(
            probe_results(
                folder, {judge: list(probings(drawn, used, judge)) for judge in model or []}
            )
        ),
        not_applicable=declared_probes().not_applicable,
    )
    if as_json:
        print_json(probed)
    else:
        out.print(probes_table(probed))
        say(*probe_lines(probed))
    if not complete:
        raise typer.Exit(WITH_FAILURES)


@judge_app.command("align")
def align_(
    sheets: Annotated[
        list[Path],
        typer.Argument(metavar="RATINGS.csv", help="Rating sheets of one or more people."),
    ],
    run: Annotated[
        Path | None,
        typer.Option(
            metavar="RUN", help="Run directory whose stored grades are compared with the sheets."
        ),
    ] = None,
    rubrics: RubricsFile = None,
    page_text: PageText = False,
    figure: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Directory for scatter plots, each with its CSV file."),
    ] = None,
    formats: FormatNames = "svg",
    as_json: AsJson = False,
) -> None:
    """Compare judges with people: correlations, errors, bias, and which judge is best.

    A sheet has the columns item, task, model, rater and score, or is a completed sheet of `keju
    judge sample` (then give the RUN). Judges' grades are read from the RUN, or from columns named
    judge:NAME.
    """
    from keju.cli.output.judge_tables import alignment_lines, alignment_tables
    from keju.judging import align, code_of, graded_answers, mean_grades, read_ratings, read_rubrics
    from keju.runs import RunFolder

    known, grades = None, {}
    if run is not None:
        opened, used = RunFolder.open(run), read_rubrics(rubrics, page_text=page_text)
        answers = graded_answers(opened, used)
        known = {code_of(each): each for each in answers}
        grades = mean_grades(opened, used, answers)
    found = align(read_ratings(sheets, known), grades)
    if as_json:
        print_json(found)
    else:
        out.print(*alignment_tables(found))
        say(*alignment_lines(found))
        if not found.points:
            say(
                _(
                    "There are no grades of a judge. Name a graded run with --run, or add columns "
                    "called judge:NAME"
                )
            )
    if figure is not None:
        from keju.figures import judges

        if not draw_all(judges(found), figure, formats, language(), quiet=as_json):
            raise typer.Exit(WITH_FAILURES)


@judge_app.command()
def sample(
    run: RunPath,
    sheet: Annotated[Path, out_option(metavar="FILE.csv", help="Rating sheet to write.")],
    per_task: Annotated[
        int, typer.Option(metavar="N", min=1, help="Number of answers per task.")
    ] = 50,
    task: TaskIds = None,
    of: Answerers = None,
    seed: SampleSeed = 0,
    rubrics: RubricsFile = None,
) -> None:
    """Sample answers for people to rate, 50 of each task, without the models' names.

    Items are drawn evenly over books and pages and over models, in random order. Give each rater a
    copy; then: keju judge RUN --only FILE.csv --model M, and keju judge align.
    """
    from keju.judging import AnswerSelection, answers_of, draw_sample, read_rubrics, write_sample
    from keju.runs import RunFolder

    opened = RunFolder.open(run)
    chosen = AnswerSelection(tasks=tuple(task) if task else None, models=tuple(of) if of else None)
    answers = answers_of(opened, read_rubrics(rubrics), chosen)
    drawn = draw_sample(answers.judged, opened, per_task=per_task, seed=seed)
    write_sample(sheet, drawn)
    counts = Counter(each.item.task for each in drawn)
    tasks = ", ".join(f"{name}: {count:,}" for name, count in counts.items())
    say(
        n_(
            "{}: {n:,} answer ({}). Raters fill the columns rater and score, 0 to 10",
            "{}: {n:,} answers ({}). Raters fill the columns rater and score, 0 to 10",
            len(drawn),
            sheet,
            tasks,
        )
    )
