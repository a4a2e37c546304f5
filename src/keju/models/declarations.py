"""`MODELS`: the registry of model kinds by the word before the colon, with their requirements."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Literal

import msgspec

from keju.files import shipped_toml
from keju.models.base import Model
from keju.registry import Registry
from keju.texts import _, using

Role = Literal["model", "engine", "answers", "baseline"]
"""The role of a kind of model: it answers, it transcribes, it has responses of others, or it is a
baseline."""

_SPELLING = re.compile(r"[a-z][a-z0-9-]*(:[A-Z][A-Z0-9_/=+-]*)?")


class ModelDeclaration(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A kind of model as kinds.toml or a plug-in declares it.

    Attributes:
        spelling: the model string: ``KIND``, or ``KIND:PART`` with the part to fill in as capitals.
        role: its role in reports.
        what: one line for ``keju models``.
        opens: makes the model, from the part (if there is one), `ModelOptions` and, with `dataset`,
            `DatasetAccess`. In kinds.toml: module of keju.models and name.
        checks: checks the part without a dataset; only in kinds.toml, module and name.
        packages: packages that must be importable.
        program: a program that must be on the path.
        install: how packages or program are installed.
        key: the environment variable with its key.
        local: whether it computes on this machine, so that it runs and is timed alone.
        dataset: whether it uses data of the dataset besides its requests; only in kinds.toml.
    """

    spelling: str
    role: Role
    what: str
    opens: Any
    checks: str = ""
    packages: tuple[str, ...] = ()
    program: str = ""
    install: str = ""
    key: str = ""
    local: bool = False
    dataset: bool = False

    @property
    def kind(self) -> str:
        """The word before the colon."""
        return self.spelling.partition(":")[0]

    @property
    def takes(self) -> bool:
        """Whether the model string has a part to fill in."""
        return self.spelling.rpartition(":")[2].isupper()

    @property
    def missing(self) -> str:
        """How to install what is missing here; empty if nothing is."""
        there = all(_found(package) for package in self.packages)
        if self.program:
            there = there and shutil.which(self.program) is not None
        return "" if there else self.install

    @property
    def unset(self) -> str:
        """The environment variable that is not set, as text; empty if none is missing.

        The text is in English in JSON, whatever the language of the terminal.
        """
        given = not self.key or os.environ.get(self.key, "").strip()
        if given:
            return ""
        with using("en"):
            return _("a key in {}, or --base-url to a server that takes none", self.key)

    @property
    def opener(self) -> Callable[..., Model]:
        """`opens`, imported on demand: the HTTP client and the engines are slow to import."""
        if not isinstance(self.opens, str):
            found: Callable[..., Model] = self.opens
            return found
        made: Callable[..., Model] = _attribute(self.opens)
        return made

    def check(self, part: str) -> None:
        """Check the part of a model string, as far as that is possible without a dataset.

        Raises:
            UsageError: the part is not valid, or its files do not exist.
        """
        if self.checks:
            _attribute(self.checks)(part)


def _attribute(place: str) -> Callable[..., Any]:
    """The object at ``module:name`` of keju.models."""
    module, __, name = place.partition(":")
    found: Callable[..., Any] = getattr(import_module(f"keju.models.{module}"), name)
    return found


Kinds = tuple[ModelDeclaration, ...]
"""The declarations of one kind; only keju's own have several spellings."""


def strings_for_name(name: str) -> list[str]:
    """The model string for a model that the user calls by another name."""
    low = name.casefold()
    return [each.means.format(name) for each in _table().names if low.startswith(each.begins)]


def declarations() -> Iterator[ModelDeclaration]:
    """Every kind that can be used, with the ones for beginners first."""
    for kinds in MODELS.list_usable():
        yield from kinds


def elsewhere() -> tuple[Elsewhere, ...]:
    """The kinds that other packages of keju provide."""
    return _table().elsewhere


class _Names(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Other names of models, by their beginning, and the model string that they mean."""

    begins: tuple[str, ...]
    means: str


class Elsewhere(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A kind of model that another package provides, and how that is installed."""

    spelling: str
    what: str
    install: str

    @property
    def kind(self) -> str:
        """The word before the colon."""
        return self.spelling.partition(":")[0]


class _Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    elsewhere: tuple[Elsewhere, ...]
    names: tuple[_Names, ...]
    kinds: tuple[ModelDeclaration, ...]


@cache
def _table() -> _Table:
    return shipped_toml("keju.models", "kinds.toml", _Table)


def _own() -> dict[str, str | Kinds]:
    found: dict[str, Kinds] = {}
    for each in _table().kinds:
        found[each.kind] = (*found.get(each.kind, ()), each)
    return dict(found)


def _of_plugin(name: str, found: object) -> Kinds:
    if not isinstance(found, ModelDeclaration):
        raise TypeError("expected a class with the decorator keju.model")
    if found.kind != name or not _SPELLING.fullmatch(found.spelling):
        raise TypeError(f"it is spelled {found.spelling!r}, not {name} or {name}:PART")
    return (found,)


MODELS: Registry[Kinds] = Registry("model", "models", _own, _of_plugin)
"""Every kind of model, by the word before the colon."""


def _found(package: str) -> bool:
    """Whether a package is installed; only its parent packages are imported."""
    try:
        return find_spec(package) is not None
    except ModuleNotFoundError:
        return False
