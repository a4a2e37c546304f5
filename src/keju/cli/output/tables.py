"""Terminal output: tables for people, JSON for programs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from keju.analysis.labels import metric_label
from keju.analysis.reasoning import reasoning_rows
from keju.cli.output.console import plain_table, shown
from keju.datasets.distributions import told
from keju.datasets.stats import Stats
from keju.definitions import NO_REFERENCE, OWN_BENCHMARK, Query, Task, tasks
from keju.definitions.blank import REASON as BLANK_PAGE
from keju.errors import number_of, shortened
from keju.formatting import NOTHING, percent
from keju.items import PromptVariant, Protocol
from keju.models import ModelKind
from keju.scoring import PROTOCOLS, Metric, MetricResult, Result, Summary, joined
from keju.scoring.reasoned import FORM


def tasks_tables(listed: Sequence[Task]) -> Iterator[Table]:
    """The catalogue of tasks, one table per domain and one row per query; fits 80 columns."""
    for place in dict.fromkeys((each.benchmark, each.domain) for each in listed):
        tasks_ = [each for each in listed if (each.benchmark, each.domain) == place]
        official, counted = (any(map(has, tasks_)) for has in (_has_official, _has_count))
        heads = ["official"] * official + ["strict"] + ["count"] * counted
        right = [2 + len(heads) - 1] if counted else []
        table = plain_table("task", "asks for", *heads, right=right, title=": ".join(place))
        table.columns[0].no_wrap = False
        for each in tasks_:
            _add_task(table, each, official=official, counted=counted)
        yield table


def _has_official(task: Task) -> bool:
    return task.has_official


def _has_count(task: Task) -> bool:
    return bool(task.count)


def _add_task(table: Table, task: Task, *, official: bool, counted: bool) -> None:
    """Add a task, with the columns of its table."""
    name, counts = f"{task.id:<3} {task.name_zh} {task.name_en}", [f"{task.count:,}"] * counted
    if task.queries[0].name:
        table.add_row(name, "", "", *[""] * official, *counts)
        name, counts = "", [""] * counted
    for query in task.queries:
        label = f"    {query.name}" if query.name else name
        mains = [next(iter(metrics), "") for metrics in (query.official, query.strict)]
        table.add_row(label, query.form, *mains[not official :], *counts)


def metrics_table(listed: Iterable[Metric]) -> Table:
    """The metrics by answer form and protocol, with the rule of each."""
    table = plain_table("form", "protocol", "metric", "of", "counts")
    table.columns[-1].no_wrap = False
    for each in sorted(listed, key=lambda each: (each.form, each.protocol, each.benchmark)):
        name = each.name if each.higher_is_better else f"{each.name} ↓"
        place = each.origin or each.benchmark
        table.add_row(each.form, each.protocol, *map(shown, (name, place, each.rule)))
    return table


def models_table(kinds: Iterable[ModelKind]) -> Table:
    """The kinds of model, and whether each can answer on this machine."""
    table = plain_table("spelled", "what it is", "here")
    for kind in kinds:
        needs = " and ".join(filter(None, (kind.missing, kind.unset)))
        ready = Text(f"needs: {needs}") if needs else Text("ready", "green")
        what = f"{kind.what} [{kind.plugin}]" if kind.plugin else kind.what
        table.add_row(kind.spelling, Text(what), Text(kind.problem) if kind.problem else ready)
    return table


def stats_tables(stats: Stats) -> Iterator[Table]:
    """The statistics of a dataset: by domain, by task, and by source of images."""
    heads = ["questions", "prompt", "answer", "pixels\nleast–most", "width/height\nleast–most"]
    domains = plain_table("domain", "tasks\nMCQ + QA", *heads, right=range(1, 7), title="domains")
    for row in stats.domains.iter_rows(named=True):
        kinds = f"{row['n_task']}\n{row['n_mcq_task']} + {row['n_qa_task']}"
        domains.add_row(row["domain"], kinds, *_measures(row))
    tasks_ = plain_table("task", "", *heads, right=range(2, 7), title="tasks")
    for row in stats.tasks.iter_rows(named=True):
        tasks_.add_row(row["task"], row["name_zh"], *_measures(row))
    tasks_.caption, tasks_.caption_justify, tasks_.caption_style = _units(stats), "left", "none"
    own_pages = {each.id for each in tasks() if each.benchmark == OWN_BENCHMARK}
    if not own_pages.issuperset(stats.tasks["task"]):
        yield domains
    yield tasks_
    if stats.strata.height:
        strata = plain_table("stratum", "", "questions", "images", right=(2, 3), title="strata")
        for row in stats.strata.iter_rows(named=True):
            counts = (f"{row[name]:,}" for name in ("questions", "images"))
            strata.add_row(row["stratum"], row["name"], *counts)
        yield strata
    if stats.sources.height:
        columns = ["type", "task", "images", "size", "boxes an image"]
        sources = plain_table("source", *columns, right=range(3, 6), title="sources of images")
        for row in stats.sources.iter_rows(named=True):
            size = f"{row['width']:.0f} x {row['height']:.0f}"
            boxes = NOTHING if row["boxes"] is None else f"{row['boxes']:.1f}"
            sources.add_row(
                row["source"], row["type"], row["task"], f"{row['images']:,}", size, boxes
            )
        yield sources
    spread = plain_table("distribution of", "unit", "counts", title="distributions")
    for line in told(stats.distributions):
        spread.add_row(line.measure, line.unit, line.counts)
    yield spread


def _units(stats: Stats) -> str:
    """The meaning of the columns, and of the reference split, if there is one."""
    units = (
        "prompt, answer: mean length in characters without white space; pixels (width times "
        "height) and width/height: mean over questions, so an image counts as often as it is asked "
        "about."
    )
    if reference := int(stats.tasks["n_reference"].sum()):
        units += (
            f"\n{reference:,} of the questions are of the reference split: labelled examples for "
            "baselines, which nobody is asked."
        )
    return units


def _measures(row: Mapping[str, Any]) -> list[str]:
    """Questions, mean lengths in characters, pixels and aspect ratio of one row."""
    lengths = [NOTHING if row[name] is None else f"{row[name]:.1f}" for name in ("avg_q", "avg_a")]
    pixels = aspect = NOTHING
    if row["avg_pv"] is not None:
        pixels = f"{row['avg_pv']:,.0f}\n{row['min_pv']:,.0f}–{row['max_pv']:,.0f}"
        aspect = f"{row['avg_ar']:.2f}\n{row['min_ar']:.2f}–{row['max_ar']:.2f}"
    return [f"{row['n_q']:,}", *lengths, pixels, aspect]


def summary_lines(summaries: Sequence[Summary]) -> Iterator[str]:
    """Unscored responses with reasons, the number of failures, and responses without an item."""
    for each in joined(part for summary in summaries for part in summary.unscored):
        many = each.responses > 1
        if each.reason in (NO_REFERENCE, BLANK_PAGE):
            many_items = f"{each.responses:,} responses, such as that" if many else "the response"
            yield f"not scored: {many_items} to {shortened(each.item)} ({each.task}): {each.reason}"
            continue
        count = (
            f"{number_of(each.responses, 'response')}, such as that to"
            if many
            else "the response to"
        )
        yield (
            f"unscored: {', '.join(each.metrics)} of {count} {each.task} "
            f"{shortened(each.item)}: {each.reason}"
        )
    if failed := sum(summary.failed for summary in summaries):
        yield (
            f"{number_of(failed, 'response')} failed; a failure counts at each metric's worst value"
        )
    strays = {file: count for summary in summaries for file, count in summary.strays.items()}
    if strays:
        yield (
            f"{number_of(sum(strays.values()), 'response is', 'responses are')} to items "
            "that the run does not have, and are "
            f"not scored: {', '.join(strays)}. Delete those lines, or run those items again"
        )


_Who = tuple[str, PromptVariant]
"""A model in one prompt variant: a column."""
_LABELS = 48
"""Width in characters of the names of task and metric in a table of scores."""


def scores_tables(
    results: Iterable[Result], models: Sequence[str], *, width: int = 120
) -> Iterator[Table]:
    """Main metrics in percent: a row per task and protocol, a column per model and prompt variant.

    Notes are below. As many columns as fit into `width` characters are side by side; the others
    follow in further tables. `models` are all models with a column, in order.
    """
    kept = list(results)
    columns, heads = _columns(models, [(each.model, each.variant) for each in kept])
    begin, taken = 0, _LABELS
    for place, head in enumerate(heads):
        needs = 2 + max(map(cell_len, [*head.split("\n"), "unscored"]))
        if taken + needs > width and place > begin:
            yield _scores_table(kept, columns[begin:place], heads[begin:place])
            begin, taken = place, _LABELS
        taken += needs
    yield _scores_table(kept, columns[begin:], heads[begin:])


def _scores_table(kept: Sequence[Result], columns: Sequence[_Who], heads: Sequence[str]) -> Table:
    table = plain_table("task", "main metric", *heads, right=range(2, 2 + len(heads)))
    found: dict[tuple[str, str, Protocol], dict[_Who, MetricResult]] = {}
    for result in kept:
        for scored in result.tasks:
            if scored.main is not None:
                where = (scored.task, scored.query, result.protocol)
                found.setdefault(where, {})[result.model, result.variant] = scored.main
    last = ""
    notes: dict[str, str] = {}
    for each, query, protocol in _catalogue():
        if mains := found.get((each.id, query.name, protocol)):
            metric = next(iter(mains.values())).metric
            label = metric_label(each.id, query.name, protocol, metric)
            if protocol == "official" and (note := query.official_note):
                label += " " + notes.setdefault(note, f"[{len(notes) + 1}]")
            name = " ".join(part for part in (each.id, each.name_zh, query.name) if part)
            cells = [_main_value(mains.get(who), notes) for who in columns]
            table.add_row(name if name != last else "", f"{protocol} {label}", *cells)
            last = name
    if notes:
        table.caption = shown("\n".join(f"{mark} {note}" for note, mark in notes.items()))
        table.caption_justify = "left"
    return table


def model_head(model: str) -> str:
    """A model's name in short lines; a path in it, or a long name, is shortened in the middle."""
    return "\n".join(shortened(line, 24) for line in model.replace(":", ":\n").split("\n"))


def _columns(models: Sequence[str], spoken: Sequence[_Who]) -> tuple[list[_Who], list[str]]:
    """The models with a column, and its head, which names a prompt variant if not the default."""
    found = {variant for _, variant in spoken} or {PromptVariant()}
    variants = sorted(found, key=lambda variant: variant.rank)
    columns = [
        (model, variant)
        for model in models
        for variant in variants
        if len(variants) == 1 or (model, variant) in spoken
    ]
    return columns, [
        f"{model_head(model)}\n{variant.label(variants)}".rstrip("\n") for model, variant in columns
    ]


def more_tables(summaries: Sequence[Summary], *, variants: bool) -> Iterator[Table]:
    """Values outside of the means: the paper's formulas, and `official` with reasoning."""
    if variants:
        yield variants_table(summaries)
    if (reasoning := reasoning_table(summaries)) is not None:
        yield reasoning


def variants_table(summaries: Sequence[Summary]) -> Table:
    """The paper's formulas and adjudicated answers, the script's values in brackets, in percent."""
    results = [result for summary in summaries for result in summary.results]
    columns, heads = _columns(
        [summary.model for summary in summaries], [(each.model, each.variant) for each in results]
    )
    table = plain_table(
        "task", "variant", "beside", *heads, right=range(3, 3 + len(heads)),
        title="Variants, which enter no mean (and what the authors' script computes beside)",
    )  # fmt: skip
    found = {
        (summary.model, each.variant, each.task, each.metric): each
        for summary in summaries
        for each in summary.variants
    }
    rows = dict.fromkeys((each.task, each.metric, each.beside) for each in found.values())
    order = [each.id for each in tasks()]
    for task, metric, beside in sorted(rows, key=lambda row: order.index(row[0])):
        cells = []
        for who in columns:
            value = found[*who, task, metric].value if (*who, task, metric) in found else None
            cells.append(f"{percent(value)} ({percent(_official(results, who, task, beside))})")
        table.add_row(task, metric, beside, *cells)
    return table


def reasoning_table(summaries: Sequence[Summary]) -> Table | None:
    """`official` with reasoning from a separate field, the content alone in brackets.

    None where no model has such reasoning.
    """
    alone = [
        result
        for summary in summaries
        for result in summary.results
        if result.protocol == "official"
    ]
    with_it = {
        (result.model, result.variant): result for each in summaries for result in each.reasoned
    }
    if not with_it:
        return None
    spoken = [(each.model, each.variant) for each in alone]
    columns, heads = _columns([summary.model for summary in summaries], spoken)
    shown_heads = [head for who, head in zip(columns, heads, strict=True) if who in with_it]
    table = plain_table(
        "task", "main metric", *shown_heads, right=range(2, 2 + len(shown_heads)),
        title=f"official with the reasoning field, as {FORM} (and of the content alone, which is "
        "official)",
    )  # fmt: skip
    by_who = {(each.model, each.variant): reasoning_rows(each, with_it[each.model, each.variant])
              for each in alone if (each.model, each.variant) in with_it}  # fmt: skip
    rows = dict.fromkeys((row.task, row.metric) for found in by_who.values() for row in found)
    for task, metric in rows:
        cells = []
        for who in columns:
            if who in with_it:
                own = [row for row in by_who[who] if (row.task, row.metric) == (task, metric)]
                cells.append(f"{percent(own[0].with_reasoning)} ({percent(own[0].alone)})" if own
                             else NOTHING)  # fmt: skip
        table.add_row(task, metric, *cells)
    return table


def _official(results: Iterable[Result], who: _Who, task: str, metric: str) -> float | None:
    for result in results:
        if result.protocol == "official" and (result.model, result.variant) == who:
            of_task = (each.metrics for each in result.tasks if each.task == task)
            found = (each for metrics in of_task for each in metrics)
            return next((each.value for each in found if each.metric == metric), None)
    return None


def _catalogue() -> Iterator[tuple[Task, Query, Protocol]]:
    for each in tasks():
        for query in each.queries:
            for protocol in PROTOCOLS:
                yield each, query, protocol


def _main_value(main: MetricResult | None, notes: dict[str, str]) -> str:
    """The value with the mark of its note, which is added to the notes if it is new."""
    if main is None:
        return NOTHING
    if main.value is None:
        return "unscored"
    mark = notes.setdefault(main.note, f"[{len(notes) + 1}]") if main.note else ""
    return f"{mark} {percent(main.value)}".strip()
