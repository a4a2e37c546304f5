"""The catalogues, read from the data files beside this module, and how a task is found."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from itertools import chain
from types import MappingProxyType
from typing import Literal, TypedDict

import msgspec

from keju.benchmarks.tasks import CountKind, Query, Task
from keju.errors import DataError, UsageError
from keju.items import AnswerForm, Protocol
from keju.metrics.boxes import box_convention

_FILES = ("mcs_bench.toml", "ancientdoc.toml", "obi_bench.toml", "pages.toml")

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


class _Family(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    form: AnswerForm
    official: tuple[str, ...]
    strict: tuple[str, ...]
    official_note: str = ""


class _Asked(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    family: str
    ask: str
    requirement: str = ""
    box_convention: str = ""


class _Task(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    name_zh: str
    name_en: str
    domain: str
    format: str
    count: int = 0
    note: str = ""
    queries: dict[str, _Asked] = {}
    family: str = ""
    ask: str = ""
    requirement: str = ""


class _Catalogue(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    benchmark: str
    title: str = ""
    count_kind: CountKind
    families: dict[str, _Family]
    printed_metrics: dict[str, tuple[str, ...]] = {}
    domains_zh: dict[str, str] = {}
    box_formats: dict[Literal["axes", "scale"], dict[str, str]] = {}
    tasks: dict[str, _Task]


@cache
def tasks() -> tuple[Task, ...]:
    """The 55 published tasks, in their papers' order, and after them that of own pages.

    The published ones are of MCS-Bench, AncientDoc and OBI-Bench.
    """
    found = tuple(task for name in _FILES for task in _declared(name))
    if len({task.id for task in found}) < len(found):
        raise DataError("a task id is declared twice", file="keju/benchmarks/data")
    return found


def published_tasks() -> tuple[Task, ...]:
    """The 55 tasks that papers define, in their order."""
    return tuple(each for each in tasks() if each.published)


def task(task_id: str) -> Task:
    """The task with that id.

    Raises:
        UsageError: there is none; the message names the ids nearest to it.
    """
    found = _by_id().get(task_id)
    if found is None:
        near = _near(task_id)
        hint = f" Did you mean {' or '.join(near)}?" if near else ""
        raise UsageError(f"no task {task_id!r}.{hint} See all with: keju tasks")
    return found


def task_of_number(number: int) -> Task:
    """The MCS-Bench task that the authors' files number so, 1 to 45.

    Raises:
        UsageError: no task has that number.
    """
    return task(f"T{number}")


def tasks_named(name: str, domain: str = "") -> list[Task]:
    """The tasks that have that name, and that domain where one is given, in Chinese or English."""
    name, domain = name.strip(), domain.strip()
    return [
        each
        for each in tasks()
        if name in (each.name_zh, each.name_en)
        and (not domain or domain in (each.domain_zh, each.domain))
    ]


def is_task_word(text: str) -> bool:
    """Whether a text is the name of a task or of a domain, in Chinese or English."""
    return text.strip() in _words()


@cache
def _words() -> frozenset[str]:
    named = ((each.name_zh, each.name_en, each.domain_zh, each.domain) for each in tasks())
    return frozenset(chain.from_iterable(named)) - {""}


def official_number(task_id: str) -> str:
    """A task's name in `official` results: MCS-Bench's number ("T1" is "1"), else the id."""
    number = task_id.removeprefix("T")
    return number if task_id != number and number.isdecimal() else task_id


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


@cache
def printed_metrics(benchmark: str) -> Mapping[str, tuple[str, ...]]:
    """What a paper prints as a metric's name, mapped to our `official` metrics.

    An empty tuple means that the printed measure is no metric of these protocols (a judge's
    score, or a judgement by eye).

    Raises:
        UsageError: there is no benchmark of that name.
    """
    return MappingProxyType(_catalogue(benchmark).printed_metrics)


def benchmark_title(benchmark: str) -> str:
    """A benchmark's name in headings, e.g. ``Own pages`` for ``pages``.

    Raises:
        UsageError: there is no benchmark of that name.
    """
    return _catalogue(benchmark).title or benchmark


def _catalogue(benchmark: str) -> _Catalogue:
    for name in _FILES:
        if (catalogue := _read(name)).benchmark == benchmark:
            return catalogue
    known = ", ".join(_read(name).benchmark for name in _FILES)
    raise UsageError(f"no benchmark {benchmark!r}; there are {known}")


def box_format(convention: str) -> str:
    """A convention of boxes in the words of a prompt, e.g. ``[xmin, ymin, xmax, ymax]``.

    Raises:
        UsageError: there is no such convention.
    """
    axes, scale = box_convention(convention)
    words = _read("obi_bench.toml").box_formats
    return words["axes"][axes] + words["scale"][scale]


@cache
def _read(name: str) -> _Catalogue:
    text = files("keju.benchmarks").joinpath("data", name).read_text("utf-8")
    try:
        return msgspec.convert(tomllib.loads(text), _Catalogue)
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise DataError(f"not a catalogue: {error}", file=name) from None


def _declared(name: str) -> Iterator[Task]:
    catalogue = _read(name)
    for task_id, declared in catalogue.tasks.items():
        if bool(declared.count) == (catalogue.count_kind == "open"):
            raise DataError(
                "a published task needs its count, an open one has none", file=name, item=task_id
            )
        if bool(declared.queries) == bool(declared.family and declared.ask):
            raise DataError(
                "needs either queries, or a family and what it asks", file=name, item=task_id
            )
        yield Task(
            id=task_id,
            benchmark=catalogue.benchmark,
            name_zh=declared.name_zh,
            name_en=declared.name_en,
            domain=declared.domain,
            domain_zh=catalogue.domains_zh.get(declared.domain, ""),
            format=declared.format,
            queries=tuple(_queries(name, task_id, declared)),
            count=declared.count,
            count_kind=catalogue.count_kind,
            note=declared.note,
        )


def _queries(name: str, task_id: str, declared: _Task) -> Iterator[Query]:
    only = _Asked(family=declared.family, ask=declared.ask, requirement=declared.requirement)
    for query, asked in (declared.queries or {"": only}).items():
        family = _read(name).families.get(asked.family)
        if family is None:
            raise DataError(f"no family {asked.family!r} in this file", file=name, item=task_id)
        yield Query(
            name=query,
            form=family.form,
            template="\n".join(part for part in (asked.ask, asked.requirement) if part),
            requirement=asked.requirement,
            official=family.official,
            official_note=family.official_note,
            strict=family.strict,
            box_convention=asked.box_convention,
        )


@cache
def _by_id() -> dict[str, Task]:
    return {task.id: task for task in tasks()}


def _near(task_id: str) -> list[str]:
    names = {task.id.casefold(): task.id for task in tasks()}
    for task in tasks():
        names.setdefault(task.name_en.casefold(), task.id)
        names.setdefault(task.name_zh, task.id)
    matches = get_close_matches(task_id.casefold(), names, n=3, cutoff=0.6)
    return list(dict.fromkeys(names[match] for match in matches))
