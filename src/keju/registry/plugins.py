"""Discovery of plug-ins: installed modules, files that the user named, and Python code.

A plug-in registers its declarations when it is imported (`declare`). An entry point of the group
`keju` names a module of an installed distribution; all of them are imported when a name is needed
that keju itself does not have. Nothing that a dataset, a run or a recipe contains is ever imported.
`keju.definitions` loads the files of a benchmark whose definition the user named.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import NamedTuple, TypeVar

from keju.errors import KejuError, describe_exception, error_text, printable, shortened
from keju.items import Record
from keju.texts import _, join_clauses

D = TypeVar("D")

_GROUP = "keju"
"""The entry-point group of plug-ins."""

PLUGIN_FILES = "KEJU_PLUGINS"
"""The environment variable with the paths of plug-in files, separated as in PATH."""


class PluginError(KejuError):
    """A plug-in is missing, cannot be imported, or uses a name that is already used."""


class Plugin(Record, frozen=True, kw_only=True):
    """A plug-in as manifests record it.

    `name` is a distribution, a file or, for a declaration made in a notebook or a script, a module.
    Distributions have a `version`, files a `sha256`.
    """

    name: str
    version: str = ""
    sha256: str = ""

    def __str__(self) -> str:
        """The name with the version or the beginning of the hash."""
        state = self.version or (f"(sha256 {self.sha256[:12]})" if self.sha256 else "")
        return printable(shortened(f"{self.name} {state}".strip(), 200))


class Claim(NamedTuple):
    """A plug-in's declaration of a name."""

    plugin: Plugin
    declaration: object


class Installed(NamedTuple):
    """A module that an installed distribution names in its entry points."""

    plugin: Plugin
    name: str
    module: str


class PluginSource(NamedTuple):
    """A plug-in file that was loaded, as another process can execute it."""

    path: str
    code: bytes

    @property
    def plugin(self) -> Plugin:
        """The plug-in: the name of the file and its hash."""
        return Plugin(name=Path(self.path).name, sha256=hashlib.sha256(self.code).hexdigest())


_DECLARED: dict[str, dict[str, dict[str, Claim]]] = {}
"""The declarations made by Python code, by group, name and module."""

_LOADING: list[Plugin] = []
"""The plug-ins that are being loaded."""

_IMPORTED: dict[Installed, PluginError | None] = {}
"""The installed plug-ins that were imported, with the error of those that could not be."""

_FILES: dict[str, PluginError | None] = {}
"""The plug-in files that were loaded, by path, with the error of those that could not be."""

_SOURCES: dict[str, PluginSource] = {}
"""The plug-in files that were loaded, by the name of their module, in their order."""


def list_declared_names(group: str) -> set[str]:
    """List the names that plug-ins declare in a group; installed plug-ins are imported."""
    load_installed()
    return set(_DECLARED.get(group, {}))


def list_claims(group: str, name: str) -> list[Claim]:
    """List the declarations of a name by the plug-ins that are imported, one of each."""
    load_plugin_files()
    claims = _DECLARED.get(group, {}).get(name, {}).values()
    return list({claim.plugin: claim for claim in claims}.values())


@contextmanager
def _loading(plugin: Plugin, place: object) -> Iterator[None]:
    """Import a plug-in inside: what is declared there is its own, and an exception its error."""
    _LOADING.append(plugin)
    try:
        yield
    except PluginError:
        raise
    except (Exception, SystemExit) as error:
        raise PluginError("plug-in {}: {}", place, describe_exception(error)) from error
    finally:
        _LOADING.pop()


def load_installed() -> list[Installed]:
    """Import the modules of installed plug-ins that are not imported yet.

    Returns:
        The modules; one that cannot be imported is in `list_broken` instead.

    Raises:
        PluginError: a plug-in file cannot be imported.
    """
    load_plugin_files()
    for point in _read_entry_points():
        if point not in _IMPORTED:
            _IMPORTED[point] = None
            place = f"{point.plugin} (entry point {point.name} = {point.module})"
            try:
                with _loading(point.plugin, place):
                    import_module(point.module)
            except PluginError as error:
                _IMPORTED[point] = error
    return [point for point, broken in _IMPORTED.items() if broken is None]


def list_broken() -> dict[str, PluginError]:
    """List the installed plug-ins that could not be imported, by the name of their entry point."""
    return {point.name: error for point, error in _IMPORTED.items() if error is not None}


def describe_broken() -> str:
    """Format why installed plug-ins cannot be imported, for errors about unknown names."""
    return join_clauses(tuple(map(error_text, list_broken().values())))


def declare(group: str, name: str, declaration: object, target: D) -> D:
    """Register a declaration from Python code; used by the decorators of `keju`.

    Declaring a name again replaces what the same module declared, for example when a notebook's
    cell is run again.

    Args:
        group: the group of the registry.
        name: the name that users write.
        declaration: an object that the registry's `check` accepts.
        target: the decorated class or function.

    Returns:
        `target`.

    Raises:
        PluginError: a plug-in declares the name twice while it is loaded.
    """
    module = getattr(target, "__module__", "__main__")
    plugin = _find_provider(module)
    claims = _DECLARED.setdefault(group, {}).setdefault(name, {})
    of_distribution = [claim.plugin for claim in claims.values() if claim.plugin.version]
    if _LOADING and (module in claims or plugin in of_distribution):
        raise PluginError("plug-in {} declares {!r} twice in {}", plugin, name, group)
    claims[module] = Claim(plugin, declaration)
    return target


def _find_provider(module: str) -> Plugin:
    """Find the plug-in with a module: a file, a distribution, or the module of a session.

    A file is the same plug-in whether it is loaded or imported.
    """
    if source := _SOURCES.get(module):
        return source.plugin
    top = module.partition(".")[0]
    owners = [
        point.plugin for point in _read_entry_points() if point.module.partition(".")[0] == top
    ]
    if _LOADING and (not owners or _LOADING[-1] in owners):
        return _LOADING[-1]
    if owners:
        return owners[0]
    file = Path(getattr(sys.modules.get(module), "__file__", None) or "")
    if module == "__main__" or not file.is_file():
        return Plugin(name=module)
    return PluginSource(str(file), file.read_bytes()).plugin


def add_plugin_files(files: Iterable[Path]) -> None:
    """Load plug-in files that the user named, in this process and in every process it starts.

    Raises:
        PluginError: a file does not exist or cannot be imported.
    """
    names = [str(file.absolute()) for file in files]
    for name in names:
        if os.pathsep in name:
            raise PluginError("plug-in {}: its path contains {!r}. Move the file", name, os.pathsep)
    names = [*os.environ.get(PLUGIN_FILES, "").split(os.pathsep), *names]
    os.environ[PLUGIN_FILES] = os.pathsep.join(dict.fromkeys(filter(None, names)))
    load_plugin_files()


def load_plugin_files() -> None:
    """Load the files that KEJU_PLUGINS names and that are not loaded yet.

    Raises:
        PluginError: a file does not exist or cannot be imported.
    """
    for name in filter(None, os.environ.get(PLUGIN_FILES, "").split(os.pathsep)):
        if name not in _FILES:
            _FILES[name] = None
            try:
                if not name.endswith(".py"):
                    raise PluginError("plug-in {}: not a Python file (.py)", name)  # noqa: TRY301
                load_sources([PluginSource(name, Path(name).read_bytes())])
            except OSError as error:
                _FILES[name] = PluginError("plug-in {}: {}", name, error.strerror or error)
            except PluginError as error:
                _FILES[name] = error
        if failure := _FILES[name]:
            raise failure


def load_sources(sources: Iterable[PluginSource]) -> None:
    """Load plug-in files as another process read them, under the same module names.

    Raises:
        PluginError: a file cannot be imported here.
    """
    for source in sources:
        _FILES.setdefault(source.path, None)
        name = f"keju_plugin_{Path(source.path).stem}_{source.plugin.sha256[:12]}"
        if name in _SOURCES:
            continue
        module = sys.modules[name] = ModuleType(name)
        module.__file__ = source.path
        _SOURCES[name] = source
        with _loading(source.plugin, source.path):
            exec(compile(source.code, source.path, "exec"), vars(module))  # noqa: S102 - the user's


def list_plugin_sources() -> tuple[PluginSource, ...]:
    """List the plug-in files of this process, for workers on other machines."""
    return tuple(_SOURCES.values())


def find_plugin_file(name: str) -> PluginSource | None:
    """Find the plug-in file of this name that was loaded last; None if there is none."""
    load_plugin_files()
    named = (source for source in _SOURCES.values() if source.plugin.name == name)
    return next(reversed([*named]), None)


def has_plugin_file(name: str) -> bool:
    """Return whether a file of this name was loaded, or imported with a declaration."""
    load_plugin_files()
    return any(file.name == name for file in _list_files())


def _list_files() -> Iterator[Plugin]:
    for source in _SOURCES.values():
        yield source.plugin
    for names in _DECLARED.values():
        for claims in names.values():
            yield from (claim.plugin for claim in claims.values() if claim.plugin.sha256)


def _find_installed(plugin: Plugin) -> Plugin | None:
    """Find the plug-in of the same name that this process can use."""
    if plugin.sha256:
        files = [file for file in _list_files() if file.name == plugin.name]
        return plugin if plugin in files else next(iter(files), None)
    if not plugin.version:
        return plugin if plugin.name in sys.modules else None
    from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415 - slow to import

    try:
        return Plugin(name=plugin.name, version=version(plugin.name))
    except (PackageNotFoundError, ValueError):
        return None


def check_installed(plugins: Iterable[Plugin], place: str) -> list[str]:
    """Check that the plug-ins that a manifest records are installed, which `place` needs.

    Returns:
        A note for each plug-in that is installed in another version.

    Raises:
        PluginError: a plug-in is missing.
    """
    load_plugin_files()
    notes: list[str] = []
    for plugin in plugins:
        installed = _find_installed(plugin)
        needs = _("{} needs the plug-in {} (installed: {})", place, plugin, installed or _("none"))
        if not installed:
            raise PluginError(
                needs,
                hint=_("Load it with --plugin FILE.py")
                if plugin.sha256
                else _("Install it from a source that you trust"),
            )
        if installed != plugin:
            notes.append(needs)
    return notes


@cache
def _read_entry_points() -> tuple[Installed, ...]:
    """Read the entry points of installed plug-ins; the modules that they name are not imported."""
    from importlib.metadata import entry_points  # noqa: PLC0415 - slow to import

    points = []
    for point in entry_points(group=_GROUP):
        plugin = Plugin(name=point.module)
        if point.dist:
            plugin = Plugin(name=point.dist.name, version=point.dist.version)
        points.append(Installed(plugin, point.name, point.value))
    return tuple(points)
