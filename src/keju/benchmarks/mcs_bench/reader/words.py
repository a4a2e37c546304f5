"""Names in a release: of fields, tasks, domains and scripts, and how they are compared."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any, NamedTuple, TypeVar

from keju.benchmarks.mcs_bench import BENCHMARK
from keju.datasets.readers.base import plain_name
from keju.definitions import Task, tasks
from keju.files import shipped_toml
from keju.items import Script
from keju.text import in_script

T = TypeVar("T")

_NUMBER = re.compile(r"(?<![a-z0-9])(?:tasks?|t|任务)[\s_.-]{0,2}0{0,3}([1-9]\d?)(?![0-9])")
_BARE = re.compile(r"0{0,3}([1-9]\d?)(?:\.0)?(?![0-9a-z]|[.]\d)")
_WORD = re.compile(r"[a-z]+|[0-9]+|[^\W_a-z0-9]+")
_MOST = 200
"""Characters of a name that are looked at; a longer one is the name of nothing."""


class Names(NamedTuple):
    """The tables of `fields.toml`."""

    roles: Mapping[str, tuple[str, ...]]
    metadata: Mapping[str, str]
    """Keys of metadata by plain name."""
    ignored: frozenset[str]
    scripts: Mapping[Script, tuple[str, ...]]
    domains: Mapping[str, tuple[str, ...]]


@cache
def load_names() -> Names:
    """The names of fields, scripts and domains that releases may have."""
    read = shipped_toml("keju.benchmarks.mcs_bench.reader", "fields.toml", dict[str, Any])
    return Names(
        roles={role: _both_scripts(each) for role, each in read["roles"].items()},
        metadata={
            plain_key(name): key
            for key, each in read["metadata"].items()
            for name in _both_scripts(each)
        },
        ignored=frozenset(map(plain_key, _both_scripts(read["ignored"]["names"]))),
        scripts={
            "simplified": tuple(read["scripts"]["simplified"]),
            "traditional": tuple(read["scripts"]["traditional"]),
        },
        domains={domain: tuple(each) for domain, each in read["domains"].items()},
    )


def _both_scripts(spellings: Iterable[str]) -> tuple[str, ...]:
    """Names and their traditional forms, ``問題`` beside ``问题``."""
    found = [(each, in_script(each, "traditional")) for each in spellings]
    return tuple(dict.fromkeys(name for both in found for name in both))


def plain_key(name: str) -> str:
    """A name without the characters in which spellings of one name differ."""
    return _plain(name[:_MOST])


@lru_cache(maxsize=1 << 14)
def _plain(name: str) -> str:
    return plain_name(name)


@cache
def own_tasks() -> tuple[Task, ...]:
    """The 45 tasks."""
    return tuple(task for task in tasks() if task.benchmark == BENCHMARK)


def has_role(keys: Iterable[object], *roles: str) -> bool:
    """Whether a key of a record is the name of a field with one of these roles."""
    names = {plain_key(name) for role in roles for name in load_names().roles[role]}
    return not names.isdisjoint(plain_key(str(key)) for key in keys)


def task_of_number(number: int) -> Task | None:
    """The task with that number, None if there is none."""
    return _by_number().get(number)


@cache
def _by_number() -> Mapping[int, Task]:
    return {int(task.id.removeprefix("T")): task for task in own_tasks()}


def named_tasks(word: str) -> tuple[Task, ...]:
    """The tasks whose name a word is or contains; of several names the longest counts."""
    return _longest(word, _task_names())


def domains_in(word: str) -> tuple[str, ...]:
    """The domains (English names) that a word names; of several names the longest counts."""
    return _longest(word, _domain_names())


def numbered_task(word: str) -> Task | None:
    """The task whose number a word is or contains: ``7``, ``T7``, ``task_07``, ``07_出处``."""
    folded = word.strip()[:_MOST].casefold()
    found = _NUMBER.search(folded) or _BARE.match(folded)
    return task_of_number(int(found[1])) if found else None


def tasks_of_path(words: Sequence[str]) -> tuple[Task, ...]:
    """The tasks that the words of a path name, the innermost word that names any; one if sure.

    Args:
        words: JSON key, stem of the file and names of folders, from the inside out.
    """
    domains = next(filter(None, map(domains_in, words)), ())
    for word in words:
        found = named_tasks(word)
        number = numbered_task(word)
        if len(found) > 1:
            found = tasks_within(found, domains) or found
        if len(found) > 1 and number in found:
            return (number,)
        if found:
            return found
        if number:
            return tasks_within((number,), domains)
    return ()


def tasks_within(found: Iterable[Task], domains: Sequence[str]) -> tuple[Task, ...]:
    """The tasks that are in one of the domains; all tasks if `domains` is empty."""
    return tuple(task for task in found if not domains or task.domain in domains)


def script_in(word: str) -> Script | None:
    """The script that a word names, such as ``data_zh-hant`` or ``繁体``; None if it names none."""
    folded = word[:_MOST].casefold()
    for script, spellings in load_names().scripts.items():
        if any(_says(folded, each) for each in spellings):
            return script
    return None


def _says(folded: str, spelling: str) -> bool:
    return re.search(_pattern(spelling), folded) is not None


@cache
def _pattern(spelling: str) -> str:
    quoted = re.escape(spelling).replace(r"\-", "[-_]?")
    return rf"(?<![a-z0-9]){quoted}(?![a-z0-9])" if spelling.isascii() else quoted


def _longest(word: str, table: Mapping[str, tuple[T, ...]]) -> tuple[T, ...]:
    text = _spaced(word[:_MOST])
    if text in table:
        return table[text]
    inside = [name for name in table if _within(name, text)]
    return table[max(inside, key=len)] if inside else ()


def _within(name: str, text: str) -> bool:
    """Whether a text has a name in it: a Latin one as whole words, a Chinese one of two or more."""
    if name.isascii():
        return f" {name} " in f" {text} "
    return len(name) > 1 and name in text


@lru_cache(maxsize=1 << 12)
def _spaced(name: str) -> str:
    """A name in small letters and simplified characters, single spaces between Latin words."""
    return " ".join(_WORD.findall(in_script(name.casefold(), "simplified")))


@cache
def _task_names() -> Mapping[str, tuple[Task, ...]]:
    return _grouped((name, task) for task in own_tasks() for name in (task.name_zh, task.name_en))


@cache
def _domain_names() -> Mapping[str, tuple[str, ...]]:
    known = {task.domain: task.domain_zh for task in own_tasks()}
    return _grouped(
        (name, domain)
        for domain, chinese in known.items()
        for name in (domain, chinese, *load_names().domains.get(domain, ()))
    )


def _grouped(pairs: Iterator[tuple[str, T]]) -> Mapping[str, tuple[T, ...]]:
    table: dict[str, list[T]] = {}
    for name, value in pairs:
        into = table.setdefault(_spaced(name), [])
        if value not in into:
            into.append(value)
    return {name: tuple(values) for name, values in table.items()}
