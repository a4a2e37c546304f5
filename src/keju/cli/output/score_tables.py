"""Tables of scores in the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import get_args

from rich.cells import cell_len
from rich.table import Table

from keju.analysis.labels import metric_label
from keju.cli.output.console import format_literal, name_columns, plain_table, translate
from keju.definitions import NO_REFERENCE, Query, Task, tasks
from keju.definitions.protocols import PROTOCOL_ROWS
from keju.definitions.references import BLANK_PAGE
from keju.errors import shortened
from keju.formatting import NOTHING, percent_range
from keju.items import PromptVariant, Protocol
from keju.scoring import PROTOCOLS, BenchmarkResult, MetricResult, Result, Summary, merge_unscored
from keju.texts import _, n_


def summary_lines(summaries: Sequence[Summary]) -> Iterator[str]:
    """Unscored responses with reasons, the number of failures, and responses without an item."""
    for each in merge_unscored([part for summary in summaries for part in summary.unscored]):
        reason, item = translate(each.reason), shortened(each.item)
        if each.reason in (NO_REFERENCE, BLANK_PAGE):
            yield n_(
                "not scored: {n:,} response (first: {} {}): {}",
                "not scored: {n:,} responses (first: {} {}): {}",
                each.responses,
                each.task,
                item,
                reason
            )  # fmt: skip
            continue
        yield n_(
            "unscored: {} of {n:,} response (first: {} {}): {}",
            "unscored: {} of {n:,} responses (first: {} {}): {}",
            each.responses,
            ", ".join(each.metrics),
            each.task,
            item,
            reason
        )  # fmt: skip
    if failed := sum(summary.failed for summary in summaries):
        yield n_(
            "{n:,} response failed; a failure counts at each metric's worst value",
            "{n:,} responses failed; a failure counts at each metric's worst value",
            failed,
        )
    strays = {file: count for summary in summaries for file, count in summary.strays.items()}
    if strays:
        files = ", ".join(strays)
        yield n_(
            "Not scored: {n:,} response to items that are not in the run: {}. Delete these "
            "lines, or run these items again",
            "Not scored: {n:,} responses to items that are not in the run: {}. Delete these "
            "lines, or run these items again",
            sum(strays.values()),
            files,
        )


_Who = tuple[str, PromptVariant]
"""A model in one prompt variant: a column."""
_MOST_ROWS = 20
"""Maximum number of rows of the table of means."""
_LABELS = 48
"""Width in characters of the names of task and metric in a table of scores."""


def scores_tables(
    results: Iterable[Result], models: Sequence[str], *, width: int = 120
) -> Iterator[Table]:
    """Metrics in percent: a row per task and protocol, a column per model and prompt variant.

    They are the main metrics, and all of a protocol that has none. Notes are below. As many columns
    as fit into `width` characters are side by side; the others follow in further tables. `models`
    are all models with a column, in order.
    """
    kept = list(results)
    columns, heads = _columns(models, [(each.model, each.variant) for each in kept])
    begin, taken = 0, _LABELS
    for place, head in enumerate(heads):
        needs = 2 + max(map(cell_len, [*head.split("\n"), _("unscored")]))
        if taken + needs > width and place > begin:
            yield _scores_table(kept, columns[begin:place], heads[begin:place])
            begin, taken = place, _LABELS
        taken += needs
    yield _scores_table(kept, columns[begin:], heads[begin:])


def means_table(results: Sequence[Result], models: Sequence[str]) -> Table:
    """Overall means in percent: a row per model and prompt variant, a column per mean.

    A mean of only some tasks has their number in brackets. The rows are in the run's order, because
    means over different tasks cannot be ranked.
    """
    overall_means = {
        (result.model, result.variant, result.protocol, each.benchmark): each
        for result in results
        for each in result.benchmarks
    }
    benchmarks = list(dict.fromkeys(benchmark for _, _, _, benchmark in overall_means))
    shown = {protocol for _, _, protocol, _ in overall_means}
    order = dict.fromkeys([*PROTOCOLS[::-1], *PROTOCOL_ROWS])
    protocols = [protocol for protocol in order if protocol in shown]
    means = [(benchmark, protocol) for benchmark in benchmarks for protocol in protocols]
    columns, __ = _columns(models, [(each.model, each.variant) for each in results])
    variants = sorted({variant for _, variant in columns}, key=lambda variant: variant.rank)
    table = plain_table(
        *name_columns("model"),
        *(f"{translate(benchmark)}\n{protocol}" for benchmark, protocol in means),
        right=range(1, 1 + len(means)),
        title=_("Overall means in percent (in brackets: tasks with a value, of all)"),
    )
    for model, variant in columns[:_MOST_ROWS]:
        name = " · ".join(filter(None, (shortened(model, 40), variant.label(variants))))
        cells = [
            overall_means.get((model, variant, protocol, benchmark))
            for benchmark, protocol in means
        ]
        table.add_row(name, *map(_mean_cell, cells))
    if (more := len(columns) - _MOST_ROWS) > 0:
        table.caption = format_literal(
            n_("{n:,} row more with --all", "{n:,} rows more with --all", more)
        )
        table.caption_justify = "left"
    return table


def _mean_cell(found: BenchmarkResult | None) -> str:
    if found is None or found.overall.value is None:
        return NOTHING
    domains = found.domains.values()
    total = sum(len(each.parts) for each in domains)
    scored = total - sum(len(each.missing) for each in domains)
    value = percent_range(found.overall.value, found.overall.value_if_right)
    return value if scored == total else f"{value} ({scored}/{total})"


def _scores_table(kept: Sequence[Result], columns: Sequence[_Who], heads: Sequence[str]) -> Table:
    table = plain_table(*name_columns("task", "metric"), *heads, right=range(2, 2 + len(heads)))
    by_task: dict[tuple[str, str, Protocol], dict[str, dict[_Who, MetricResult]]] = {}
    for result in kept:
        for scored in result.tasks:
            by_metric = by_task.setdefault((scored.task, scored.query, result.protocol), {})
            has_main = PROTOCOL_ROWS[result.protocol].means
            listed = scored.metrics[:1] if has_main else scored.metrics
            for value in listed:
                by_metric.setdefault(value.metric, {})[result.model, result.variant] = value
    last = ""
    notes: dict[str, str] = {}
    for each, query, protocol in _catalogue():
        for metric, values in by_task.get((each.id, query.name, protocol), {}).items():
            label = metric_label(each.id, query.name, protocol, metric)
            if protocol == "official" and (note := query.official_note):
                label += " " + notes.setdefault(note, f"[{len(notes) + 1}]")
            name = " ".join(part for part in (each.id, each.name_zh, query.name) if part)
            cells = [_value(values.get(who), notes) for who in columns]
            table.add_row(name if name != last else "", f"{protocol} {label}", *cells)
            last = name
    captions = [f"{mark} {translate(note)}" for note, mark in notes.items()]
    views = [row for row in PROTOCOL_ROWS.values() if row.view]
    shown = {protocol for _, _, protocol in by_task}
    captions += [translate(row.line) for row in views if row.name in shown]
    if captions:
        table.caption = format_literal("\n".join(captions))
        table.caption_justify = "left"
    return table


def shorten_model(model: str) -> str:
    """Return a model's name in short lines; a path or a long name is shortened in the middle."""
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
        f"{shorten_model(model)}\n{variant.label(variants)}".rstrip("\n")
        for model, variant in columns
    ]


def _catalogue() -> Iterator[tuple[Task, Query, Protocol]]:
    for each in tasks():
        for query in each.queries:
            for protocol in get_args(Protocol):
                yield each, query, protocol


def _value(result: MetricResult | None, notes: dict[str, str]) -> str:
    """The value with the mark of its note, which is added to the notes if it is new."""
    if result is None:
        return NOTHING
    if result.value is None:
        return _("unscored")
    mark = notes.setdefault(result.note, f"[{len(notes) + 1}]") if result.note else ""
    return f"{mark} {percent_range(result.value, result.value_if_right)}".strip()
