"""The benchmarks that are registered in this process, and functions to find them and their tasks.

- keju bundles those of the directories in `keju.benchmarks`, and one for users' own pages.
- `load_benchmark` reads the file that a user names. Datasets and runs contain the definitions of
  their own benchmarks, which are read when they are opened (`register_definition`).
- An installed plug-in with a `FILE` beside its module provides one. It is read when a task or
  benchmark is requested that is not registered otherwise. A dataset or run with a definition of its
  own therefore never depends on what is installed.

A name has one definition in a process, and a task id belongs to one benchmark: a second one raises
`UsageError`, as a name that does not exist. A file that is not a definition raises `DataError`, and
a plug-in that a definition names and that is missing `PluginError`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import cache
from importlib.resources import files
from pathlib import Path

from msgspec.structs import replace

from keju.definitions.schema import Definition, Task, parse_definition
from keju.errors import DataError, UsageError, did_you_mean, nearest_names, shortened, unknown_name
from keju.files import toml_text
from keju.registry import (
    PluginError,
    add_plugin_files,
    describe_broken,
    has_plugin,
    list_shipped_folders,
    load_installed,
)
from keju.texts import _

FILE = "benchmark.toml"
"""The usual name of a definition file."""

OWN_PAGE = "page_ocr"
"""The task of page images that belong to no published benchmark."""

OWN_BENCHMARK = "pages"
"""The benchmark of that task."""

_NOT_ONE = "not a benchmark definition"


def _read_bundled() -> Iterator[Definition]:
    own_pages = files("keju.definitions").joinpath("data", "pages.toml")
    for file in (*(folder.joinpath(FILE) for folder in list_shipped_folders()), own_pages):
        folder = Path(str(file)).parent
        yield parse_definition(file.read_text("utf-8"), "keju", bundled=True, folder=folder)


_definitions = {bundled.name: bundled for bundled in _read_bundled()}
_tasks = {own.id: own for bundled in _definitions.values() for own in bundled.tasks}


def definitions() -> tuple[Definition, ...]:
    """The registered definitions, bundled ones first."""
    return tuple(_definitions.values())


def definition(name: str) -> Definition | None:
    """The definition of that name, registered or installed."""
    if name not in _definitions:
        _register_installed(lambda installed: installed.name == name)
    return _definitions.get(name)


def benchmark(name: str) -> Definition:
    """The definition of the benchmark of that name."""
    if entry := definition(name):
        return entry
    raise UsageError(unknown_name(name, _definitions, "benchmark"), hint=describe_broken())


def folder_of(name: str) -> Path | None:
    """The directory of a benchmark's definition file, with other files of it, where it has one.

    Of a definition in a dataset or run, it is that of the installed package with an equal one.
    """
    entry = definition(name)
    if entry is None or entry.folder:
        return entry.folder if entry else None
    with suppress(DataError):  # A dataset or run must not depend on a package that is broken.
        return next((new.folder for new in _iter_installed() if new.content == entry.content), None)
    return None


def definition_texts(names: Iterable[str]) -> dict[str, str]:
    """The texts of the definitions of these benchmarks, without bundled ones.

    Datasets and runs store them. A benchmark that is not registered is skipped.
    """
    entries = filter(None, map(definition, sorted(set(names))))
    return {entry.name: entry.text for entry in entries if not entry.shipped}


def tasks() -> tuple[Task, ...]:
    """The tasks of all registered benchmarks: of papers, of own pages, and of others as loaded."""
    return tuple(_tasks.values())


def task(task_id: str) -> Task:
    """The task with that id, of a registered or installed benchmark."""
    if task_id in _tasks or has_task(task_id):
        return _tasks[task_id]
    ids = {name: own.id for own in reversed(tasks()) for name in (own.name_zh, own.name_en)}
    ids |= {own.id: own.id for own in tasks()}
    nearest = dict.fromkeys(ids[name] for name in nearest_names(task_id, ids, most=3, cutoff=0.6))
    raise UsageError(
        "no task {!r}.{} See all with: keju tasks. A task of your own benchmark needs "
        "--benchmark FILE.toml",
        task_id,
        did_you_mean(nearest),
        hint=describe_broken(),
    )


def has_task(task_id: str) -> bool:
    """Whether there is a task with that id, of a registered or installed benchmark."""
    if task_id not in _tasks:
        _register_installed(lambda installed: any(own.id == task_id for own in installed.tasks))
    return task_id in _tasks


def paper_tasks() -> tuple[Task, ...]:
    """The tasks of the bundled benchmarks that papers define, in their order."""
    return tuple(own for entry in definitions() if entry.from_paper for own in entry.tasks)


def tasks_named(name: str, domain: str = "") -> list[Task]:
    """The tasks with that name, and that domain where one is given, in Chinese or English."""
    name, domain = name.strip(), domain.strip()
    return [
        own
        for own in tasks()
        if name in (own.name_zh, own.name_en)
        and (not domain or domain in (own.domain_zh, own.domain))
    ]


def is_task_word(text: str) -> bool:
    """Whether a text is the name of a task or of a domain, in Chinese or English."""
    name = text.strip()
    return bool(name) and any(
        name in (own.name_zh, own.name_en, own.domain_zh, own.domain) for own in tasks()
    )


def official_number(task_id: str) -> str:
    """A task's name in `official` results: its number where the benchmark numbers tasks, or the id.

    See `Definition.number_prefix`.
    """
    prefix = benchmark(task(task_id).benchmark).number_prefix if has_task(task_id) else ""
    number = task_id.removeprefix(prefix)
    return number if prefix and number.isdecimal() else task_id


def reading_task(name: str) -> Task:
    """The task by whose prompt a model transcribes the images of a benchmark before it answers.

    It is the `reading_task` of the benchmark's definition, else that of the first known definition
    with one: those that keju ships come first.
    """
    candidates = filter(None, (definition(name), *definitions()))
    return task(next((each.reading_task for each in candidates if each.reading_task), ""))


def name_in_chinese(text: str) -> str:
    """Chinese name of a title, domain or direction of a benchmark that is not bundled, or ""."""
    names: dict[str, str] = {}
    for entry in definitions():
        if not entry.shipped:
            names |= {own.direction: own.direction_zh for own in entry.tasks}
            names |= {own.domain: own.domain_zh for own in entry.tasks}
            names[entry.title] = entry.title_zh
    return names.get(text, "")


def load_benchmark(path: Path) -> Definition:
    """Read a definition file and register its tasks."""
    return register_definition(toml_text(path, _NOT_ONE), str(path), path.parent)


def register_definition(text: str, place: str, folder: Path | None = None) -> Definition:
    """Register the definition in a TOML text.

    Args:
        text: the content of a definition file.
        place: its location, for messages.
        folder: the file's directory, if the user named the file.
    """
    entry = next((own for own in _definitions.values() if own.text == text), None)
    if entry is None:
        new = parse_definition(text, place, folder=folder)
        entry = _definitions.get(new.name)
        if entry is None:
            _register(new)
            return new
        if entry.content != new.content:
            raise UsageError(
                "{}: this definition of {!r} differs from the one in {}. Use only one of them: "
                "import the dataset again with the definition that you want, or rename one",
                place,
                new.name,
                entry.place,
            )
    if folder and not entry.folder:
        entry = _definitions[entry.name] = replace(entry, folder=folder)
    return entry


def register_all_installed() -> None:
    """Register all installed definitions."""
    _register_installed(lambda _: True)


def _register_installed(wanted: Callable[[Definition], bool]) -> None:
    for new in _iter_installed():
        if new.name not in _definitions and wanted(new):
            _register(new)


def _iter_installed() -> Iterator[Definition]:
    for installed in load_installed():
        module_file = getattr(sys.modules[installed.module], "__file__", None)
        path = Path(module_file or os.devnull).with_name(FILE)
        if path.is_file():
            yield _read_installed(path, installed.plugin.name)


@cache
def _read_installed(path: Path, package: str) -> Definition:
    place = f"the installed package {package} ({path})"
    return parse_definition(toml_text(path, _NOT_ONE), place, folder=path.parent)


def _register(new: Definition) -> None:
    """Register a definition whose plug-ins and `official_as` exist, and whose tasks are new.

    A plug-in file is code: one beside the definition is loaded only if the user named that file.
    """
    for name in new.plugins:
        plugin_file = new.folder / name if new.folder and Path(name).name == name else None
        if name.endswith(".py") and not has_plugin(name) and plugin_file and plugin_file.is_file():
            add_plugin_files([plugin_file])
        if not has_plugin(name):
            hint = _("Install it from a source that you trust")
            if name.endswith(".py"):
                hint = _("If you trust it, load it with --plugin {} (in Python: import it)", name)
            raise PluginError(
                "{}: the benchmark {} needs the plug-in {}, which is missing. {}",
                new.place,
                new.name,
                shortened(name),
                hint,
            )
    published = [
        entry.name for entry in _definitions.values() if entry.shipped and entry.has_official
    ]
    if new.official_as and new.official_as not in published:
        raise DataError(
            "official_as names {!r}, which has no official metrics in keju",
            new.official_as,
            file=new.place,
            hint=_("Use one of: {}", ", ".join(published)),
        )
    for own in new.tasks:
        if namesake := _tasks.get(own.id):
            raise UsageError(
                "{0}: the task {1!r} of {2} is also a task of {3} ({4}). Rename it in {2}",
                new.place,
                own.id,
                new.name,
                namesake.benchmark,
                _definitions[namesake.benchmark].place,
            )
    _definitions[new.name] = new
    _tasks.update((own.id, own) for own in new.tasks)
