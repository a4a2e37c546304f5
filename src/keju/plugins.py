"""The public module for authors of plug-ins: decorators, base classes and types."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from msgspec import Meta

from keju.building.sources.base import Make, Site, SourceForm, SourceSettings, writing
from keju.building.step import Step
from keju.building.step_context import StepContext
from keju.datasets.readers.base import (
    Detect,
    Detection,
    Options,
    Read,
    Reader,
    image_files,
    inside,
    source_bytes,
    source_text,
)
from keju.datasets.readers.listing import Listing
from keju.datasets.store import Dataset, DatasetWriter
from keju.datasets.writers.base import Write, Writer, copy_image
from keju.errors import DataError, PrerequisiteError, UsageError
from keju.exports import ResponseFile, RunExport, WriteRun
from keju.items import ImageRef, Item, Line, Request
from keju.models.base import Answer, AskError, Decoding, Model, ModelOptions, Role
from keju.models.registry import SPELLING, ModelKind
from keju.models.replay import StoredAnswer
from keju.registry import Plugin, PluginError, register
from keju.scoring import metric
from keju.scoring.response_files import GROUP as RESPONSES
from keju.settings import Settings
from keju.texts import _, add_translations

__all__ = [
    "Answer", "AskError", "DataError", "Dataset", "DatasetWriter", "Decoding", "Detection",
    "ImageRef", "Item", "Line", "Listing", "Meta", "Model", "ModelOptions", "Options", "Plugin",
    "PluginError", "PrerequisiteError", "Reader", "Request", "ResponseFile", "RunExport",
    "Settings", "Site", "SourceForm", "SourceSettings", "Step", "StepContext", "StoredAnswer",
    "UsageError", "Writer", "_", "add_translations", "copy_image", "export", "image_files",
    "inside", "metric", "model", "reader", "responses", "source", "source_bytes", "source_text",
    "step", "writer", "writing",
]  # fmt: skip

F = TypeVar("F", bound=Callable[..., Any])
M = TypeVar("M", bound=Callable[..., Model])
R = TypeVar("R", bound=Read[Any])
W = TypeVar("W", bound=Write)
S = TypeVar("S", bound=Settings)
Run = Callable[[StepContext, S], None]
E = TypeVar("E", bound=WriteRun)
A = TypeVar("A", bound=Callable[[Path], Iterable[tuple[Item, str | None] | StoredAnswer]])


def _registering(kind: str, name: str, declare: Callable[[F], object]) -> Callable[[F], F]:
    """A decorator that registers what is declared of a function or class."""
    return lambda function: register(kind, name, declare(function), function)


def model(
    spelling: str,
    *,
    summary: str,
    role: Role = "model",
    local: bool = False,
    packages: Sequence[str] = (),
    program: str = "",
    install: str = "",
    key: str = "",
) -> Callable[[M], M]:
    """Declare a kind of model: a decorator of a class that derives from `Model`.

    Args:
        spelling: what users write: ``KIND``, or ``KIND:PART`` with the part to fill in as capitals.
            The class is called with the part, if there is one, and with `ModelOptions`.
        summary: one line for ``keju models``.
        role: its role in reports: ``model``, ``engine`` (transcribes images), ``baseline`` (never
            marked as the best) or ``answers`` (of other programs).
        local: whether it computes on this machine, so that it runs and is timed alone.
        packages: packages that must be importable before the class is called.
        program: a program that must be on the path.
        install: how packages or program are installed, shown where one is missing.
        key: the environment variable with its key.
    """
    if not SPELLING.fullmatch(spelling):
        raise PluginError("the model {!r} is not spelled name or name:PART", spelling)

    def declare(opens: M) -> tuple[ModelKind]:
        return (
            ModelKind(
                spelling=spelling, role=role, what=summary, opens=opens, packages=tuple(packages),
                program=program, install=install, key=key, local=local,
            ),
        )  # fmt: skip

    return _registering("models", spelling.partition(":")[0], declare)


def reader(
    name: str,
    *,
    summary: str,
    layout: str = "",
    settings: type[Settings] = Settings,
    detect: Detect | None = None,
    texts: bool = True,
) -> Callable[[R], R]:
    """Declare a format of ``keju data import``: a decorator of a function.

    The function is called with the path of the source, a `DatasetWriter` and the settings, which
    have the values of the user's options; it adds items and returns notes for the user.

    Args:
        name: the format's name.
        summary: one line for ``keju data formats``.
        layout: the required layout of the source.
        settings: the type of its settings; each field is an option.
        detect: recognises a source for ``keju data import auto``; without it the format must be
            named.
        texts: whether it reads text files; it then has the option ``encoding`` too.
    """
    if not issubclass(settings, Settings):
        raise PluginError("the settings of {!r} are not a class derived from Settings", name)
    return _registering(
        "readers",
        name,
        lambda function: Reader(name, summary, layout, function, settings, detect, texts),
    )


def writer(name: str, *, summary: str, layout: str = "") -> Callable[[W], W]:
    """Declare a format of ``keju data export``: a decorator of a function.

    The function is called with the `Dataset`, which is iterated for its items, and the directory to
    write, which is empty; it returns notes for the user, above all what the format cannot hold.
    `summary` is one line for ``keju data formats``, and `layout` what is written.
    """
    return _registering("writers", name, lambda write: Writer(name, summary, layout, write))


def export(
    name: str,
    *,
    summary: str,
    run: str = "Run directory.",
    out: str = "Output file or directory.",
    images: str = "",
    next_step: str = "",
) -> Callable[[E], E]:
    """Declare a format of ``keju export``: a decorator of a function.

    The function is called with the paths of the run and of the output, and returns a `ResponseFile`
    for each file that it wrote. `keju.open_run` opens the run.

    Args:
        name: the format's name.
        summary: one sentence for ``--help``.
        run: the help of the argument RUN, for a format that cannot hold every run.
        out: the help of the option ``--out``.
        images: the help of the option ``--images``, for a format that can contain the images; the
            function is then called with ``images=True`` or ``False`` too.
        next_step: a command that uses the output, with ``{}`` in its place, for the last line.
    """
    return _registering(
        "exports",
        name,
        lambda write: RunExport(name, summary, run, out, write, images, next_step),
    )


def responses(name: str) -> Callable[[A], A]:
    """Declare a form of response files: a decorator of a function.

    The function is called with the path, and returns pairs of an item and the text of its response,
    None where there is none, for ``keju score FILE`` and ``replay:FILE``; or a `StoredAnswer` for
    each answer, for ``replay:FILE`` alone. It raises `DataError` for a file in another form; the
    forms are tried in the order of their names, after keju's own.
    """
    return lambda function: register(RESPONSES, name, function, function)


def step(
    name: str, *, summary: str, settings: type[S], version: int = 1
) -> Callable[[Run[S]], Run[S]]:
    """Declare a build step: a decorator of a function of a `StepContext` and the settings.

    Args:
        name: its name in recipes (``do = "…"``) and ``keju build``.
        summary: one sentence for ``--help``.
        settings: the type of its settings; each field is a key and an option.
        version: raised whenever the same settings would give other items.
    """
    return _registering("steps", name, lambda run: Step(name, summary, settings, run, version))


def source(
    name: str,
    *,
    summary: str,
    settings: type[S],
    version: int = 1,
    check: Callable[[S], None] | None = None,
    reads: Callable[[S], Iterable[Path]] | None = None,
) -> Callable[[Make[S]], Make[S]]:
    """Declare a source of recipes: a decorator of a function of the settings and a `Site`.

    The function writes a dataset to ``site.out``, best with `writing`, and returns notes.

    Args:
        name: its name in recipes: ``form = "…"``.
        summary: one line for ``keju build sources``.
        settings: the type of its settings, `SourceSettings` or derived from it.
        version: raised whenever the same settings would give other items.
        check: checks settings before anything is done.
        reads: the files that it reads in addition to the paths of its settings.
    """
    check, reads = check or (lambda _: None), reads or (lambda _: ())
    return _registering(
        "sources",
        name,
        lambda make: SourceForm(name, summary, settings, make, version, check=check, reads=reads),
    )
