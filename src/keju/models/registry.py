"""`open_model`: from a model string (``KIND``, ``KIND:REST`` or ``baseline:NAME``) to the model.

Kinds of models are declared in kinds.toml, with what they require, or by plug-ins.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, cast

import msgspec
from msgspec.structs import replace

from keju.errors import PrerequisiteError, UsageError, did_you_mean, nearest_names
from keju.files import shipped_toml
from keju.items import Item
from keju.models.base import (
    ENDPOINTS,
    NO_DATASET,
    PYTHON,
    UNKNOWN_DTYPE,
    DatasetAccess,
    Model,
    ModelOptions,
    Role,
)
from keju.models.function_model import PluginModel
from keju.registry import Plugin, PluginError, Registry, describe_broken
from keju.texts import _, using

SPELLING = re.compile(r"[a-z][a-z0-9-]*(:[A-Z][A-Z0-9_/=+-]*)?")
"""The form of a declared model string: ``KIND`` or ``KIND:PART``."""

_VERSION = re.compile(r"[\s,;@(]")
"""The separators between a tool's name and its version."""


class ModelKind(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A kind of model as kinds.toml, which explains the fields, or a plug-in declares it.

    `opens` of a plug-in is its class or function, not a name; it is empty for a kind that another
    package of keju declares. `checks` checks the part of the model string without a dataset. In
    lists `plugin` names the plug-in that provides the kind, and `problem` why it cannot be used.
    """

    spelling: str
    role: Role = "model"
    what: str = ""
    opens: Any = ""
    checks: str = ""
    packages: tuple[str, ...] = ()
    program: str = ""
    install: str = ""
    key: str = ""
    local: bool = False
    dataset: bool = False
    plugin: str = ""
    problem: str = ""

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
        has_program = not self.program or shutil.which(self.program) is not None
        # Only the parent packages are imported.
        with suppress(ModuleNotFoundError):
            if has_program and all(find_spec(package) for package in self.packages):
                return ""
        return self.install

    @property
    def unset(self) -> str:
        """The environment variable that is not set, as English text; empty if none is missing."""
        if not self.key or os.environ.get(self.key, "").strip():
            return ""
        with using("en"):
            return _("a key in {}, or --base-url to a server that takes none", self.key)

    @property
    def row(self) -> dict[str, str]:
        """The row of ``keju models --json``."""
        names = ("kind", "spelling", "what", "role", "missing", "unset", "plugin", "problem")
        return {name: getattr(self, name) for name in names}


Kinds = tuple[ModelKind, ...]
"""The declarations of one kind; only keju's own have several spellings."""


def _own_kinds() -> dict[str, str | Kinds]:
    kinds: dict[str, Kinds] = {}
    for kind in shipped_toml("keju.models", "kinds.toml", dict[str, Kinds])["kinds"]:
        # An installed package declares its kind itself.
        if kind.opens or kind.missing:
            name = kind.spelling.partition(":")[0]
            kinds[name] = (*kinds.get(name, ()), kind)
    return dict(kinds)


MODELS: Registry[Kinds] = Registry("model", "models", _own_kinds())
"""Every kind of model, by the word before the colon."""


def model_kinds() -> list[ModelKind]:
    """Every kind of model, with the ones for beginners first, then those of plug-ins."""
    kinds: list[ModelKind] = []
    for name, declared, plugin, problem in MODELS.iter_entries():
        broken = ModelKind(spelling=name, problem=problem)
        kinds += [replace(kind, plugin=str(plugin or "")) for kind in declared or (broken,)]
    return kinds


def parts_of(spec: str) -> list[str]:
    """The models that are part of a model string; the last one answers."""
    kind, __, rest = spec.partition(":")
    if kind == "ocr+llm":
        return rest.split("+", 1)
    return [rest] if kind in {"blind", "shuffled"} else []


def role_of(spec: str) -> Role | None:
    """The role of a model string, or None where this keju does not know its kind.

    A pipeline in which a baseline answers is a baseline.
    """
    kind = spec.partition(":")[0]
    if kind == PYTHON:
        return "model"
    if kind == "ocr+llm" and role_of(parts_of(spec)[-1]) == "baseline":
        return "baseline"
    with suppress(PluginError):
        if kinds := MODELS.get(kind):
            return _declaration_in(kinds, spec).role
    return None


def drafted_by(item: Item, model: str) -> bool:
    """Whether a model of a run, or a part of it, wrote the draft of the item: a biased score.

    A tool and a model are the same if their names are, in any version, because another version of
    an engine makes similar errors. A model of an endpoint is the same in every harness.
    """
    tools = [step.tool for step in item.provenance if step.step == "draft" and step.tool.strip()]
    return any(not _names_in(model).isdisjoint(_names_in(tool)) for tool in tools)


def _names_in(spec: str) -> set[str]:
    """The name of each engine and model in a model string, without the harness."""
    spec = spec.strip()
    if parts := parts_of(spec):
        return set().union(*map(_names_in, parts))
    if role_of(_VERSION.split(spec.partition(":")[0])[0]) != "answers":
        spec = _VERSION.split(spec, maxsplit=1)[0]
    kind, __, model = spec.casefold().partition(":")
    if kind == "inspect":
        model = model.partition("/")[2]
    return {f"model:{model}" if kind in ENDPOINTS else spec.casefold()}


def open_models(
    specs: Sequence[str | Model], options: ModelOptions, access: DatasetAccess = NO_DATASET
) -> list[Model]:
    """Open several models, each once; an opened model is used as it is.

    Raises:
        UsageError: none is named, or one twice; there are options that no model has; and what
            `open_model` raises.
    """
    if not specs:
        raise UsageError("no model is given. Name one with --model; keju models lists them")
    options.fit.check()
    models = [
        open_model(spec, options, access) if isinstance(spec, str) else spec for spec in specs
    ]
    names = [model.name for model in models]
    if twice := [name for name in names if names.count(name) > 1]:
        raise UsageError(
            "{} is the name of two models, or is given twice. Choose different names", twice[0]
        )
    # Decoding parameters may come from a preset, so that they are not an error.
    of_servers = {
        "--system-prompt": options.system_prompt,
        "--reasoning-effort": options.decoding.reasoning_effort,
        "--extra-body": options.decoding.extra_body,
        "--dtype": options.dtype != UNKNOWN_DTYPE,
        "--max-pixels": options.fit.max_pixels,
        "--max-bytes": options.fit.max_bytes,
    }
    unused = [option for option, value in of_servers.items() if value]
    if unused and not any(model.identity.get("kind") in ENDPOINTS for model in models):
        raise UsageError(
            "{}: {} does not have these options. They apply only to openai: and inspect: models",
            ", ".join(unused),
            ", ".join(names),
        )
    return models


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
    arguments: list[object] = [rest] if any(other.takes for other in MODELS[kind]) else []
    arguments += [options, access] if declared.dataset else [options]
    model: Model
    if isinstance(declared.opens, str):
        # HTTP clients and engines import slowly.
        model = resolve_name(f"keju.models.{declared.opens}")(*arguments)
    else:
        plugin = cast("Plugin", MODELS.plugin_of(kind))
        model = PluginModel(spec, declared.opens(*arguments), plugin)
    # A wrapper is local if the wrapped model is, and a pipeline in which a baseline answers is one.
    model.local = model.local or declared.local
    model.role = declared.role if model.role == "model" else model.role
    return model


def check_models(specs: Sequence[str]) -> None:
    """Check model strings before there is a dataset: their kinds, and the files that they name.

    Raises:
        UsageError: there is no such kind, a model is named twice, or a file does not exist.
        PrerequisiteError: a kind needs something that is not installed.
    """
    for spec in specs:
        if specs.count(spec) > 1:
            raise UsageError("the model {} is given twice", spec)
        declared = _usable(spec)
        if declared.checks:
            resolve_name(f"keju.models.{declared.checks}")(spec.partition(":")[2])


def _usable(spec: str) -> ModelKind:
    """The declaration of a model string whose kind can be used on this machine."""
    kind = spec.partition(":")[0]
    if kind == PYTHON:
        raise UsageError("{} is a Python function, which only keju.run can use (docs/api.md)", spec)
    kinds = MODELS.get(kind)
    if kinds is None:
        names = [declared.spelling for usable in MODELS.list_usable() for declared in usable]
        near = [spelling for spelling in names if spelling.partition(":")[2] == spec]
        # A name without a kind is most often that of a model of a server.
        near = near or nearest_names(kind, MODELS) or [f"openai:{spec}"]
        raise UsageError(
            "no model {!r}.{} Models: {}",
            spec,
            did_you_mean(near),
            ", ".join(names),
            hint=describe_broken(),
        )
    declared = _declaration_in(kinds, spec)
    if declared.spelling != spec and not declared.takes:
        spellings = ", ".join(other.spelling for other in kinds)
        raise UsageError("no model {!r}. Models of this kind: {}", spec, spellings)
    if declared.missing:
        raise PrerequisiteError(_("the model {!r}", spec), declared.missing)
    return declared


def _declaration_in(kinds: Kinds, spec: str) -> ModelKind:
    """The declaration of a kind that matches a model string, or has a part to fill in.

    ``replay:NAME=FOLDER`` gives a name, unless ``NAME=FOLDER`` is itself a file or directory.
    """
    rest = spec.partition(":")[2]
    gives_name = re.match(r"[^/\\=]*=", rest) is not None
    with suppress(OSError):  # It is too long for a path.
        gives_name = gives_name and not Path(rest).exists()
    exact = [kind for kind in kinds if kind.spelling == spec]
    taking = [kind for kind in kinds if kind.takes]
    matching = [kind for kind in taking if ("=" in kind.spelling) == gives_name]
    return (exact or matching or taking or kinds)[0]
