"""The benchmarks that are registered in this process: bundled, read from files, or installed.

- keju bundles those of the directories in `keju.benchmarks`, and one for users' own pages.
- `load_benchmark` reads the file that a user names. Datasets and runs contain the definitions of
  their own benchmarks, which are read when they are opened (`register_definition`).
- An installed plug-in with a `FILE` beside its module provides one. It is read when a task or
  benchmark is requested that is not registered otherwise. A dataset or run with a definition of its
  own therefore never depends on what is installed.

A name has one definition in a process, and a task id belongs to one benchmark.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

from keju.definitions.remembered_plugins import load_plugin_of, remember_plugin
from keju.definitions.schema import Definition, Task, parse_definition
from keju.errors import DataError, UsageError, did_you_mean, nearest_names, shortened
from keju.files import toml_text
from keju.registry import (
    Installed,
    PluginError,
    describe_broken,
    has_plugin,
    list_shipped_folders,
    load_installed,
)
from keju.texts import _

FILE = "benchmark.toml"
"""The usual name of a definition file."""

_OWN_PAGES = "pages.toml"
_NOT_ONE = "not a benchmark definition"


class RegisteredDefinition(NamedTuple):
    """A registered definition, with the text of its file, and its location for messages.

    `folder` has the file; None where the text is in a dataset or run.
    """

    definition: Definition
    text: str
    place: str
    shipped: bool = False
    folder: Path | None = None


_known: dict[str, RegisteredDefinition] = {}
_tasks: dict[str, Task] = {}


def definitions() -> tuple[Definition, ...]:
    """The registered definitions, bundled ones first."""
    return tuple(each.definition for each in _all().values())


def tasks() -> tuple[Task, ...]:
    """The tasks of all benchmarks that are registered in this process, in their order.

    First those of the bundled benchmarks: those of papers, in their order, and that of own pages.
    After them those of other benchmarks, as they were loaded.
    """
    _all()
    return tuple(_tasks.values())


def task(task_id: str) -> Task:
    """The task with that id, of a registered or installed benchmark.

    Raises:
        UsageError: there is none; the message names the ids nearest to it.
    """
    if task_id in _tasks or has_task(task_id):
        return _tasks[task_id]
    ids = {own.id: own.id for own in tasks()}
    for own in tasks():
        ids.setdefault(own.name_en, own.id)
        ids.setdefault(own.name_zh, own.id)
    nearest = dict.fromkeys(ids[name] for name in nearest_names(task_id, ids, most=3, cutoff=0.6))
    hint = did_you_mean(list(nearest))
    raise UsageError(
        "no task {!r}.{} See all with: keju tasks. A task of your own benchmark needs "
        "--benchmark FILE.toml",
        task_id,
        hint,
        hint=describe_broken() or None,
    )


def has_task(task_id: str) -> bool:
    """Whether there is a task with that id, of a registered or installed benchmark."""
    _all()
    if task_id not in _tasks:
        _register_installed(lambda installed: any(own.id == task_id for own in installed.tasks))
    return task_id in _tasks


def definition(name: str) -> Definition | None:
    """The definition of that name, registered or installed."""
    if name not in _all():
        _register_installed(lambda each: each.name == name)
    registered = _known.get(name)
    return registered.definition if registered else None


def benchmark(name: str) -> Definition:
    """The definition of the benchmark of that name.

    Raises:
        UsageError: no benchmark has that name.
    """
    registered = definition(name)
    if registered is None:
        names = ", ".join(about.name for about in definitions())
        raise UsageError(
            "no benchmark {!r}. Benchmarks: {}", name, names, hint=describe_broken() or None
        )
    return registered


def official_source(name: str) -> str:
    """The benchmark that provides the `official` metrics of a benchmark: usually itself."""
    found = definition(name)
    return (found.official_as or name) if found else name


def load_benchmark(path: Path) -> Definition:
    """Read a definition file and register its tasks.

    Raises:
        DataError: the file is missing or not a definition.
        UsageError: its name or one of its tasks is registered with another content.
        PluginError: a plug-in that it names is missing.
    """
    return register_definition(toml_text(path, _NOT_ONE), str(path), path.parent)


def register_definition(text: str, place: str, folder: Path | None = None) -> Definition:
    """Register the definition in a TOML text.

    Args:
        text: the content of a definition file.
        place: its location, for messages.
        folder: the file's directory, if the user named the file.

    Raises:
        DataError: the text is not a definition.
        UsageError: its name or one of its tasks is registered with another content.
        PluginError: a plug-in that it names is missing.
    """
    for each in _all().values():
        if each.text == text:
            return _in_folder(each, folder)
    found = RegisteredDefinition(parse_definition(text, place), text, place, folder=folder)
    there = _known.get(found.definition.name)
    if there:
        _check_same(there, found)
        return _in_folder(there, folder)
    _check_plugins(found)
    _check_official(found)
    _add(found)
    return found.definition


def _in_folder(known: RegisteredDefinition, folder: Path | None) -> Definition:
    """Record the directory of a definition that was registered without one."""
    if folder and not known.folder:
        _known[known.definition.name] = known._replace(folder=folder)
    return known.definition


def register_all_installed() -> None:
    """Register all installed definitions.

    Raises:
        DataError, UsageError, PluginError: as `register_definition`.
    """
    _register_installed(lambda _: True)


def is_shipped(name: str) -> bool:
    """Whether the definition of that name is bundled."""
    found = _all().get(name)
    return found is not None and found.shipped


def folder_of(name: str) -> Path | None:
    """The directory with a benchmark's definition file, and the files that it provides with it.

    If a dataset or run contains the definition, it is the directory of the installed package with
    an equal one. None if there is none, or no benchmark of that name is registered or installed.
    """
    if definition(name) is None:
        return None
    known = _known[name]
    same = (each.folder for each in _loadable() if each.definition == known.definition)
    return known.folder or next(same, None)


def file_of(name: str) -> Path | None:
    """The definition file that the user named for a benchmark, as with ``--benchmark``.

    None if keju ships the definition, a plug-in has it, or a dataset or run contains it.
    """
    known = _all().get(name)
    if known is None or known.shipped or not known.folder:
        return None
    file = Path(known.place)
    return file if file.parent == known.folder and file.is_file() else None


def place_of(name: str) -> str:
    """The location of a registered benchmark's definition: a file, a package, or ``keju``."""
    return _all()[name].place


def definition_texts(names: Iterable[str]) -> dict[str, str]:
    """The texts of the definitions of these benchmarks, without bundled ones.

    Datasets and runs store them. A benchmark that is not registered is skipped.
    """
    wanted = sorted(set(names))
    found = {name: _known[name] for name in wanted if definition(name) is not None}
    return {name: each.text for name, each in found.items() if not each.shipped}


def definition_text(name: str) -> str:
    """The text of the definition of a benchmark, bundled or not; empty if it is not registered."""
    return _known[name].text if definition(name) is not None else ""


def _all() -> dict[str, RegisteredDefinition]:
    if not _known:
        own_pages = files("keju.definitions").joinpath("data", _OWN_PAGES)
        for file in (*(each.joinpath(FILE) for each in list_shipped_folders()), own_pages):
            text, folder = file.read_text("utf-8"), Path(str(file)).parent
            read = parse_definition(text, file.name, bundled=True)
            _add(RegisteredDefinition(read, text, "keju", shipped=True, folder=folder))
    return _known


def _add(found: RegisteredDefinition) -> None:
    for each in found.definition.tasks:
        if (other := _tasks.get(each.id)) is not None:
            raise UsageError(
                "{0}: the task {1!r} of {2} is also a task of {3} ({4}). Rename it in {2}",
                found.place,
                each.id,
                found.definition.name,
                other.benchmark,
                _known[other.benchmark].place,
            )
    _known[found.definition.name] = found
    _tasks.update((each.id, each) for each in found.definition.tasks)


def _check_same(there: RegisteredDefinition, found: RegisteredDefinition) -> None:
    """Check that a definition has the content of the registered one of the same name."""
    name = found.definition.name
    same = parse_definition(found.text, found.place, bundled=there.shipped)
    if there.definition == same:
        return
    if there.shipped:
        raise UsageError(
            "{}: keju contains a different benchmark with the name {!r}. Give yours another name",
            found.place,
            name,
        )
    raise UsageError(
        "{}: this definition of {!r} differs from the one in {}. Use only one of them: import "
        "the dataset again with the definition that you want, or rename one",
        found.place,
        name,
        there.place,
    )


def _check_plugins(found: RegisteredDefinition) -> None:
    """Check that the plug-ins of a definition are installed; load files that the user has named."""
    for name in found.definition.plugins:
        changed = None
        if name.endswith(".py"):
            changed = load_plugin_of(found.text, name, found.folder)
        if not has_plugin(name):
            hint = _("Install it from a source that you trust")
            if name.endswith(".py"):
                hint = _(
                    "If you trust it, load it with --plugin {} (in Python: import it); later "
                    "commands then load it too",
                    name,
                )
            if changed:
                hint = _(
                    "It has changed since you named it: name it again with --plugin {}", changed
                )
            raise PluginError(
                "{}: the benchmark {} needs the plug-in {}, which is missing. {}",
                found.place,
                found.definition.name,
                shortened(name),
                hint,
            )
        remember_plugin(found.text, name)


def _check_official(found: RegisteredDefinition) -> None:
    """Check that `official_as` names a benchmark whose official metrics keju computes."""
    source = found.definition.official_as
    published = [each.definition.name for each in _known.values() if _has_official(each)]
    if source and source not in published:
        raise DataError(
            "official_as names {!r}, which has no official metrics in keju",
            source,
            file=found.place,
            hint=_("Use one of: {}", ", ".join(published)),
        )


def _has_official(known: RegisteredDefinition) -> bool:
    return known.shipped and any(each.has_official for each in known.definition.tasks)


def _register_installed(wanted: Callable[[Definition], bool]) -> None:
    _all()
    for each in map(_read_installed, _with_file()):
        if each.definition.name not in _known and wanted(each.definition):
            _check_plugins(each)
            _check_official(each)
            _add(each)


def _loadable() -> Iterator[RegisteredDefinition]:
    """The installed definitions, without damaged ones.

    A dataset or run with a definition of its own must not depend on a package that is broken.
    """
    for each in _with_file():
        with suppress(DataError):
            yield _read_installed(each)


def _with_file() -> list[Installed]:
    return [each for each in load_installed() if _file_beside(each).is_file()]


@cache
def _read_installed(installed: Installed) -> RegisteredDefinition:
    path = _file_beside(installed)
    place = f"the installed package {installed.plugin.name} ({path})"
    text = toml_text(path, _NOT_ONE)
    return RegisteredDefinition(parse_definition(text, place), text, place, folder=path.parent)


def _file_beside(installed: Installed) -> Path:
    """The path that a definition beside a module has; nowhere for a module without a file."""
    module = sys.modules[installed.module]
    return Path(getattr(module, "__file__", None) or os.devnull).with_name(FILE)
