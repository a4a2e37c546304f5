"""Models of a run with fewer responses than planned requests."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from keju.local_paths import shell_quoted
from keju.running.requests import request_count
from keju.runs import HUMAN, RunFolder


class Unfinished(NamedTuple):
    """A model with fewer responses than planned requests, and the command that resumes it.

    `run` is the name of the run's directory, `command` is ``run`` or ``serve``, and `whole_command`
    has its arguments, without other options.
    """

    run: str
    model: str
    there: int
    planned: int
    command: str
    whole_command: str


def unfinished_models(folder: RunFolder) -> Iterator[Unfinished]:
    """The models of a run that lack responses."""
    manifest = folder.manifest()
    variants = len(manifest.input_settings) * len(manifest.scripts) * len(manifest.wordings)
    variants *= manifest.rounds
    requests = sum(map(request_count, folder.iter_items())) * variants
    there = Counter(response.model for response in folder.responses())
    named = manifest.dataset_path
    dataset = shell_quoted(os.path.normpath(folder.path / named)) if named else "DATASET"
    for model in manifest.models:
        planned = requests - sum(manifest.not_asked.get(model, {}).values())
        if there[model] < planned:
            is_person = model.startswith(HUMAN)
            option = "" if is_person else f" --model {shell_quoted(model)}"
            command = "serve" if is_person else "run"
            resuming = f"{command} {dataset}{option} --out {shell_quoted(str(folder.path))}"
            yield Unfinished(folder.path.name, model, there[model], planned, command, resuming)
