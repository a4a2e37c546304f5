"""`Registry`: the names of one kind (models, readers, steps …), built in or from plug-ins.

A plug-in is Python code that calls `register` when it is imported: a module that an entry point of
the group ``keju`` names, or a file that the user names with ``--plugin FILE.py`` or in the
environment variable KEJU_PLUGINS. Installed modules are imported when a name is needed that keju
itself does not have. Nothing that a dataset, a run or a recipe contains is ever imported.
"""

from __future__ import annotations

import hashlib
import os
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from importlib import import_module
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from pkgutil import resolve_name
from types import ModuleType
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar, cast

from keju.errors import (
    KejuError,
    UsageError,
    describe_exception,
    error_text,
    printable,
    shortened,
    unknown_name,
)
from keju.items import Record
from keju.texts import _, join_clauses, noun

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])

PLUGIN_FILES = "KEJU_PLUGINS"
"""The environment variable with the paths of plug-in files, separated as in PATH."""

DEBUG = "KEJU_DEBUG"
"""The environment variable with which the command line prints the traceback of every error."""


class PluginError(KejuError):
    """A plug-in is missing or broken, or uses a name that is already used."""


class _NameClashError(PluginError):
    """Two plug-ins provide one name."""


class Plugin(Record, frozen=True, kw_only=True):
    """A distribution (with its `version`), a file (with its `sha256`), or a notebook's module."""

    name: str
    version: str = ""
    sha256: str = ""

    def __str__(self) -> str:
        state = self.version or (f"(sha256 {self.sha256[:12]})" if self.sha256 else "")
        return printable(shortened(f"{self.name} {state}".strip(), 200))


class PluginSource(NamedTuple):
    """A plug-in file that was loaded, as another process can execute it."""

    path: str
    code: bytes

    @property
    def plugin(self) -> Plugin:
        """The plug-in."""
        return Plugin(name=Path(self.path).name, sha256=hashlib.sha256(self.code).hexdigest())

    @property
    def module(self) -> str:
        """The name of its module, in this process and in workers."""
        return f"keju_plugin_{Path(self.path).stem}_{self.plugin.sha256[:12]}"


class Installed(NamedTuple):
    """A module that an installed distribution names in its entry points."""

    plugin: Plugin
    name: str
    module: str


class Claim(NamedTuple):
    """The value of a name, and the plug-in that registered it."""

    thing: Any
    plugin: Plugin


_BENCHMARKS = "keju.benchmarks"

_CLAIMS: dict[tuple[str, str], Claim] = {}
"""The names that plug-ins registered, by kind and name."""

_SOURCES: dict[str, PluginSource] = {}
"""The plug-in files that were loaded, by the name of their module."""

_IMPORTED: dict[Installed, PluginError | None] = {}
"""The installed plug-ins that were imported, with the error of those that could not be."""


def register(kind: str, name: str, thing: object, function: F) -> F:
    """Register a name of a kind, e.g. ``steps``; the decorators of `keju` call it.

    What the same plug-in registered with the name before is replaced, for example when a cell of a
    notebook is run again. The module of `function`, which is returned, identifies the plug-in.

    Raises:
        PluginError: another plug-in provides the name.
    """
    plugin = _find_provider(getattr(function, "__module__", "__main__"))
    other = _CLAIMS.get((kind, name))
    if other and other.plugin.name != plugin.name:
        raise _make_clash(kind, name, other.plugin, plugin)
    _CLAIMS[kind, name] = Claim(thing, plugin)
    return function


def _make_clash(kind: str, name: str, provider: object, plugin: Plugin) -> _NameClashError:
    return _NameClashError(
        "{!r} of {} is provided by {} and by {}. Use one of them", name, kind, provider, plugin
    )


class Entry(NamedTuple, Generic[T]):
    """A name for lists; `plugin` is None for keju's own, `thing` where a `problem` prevents use."""

    name: str
    thing: T | None
    plugin: Plugin | None = None
    problem: str = ""

    def describe(self, summary: Callable[[T], str]) -> str:
        """Format one line for a list: the summary or the problem, and the plug-in."""
        what = self.problem if self.thing is None else summary(self.thing)
        return f"{what} [{self.plugin}]" if self.plugin else what


class Registry(Mapping[str, T]):
    """The names of one kind and their values; a value is imported when it is first looked up.

    As a mapping it contains every name, the built-in ones first, and the names of entry points of
    plug-ins that cannot be imported, whose lookup raises `PluginError`. So does that of a built-in
    name that a plug-in provides too. Installed plug-ins are imported for lists and for names that
    are not built in.

    Args:
        word: the word for a name in errors, e.g. ``step``.
        kind: the kind with which `register` is called, e.g. ``steps``.
        builtin: keju's own, by name: the thing, or ``module:ATTRIBUTE`` where it is found.
        elsewhere: names that optional packages of keju provide, with the package and how to install
            it, for the error where it is not installed.
    """

    def __init__(
        self,
        word: str,
        kind: str,
        builtin: Mapping[str, str | T],
        *,
        elsewhere: Mapping[str, str] | None = None,
    ) -> None:
        self.word = word
        self.kind = kind
        self.builtin = builtin
        self.elsewhere = elsewhere or {}

    def __getitem__(self, name: str) -> T:
        own, claim = self.builtin.get(name), self._claim(name)
        if own is not None and claim:
            raise _make_clash(self.kind, name, "keju", claim.plugin)
        if claim:
            return cast("T", claim.thing)
        if own is None:
            raise list_broken().get(name) or KeyError(name)
        return cast("T", resolve_name(own) if isinstance(own, str) else own)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and (name in self.builtin or name in list(self))

    def __iter__(self) -> Iterator[str]:
        yield from self.builtin
        yield from sorted({*list_claims(self.kind), *list_broken()} - self.builtin.keys())

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def _claim(self, name: str) -> Claim | None:
        """The claim of a plug-in to a name; a built-in name imports no package."""
        add_plugin_files() if name in self.builtin else load_installed()
        return _CLAIMS.get((self.kind, name))

    def plugin_of(self, name: str) -> Plugin | None:
        """Return the plug-in that provides a name; None if it is keju's own or unknown."""
        claim = None if name in self.builtin else self._claim(name)
        return claim and claim.plugin

    def find(self, name: str, *, place: str = "") -> T:
        """Find the thing of that name; `place`, such as a file and a line, begins an error.

        Raises:
            UsageError: no such name; the error has the nearest one and all names.
            PluginError: its package is not installed, cannot be imported or is not the only one.
        """
        if name not in self:
            raise self.make_unknown_error(name, place=place)
        return self[name]

    def make_unknown_error(
        self, name: str, *, place: str = "", known: Iterable[str] = (), word: str = ""
    ) -> KejuError:
        """Make the error about a name that does not exist; `known` and `word` as in this registry.

        `place` begins the error.
        """
        word, broken = word or self.word, describe_broken()
        if package := self.elsewhere.get(name):
            missing = _("the {} {!r} is not installed. It is in {}", noun(word), name, package)
            return PluginError(missing, file=place or None, hint=broken)
        unknown = unknown_name(name, known or self, word)
        return UsageError(unknown, file=place or None, hint=broken)

    def iter_entries(self) -> Iterator[Entry[T]]:
        """Yield every name with its thing or the reason why it cannot be used, for lists."""
        for name in self:
            try:
                yield Entry(name, self[name], self.plugin_of(name))
            except PluginError as error:
                yield Entry(name, None, self.plugin_of(name), error_text(error))

    def list_usable(self) -> list[T]:
        """List all values that can be used; a broken plug-in must not stop other commands."""
        return [entry.thing for entry in self.iter_entries() if entry.thing is not None]


def list_returned(function: Callable[..., object], returned: object, kind: type[T]) -> list[T]:
    """List what a plug-in's function returned or yielded.

    Raises:
        PluginError: it is not a list of values of that type.
    """
    is_list = isinstance(returned, Iterable) and not isinstance(returned, str)
    values = list(cast("Iterable[T]", returned)) if is_list else [cast("T", returned)]
    wrong = next((value for value in values if not isinstance(value, kind)), None)
    if is_list and wrong is None:
        return values
    raise PluginError(
        "plug-in {}: {} returned {}, not a list of {}",
        _find_provider(function.__module__),
        getattr(function, "__name__", function),
        type(returned if wrong is None else wrong).__name__,
        kind.__name__,
    )


def is_debugging() -> bool:
    """Return whether the user wants tracebacks."""
    return os.environ.get(DEBUG, "") not in {"", "0"}


def describe_fault(error: BaseException, plugin: Plugin | None = None) -> PluginError | None:
    """Describe an exception by the innermost call of a plug-in's code in its traceback.

    Without such a call it is an exception of `plugin`, which the caller knows, or of no plug-in.
    """
    calls = list(traceback.walk_tb(error.__traceback__))
    frame, line = calls[-1]
    for call in calls:
        if owner := _find_owner(str(call[0].f_globals.get("__name__", ""))):
            plugin, (frame, line) = owner, call
    if plugin is None:
        return None
    function = frame.f_code.co_qualname.rpartition("<locals>.")[2]
    place = f"{function} ({Path(frame.f_code.co_filename).name}:{line})"
    # An exception may quote a whole document.
    reason = shortened(describe_exception(error), 300).rstrip(".")
    hint = _("Set {}=1 to see the traceback", DEBUG)
    return PluginError("plug-in {}: {} raised {}. {}", plugin, place, reason, hint)


@contextmanager
def naming_faults() -> Iterator[None]:
    """Raise a `PluginError` in place of an exception that the code of a plug-in raises inside.

    Errors of keju itself, which have a text for the user, and system errors pass unchanged.
    """
    try:
        yield
    except (KejuError, MemoryError, BrokenPipeError):
        raise
    except (Exception, SystemExit) as error:
        if fault := describe_fault(error):
            raise fault from error
        raise


def _import_error(place: object, error: BaseException) -> PluginError:
    """The error about a plug-in whose import raised another one."""
    if isinstance(error, PluginError):
        return error
    fault = PluginError("plug-in {}: {}", place, describe_exception(error))
    fault.__cause__ = error
    return fault


def load_installed() -> list[Installed]:
    """Import the modules of installed plug-ins that are not imported yet, and list the modules.

    One that cannot be imported is in `list_broken` instead.

    Raises:
        PluginError: a plug-in file cannot be imported, or provides a name of an installed plug-in:
            one of the two would be used without a word.
    """
    add_plugin_files()
    for point in _read_entry_points():
        if point not in _IMPORTED:
            _IMPORTED[point] = None
            try:
                import_module(point.module)
            except (Exception, SystemExit) as error:
                place = f"{point.plugin} (entry point {point.name} = {point.module})"
                _IMPORTED[point] = _import_error(place, error)
                if isinstance(error, _NameClashError) and _SOURCES:
                    raise
    return [point for point, broken in _IMPORTED.items() if broken is None]


def list_claims(kind: str) -> dict[str, Claim]:
    """List what plug-ins registered of a kind, by name, in the order of the names."""
    load_installed()
    return {name: claim for (group, name), claim in sorted(_CLAIMS.items()) if group == kind}


def list_broken() -> dict[str, PluginError]:
    """List the installed plug-ins that could not be imported, by the name of their entry point."""
    return {point.name: error for point, error in _IMPORTED.items() if error is not None}


def describe_broken() -> str | None:
    """Why installed plug-ins cannot be imported, as the hint of an error about an unknown name."""
    return join_clauses(tuple(map(error_text, list_broken().values()))) or None


@cache
def _read_entry_points() -> tuple[Installed, ...]:
    """Read the entry points of installed plug-ins; the modules that they name are not imported."""
    from importlib.metadata import entry_points  # noqa: PLC0415 - slow to import

    def plugin_of(point: EntryPoint) -> Plugin:
        if not point.dist:
            return Plugin(name=point.module)
        return Plugin(name=point.dist.name, version=point.dist.version)

    points = entry_points(group="keju")
    return tuple(Installed(plugin_of(point), point.name, point.value) for point in points)


def _find_owner(module: str) -> Plugin | None:
    """The plug-in file that a module is, or the distribution that has it or its namespace."""
    if source := _SOURCES.get(module):
        return source.plugin
    top = module.partition(".")[0]
    points = (each for each in _read_entry_points() if each.module.partition(".")[0] == top)
    return next((point.plugin for point in points), None)


def _find_provider(module: str) -> Plugin:
    """Find the plug-in with a module: a file, a distribution, or the module of a session.

    A file is the same plug-in whether it is loaded or imported.
    """
    if owner := _find_owner(module):
        return owner
    file = Path(getattr(sys.modules.get(module), "__file__", None) or "")
    if module == "__main__" or not file.is_file():
        return Plugin(name=module)
    return PluginSource(str(file), file.read_bytes()).plugin


def add_plugin_files(paths: Iterable[Path] = ()) -> None:
    """Load the plug-in files that KEJU_PLUGINS names and that are not loaded yet.

    Args:
        paths: files that the user named. They are added to KEJU_PLUGINS, for every process that
            this one starts.

    Raises:
        PluginError: a file does not exist or cannot be imported.
    """
    files = os.environ.get(PLUGIN_FILES, "").split(os.pathsep)
    files = list(filter(None, dict.fromkeys([*files, *(str(path.absolute()) for path in paths)])))
    if files:
        os.environ[PLUGIN_FILES] = os.pathsep.join(files)
    loaded = {source.path for source in _SOURCES.values()}
    for file in files:
        if file not in loaded:
            try:
                code = Path(file).read_bytes()
            except OSError as error:
                raise PluginError("plug-in {}: {}", file, error.strerror or error) from None
            load_sources([PluginSource(file, code)])


def load_sources(sources: Iterable[PluginSource]) -> None:
    """Load plug-in files as another process read them, under the same module names."""
    for source in sources:
        if source.module in _SOURCES:
            continue
        module = sys.modules[source.module] = ModuleType(source.module)
        module.__file__ = source.path
        _SOURCES[source.module] = source
        try:
            exec(compile(source.code, source.path, "exec"), vars(module))  # noqa: S102 - the user's
        except (Exception, SystemExit) as error:  # noqa: BLE001 - of any kind
            # The next use loads it again, as the user has corrected it by then.
            del _SOURCES[source.module]
            for key in [key for key, claim in _CLAIMS.items() if claim.plugin == source.plugin]:
                del _CLAIMS[key]
            raise _import_error(source.path, error) from error.__cause__


def list_plugin_sources() -> tuple[PluginSource, ...]:
    """List the plug-in files of this process, for workers on other machines."""
    return tuple(_SOURCES.values())


def has_plugin(name: str) -> bool:
    """Return whether a plug-in is there: a file NAME.py, loaded or imported, or a distribution."""
    add_plugin_files()
    if name.endswith(".py"):
        plugins = [*(source.plugin for source in _SOURCES.values())]
        plugins += [claim.plugin for claim in _CLAIMS.values() if claim.plugin.sha256]
        return name in {plugin.name for plugin in plugins}
    from importlib.metadata import distribution  # noqa: PLC0415 - slow to import

    with suppress(ModuleNotFoundError, ValueError):
        return bool(distribution(name))
    return False


def list_shipped_folders() -> tuple[Traversable, ...]:
    """List the directories of the bundled benchmarks, in the order of lists."""
    return tuple(map(files, import_module(_BENCHMARKS).folders()))


def list_provided(kind: str) -> dict[str, str]:
    """List what the bundled benchmarks declare of a kind, e.g. ``readers``, in their order.

    By name it is ``module:ATTRIBUTE``; for metrics only the module, whose import declares them.
    """
    declared = (folder.PROVIDES.get(kind, {}) for folder in import_module(_BENCHMARKS).folders())
    return {name: target for targets in declared for name, target in targets.items()}
