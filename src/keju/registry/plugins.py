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
from collections.abc import Iterable
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
        known = self.version or (f"(sha256 {self.sha256[:12]})" if self.sha256 else "")
        return printable(shortened(f"{self.name} {known}".strip(), 200))


class Claim(NamedTuple):
    """A plug-in's declaration of a name."""

    plugin: Plugin
    declaration: object


class Installed(NamedTuple):
    """A module that an installed distribution names in its entry points."""

    plugin: Plugin
    name: str
    module: str


def list_declared_names(group: str) -> set[str]:
    """List the names that plug-ins declare in a group; installed plug-ins are imported."""
    load_installed()
    return set(_DECLARED.get(group, {}))


def list_claims(group: str, name: str) -> list[Claim]:
    """List the declarations of a name by the plug-ins that are imported, one of each."""
    load_plugin_files()
    claims = _DECLARED.get(group, {}).get(name, {}).values()
    return list({claim.plugin: claim for claim in claims}.values())


def load_installed() -> list[Installed]:
    """Import the modules of installed plug-ins that are not imported yet.

    Returns:
        The modules; one that cannot be imported is in `list_broken` instead.

    Raises:
        PluginError: a plug-in file cannot be imported.
    """
    load_plugin_files()
    for each in _read_entry_points():
        if each in _IMPORTED:
            continue
        _IMPORTED[each] = None
        _LOADING.append(each.plugin)
        try:
            import_module(each.module)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - listed, raised where it is needed
            _IMPORTED[each] = PluginError(
                "plug-in {} (entry point {} = {}): {}",
                each.plugin,
                each.name,
                each.module,
                describe_exception(error),
            )
        finally:
            _LOADING.pop()
    return [each for each, broken in _IMPORTED.items() if broken is None]


def list_broken() -> dict[str, PluginError]:
    """List the installed plug-ins that could not be imported, by the name of their entry point."""
    return {each.name: error for each, error in _IMPORTED.items() if error is not None}


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
    if plugin := _MODULES.get(module):
        return plugin
    top = module.partition(".")[0]
    owners = [each.plugin for each in _read_entry_points() if each.module.partition(".")[0] == top]
    if _LOADING and (not owners or _LOADING[-1] in owners):
        return _LOADING[-1]
    if owners:
        return owners[0]
    file = Path(getattr(sys.modules.get(module), "__file__", None) or "")
    if module == "__main__" or not file.is_file():
        return Plugin(name=module)
    return Plugin(name=file.name, sha256=hashlib.sha256(file.read_bytes()).hexdigest())


def add_plugin_files(files: Iterable[Path]) -> None:
    """Load plug-in files that the user named, in this process and in every process it starts.

    Raises:
        PluginError: a file does not exist or cannot be imported.
    """
    known = os.environ.get(PLUGIN_FILES, "").split(os.pathsep)
    given = [str(file.absolute()) for file in files]
    if apart := [name for name in given if os.pathsep in name]:
        raise PluginError("plug-in {}: its path contains {!r}. Move the file", apart[0], os.pathsep)
    names = dict.fromkeys(each for each in (*known, *given) if each)
    os.environ[PLUGIN_FILES] = os.pathsep.join(names)
    load_plugin_files()


def load_plugin_files() -> None:
    """Load the files that KEJU_PLUGINS names and that are not loaded yet.

    Raises:
        PluginError: a file does not exist or cannot be imported.
    """
    for name in os.environ.get(PLUGIN_FILES, "").split(os.pathsep):
        if name and name not in _FILES:
            _FILES[name] = None
            try:
                _load_file(Path(name))
            except PluginError as error:
                _FILES[name] = error
        if name and (failed := _FILES[name]):
            raise failed


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
        found = _find_installed(plugin)
        needs = _("{} needs the plug-in {} (installed: {})", place, plugin, found or _("none"))
        if not found:
            hint = (
                _("with --plugin FILE.py") if plugin.sha256 else _("from a source that you trust")
            )
            raise PluginError(
                "{}. {} it {}", needs, _("Load") if plugin.sha256 else _("Install"), hint
            )
        if found != plugin:
            notes.append(needs)
    return notes


def _find_installed(plugin: Plugin) -> Plugin | None:
    """Find the plug-in of the same name that this process can use."""
    if plugin.sha256:
        loaded = [each for each in _list_files() if each.name == plugin.name]
        return next((each for each in loaded if each == plugin), loaded[0] if loaded else None)
    if not plugin.version:
        return plugin if plugin.name in sys.modules else None
    from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415 - slow to import

    try:
        return Plugin(name=plugin.name, version=version(plugin.name))
    except (PackageNotFoundError, ValueError):
        return None


_DECLARED: dict[str, dict[str, dict[str, Claim]]] = {}
"""The declarations made by Python code, by group, name and module."""

_LOADING: list[Plugin] = []
"""The plug-ins that are being loaded."""

_IMPORTED: dict[Installed, PluginError | None] = {}
"""The installed plug-ins that were imported, with the error of those that could not be."""

_FILES: dict[str, PluginError | None] = {}
"""The plug-in files that were loaded, by path, with the error of those that could not be."""

_SOURCES: list[PluginSource] = []
"""The plug-in files that were loaded, in their order."""

_MODULES: dict[str, Plugin] = {}
"""The plug-in files that were loaded, by the name of their module."""


class PluginSource(NamedTuple):
    """A plug-in file that was loaded, as another process can execute it."""

    path: str
    code: bytes


def list_plugin_sources() -> tuple[PluginSource, ...]:
    """List the plug-in files of this process, for workers on other machines."""
    return tuple(_SOURCES)


def find_plugin_file(name: str) -> PluginSource | None:
    """Find the plug-in file of this name that was loaded last; None if there is none."""
    load_plugin_files()
    return next((each for each in reversed(_SOURCES) if Path(each.path).name == name), None)


def has_plugin_file(name: str) -> bool:
    """Return whether a file of this name was loaded, or imported with a declaration."""
    load_plugin_files()
    return any(each.name == name for each in _list_files())


def _list_files() -> list[Plugin]:
    """List the plug-in files that were loaded, or imported with a declaration."""
    claims = (
        claim for names in _DECLARED.values() for each in names.values() for claim in each.values()
    )
    return [*_MODULES.values(), *(claim.plugin for claim in claims if claim.plugin.sha256)]


def load_sources(sources: Iterable[PluginSource]) -> None:
    """Load plug-in files as another process read them, under the same module names.

    Raises:
        PluginError: a file cannot be imported here.
    """
    for source in sources:
        _FILES.setdefault(source.path, None)
        _run_source(source)


@cache
def _read_entry_points() -> tuple[Installed, ...]:
    """Read the entry points of installed plug-ins; the modules that they name are not imported."""
    from importlib.metadata import entry_points  # noqa: PLC0415 - slow to import

    found = []
    for point in entry_points(group=_GROUP):
        plugin = Plugin(name=point.module)
        if point.dist:
            plugin = Plugin(name=point.dist.name, version=point.dist.version)
        found.append(Installed(plugin, point.name, point.value))
    return tuple(found)


def _load_file(path: Path) -> None:
    """Execute a plug-in file as a module of its own."""
    if path.suffix != ".py":
        raise PluginError("plug-in {}: not a Python file (.py)", path)
    try:
        code = path.read_bytes()
    except OSError as error:
        raise PluginError("plug-in {}: {}", path, error.strerror or error) from None
    _run_source(PluginSource(str(path), code))


def _run_source(source: PluginSource) -> None:
    path = Path(source.path)
    sha256 = hashlib.sha256(source.code).hexdigest()
    name = f"keju_plugin_{path.stem}_{sha256[:12]}"
    if name in _MODULES:
        return
    module = sys.modules[name] = ModuleType(name)
    module.__file__ = source.path
    _MODULES[name] = Plugin(name=path.name, sha256=sha256)
    _SOURCES.append(source)
    _LOADING.append(_MODULES[name])
    try:
        exec(compile(source.code, source.path, "exec"), vars(module))  # noqa: S102 - the user's file
    except PluginError:
        raise
    except (Exception, SystemExit) as error:
        raise PluginError("plug-in {}: {}", path, describe_exception(error)) from error
    finally:
        _LOADING.pop()
