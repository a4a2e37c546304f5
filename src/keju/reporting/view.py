"""The summary, tables and error analysis of a report, as plain values for its template."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from keju import __version__
from keju.benchmarks import tasks
from keju.items import Protocol
from keju.models import role_of
from keju.reporting.gather import Answer, Gathered
from keju.reporting.intervals import Measured, intervals
from keju.reporting.labels import NOTHING, higher_is_better, metric_label, percent
from keju.scoring import PROTOCOLS, MetricResult, Result, TaskResult, aggregate
from keju.statistics import Interval
from keju.text import LAYERS

_BAR = 176
_KINDS = {
    "openai": "endpoint",
    "inspect": "endpoint",
    "ppocr": "OCR engine with keju's reading order",
    "tesseract": "OCR engine",
    "got": "OCR engine",
    "http-ocr": "OCR service",
    "ocr+llm": "an engine reads, a model answers",
    "replay": "answers made elsewhere",
    "baseline": "baseline: the floor under a score",
    "blind": "baseline: a model that is not shown the images",
    "shuffled": "baseline: a model that is shown other images",
    "human": "person",
}


class Cell(NamedTuple):
    """One number of a table as it is shown, what stands below it, and whether it is the best."""

    value: str = NOTHING
    note: str = ""
    title: str = ""
    best: bool = False


class ModelRow(NamedTuple):
    """How one model fared as an answerer."""

    name: str
    kind: str
    asked: int
    answered: int
    failures: list[tuple[str, int]]
    not_asked: list[tuple[str, int]]
    seconds: str
    tokens: str


class OverallRow(NamedTuple):
    """A benchmark under one protocol, over all models."""

    benchmark: str
    protocol: Protocol
    cells: list[Cell]


class TaskRow(NamedTuple):
    """A task's main metric under one protocol, over all models."""

    id: str
    query: str
    name_zh: str
    name_en: str
    domain: str
    protocol: Protocol
    metric: str
    first: bool
    span: int
    cells: list[Cell]


class TaskTable(NamedTuple):
    """The tasks of one benchmark."""

    benchmark: str
    rows: list[TaskRow]


class MetricRow(NamedTuple):
    """One metric of one model and task, with its signature."""

    model: str
    task: str
    protocol: Protocol
    metric: str
    value: str
    items: str
    signature: str


class Part(NamedTuple):
    """A stretch of the bar of errors, in pixels."""

    kind: str
    x: float
    width: float


class ErrorRow(NamedTuple):
    """What the reading errors of a model in a task are made of."""

    model: str
    task: str
    cer: str
    order_free: str
    layers: list[str]
    parts: list[Part]
    words: str


class View(NamedTuple):
    """All that the template shows beside the item browser."""

    title: str
    keju: str
    runs: list[dict[str, str]]
    synthetic: bool
    models: list[ModelRow]
    overall: list[OverallRow]
    missing: list[str]
    tables: list[TaskTable]
    metrics: list[MetricRow]
    errors: list[ErrorRow]
    layers: Sequence[str]
    task_names: list[dict[str, str]]
    pictures_note: str


def build_view(gathered: Gathered, *, title: str) -> View:
    """Everything but the items."""
    results = {(result.model, result.protocol): result for result in aggregate(gathered.scores)}
    left_out = sum(run.pictures.left_out for run in gathered.runs)
    return View(
        title=title,
        keju=__version__,
        runs=[
            {
                "dataset": run.manifest.dataset,
                "version": run.manifest.dataset_version,
                "created": run.manifest.created[:16].replace("T", " "),
            }
            for run in gathered.runs
        ],
        synthetic=any(run.manifest.synthetic for run in gathered.runs),
        models=[_model_row(gathered, model) for model in gathered.models],
        overall=list(_overall_rows(gathered, results)),
        missing=list(_missing_lines(results)),
        tables=_task_tables(gathered, results),
        metrics=list(_metric_rows(results)),
        errors=list(_error_rows(results)),
        layers=LAYERS,
        task_names=_task_names(gathered),
        pictures_note=(
            f"{left_out} pictures are not in this file: the dataset is not where it was, or they "
            "would make the file too large (--pictures sets how large)."
            if left_out
            else ""
        ),
    )


Results = dict[tuple[str, Protocol], Result]


def _answers(gathered: Gathered, model: str) -> list[Answer]:
    return [
        answer
        for asked in gathered.asked.values()
        for answer in asked.answers
        if answer.model == model
    ]


def _model_row(gathered: Gathered, model: str) -> ModelRow:
    answers = [answer.response for answer in _answers(gathered, model)]
    statuses = Counter(response.status for response in answers)
    asked = len(answers)
    seconds = sum(response.seconds for response in answers)
    tokens = [response.usage.output_tokens for response in answers]
    said = sum(count for count in tokens if count is not None)
    return ModelRow(
        name=model,
        kind=_kind(model),
        asked=asked,
        answered=statuses["answered"],
        failures=[(status, count) for status, count in statuses.items() if status != "answered"],
        not_asked=sorted(gathered.not_asked.get(model, {}).items()),
        seconds=f"{seconds / asked:.2f}" if asked else NOTHING,
        tokens=f"{said:,}" if any(count is not None for count in tokens) else NOTHING,
    )


def _overall_rows(gathered: Gathered, results: Results) -> Iterator[OverallRow]:
    names = dict.fromkeys(
        found.benchmark for result in results.values() for found in result.benchmarks
    )
    for name in names:
        for protocol in PROTOCOLS:
            cells = [_overall_cell(results.get((m, protocol)), name) for m in gathered.models]
            yield OverallRow(name, protocol, cells)


def _overall_cell(result: Result | None, benchmark: str) -> Cell:
    found = (
        next((b for b in result.benchmarks if b.benchmark == benchmark), None) if result else None
    )
    if found is None:
        return Cell()
    missing = {
        name: why for domain in found.domains.values() for name, why in domain.missing.items()
    }
    parts = sum(len(domain.parts) for domain in found.domains.values())
    reasons = Counter(missing.values())
    return Cell(
        percent(found.overall.value),
        note=f"over {parts - len(missing)} of {parts} tasks" if missing else "",
        title="; ".join(f"{count} tasks: {why}" for why, count in reasons.items()),
    )


def _missing_lines(results: Results) -> Iterator[str]:
    """What the overall numbers lack, one line a model, protocol, benchmark and reason."""
    for (model, protocol), result in results.items():
        for found in result.benchmarks:
            by_reason: dict[str, list[str]] = {}
            for domain in found.domains.values():
                for name, why in domain.missing.items():
                    by_reason.setdefault(why, []).append(name)
            for why, names in by_reason.items():
                listed = ", ".join(names)
                yield f"{model}, {protocol} {found.benchmark}: {why}: {listed}"


def _task_tables(gathered: Gathered, results: Results) -> list[TaskTable]:
    sure = intervals(gathered.scores, metrics=_main_metrics(results))
    tables: dict[str, list[TaskRow]] = {}
    asked = [(each, query) for each in tasks() for query in each.queries]
    for each, query in asked:
        rows = []
        for protocol in PROTOCOLS:
            mains = {
                model: found.main
                for model in gathered.models
                if (found := _find(results.get((model, protocol)), each.id, query.name))
                and found.main
            }
            if mains:
                metric = next(iter(mains.values())).metric
                where = (each.id, query.name, protocol, metric)
                cells = _main_cells(gathered.models, mains, where, sure)
                metric = metric_label(*where)
                rows.append((protocol, metric, cells))
        for place, (protocol, metric, cells) in enumerate(rows):
            tables.setdefault(each.benchmark, []).append(
                TaskRow(
                    id=each.id,
                    query=query.name,
                    name_zh=each.name_zh,
                    name_en=each.name_en,
                    domain=each.domain,
                    protocol=protocol,
                    metric=metric,
                    first=place == 0,
                    span=len(rows),
                    cells=cells,
                )
            )
    return [TaskTable(benchmark, rows) for benchmark, rows in tables.items()]


def _find(result: Result | None, name: str, query: str) -> TaskResult | None:
    if result is None:
        return None
    return next((each for each in result.tasks if (each.task, each.query) == (name, query)), None)


def _main_metrics(results: Results) -> set[Measured]:
    return {
        (model, each.task, each.query, protocol, each.main.metric)
        for (model, protocol), result in results.items()
        for each in result.tasks
        if each.main is not None
    }


def _main_cells(
    models: Sequence[str],
    mains: Mapping[str, MetricResult],
    place: tuple[str, str, Protocol, str],
    sure: Mapping[Measured, Interval],
) -> list[Cell]:
    values = [
        main.value
        for model, main in mains.items()
        if main.value is not None and not _is_floor(model)
    ]
    choose = max if higher_is_better(*place) else min
    top = choose(values) if values and len(mains) > 1 else None
    cells = []
    for model in models:
        main = mains.get(model)
        cell = Cell() if main is None else _main_cell(main, sure.get((model, *place)))
        best = main is not None and main.value == top and not _is_floor(model)
        cells.append(cell._replace(best=best))
    return cells


def _kind(model: str) -> str:
    """What a model is, in words."""
    kind = model.partition(":")[0]
    if kind == "ocr+llm" and _is_floor(model):
        kind = "baseline"
    return _KINDS.get(kind, "model")


def _is_floor(model: str) -> bool:
    """Whether a model is a baseline, which is never called the best."""
    return role_of(model) == "baseline"


def _main_cell(main: MetricResult, interval: Interval | None) -> Cell:
    if main.value is None:
        reason = "; ".join(main.unscored)
        return Cell("unscored", note=reason, title=reason)
    if main.without_failures is None:
        return Cell(percent(main.value), note=f"none of {main.scored} whole", title=main.signature)
    notes = [f"{percent(interval.low)} to {percent(interval.high)}"] if interval else []
    notes.append(f"{main.scored} items" if main.scored != 1 else "1 item")
    if main.without_failures != main.value:
        notes.append(f"{percent(main.without_failures)} without failures")
    if main.note:
        notes.append(main.note)
    title = f"{interval.groups} groups; {main.signature}" if interval else main.signature
    return Cell(percent(main.value), note=" · ".join(notes), title=title)


def _metric_rows(results: Results) -> Iterator[MetricRow]:
    for (model, protocol), result in results.items():
        for each in result.tasks:
            for metric in each.metrics:
                unscored = "; ".join(metric.unscored)
                yield MetricRow(
                    model=model,
                    task=each.name,
                    protocol=protocol,
                    metric=metric_label(each.task, each.query, protocol, metric.metric),
                    value=percent(metric.value),
                    items=f"{metric.scored} of {metric.items}",
                    signature=metric.signature or unscored,
                )


def _error_rows(results: Results) -> Iterator[ErrorRow]:
    for (model, protocol), result in results.items():
        for each in result.tasks:
            found = {metric.metric: metric for metric in each.metrics}
            cer, free = found.get("CER"), found.get("CER_order_free")
            if protocol != "strict" or cer is None or free is None or free.value is None:
                continue
            if cer.layers and cer.without_failures is not None:
                yield _error_row(model, each.name, cer, free.value)


def _error_row(model: str, name: str, cer: MetricResult, order_free: float) -> ErrorRow:
    exact, script = cer.layers["exact"], cer.layers["script"]
    shares = {
        "order": max(0.0, script - order_free),
        "fold": max(0.0, exact - script),
        "glyph": min(order_free, script),
    }
    scale = _BAR / max(1.0, exact)
    parts, x = [], 0.0
    for kind, share in shares.items():
        parts.append(Part(kind, round(x, 2), round(share * scale, 2)))
        x += share * scale
    return ErrorRow(
        model=model,
        task=name,
        cer=percent(cer.value),
        order_free=percent(order_free),
        layers=[percent(cer.layers[layer]) for layer in LAYERS],
        parts=parts,
        words=(
            f"order of columns {percent(shares['order'])}, variants and script "
            f"{percent(shares['fold'])}, other characters {percent(shares['glyph'])}"
        ),
    )


def _task_names(gathered: Gathered) -> list[dict[str, str]]:
    asked = {item.task for item in (each.item for each in gathered.asked.values())}
    return [
        {"id": each.id, "name": f"{each.name_zh} {each.name_en}"}
        for each in tasks()
        if each.id in asked
    ]
