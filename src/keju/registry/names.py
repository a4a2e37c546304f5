"""`Registry`: the names of one kind, built in or from plug-ins, with their values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import import_module
from typing import Generic, NamedTuple, TypeVar

from keju.errors import KejuError, UsageError, error_text, unknown_name
from keju.registry.plugins import (
    Plugin,
    PluginError,
    describe_broken,
    list_broken,
    list_claims,
    list_declared_names,
)
from keju.texts import noun

T = TypeVar("T")

_OWN = "keju"


class Entry(NamedTuple, Generic[T]):
    """A name of a registry, for lists.

    `plugin` is None for a name of keju itself; `thing` is None where `problem` is the reason why it
    cannot be used.
    """

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
    plug-ins that cannot be imported, whose lookup raises `PluginError`. So does that of a name of
    two providers. Installed plug-ins are imported for lists and for names that are not built in.

    Args:
        kind: the word for a name in errors, e.g. ``step``.
        group: the key of its declarations (`declare`), e.g. ``steps``.
        builtin: keju's own, by name: the thing, or ``module:ATTRIBUTE`` where it is found. A
            function returns them where that takes time.
        check: returns the thing that an object declares for a name; raises `TypeError` with the
            reason if it declares none. It is applied to everything except things in `builtin`.
        guard: returns a plug-in's thing with functions whose exceptions name the plug-in.
        elsewhere: names that optional packages of keju provide, with the package and how to install
            it, for the error where it is not installed.
    """

    def __init__(
        self,
        kind: str,
        group: str,
        builtin: Mapping[str, str | T] | Callable[[], Mapping[str, str | T]],
        check: Callable[[str, object], T],
        *,
        guard: Callable[[T, Plugin], T] | None = None,
        elsewhere: Mapping[str, str] | None = None,
    ) -> None:
        self.kind = kind
        self.group = group
        self.elsewhere = elsewhere or {}
        self._builtin = builtin
        self._check = check
        self._guard = guard
        self._checked: dict[str, tuple[object, T]] = {}

    @property
    def builtin(self) -> Mapping[str, str | T]:
        """The built-in names and their values."""
        if callable(self._builtin):
            self._builtin = self._builtin()
        return self._builtin

    def __getitem__(self, name: str) -> T:
        own = self.builtin.get(name)
        if own is None and name not in list_declared_names(self.group):
            raise list_broken().get(name) or KeyError(name)
        claims = list_claims(self.group, name)
        providers = [*([_OWN] if own is not None else []), *(str(claim.plugin) for claim in claims)]
        if len(providers) > 1:
            raise PluginError(
                "the {} {!r} is provided by {}. Uninstall one of them, or give it another name",
                noun(self.kind),
                name,
                " and by ".join(providers),
            )
        if own is not None and not isinstance(own, str):
            return own
        plugin = None if own is not None else claims[0].plugin
        declaration = claims[0].declaration if own is None else _import_attribute(own)
        checked = self._checked.get(name)
        if checked is None or checked[0] is not declaration:
            checked = declaration, self._check_thing(name, declaration, plugin)
            self._checked[name] = checked
        return checked[1]

    def _check_thing(self, name: str, declaration: object, plugin: Plugin | None) -> T:
        """The thing that one provider declares, as `check` and `guard` make it."""
        if plugin is None:
            return self._check(name, declaration)
        try:
            thing = self._check(name, declaration)
        except TypeError as error:
            raise PluginError("plug-in {}: not a {}: {}", plugin, noun(self.kind), error) from None
        return self._guard(thing, plugin) if self._guard else thing

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and (name in self.builtin or name in self._list_others())

    def __iter__(self) -> Iterator[str]:
        yield from self.builtin
        yield from sorted(self._list_others() - self.builtin.keys())

    def __len__(self) -> int:
        return len(self.builtin.keys() | self._list_others())

    def _list_others(self) -> set[str]:
        return {*list_declared_names(self.group), *list_broken()}

    def find(self, name: str, *, place: str = "") -> T:
        """Find the thing of that name; `place`, such as a file and a line, begins an error.

        Raises:
            UsageError: no such name; the error has the nearest one and all names.
            PluginError: an optional package of keju is not installed, a plug-in cannot be imported,
                or two providers use the name.
        """
        if name not in self:
            raise self.make_unknown_error(name, place=place)
        return self[name]

    def make_unknown_error(
        self, name: str, *, place: str = "", known: Iterable[str] = (), kind: str = ""
    ) -> KejuError:
        """Make the error about a name that does not exist in this registry.

        Args:
            name: as the user gave it.
            place: the beginning of the error.
            known: the names to list; by default those of the registry.
            kind: the word for a name; by default `kind` of the registry.
        """
        start, kind = f"{place}: " if place else "", kind or self.kind
        broken = describe_broken() or None
        if package := self.elsewhere.get(name):
            return PluginError(
                "{}the {} {!r} is not installed. It is in {}",
                start, noun(kind), name, package, hint=broken,
            )  # fmt: skip
        return UsageError("{}{}", start, unknown_name(name, known or self, kind), hint=broken)

    def get_plugin(self, name: str) -> Plugin | None:
        """Return the plug-in that provides a name; None if it is keju's own or unknown."""
        if name in self.builtin or name not in list_declared_names(self.group):
            return None
        return list_claims(self.group, name)[0].plugin

    def iter_entries(self) -> Iterator[Entry[T]]:
        """Yield every name with its thing or the reason why it cannot be used, for lists."""
        for name in self:
            try:
                yield Entry(name, self[name], self.get_plugin(name))
            except PluginError as error:
                yield Entry(name, None, self.get_plugin(name), error_text(error))

    def list_usable(self) -> list[T]:
        """List all values that can be used; a broken plug-in must not stop other commands."""
        return [entry.thing for entry in self.iter_entries() if entry.thing is not None]


def check_named(kind: type[T]) -> Callable[[str, object], T]:
    """Make the check of a registry whose things are of one class and have their own `name`."""

    def check(name: str, declaration: object) -> T:
        if not isinstance(declaration, kind) or getattr(declaration, "name", None) != name:
            raise TypeError(f"expected a {kind.__name__} named {name!r}")
        return declaration

    return check


def _import_attribute(target: str) -> object:
    module, _, name = target.partition(":")
    found: object = getattr(import_module(module), name)
    return found
