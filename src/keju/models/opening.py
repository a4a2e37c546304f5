"""From the way a model is spelled to the model: ``KIND``, ``KIND:REST`` or ``baseline:NAME``."""

from __future__ import annotations

import difflib
import os
import re
import shutil
import tomllib
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

import msgspec

from keju.errors import PrerequisiteError, UsageError
from keju.items import Record
from keju.models.base import ENDPOINTS, UNKNOWN_DTYPE, Model, ModelOptions

Role = Literal["model", "engine", "answers", "baseline"]
"""What a kind of model is: it answers, it transcribes, it has answers of others, or it is the floor
under a score."""

_PIPELINE = "ocr+llm"
_AROUND = frozenset({"blind", "shuffled"})
_SEPARATOR = re.compile(r"[/\\]")


class ModelKind(Record, frozen=True, kw_only=True, omit_defaults=False):
    """A kind of model.

    `spelling` is what the user writes, with the part to be filled in capitals. `missing` is empty
    where the kind can answer on this machine, else the command that installs what it needs. `unset`
    is what else it takes and the environment lacks: a key, unless a server of one's own needs none.
    """

    kind: str
    spelling: str
    what: str
    role: Role
    missing: str = ""
    unset: str = ""


class _Declared(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A kind as kinds.toml declares it."""

    spelling: str
    role: Role
    what: str
    opens: str
    packages: tuple[str, ...] = ()
    program: str = ""
    install: str = ""
    key: str = ""
    local: bool = False

    @property
    def kind(self) -> str:
        return self.spelling.partition(":")[0]

    @property
    def takes(self) -> bool:
        """Whether something is to be filled in."""
        return self.spelling.rpartition(":")[2].isupper()

    @property
    def missing(self) -> str:
        there = all(_found(package) for package in self.packages)
        if self.program:
            there = there and shutil.which(self.program) is not None
        return "" if there else self.install

    @property
    def unset(self) -> str:
        given = not self.key or os.environ.get(self.key, "").strip()
        return "" if given else f"a key in {self.key}, or --base-url to a server that takes none"


def model_kinds() -> tuple[ModelKind, ...]:
    """Every kind of model, in the order in which a newcomer meets them."""
    return tuple(
        ModelKind(
            kind=each.kind,
            spelling=each.spelling,
            what=each.what,
            role=each.role,
            missing=each.missing,
            unset=each.unset,
        )
        for each in _kinds()
    )


def role_of(spec: str) -> Role | None:
    """The role of the model that is spelled so, or None where this keju knows no such kind.

    A pipeline in which a baseline answers is a baseline.
    """
    kind, _, rest = spec.partition(":")
    if kind == _PIPELINE and role_of(rest.partition("+")[2]) == "baseline":
        return "baseline"
    known = [each for each in _kinds() if each.kind == kind]
    return _chosen(known, spec).role if known else None


def computes_here(spec: str) -> bool:
    """Whether the model that is spelled so computes on this machine, and not on a server.

    A pipeline does if the model that answers does; what is asked blind or of other images does if
    that model does.
    """
    kind, _, rest = spec.partition(":")
    if kind == _PIPELINE:
        return computes_here(rest.partition("+")[2])
    if kind in _AROUND:
        return computes_here(rest)
    return any(each.local for each in _kinds() if each.kind == kind)


def open_models(specs: Sequence[str], options: ModelOptions) -> list[Model]:
    """Open several models, each once.

    Raises:
        UsageError: none is named, or one twice; there are limits for pictures, or fields of a
            request, and no model takes them; and what `open_model` raises.
    """
    if not specs:
        raise UsageError("no model to ask. Name one with --model; keju models lists them")
    if twice := [spec for spec, count in Counter(specs).items() if count > 1]:
        raise UsageError(f"--model {twice[0]} is given twice")
    options.fit.check()
    models = [open_model(spec, options) for spec in specs]
    if twice := [name for name, count in Counter(m.name for m in models).items() if count > 1]:
        raise UsageError(f"{twice[0]} is the name of two models. Choose different names")
    limits = set(options.fit.identity)
    said = {name.rpartition(".")[2] for model in models for name in model.identity}
    if limits and not limits & said:
        raise UsageError(
            f"--max-pixels and --max-bytes: {', '.join(specs)} sees pictures as they are stored; "
            "only openai:, inspect: and http-ocr: models have limits"
        )
    _check_taken(models, specs, options)
    return models


def _check_taken(models: Sequence[Model], specs: Sequence[str], options: ModelOptions) -> None:
    """Refuse options of an endpoint where no model has one; decoding may come from a preset."""
    given = {
        "--system-prompt": options.system_prompt,
        "--reasoning-effort": options.decoding.reasoning_effort,
        "--thinking": options.decoding.thinking,
        "--extra-body": options.decoding.extra_body,
        "--dtype": options.dtype != UNKNOWN_DTYPE,
    }
    if any(model.identity.get("kind") in ENDPOINTS for model in models):
        return
    if named := [option for option, value in given.items() if value]:
        raise UsageError(
            f"{', '.join(named)}: {', '.join(specs)} does not take these options; only openai: and "
            "inspect: models do"
        )


def open_model(spec: str, options: ModelOptions) -> Model:
    """Open the model that the user spells as `spec`.

    Raises:
        UsageError: there is no such kind, or a part or a key is missing.
        PrerequisiteError: the kind needs something that is not installed.
        DataError: a file that the model reads is not what it must be.
    """
    kind, _, rest = spec.partition(":")
    declared = _declared(spec)
    if declared.missing:
        raise PrerequisiteError(f"the model {spec!r}", declared.missing)
    module, _, name = declared.opens.partition(":")
    # Imported only now: the HTTP client and the engines are slow to import.
    opens: Callable[..., Model] = getattr(import_module(f"keju.models.{module}"), name)
    if declared.takes:
        return opens(rest, options)
    if declared.spelling != spec:
        raise UsageError(f"{kind} takes nothing after it, but {spec!r} was asked for")
    return opens(options)


def _declared(spec: str) -> _Declared:
    kind, _, rest = spec.partition(":")
    known = [each for each in _kinds() if each.kind == kind]
    if not known:
        whole = [each.spelling for each in _kinds() if each.spelling.partition(":")[2] == spec]
        kinds = [each.kind for each in _kinds()]
        near = whole or _meant(spec) or difflib.get_close_matches(kind, kinds, n=1)
        hint = f"Did you mean {near[0]!r}? " if near else ""
        spellings = ", ".join(each.spelling for each in _kinds())
        raise UsageError(f"no model {spec!r}. {hint}Models: {spellings}")
    chosen = _chosen(known, spec)
    if chosen.spelling != spec and len(known) > 1 and not chosen.takes:
        if chosen.spelling == kind:
            spellings = ", ".join(each.spelling for each in known)
            raise UsageError(f"no model {spec!r}. Of this kind there are: {spellings}")
        names = ", ".join(each.spelling.partition(":")[2] for each in known)
        raise UsageError(f"no {kind} {rest!r}. {kind.capitalize()}s: {names}")
    return chosen


def _chosen(known: Sequence[_Declared], spec: str) -> _Declared:
    """Of the declarations of one kind the one that is spelled so, or that takes such a part.

    ``replay:NAME=FOLDER`` gives a name, unless ``NAME=FOLDER`` is itself a file or folder.
    """
    rest = spec.partition(":")[2]
    name, equals, _ = rest.partition("=")
    gives_name = bool(equals) and not _SEPARATOR.search(name) and not _exists(rest)
    named = [each for each in known if each.spelling == spec]
    taking = [each for each in known if each.takes and ("=" in each.spelling) == gives_name]
    return (named or taking or list(known))[0]


class _Names(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Other names of models, by their beginning, and the spelling that they mean."""

    begins: tuple[str, ...]
    means: str


class _Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    names: tuple[_Names, ...]
    kinds: tuple[_Declared, ...]


def _meant(name: str) -> list[str]:
    """The spelling of a model that the user calls by another name."""
    low = name.casefold()
    return [each.means.format(name) for each in _table().names if low.startswith(each.begins)]


def _kinds() -> tuple[_Declared, ...]:
    return _table().kinds


@cache
def _table() -> _Table:
    text = files("keju.models").joinpath("kinds.toml").read_text("utf-8")
    return msgspec.convert(tomllib.loads(text), _Table)


def _exists(path: str) -> bool:
    try:
        return Path(path).exists()
    except OSError:  # It is too long for a path.
        return False


def _found(package: str) -> bool:
    """Whether a package is installed; nothing but the packages around it is imported."""
    try:
        return find_spec(package) is not None
    except ModuleNotFoundError:
        return False
