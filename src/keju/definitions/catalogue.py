"""The tasks of the benchmarks that are registered in this process, and functions to find them."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from itertools import chain
from pathlib import Path
from typing import Literal, TypedDict

from keju.definitions.registry import (
    benchmark,
    definition,
    definitions,
    has_task,
    is_shipped,
    task,
    tasks,
)
from keju.definitions.schema import CountKind, Task
from keju.files import read_toml
from keju.items import Protocol
from keju.metrics.boxes import box_convention

OWN_PAGE = "page_ocr"
"""The task of page images that belong to no published benchmark."""

OWN_BENCHMARK = "pages"
"""The benchmark of that task."""


class TaskRow(TypedDict):
    """One line of ``keju tasks --json`` (DESIGN §10)."""

    id: str
    benchmark: str
    name_zh: str
    name_en: str
    domain: str
    format: str
    metrics: dict[Protocol, list[str]]
    count: int
    count_kind: CountKind


def paper_tasks() -> tuple[Task, ...]:
    """The tasks of the bundled benchmarks that papers define, in their order."""
    return tuple(each for each in tasks() if each.from_paper)


def tasks_named(name: str, domain: str = "") -> list[Task]:
    """The tasks with that name, and that domain where one is given, in Chinese or English."""
    name, domain = name.strip(), domain.strip()
    return [
        each
        for each in tasks()
        if name in (each.name_zh, each.name_en)
        and (not domain or domain in (each.domain_zh, each.domain))
    ]


def is_task_word(text: str) -> bool:
    """Whether a text is the name of a task or of a domain, in Chinese or English."""
    return text.strip() in _words(len(tasks()))


@cache
def _words(count: int) -> frozenset[str]:
    """The names of the tasks and domains, cached by their number, since tasks are never removed."""
    named = ((each.name_zh, each.name_en, each.domain_zh, each.domain) for each in tasks()[:count])
    return frozenset(chain.from_iterable(named)) - {""}


def official_number(task_id: str) -> str:
    """A task's name in `official` results: its number where the benchmark numbers tasks, or the id.

    See `Definition.number_prefix`.
    """
    prefix = benchmark(task(task_id).benchmark).number_prefix if has_task(task_id) else ""
    number = task_id.removeprefix(prefix)
    return number if prefix and number.isdecimal() else task_id


def task_row(task: Task) -> TaskRow:
    """A task as ``keju tasks --json`` lists it, with the metrics of all its queries."""
    return TaskRow(
        id=task.id,
        benchmark=task.benchmark,
        name_zh=task.name_zh,
        name_en=task.name_en,
        domain=task.domain,
        format=task.format,
        metrics={
            "official": list(dict.fromkeys(m for query in task.queries for m in query.official)),
            "strict": list(dict.fromkeys(m for query in task.queries for m in query.strict)),
        },
        count=task.count,
        count_kind=task.count_kind,
    )


def reading_task(name: str) -> Task:
    """The task by whose prompt a model transcribes the images of a benchmark before it answers.

    It is the `reading_task` of the benchmark's definition, else that of the first known definition
    with one: those that keju ships come first.

    Raises:
        UsageError: no definition has one.
    """
    own = definition(name)
    every = (each.reading_task for each in (*([own] if own else ()), *definitions()))
    return task(next(filter(None, every), ""))


def benchmark_title(name: str) -> str:
    """A benchmark's name in headings, e.g. ``Own pages`` for ``pages``.

    Raises:
        UsageError: no benchmark has that name.
    """
    return benchmark(name).title or name


def name_in_chinese(text: str) -> str:
    """Chinese name of a title, domain or direction of a benchmark that is not bundled, or ""."""
    own = [each for each in definitions() if not is_shipped(each.name)]
    names = {each.direction: each.direction_zh for known in own for each in known.tasks}
    names |= {each.domain: each.domain_zh for known in own for each in known.tasks}
    names |= {each.title or each.name: each.title_zh for each in own}
    return names.get(text, "")


def box_format(convention: str) -> str:
    """A box convention as text in a prompt, e.g. ``[xmin, ymin, xmax, ymax]``.

    Raises:
        UsageError: the convention does not exist.
    """
    axes, scale = box_convention(convention)
    words = _box_formats()
    return words["axes"][axes] + words["scale"][scale]


@cache
def _box_formats() -> dict[Literal["axes", "scale"], dict[str, str]]:
    file = files("keju.definitions").joinpath("data", "box_formats.toml")
    return read_toml(Path(str(file)), dict[Literal["axes", "scale"], dict[str, str]])
