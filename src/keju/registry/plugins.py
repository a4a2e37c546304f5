"""Discovery of plug-ins: entry points, files that the user named, and Python code.

An entry point and a file are imported when a name is first used or listed. Nothing that a dataset,
a run or a recipe contains is ever imported. `keju.definitions` loads the files of a benchmark whose
definition the user named.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from keju.errors import KejuError, describe_exception, printable, shortened
from keju.items import Record
from keju.texts import _

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

D = TypeVar("D")

PLUGIN_FILES = "KEJU_PLUGINS"
"""The environment variable with the paths of plug-in files, separated as in PATH."""

_DECLARATION = "__keju_declaration__"


class PluginError(KejuError):
    """A plug-in is missing, cannot be imported, or uses a name that is already used."""


class Plugin(Record, frozen=True, kw_only=True):
    """A plug-in as manifests record it.

    `name` is a distribution, a file or, for a declaration made in a Python session, a module.
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
    """A plug-in's declaration of a name; `where` distinguishes two of one plug-in."""

    plugin: Plugin
    where: str
    load: Callable[[], object]

    def __str__(self) -> str:
        return str(self.plugin) if self.plugin.name == self.where else f"{self.plugin} {self.where}"


def list_declared_names(group: str) -> set[str]:
    """List the names that plug-ins declare in a group."""
    return {*_read_entry_points(group), *_get_declared(group)}


def list_installed(group: str) -> list[Claim]:
    """List the entry points of a group, whatever their names are."""
    return [claim for same in _read_entry_points(group).values() for claim in same]


def _load_claim(claim: Claim) -> object:
    try:
        return claim.load()
    except PluginError:
        return None  # It is reported when the name is used.


def list_claims(group: str, name: str) -> list[Claim]:
    """List the plug-ins that declare a name.

    An entry point and the decorator that its own module applied are one claim, and so are those of
    a plug-in file that is imported too.
    """
    points = _read_entry_points(group).get(name, [])
    added = _drop_reimported(_get_declared(group).get(name, {}))
    if points and added:
        named = [_load_claim(each) for each in points]
        added = {
            where: each
            for where, each in added.items()
            if not any(each.load() is other for other in named)
        }
    return [*points, *added.values()]


def _drop_reimported(added: Mapping[str, Claim]) -> Mapping[str, Claim]:
    """Drop the claims of modules whose file is also loaded as a plug-in file."""
    loaded = {each.plugin.sha256 for each in added.values() if each.plugin.sha256}
    if not loaded or len(added) == 1:
        return added
    return {
        module: each
        for module, each in added.items()
        if each.plugin.sha256 or _hash_module(module) not in loaded
    }


def _hash_module(name: str) -> str:
    """Return the SHA-256 of an imported module's file; empty if it has no file."""
    file = getattr(sys.modules.get(name), "__file__", None)
    try:
        return hashlib.sha256(Path(file).read_bytes()).hexdigest() if file else ""
    except OSError:
        return ""


def declare(group: str, name: str, declaration: object, target: D) -> D:
    """Register a declaration from Python code; used by the decorators of `keju`.

    Declaring a name again replaces what the same module declared, for example when a notebook's
    cell is run again.

    Args:
        group: the registry's entry-point group.
        name: the name that users write.
        declaration: an object that the registry's `check` accepts.
        target: the decorated class or function, so that an entry point may name it.

    Returns:
        `target`, unchanged except for a reference to its declaration.

    Raises:
        PluginError: a plug-in file declares the name twice.
    """
    setattr(target, _DECLARATION, declaration)
    module = getattr(target, "__module__", "__main__")
    plugin = _LOADING[-1] if _LOADING else _MODULES.get(module) or Plugin(name=module)
    names = _DECLARED.setdefault(group, {}).setdefault(name, {})
    if _LOADING and module in names:
        raise PluginError("plug-in {} declares {!r} twice in {}", plugin, name, group)
    names[module] = Claim(plugin, plugin.name if _LOADING else module, lambda: declaration)
    return target


def get_declaration(found: object) -> object:
    """Return the declaration of a decorated class or function; else the object itself."""
    own: Mapping[str, object] = getattr(found, "__dict__", {})
    return own.get(_DECLARATION, found)


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
        loaded = [each for each in _MODULES.values() if each.name == plugin.name]
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
"""The plug-in file that is being loaded, if there is one."""

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
    modules = {module for names in _DECLARED.values() for each in names.values() for module in each}
    files = [getattr(sys.modules.get(module), "__file__", None) for module in modules]
    paths = [*(each.path for each in _SOURCES), *(file for file in files if file)]
    return any(Path(path).name == name for path in paths)


def load_sources(sources: Iterable[PluginSource]) -> None:
    """Load plug-in files as another process read them, under the same module names.

    Raises:
        PluginError: a file cannot be imported here.
    """
    for source in sources:
        _FILES.setdefault(source.path, None)
        _run_source(source)


def _get_declared(group: str) -> dict[str, dict[str, Claim]]:
    load_plugin_files()
    return _DECLARED.get(group, {})


@cache
def _read_entry_points(group: str) -> dict[str, list[Claim]]:
    """Read the entry points of a group by name; the modules that they name are not imported."""
    from importlib.metadata import entry_points  # noqa: PLC0415 - slow to import

    found: dict[str, list[Claim]] = {}
    for point in entry_points(group=group):
        found.setdefault(point.name, []).append(_make_claim(point))
    return found


def _make_claim(point: EntryPoint) -> Claim:
    plugin = (
        Plugin(name=point.dist.name, version=point.dist.version)
        if point.dist
        else Plugin(name=point.module)
    )
    where = f"(entry point {point.name} = {point.value})"

    def load() -> object:
        try:
            return get_declaration(point.load())
        except (Exception, SystemExit) as error:
            raise PluginError(
                "plug-in {} {}: {}", plugin, where, describe_exception(error)
            ) from error

    return Claim(plugin, where, load)


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
