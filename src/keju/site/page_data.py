"""The data of the pages of a site: rows with facts, filters, tasks with their values."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from keju.analysis.labels import higher_is_better, metric_definition, metric_label
from keju.analysis.leaderboard import ROLES
from keju.definitions import task
from keju.items import Protocol
from keju.scoring import PROTOCOLS
from keju.site.addresses import stable_id
from keju.site.boards import Board, BoardRow, Mean
from keju.site.model_facts import SIZES
from keju.site.printed_rows import PrintedRow, printed_values
from keju.site.records import BoardTask, Bounds, Entry, Source, TaskValue
from keju.texts import _, p_
from keju.words import Words

MetricKey = tuple[Protocol, str]
Json = dict[str, Any]


class View(NamedTuple):
    """A choice of items: the `id` is in addresses; `kind` is domain, task or one of metadata."""

    id: str
    kind: str
    name: str
    label: str


class ViewGroup(NamedTuple):
    """The choices of one kind."""

    title: str
    views: list[View]


class Filter(NamedTuple):
    """A filter of rows: its values with their labels."""

    name: str
    title: str
    values: list[tuple[str, str]]


class TaskOnPage(NamedTuple):
    """A task as pages show it."""

    name: str
    label: str
    address: str
    domain: str
    items: int
    metrics: Sequence[MetricKey]


def task_on_page(known: BoardTask, words: Words) -> TaskOnPage:
    """A task with its name in the page's language."""
    title = words.task_name(known.task)
    label = known.name if title == known.task else f"{known.name} {title}"
    return TaskOnPage(
        known.name, label, known.address, task(known.task).domain, len(known.ids), known.metrics
    )


def views(board: Board, words: Words) -> list[ViewGroup]:
    """The choices of items for which there are values: domains, tasks, dynasties and so on."""
    strata: dict[str, dict[str, None]] = {}
    for row in board.rows:
        for each in row.entry.strata:
            strata.setdefault(each.kind, {})[each.name] = None
    groups = []
    if len(board.domains) > 1:
        named = [
            View(_view_id("domain", each), "domain", each, words(each)) for each in board.domains
        ]
        groups.append(ViewGroup(words(_("domain")), named))
    if len(board.of.tasks) > 1:
        shown = [task_on_page(each, words) for each in board.of.tasks]
        named = [View(_view_id("task", each.name), "task", each.name, each.label) for each in shown]
        groups.append(ViewGroup(words(_("task")), named))
    for kind, names in strata.items():
        named = [View(_view_id(kind, each), kind, each, each) for each in names]
        groups.append(ViewGroup(words(_KINDS[kind]), named))
    return groups


_KINDS = {"dynasty": _("dynasty"), "script": p_("style", "script"), "category": _("category")}


def _view_id(kind: str, name: str) -> str:
    return f"{kind}-{stable_id(kind, name)}"


def view_data(board: Board, groups: Sequence[ViewGroup], printed: Sequence[PrintedRow]) -> Json:
    """The values of every row over every choice of items, for the script of the page."""
    named = [view for group in groups for view in group.views]
    rows: dict[str, list[Any]] = {
        row.entry.id: [_values(row, view, board.protocols) for view in named] for row in board.rows
    }
    for each in printed:
        rows[each.id] = [
            [[_printed(each, view, protocol) for protocol in board.protocols], 0] for view in named
        ]
    return {"protocols": board.protocols, "views": [view.id for view in named], "rows": rows}


def _printed(row: PrintedRow, view: View, protocol: Protocol) -> list[Any] | None:
    if view.kind != "domain" or protocol != "official" or view.name not in row.domains:
        return None
    return [round(row.domains[view.name], 5), None]


def _values(row: BoardRow, view: View, protocols: Sequence[Protocol]) -> list[Any]:
    """For each protocol the value, its interval, and a range's other end; then the tasks."""
    found: list[Any] = []
    tasks = 0
    for protocol in protocols:
        value, bounds, count, if_right = _value(row, view, protocol)
        ends = [] if if_right is None else [if_right]
        found.append(None if value is None else [value, bounds, *ends])
        tasks = max(tasks, count)
    return [found, tasks]


def _value(
    row: BoardRow, view: View, protocol: Protocol
) -> tuple[float | None, Bounds | None, int, float | None]:
    if view.kind == "domain":
        standing = row.standings.get(protocol)
        mean = standing.domains.get(view.name) if standing else None
        if mean is None:
            return None, None, 0, None
        return mean.value, mean.bounds, mean.tasks, mean.value_if_right
    if view.kind == "task":
        for each in row.entry.values:
            if each.main and each.protocol == protocol and task_name(each) == view.name:
                count = int(each.value is not None)
                return each.value, each.bounds, count, each.value_if_right
        return None, None, 0, None
    for stratum in row.entry.strata:
        if (stratum.kind, stratum.name, stratum.protocol) == (view.kind, view.name, protocol):
            return stratum.value, stratum.bounds, stratum.tasks, stratum.value_if_right
    return None, None, 0, None


def task_name(value: TaskValue) -> str:
    """The name of the task of a value, with its query."""
    return f"{value.task}/{value.query}" if value.query else value.task


def filters(rows: Sequence[BoardRow], printed: Sequence[PrintedRow], words: Words) -> list[Filter]:
    """The filters of rows; only those that have two or more values here."""
    facts = [*(row.facts for row in rows), *(row.facts for row in printed)]
    roles = [role for role in ROLES if any(row.entry.role == role for row in rows)]
    years = sorted({row.source.date[:4] for row in rows if row.source.date}, reverse=True)
    sizes = sorted({each.size_class for each in facts if each.size_class}, key=int)
    vendors = sorted({each.vendor for each in facts if each.vendor})
    found = [
        Filter(
            "role",
            words(_("kind")),
            [
                *((role, words(ROLES[role])) for role in roles),
                *([("printed", words(_("printed in the paper")))] if printed else []),
            ],
        ),
        Filter("vendor", words(_("vendor")), [(each, each) for each in vendors]),
        Filter("size", words(_("size")), [(each, _size(each, words)) for each in sizes]),
        Filter("year", words(_("year of the run")), [(each, each) for each in years]),
    ]
    return [each for each in found if len(each.values) > 1]


def _size(number: str, words: Words) -> str:
    """The label of a class of sizes."""
    place = int(number)
    if place == 0:
        return words(_("below {}B", f"{SIZES[0]:g}"))
    if place == len(SIZES):
        return words(_("{}B or more", f"{SIZES[-1]:g}"))
    return words(_("{}B to {}B", f"{SIZES[place - 1]:g}", f"{SIZES[place]:g}"))


class TaskRow(NamedTuple):
    """A row of a task's page: the values by protocol and metric."""

    entry: Entry
    source: Source
    model_address: str
    values: Mapping[MetricKey, TaskValue]

    @property
    def items(self) -> int:
        """The number of items that the entry answered."""
        return max(each.items for each in self.values.values())


def task_rows(board: Board, known: BoardTask) -> list[TaskRow]:
    """The rows of a task, best first by the main metric of `strict`, or else `official`."""
    rows = []
    for row in board.rows:
        values = {(e.protocol, e.metric): e for e in row.entry.values if task_name(e) == known.name}
        if values:
            rows.append(TaskRow(row.entry, row.source, row.model_address, values))
    return sorted(rows, key=lambda row: (_sort_value(row), row.entry.name, row.entry.id))


def _sort_value(row: TaskRow) -> float:
    """The place of a row by the first main value that it has; rows without one are last."""
    mains = {each.protocol: each for each in row.values.values() if each.main}
    for protocol in reversed(PROTOCOLS):
        found = mains.get(protocol)
        if found is not None and found.value is not None:
            higher = higher_is_better(found.task, found.query, protocol, found.metric)
            return -found.value if higher else found.value
    return math.inf


def metric_heads(known: BoardTask) -> list[tuple[Protocol, str, str]]:
    """The protocol, the name and the heading of each metric; an arrow where lower is better."""
    return [
        (protocol, metric, metric_label(known.task, known.query, protocol, metric))
        for protocol, metric in known.metrics
    ]


def definitions_of(known: BoardTask) -> list[tuple[Protocol, str, str]]:
    """The protocol, the name and the definition of each metric of a task."""
    return [
        (protocol, metric, metric_definition(known.task, known.query, protocol, metric))
        for protocol, metric in known.metrics
    ]


class PrintedHead(NamedTuple):
    """A column of printed values."""

    table: str
    metric: str
    subset: str


class PrintedTask(NamedTuple):
    """The values that a paper prints of a task, by model."""

    heads: list[PrintedHead]
    rows: dict[str, list[float | None]]


def printed_task(benchmark: str, known: BoardTask) -> PrintedTask | None:
    """The values that the benchmark's paper prints of a task; None without any."""
    found = printed_values(benchmark, known.task, known.query)
    heads = list(dict.fromkeys(PrintedHead(e.table, e.metric, e.subset) for e in found))
    rows: dict[str, list[float | None]] = {}
    for each in found:
        place = heads.index(PrintedHead(each.table, each.metric, each.subset))
        rows.setdefault(each.model.name, [None] * len(heads))[place] = each.value
    return PrintedTask(heads, rows) if found else None


class TaskOfModel(NamedTuple):
    """A task on a model's page: its main value under each protocol, and the metrics' names."""

    label: str
    address: str
    values: list[TaskValue | None]
    metrics: str


class DomainOfModel(NamedTuple):
    """A domain on a model's page."""

    name: str
    means: list[Mean | None]
    tasks: list[TaskOfModel]


def domains_of(
    row: BoardRow, board: Board, protocols: Sequence[Protocol], words: Words
) -> Iterator[DomainOfModel]:
    """The domains and tasks of an entry that have a value."""
    mains = {(task_name(e), e.protocol): e for e in row.entry.values if e.main}
    for domain in board.domains:
        tasks = []
        for known in board.of.tasks:
            shown = task_on_page(known, words)
            values = [mains.get((known.name, protocol)) for protocol in protocols]
            if shown.domain == domain and any(values):
                names = dict.fromkeys(each.metric for each in values if each)
                tasks.append(TaskOfModel(shown.label, shown.address, values, " · ".join(names)))
        standings = [row.standings.get(protocol) for protocol in protocols]
        means = [each.domains.get(domain) if each else None for each in standings]
        if tasks:
            yield DomainOfModel(domain, means, tasks)
