"""The summary, tables and error analysis of a report, as plain values for its template."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from keju import __version__
from keju.analysis.asked_items import item_name
from keju.analysis.blank_pages import InventedRow, invented_rows
from keju.analysis.breakdowns import Json, breakdowns
from keju.analysis.difficulty import Difficulty, difficulty, option_errors
from keju.analysis.engine_times import Collection, Speed, speeds
from keju.analysis.grades import Grades, grades
from keju.analysis.input_settings import StepTable, step_tables
from keju.analysis.labels import task_name
from keju.analysis.leaderboard import Leaderboard, Results, leaderboards
from keju.analysis.nearly_empty import NearlyEmpty, nearly_empty
from keju.analysis.no_results import NoResults, in_no_mean, no_results
from keju.analysis.other_data import other_data
from keju.analysis.parameters import ParametersRow, parameters
from keju.analysis.protocol_views import OVERALL, ViewTable, view_tables
from keju.analysis.reading_errors import reading_errors, wrong_pages
from keju.analysis.risk_coverage import (
    PostEditCost,
    RiskCoverageRow,
    post_edit_costs,
    risk_coverage_rows,
)
from keju.analysis.round_spread import RoundSpread, round_spreads
from keju.analysis.run_set import ModelResponses, RunSet, main_metric
from keju.analysis.same_models import SameAs
from keju.analysis.swapped import SwappedPage, swapped_of
from keju.analysis.task_tables import MetricRow, TaskTable, metric_rows, task_tables
from keju.analysis.unfinished import Unfinished, unfinished_models
from keju.analysis.unpublished_settings import asked_otherwise
from keju.analysis.wording_spread import WordingSpread, wording_spread
from keju.definitions import (
    NO_REFERENCE,
    OWN_BENCHMARK,
    Definition,
    UnitCounter,
    Units,
    benchmark,
    describe_units,
    missing_reference,
    task,
    tasks,
)
from keju.formatting import NOTHING
from keju.local_paths import shell_quoted
from keju.models import RESULTS
from keju.published import paper, papers
from keju.reporting.answer_readings import (
    AnswerReadings,
    decision_line,
    shown_readings,
)
from keju.reporting.cells import Cell
from keju.reporting.error_rows import ErrorRow, error_row
from keju.reporting.glossary import Glossary, glossary
from keju.reporting.paper_table_data import data_tables
from keju.reporting.paper_table_form import PaperTable
from keju.reporting.paper_table_inputs import input_tables
from keju.reporting.paper_table_runs import Given
from keju.reporting.paper_tables import build_paper_tables
from keju.reporting.time_table import TimeTable, time_table
from keju.running.prices import Prices
from keju.runs import RunFolder
from keju.scoring import PROTOCOLS, ItemName
from keju.texts import Text, _, both, join_lines, listed, n_, recognised

_KINDS = {
    "openai": _("endpoint"),
    "inspect": _("endpoint"),
    "ppocr": _("OCR engine with keju's reading order"),
    "tesseract": _("OCR engine"),
    "got": _("OCR engine"),
    "http-ocr": _("OCR service"),
    "ocr+llm": _("pipeline: an OCR engine transcribes, a text model answers"),
    "replay": _("answers made elsewhere"),
    RESULTS: _("OCR engine; its results were read from files"),
    "baseline": _("baseline: a simple rule"),
    "blind": _("baseline: a model without the images"),
    "shuffled": _("baseline: a model with other images"),
    "human": _("person"),
}
"""The kinds of models, with the ids of their texts."""


class ModelRow(NamedTuple):
    """The row of one model in the summary."""

    name: str
    role: str
    kind: str
    asked: Cell
    unanswered: int
    answered: int
    failures: list[tuple[str, int]]
    not_asked: list[tuple[str, int]]
    seconds: str
    tokens: str


class View(NamedTuple):
    """All that the template shows except the item browser."""

    title: str
    keju: str
    runs: list[dict[str, str]]
    synthetic: list[Text]
    without_reference: str
    swapped: list[SwappedPage]
    places: dict[ItemName, int]
    unchecked: str | None
    invented: list[InventedRow]
    nearly_empty: list[NearlyEmpty]
    no_results: list[NoResults]
    names: list[str]
    models: list[ModelRow]
    parameters: list[ParametersRow]
    asked_otherwise: list[tuple[str, Text]]
    boards: list[Leaderboard]
    units: list[Text]
    missing: list[Text]
    unfinished: list[Unfinished]
    paper_tables: list[PaperTable]
    other_data: Sequence[str]
    own_pages: bool
    own_definitions: dict[str, Definition]
    baselines: bool
    official: bool
    steps: list[StepTable]
    wordings: WordingSpread
    tables: list[TaskTable]
    readings: list[AnswerReadings]
    decision: Text | None
    round_spreads: list[RoundSpread]
    views: list[ViewTable]
    views_head: Text
    scorers: Text
    metrics: list[MetricRow]
    errors: list[ErrorRow]
    glossary: Glossary
    in_no_mean: list[NoResults]
    hard: Difficulty
    breakdowns: list[Json]
    options: list[Json]
    grades: Grades
    post_edit_costs: list[PostEditCost]
    risk_coverage_rows: list[RiskCoverageRow]
    task_ids: list[str]
    times: TimeTable | None
    pictures_note: str


def build_view(
    run_set: RunSet,
    *,
    title: str,
    published: bool = False,
    same_as: Sequence[SameAs] = (),
    prices: Prices | None = None,
    collection: Collection | None = None,
    images_left_out: int = 0,
) -> View:
    """Everything except the items; with the paper tables, including the run, if `published`.

    `same_as` declares which models of the runs are a paper's; times and costs are converted to
    `collection`; `images_left_out` counts images that the report cannot show.
    """
    results = run_set.results
    judged = grades(run_set)
    unread = in_no_mean(run_set)
    absent = {each.model for each in unread}
    timed = speeds(run_set)
    swapped = swapped_of(run_set)
    boards = leaderboards(run_set, results, prices)
    readings = shown_readings(results.values())
    views = list(view_tables(run_set))
    return View(
        title=title,
        keju=__version__,
        runs=[
            {
                "dataset": run.manifest.dataset,
                "version": run.manifest.dataset_version,
                "created": run.manifest.created[:16].replace("T", " "),
            }
            for run in run_set.runs
        ],
        synthetic=_synthetic(run_set),
        without_reference=_without_reference(run_set),
        swapped=swapped.found,
        places={item_name(asked.item): place for place, asked in enumerate(run_set.asked)}
        if swapped.found
        else {},
        unchecked=swapped.unchecked_note,
        invented=invented_rows(run_set),
        nearly_empty=nearly_empty(run_set),
        no_results=no_results(run_set),
        names=run_set.models,
        models=[_model_row(run_set, model, timed.get(model), boards) for model in run_set.models],
        parameters=parameters(run_set),
        asked_otherwise=asked_otherwise(run_set),
        boards=boards,
        units=[
            _("{} ({}).", describe_units(units), recognised(benchmark(name).title))
            for name, units in _units_by_benchmark(run_set).items()
        ],
        own_definitions=_own_definitions(boards),
        own_pages=only_own_pages(run_set),
        baselines=any(
            model_responses.role == "baseline" for model_responses in run_set.by_model.values()
        ),
        official=any("official" in each.protocols for each in boards),
        missing=list(_missing_lines(run_set, results, boards)),
        unfinished=[
            each for run in run_set.runs for each in unfinished_models(RunFolder.open(run.path))
        ],
        paper_tables=papers_tables(run_set, results, judged.means, published=True, same_as=same_as)
        if published
        else [],
        other_data=other_data(run_set) if published else [],
        steps=step_tables(run_set),
        wordings=wording_spread(run_set),
        tables=task_tables(run_set, results),
        readings=readings,
        decision=_decision(run_set, readings, prices),
        round_spreads=round_spreads(run_set),
        views=views,
        views_head=_("{}, responses seen in other ways", listed(_benchmarks(views))),
        scorers=_scorers([each for each in papers() if not paper(each).scorer]),
        metrics=list(metric_rows(results)),
        errors=[error_row(each) for each in reading_errors(results.values(), wrong_pages(run_set))],
        glossary=glossary(results),
        in_no_mean=unread,
        hard=difficulty(run_set, absent),
        breakdowns=breakdowns(run_set, absent),
        options=option_errors(run_set),
        grades=judged,
        post_edit_costs=post_edit_costs(run_set),
        risk_coverage_rows=risk_coverage_rows(run_set),
        task_ids=_task_ids(run_set),
        times=time_table(run_set, collection, prices),
        pictures_note=_(
            "{} images are not in this report: the dataset was moved, or the images would make "
            "the report too large (--pictures sets the limit).",
            images_left_out,
        )
        if images_left_out
        else "",
    )


def _units_by_benchmark(run_set: RunSet) -> dict[str, Units]:
    """The units that intervals and tests resample, of all items with a main metric."""
    counters: dict[str, UnitCounter] = {}
    for item in run_set.iter_items():
        if any(main_metric(item, protocol) for protocol in PROTOCOLS):
            # An item can name another benchmark than its task does.
            counters.setdefault(task(item.task).benchmark, UnitCounter()).add(item)
    names = {run.manifest.unit for run in run_set.runs}
    name = names.pop() if len(names) == 1 else ""
    return {benchmark: counter.units(name) for benchmark, counter in counters.items()}


def _decision(
    run_set: RunSet, readings: Sequence[AnswerReadings], prices: Prices | None
) -> Text | None:
    """The commands that decide the unclear answers, with a price; None where there are none."""
    if not any(row.counts.get("unclear") for row in readings):
        return None
    name = shell_quoted(run_set.runs[0].name) if len(run_set.runs) == 1 else "RUN"
    return decision_line([run.path for run in run_set.runs], name=name, prices=prices)


def _benchmarks(views: Sequence[ViewTable]) -> dict[str, None]:
    """The benchmarks with such tables."""
    rows = (row for table in views for row in table.rows if row.task != OVERALL)
    return dict.fromkeys(task(row.task).benchmark for row in rows)


def _scorers(names: list[str]) -> Text:
    if len(names) == 1:
        return _(
            "{} has not published its scorer: its official protocol is our reading of the paper.",
            names[0],
        )
    some = both([listed(names[:-1]), names[-1]]) if names else ""
    return _(
        "{} have not published their scorers: their official protocols are our reading of the "
        "papers.",
        some,
    )


def _own_definitions(boards: Sequence[Leaderboard]) -> dict[str, Definition]:
    """The definitions of the benchmarks that keju does not ship, by name."""
    return {
        each.benchmark: benchmark(each.benchmark)
        for each in boards
        if not benchmark(each.benchmark).shipped
    }


def only_own_pages(run_set: RunSet) -> bool:
    """Whether all items are pages of one's own, and none is of a published benchmark."""
    return all(each.item.benchmark == OWN_BENCHMARK for each in run_set.asked)


def papers_tables(
    run_set: RunSet,
    results: Results,
    given: Given,
    *,
    published: bool,
    same_as: Sequence[SameAs] = (),
) -> list[PaperTable]:
    """The run in all paper tables, with the papers' own rows if requested, in their order."""
    found = [
        *build_paper_tables(run_set, results, published=published, given=given, same_as=same_as),
        *input_tables(run_set, published=published, same_as=same_as),
        *data_tables(run_set, published=published),
    ]
    order = papers()
    return sorted(
        found, key=lambda table: (order.index(table.benchmark), int(table.name.split()[1]))
    )


def _model_row(
    run_set: RunSet, name: str, timed: Speed | None, boards: Sequence[Leaderboard]
) -> ModelRow:
    model_responses = run_set.by_model[name]
    rows = [row for board in boards for row in board.rows if row.model == name]
    return ModelRow(
        name=name,
        role=model_responses.role,
        kind=_kind(model_responses),
        asked=_items_cell(model_responses),
        unanswered=sum(row.unanswered for row in rows),
        answered=model_responses.statuses["answered"],
        failures=[
            (why, count) for why, count in model_responses.statuses.items() if why != "answered"
        ],
        not_asked=sorted(run_set.not_asked.get(name, {}).items()),
        seconds=_seconds(model_responses, timed),
        tokens=NOTHING
        if model_responses.output_tokens is None
        else f"{model_responses.output_tokens:,}",
    )


def _seconds(model_responses: ModelResponses, timed: Speed | None) -> str:
    """Seconds per item: as measured for models that compute on this machine, else sequential."""
    if timed is not None:
        if timed.thousand is None:
            return NOTHING
        return f"{timed.thousand / 1000:.2f}"
    return (
        NOTHING
        if model_responses.seconds_an_item is None
        else f"{model_responses.seconds_an_item:.2f}"
    )


def _items_cell(model_responses: ModelResponses) -> Cell:
    """The items; below them the rounds and requests, if they differ."""
    rounds = model_responses.rounds
    whole = model_responses.items % rounds == 0
    notes = []
    if rounds > 1:
        notes.append(_("× {} rounds", rounds) if whole else _("answers in {} rounds", rounds))
    if model_responses.responses != model_responses.items:
        notes.append(_("in {:,} calls", model_responses.responses))
    items = model_responses.items // rounds if whole else model_responses.items
    return Cell(f"{items:,}", note=join_lines(notes))


def _synthetic(run_set: RunSet) -> list[Text]:
    """Notes on synthetic data, and on other data beside it."""
    drawn = dict.fromkeys(r.manifest.dataset for r in run_set.runs if r.manifest.synthetic)
    others = dict.fromkeys(r.manifest.dataset for r in run_set.runs if not r.manifest.synthetic)
    if not drawn:
        return []
    lines = [
        _(
            "{}: keju generated these pages. Use their scores to check that the pipeline works, "
            "not to compare models.",
            listed(drawn),
        )
    ]
    if others:
        lines.append(_("Not synthetic: {}.", listed(others)))
    return lines


def _without_reference(run_set: RunSet) -> str:
    """The number of items without a reference; empty where all have one."""
    reasons = [missing_reference(asked.item) for asked in run_set.asked]
    if count := reasons.count(NO_REFERENCE):
        return _(
            "{:,} of {:,} items have no reference. Their responses are not scored and are not "
            "part of any mean.",
            count,
            len(reasons),
        )
    return ""


def _kind(model_responses: ModelResponses) -> Text:
    """The kind of a model, as text."""
    kind = RESULTS if model_responses.kind == RESULTS else model_responses.model.partition(":")[0]
    if kind == "ocr+llm" and model_responses.role == "baseline":
        kind = "baseline"
    return _KINDS.get(kind, _("model"))


def _missing_lines(
    run_set: RunSet, results: Results, boards: Sequence[Leaderboard]
) -> Iterator[Text]:
    """The parts missing in the overall numbers, one line per model, protocol, benchmark and reason.

    The tasks that are not in the data are only counted, in one line per benchmark.
    """
    there = {task_name(item.task, item.query) for item in run_set.iter_items()}
    lines: dict[Text, None] = {}
    for (model, protocol), result in results.items():
        for found in result.benchmarks:
            whole = [name for domain in found.domains.values() for name in domain.parts]
            absent = set(whole) - there
            if absent:
                line = _(
                    "{}: {} of {} tasks are not in the data",
                    found.benchmark,
                    len(absent),
                    len(whole),
                )
                lines[line] = None
            by_reason: dict[str, list[str]] = {}
            for domain in found.domains.values():
                for name, why in domain.missing.items():
                    if name not in absent:
                        by_reason.setdefault(why, []).append(name)
            for why, names in by_reason.items():
                line = _(
                    "{}, {} {}: {}: {}",
                    model,
                    protocol,
                    found.benchmark,
                    recognised(why),
                    listed(names),
                )
                lines[line] = None
    for board in boards:
        for row in board.rows:
            if row.unanswered:
                line = n_(
                    "{}, {}: {:,} of {n:,} item have a response",
                    "{}, {}: {:,} of {n:,} items have a response",
                    row.items,
                    row.model,
                    board.benchmark,
                    row.answered,
                )
                lines[line] = None
    yield from lines


def _task_ids(run_set: RunSet) -> list[str]:
    asked = {item.task for item in (each.item for each in run_set.asked)}
    return [each.id for each in tasks() if each.id in asked]
