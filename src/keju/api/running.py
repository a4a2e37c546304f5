"""`run` and `arun`: run models on a dataset."""

from __future__ import annotations

import asyncio
import os
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any, Literal, NamedTuple

from keju.api.arguments import called_as, checked_options
from keju.api.inputs import AnyPath, dataset_path_of, listed, path_of, text_of, texts_of
from keju.api.runs import Run
from keju.console import Console
from keju.datasets import Dataset, mini
from keju.models import Model
from keju.models.cluster import on_ray
from keju.running import RunSummary, run_in_loop
from keju.running import run as run_here
from keju.running.options import RunOptions
from keju.running.restricted_data import Permission, permitting
from keju.running.sending import Interruption
from keju.runs import RunFolder

_LOOK = 0.2
"""Seconds between two checks whether a run in another thread is to stop."""


class _Options(RunOptions, frozen=True, kw_only=True):
    """The options of `keju run`, with `progress`: whether it is printed to standard error."""

    engine: Literal["native", "ray"] = "native"
    ray_address: str = ""
    progress: bool = False


class Call(_Options, frozen=True, kw_only=False):
    """The arguments of `run`."""

    dataset: Dataset | AnyPath
    models: str | Model | Sequence[str | Model]
    out: AnyPath


class _Checked(NamedTuple):
    """The arguments of `run`, checked."""

    dataset: Path
    models: Sequence[str | Model]
    out: Path
    options: RunOptions
    console: Console | None

    @property
    def settings(self) -> dict[str, Any]:
        return {
            "selection": self.options.selection_for(self.dataset),
            "options": self.options.model_options(),
            "policy": self.options.policy(),
            "console": self.console,
        }

    @property
    def permission(self) -> Permission:
        return Permission(given=self.options.send_restricted_data)

    def run(self, interruption: Interruption) -> RunSummary:
        asked = self.dataset, self.models, self.out
        with permitting(self.permission):
            return run_here(*asked, **self.settings, interruption=interruption)


@called_as(Call)
def run(call: Call) -> Run:  # noqa: D417 - the parameters are those of `Call`
    """Run models on a dataset, or resume a run.

    Requests with a stored response are not sent again. Ctrl-C (in Jupyter: interrupt the kernel)
    stops sending, waits for the requests in flight, stores their responses, and raises
    KeyboardInterrupt; a second one does not wait. The same call then resumes. Inside a running
    event loop, as in Jupyter, the requests are sent in another thread.

    Args:
        dataset: a dataset, its path, or ``mini``.
        models: a model, or a list: names as on the command line (``keju models``), functions as
            `PythonModel`, or other objects whose class derives from `keju.models.Model`.
        out: the directory of the run; created if missing, resumed if it exists.
        options: those of ``keju run``, with its names and defaults; an option that may be given
            several times has its plural (`tasks`) and takes one value or a list. `progress` prints
            the progress to standard error. With `engine` ``ray``, OCR engines run on every node of
            a Ray cluster. `send_restricted_data` permits sending data whose licence is unknown or
            forbids copies to servers that are not on this machine.

    Returns:
        The run. A warning reports requests that failed or are left; `Run.summary` has the counts.

    Raises:
        TypeError: a value has another type.
        ValueError: a value is not valid for its option.
        KejuError: no such dataset, model or task; `out` is a run with other settings; a model needs
            something that is not installed; or data may not be sent.
    """
    given = _checked(call)
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        summary = given.run(Interruption())
    else:
        summary = _in_thread(given.run)
    if summary.interrupted:
        raise KeyboardInterrupt(f"stopped; the same call resumes {given.out}")
    return _finished(given.out, summary)


@called_as(Call)
async def arun(call: Call) -> Run:
    """Run models as `run` does, in the running event loop.

    Functions that are async are called in it. Cancel the task to stop: received responses are
    stored, and the same call resumes.
    """
    given = _checked(call)
    with permitting(given.permission):
        summary = await run_in_loop(given.dataset, given.models, given.out, **given.settings)
    return _finished(given.out, summary)


def _in_thread(work: Callable[[Interruption], RunSummary]) -> RunSummary:
    """Run outside this thread's event loop; Ctrl-C in this thread interrupts it.

    `asyncio.run` turns the first Ctrl-C into a cancellation of its task, which blocking calls do
    not notice.
    """
    interruption = Interruption(signals=False)
    task = asyncio.current_task()
    with ThreadPoolExecutor(1) as thread:
        future = thread.submit(work, interruption)
        while not future.done():
            try:
                wait([future], timeout=_LOOK)
            except KeyboardInterrupt:
                interruption.interrupt()
            if task and task.cancelling() and not interruption.count:
                interruption.interrupt()
        return future.result()


def _finished(out: Path, summary: RunSummary) -> Run:
    if not any(model.planned for model in summary.models):
        _warn("No request was made: run.manifest.not_asked has the reasons")
    elif not summary.complete:
        _warn(
            f"The run is not complete: {summary.failures:,} requests failed, {summary.left:,} have "
            f"no response yet. {summary.advice}"
        )
    return Run(RunFolder.open(out), summary)


def _warn(text: str) -> None:
    warnings.warn(text, UserWarning, stacklevel=5)


def _checked(call: Call) -> _Checked:
    """The arguments, with paths as paths."""
    dataset = call.dataset
    path = (
        dataset.path
        if isinstance(dataset, Dataset)
        else mini.dataset_path(dataset_path_of(dataset))
    )
    given = _checked_models(call.models)
    options = checked_options(
        call,
        _Options,
        {
            "extra_body": _json_values, "items": _ids, "prices": _path, "prompts": _paths,
        },
    )  # fmt: skip
    console = _console() if options.pop("progress") else None
    engine, address = options.pop("engine"), options.pop("ray_address")
    plain = RunOptions(**options)
    models = on_ray(given, plain.model_options(), address) if engine == "ray" else given
    return _Checked(path, models, path_of(call.out), plain, console)


def _console() -> Console:
    """Standard error; in a notebook, which is not a terminal, with lines instead of bars."""
    bars = None if sys.modules.get("ipykernel") is None else False
    return Console(stderr=True, force_jupyter=False, force_terminal=bars)


def _checked_models(models: object) -> list[str | Model]:
    if isinstance(models, str | Model):
        return [models]
    specs = list[str | Model]()
    for place, model in enumerate(listed("models", models, "a model or a list of models")):
        if not isinstance(model, str | Model):
            raise TypeError(
                f"models {place} is a {type(model).__name__}. Give the name of a model, or a "
                "function as keju.PythonModel(name, function)"
            )
        specs.append(model)
    return specs


def _json_values(name: str, value: object) -> dict[str, object]:
    if not isinstance(value, Mapping):
        raise TypeError(f"{name} is a {type(value).__name__}. Give a dict of JSON values")
    return {text_of(f"a name of {name}", each): inner for each, inner in value.items()}


def _ids(name: str, value: object) -> Path | list[str] | None:
    if value is None or isinstance(value, str | os.PathLike):
        return _path(name, value)
    return texts_of(name, value)


def _paths(name: str, value: object) -> list[Path] | None:
    if value is None or isinstance(value, str | os.PathLike):
        return None if value is None else [path_of(value)]
    return [path_of(each) for each in listed(name, value, "a path or a list of paths")]


def _path(name: str, value: object) -> Path | None:
    del name
    return None if value is None else path_of(value)
