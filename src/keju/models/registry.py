"""`open_model`: from a model string (``KIND``, ``KIND:REST`` or ``baseline:NAME``) to the model."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from keju.errors import PrerequisiteError, UsageError, did_you_mean, nearest_names
from keju.items import Record
from keju.models.base import (
    ENDPOINTS,
    NO_DATASET,
    PYTHON,
    UNKNOWN_DTYPE,
    DatasetAccess,
    Model,
    ModelOptions,
)
from keju.models.declarations import (
    MODELS,
    Kinds,
    ModelDeclaration,
    Role,
    declarations,
    elsewhere,
    strings_for_name,
)
from keju.models.function_model import PluginModel
from keju.registry import Plugin, PluginError, describe_broken, guard_function
from keju.texts import _

_PIPELINE = "ocr+llm"
_AROUND = frozenset({"blind", "shuffled"})
_SEPARATOR = re.compile(r"[/\\]")


class ModelKind(Record, frozen=True, kw_only=True, omit_defaults=False):
    """A kind of model.

    `spelling` is the model string, with the part to fill in as capitals. `missing` is empty where
    the kind can answer on this machine, else the command that installs what it needs. `unset` is
    what else the environment lacks: a key, unless the user's own server needs none. `plugin` names
    the plug-in that provides it, `problem` why that plug-in cannot be used.
    """

    kind: str
    spelling: str
    what: str
    role: Role
    missing: str = ""
    unset: str = ""
    plugin: str = ""
    problem: str = ""


def model_kinds() -> tuple[ModelKind, ...]:
    """Every kind of model, with the ones for beginners first, then those of plug-ins."""
    found = []
    for entry in MODELS.iter_entries():
        plugin = str(entry.plugin or "")
        if entry.thing is None:
            broken = ModelKind(
                kind=entry.name, spelling=entry.name, what="", role="model", plugin=plugin,
                problem=entry.problem,
            )  # fmt: skip
            found.append(broken)
        for each in entry.thing or ():
            kind = ModelKind(
                kind=each.kind, spelling=each.spelling, what=each.what, role=each.role,
                missing=each.missing, unset=each.unset, plugin=plugin,
            )  # fmt: skip
            found.append(kind)
    missing = [
        ModelKind(
            kind=each.kind, spelling=each.spelling, what=each.what, role="model",
            missing=each.install,
        )
        for each in elsewhere() if each.kind not in MODELS
    ]  # fmt: skip
    return (*found, *missing)


def plugins_of(spec: str) -> Iterator[Plugin]:
    """The plug-ins of a model string, and of the models that are part of it."""
    kind, __, rest = spec.partition(":")
    for part in rest.split("+", 1) if kind == _PIPELINE else [rest] if kind in _AROUND else []:
        yield from plugins_of(part)
    if plugin := MODELS.get_plugin(kind):
        yield plugin


def _known(kind: str) -> Kinds:
    """The declarations of a kind; none where it is unknown or its plug-in is broken."""
    try:
        return MODELS.get(kind, ())
    except PluginError:
        return ()


def role_of(spec: str) -> Role | None:
    """The role of a model string, or None where this keju does not know its kind.

    A pipeline in which a baseline answers is a baseline.
    """
    kind, __, rest = spec.partition(":")
    if kind == _PIPELINE and role_of(rest.partition("+")[2]) == "baseline":
        return "baseline"
    if kind == PYTHON:
        return "model"
    known = _known(kind)
    return _chosen(known, spec).role if known else None


def computes_here(spec: str) -> bool:
    """Whether a model computes on this machine, and not on a server.

    A pipeline does if the model that answers does; a blind or shuffled model does if the wrapped
    model does.
    """
    kind, __, rest = spec.partition(":")
    if kind == _PIPELINE:
        return computes_here(rest.partition("+")[2])
    if kind in _AROUND:
        return computes_here(rest)
    return any(each.local for each in _known(kind))


def open_models(
    specs: Sequence[str | Model], options: ModelOptions, access: DatasetAccess = NO_DATASET
) -> list[Model]:
    """Open several models, each once; an opened model is used as it is.

    Raises:
        UsageError: none is named, or one twice; there are limits for images, or fields of a
            request, and no model uses them; and what `open_model` raises.
    """
    if not specs:
        raise UsageError("no model is given. Name one with --model; keju models lists them")
    _check_once([spec for spec in specs if isinstance(spec, str)])
    options.fit.check()
    models = [
        open_model(spec, options, access) if isinstance(spec, str) else spec for spec in specs
    ]
    names = [model.name for model in models]
    if twice := [name for name, count in Counter(names).items() if count > 1]:
        raise UsageError("{} is the name of two models. Choose different names", twice[0])
    limits = set(options.fit.identity)
    said = {name.rpartition(".")[2] for model in models for name in model.identity}
    if limits and not limits & said:
        raise UsageError(
            "--max-pixels and --max-bytes: {} receives images as they are stored. These options "
            "apply only to openai:, inspect: and http-ocr: models",
            ", ".join(names),
        )
    _check_taken(models, options)
    return models


def _check_taken(models: Sequence[Model], options: ModelOptions) -> None:
    """Check that a model uses the options of endpoints; decoding may come from a preset."""
    given = {
        "--system-prompt": options.system_prompt,
        "--reasoning-effort": options.decoding.reasoning_effort,
        "--extra-body": options.decoding.extra_body,
        "--dtype": options.dtype != UNKNOWN_DTYPE,
    }
    if any(model.identity.get("kind") in ENDPOINTS for model in models):
        return
    if named := [option for option, value in given.items() if value]:
        names = ", ".join(model.name for model in models)
        raise UsageError(
            "{}: {} does not have these options. They apply only to openai: and inspect: models",
            ", ".join(named),
            names,
        )


def open_model(spec: str, options: ModelOptions, access: DatasetAccess = NO_DATASET) -> Model:
    """Open the model of the model string `spec`, which may use that data of the dataset.

    Raises:
        UsageError: there is no such kind, or a part or a key is missing.
        PrerequisiteError: the kind needs something that is not installed.
        DataError: a file that the model reads is not valid.
        PluginError: the plug-in of the kind cannot be used.
    """
    kind, __, rest = spec.partition(":")
    declared = _usable(spec)
    arguments: list[object] = [rest] if declared.takes else []
    arguments += [options, access] if declared.dataset else [options]
    plugin = MODELS.get_plugin(kind)
    if plugin is None:
        return declared.opener(*arguments)
    opener = guard_function(declared.opener, plugin, f"model {spec!r}")
    return PluginModel(spec, opener(*arguments), plugin)


def check_models(specs: Sequence[str]) -> None:
    """Check model strings before there is a dataset: their kinds, and the files that they name.

    Raises:
        UsageError: there is no such kind, a model is named twice, or a file does not exist.
        PrerequisiteError: a kind needs something that is not installed.
    """
    _check_once(specs)
    for spec in specs:
        _usable(spec).check(spec.partition(":")[2])


def _check_once(specs: Sequence[str]) -> None:
    if twice := [spec for spec, count in Counter(specs).items() if count > 1]:
        raise UsageError("--model {} is given twice", twice[0])


def _usable(spec: str) -> ModelDeclaration:
    """The declaration of a model string whose kind can be used on this machine."""
    declared = _declared(spec)
    if not declared.takes and declared.spelling != spec:
        raise UsageError(
            "{0} is a complete name, with nothing after it: use {0} instead of {1!r}",
            declared.kind,
            spec,
        )
    if declared.missing:
        raise PrerequisiteError(_("the model {!r}", spec), declared.missing)
    return declared


def _declared(spec: str) -> ModelDeclaration:
    kind, __, rest = spec.partition(":")
    if kind == PYTHON:
        raise UsageError("{} is a Python function, which only keju.run can use (docs/api.md)", spec)
    if kind not in MODELS:
        for other in elsewhere():
            if other.kind == kind:
                raise PrerequisiteError(_("the model {!r}", spec), other.install)
        every = list(declarations())
        whole = [each.spelling for each in every if each.spelling.partition(":")[2] == spec]
        near = whole or strings_for_name(spec) or nearest_names(kind, MODELS)
        hint = did_you_mean(near[:1])
        spellings = ", ".join(each.spelling for each in every)
        raise UsageError(
            "no model {!r}.{} Models: {}", spec, hint, spellings, hint=describe_broken() or None
        )
    known = MODELS[kind]
    chosen = _chosen(known, spec)
    if chosen.spelling != spec and len(known) > 1 and not chosen.takes:
        if chosen.spelling == kind:
            spellings = ", ".join(each.spelling for each in known)
            raise UsageError("no model {!r}. Models of this kind: {}", spec, spellings)
        names = ", ".join(each.spelling.partition(":")[2] for each in known)
        raise UsageError("no {} {!r}. Choose from: {}", kind, rest, names)
    return chosen


def _chosen(known: Kinds, spec: str) -> ModelDeclaration:
    """The declaration of a kind that matches a model string, or has a part to fill in.

    ``replay:NAME=FOLDER`` gives a name, unless ``NAME=FOLDER`` is itself a file or directory.
    """
    rest = spec.partition(":")[2]
    name, equals, __ = rest.partition("=")
    gives_name = bool(equals) and not _SEPARATOR.search(name) and not _exists(rest)
    if named := [each for each in known if each.spelling == spec]:
        return named[0]
    taking = [each for each in known if each.takes]
    matching = [each for each in taking if ("=" in each.spelling) == gives_name]
    return (matching or taking or known)[0]


def _exists(path: str) -> bool:
    try:
        return Path(path).exists()
    except OSError:  # It is too long for a path.
        return False
