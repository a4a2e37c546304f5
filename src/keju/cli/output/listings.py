"""Tables of what exists: tasks, metrics, kinds of model, and the statistics of a dataset."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from keju.cli.output.console import format_literal, name_columns, plain_table, translate
from keju.formatting import NOTHING
from keju.texts import _, both, in_terminal, join_lines, language, n_

if TYPE_CHECKING:
    from keju.datasets.stats import Stats
    from keju.definitions import Task
    from keju.models import ModelKind
    from keju.scoring import Metric


_RANGE = re.compile(r"([\d.,]*\d) to ([\d.,]*\d)(?=:)")


def _name_range(found: re.Match[str]) -> str:
    return in_terminal(_("{} to {}", found[1], found[2]))


def tasks_tables(listed: Sequence[Task]) -> Iterator[Table]:
    """The catalogue of tasks, one table per domain and one row per query; fits 80 columns."""
    for place in dict.fromkeys((each.benchmark, each.domain) for each in listed):
        tasks_ = [each for each in listed if (each.benchmark, each.domain) == place]
        official = any(each.has_official for each in tasks_)
        counted = any(each.count for each in tasks_)
        heads = [
            *name_columns("task", "asks for"),
            *(name_columns("official") if official else ()),
            *name_columns("strict"),
            *(name_columns("count") if counted else ()),
        ]
        right = [len(heads) - 1] if counted else []
        table = plain_table(*heads, right=right, title=": ".join(map(translate, place)))
        table.columns[0].no_wrap = False
        for each in tasks_:
            _add_task(table, each, official=official, counted=counted)
        if directions := _directions(tasks_):
            table.caption, table.caption_justify = format_literal(directions), "left"
        yield table


def _directions(listed: Sequence[Task]) -> str:
    """The directions within a domain, each with its tasks."""
    directions: dict[str, list[str]] = {}
    for each in listed:
        if each.direction:
            directions.setdefault(each.direction, []).append(each.id)
    return "\n".join(f"{translate(name)}: {', '.join(ids)}" for name, ids in directions.items())


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
    table = plain_table(*name_columns("form", "protocol", "metric", "of", "counts"))
    table.columns[-1].no_wrap = False
    for each in sorted(listed, key=lambda each: (each.form, each.protocol, each.benchmark)):
        name = each.name if each.higher_is_better else f"{each.name} ↓"
        place = each.origin or each.benchmark
        rule = (language() == "zh" and each.rule_zh) or translate(each.rule)
        table.add_row(each.form, each.protocol, *map(format_literal, (name, place, rule)))
    return table


def models_table(kinds: Iterable[ModelKind]) -> Table:
    """The kinds of model, and whether each can answer on this machine."""
    table = plain_table(*name_columns("spelled", "what it is", "here"))
    for kind in kinds:
        needs = both(filter(None, (kind.missing, kind.unset)))
        here = kind.problem or (_("needs: {}", needs) if needs else "")
        here_cell = Text(in_terminal(here)) if here else Text(in_terminal(_("ready")), "green")
        what = translate(kind.what)
        what = f"{what} [{kind.plugin}]" if kind.plugin else what
        table.add_row(kind.spelling, Text(what), here_cell)
    return table


def stats_tables(stats: Stats) -> Iterator[Table]:
    """The statistics of a dataset: by domain, by task, and by source of images."""
    heads = name_columns(
        "questions", "prompt", "answer", "pixels\nleast–most", "width/height\nleast–most"
    )
    domains = plain_table(
        *name_columns("domain", "tasks\nMCQ + QA"), *heads, right=range(1, 7),
        title=_("domains"),
    )  # fmt: skip
    for row in stats.domains.iter_rows(named=True):
        kinds = f"{row['n_task']}\n{row['n_mcq_task']} + {row['n_qa_task']}"
        domains.add_row(translate(row["domain"]), kinds, *_measures(row))
    from keju.definitions import OWN_BENCHMARK, tasks

    tasks_ = plain_table(*name_columns("task"), "", *heads, right=range(2, 7), title=_("tasks"))
    for row in stats.tasks.iter_rows(named=True):
        tasks_.add_row(row["task"], row["name_zh"], *_measures(row))
    tasks_.caption, tasks_.caption_justify, tasks_.caption_style = _units(stats), "left", "none"
    own_pages = {each.id for each in tasks() if each.benchmark == OWN_BENCHMARK}
    if not own_pages.issuperset(stats.tasks["task"]):
        yield domains
    yield tasks_
    if stats.strata.height:
        yield _strata_table(stats)
    if stats.sources.height:
        yield _sources_table(stats)
    yield _distributions_table(stats)


def _strata_table(stats: Stats) -> Table:
    table = plain_table(
        *name_columns("stratum"), "", *name_columns("questions", "images"), right=(2, 3),
        title=_("strata"),
    )  # fmt: skip
    for row in stats.strata.iter_rows(named=True):
        counts = (f"{row[name]:,}" for name in ("questions", "images"))
        table.add_row(row["stratum"], row["name"], *counts)
    return table


def _sources_table(stats: Stats) -> Table:
    table = plain_table(
        *name_columns("source", "type", "task", "images", "size", "boxes an image"),
        right=range(3, 6), title=_("sources of images"),
    )  # fmt: skip
    for row in stats.sources.iter_rows(named=True):
        size = f"{row['width']:.0f} x {row['height']:.0f}"
        boxes = NOTHING if row["boxes"] is None else f"{row['boxes']:.1f}"
        table.add_row(row["source"], row["type"], row["task"], f"{row['images']:,}", size, boxes)
    return table


def _distributions_table(stats: Stats) -> Table:
    from keju.datasets.stats import distribution_lines

    table = plain_table(
        *name_columns("distribution of", "unit", "number of"),
        title=_("distributions"),
    )
    for measure, unit, counts in distribution_lines(stats.distributions):
        words = _RANGE.sub(_name_range, counts)
        words = words.replace(" and more:", in_terminal(_(" and more:")))
        table.add_row(translate(measure), translate(unit), words)
    return table


def _units(stats: Stats) -> str:
    """The meaning of the columns, the reference split, if there is one, and the units."""
    from keju.definitions import Units, describe_units

    lines = [
        _(
            "prompt, answer: mean length in characters without white space; pixels (width times "
            "height) and width/height: mean over questions, so an image counts as often as it is "
            "asked about."
        )
    ]
    if reference := int(stats.tasks["n_reference"].sum()):
        lines.append(
            n_(
                "{n:,} question is in the reference split: labelled examples for baselines, which "
                "are not sent to models.",
                "{n:,} questions are in the reference split: labelled examples for baselines, "
                "which are not sent to models.",
                reference,
            )
        )
    lines += [describe_units(Units(**row)) for row in stats.units.to_dicts()]
    return join_lines(lines)


def _measures(row: Mapping[str, Any]) -> list[str]:
    """Questions, mean lengths in characters, pixels and aspect ratio of one row."""
    lengths = [NOTHING if row[name] is None else f"{row[name]:.1f}" for name in ("avg_q", "avg_a")]
    pixels = aspect = NOTHING
    if row["avg_pv"] is not None:
        pixels = f"{row['avg_pv']:,.0f}\n{row['min_pv']:,.0f}–{row['max_pv']:,.0f}"
        aspect = f"{row['avg_ar']:.2f}\n{row['min_ar']:.2f}–{row['max_ar']:.2f}"
    return [f"{row['n_q']:,}", *lengths, pixels, aspect]
