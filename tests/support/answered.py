"""Runs with answers made up by skill: each model gets so many items right, always the same ones."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random

import msgspec

from keju.definitions import options_of, query_of
from keju.items import Item, Line, Response, Setting, Usage
from keju.runs import RunFolder, RunManifest
from keju.scoring import score_run


def answered_run(
    folder: Path,
    items: Sequence[Item],
    skills: Mapping[str, float],
    *,
    settings: Mapping[Setting, float] = {"image": 0.0},
    dataset: Path | None = None,
    name: str = "made",
    dataset_hash: str = "h",
    synthetic: bool = False,
) -> Path:
    """Write and score a run.

    Args:
        folder: of the run.
        items: what is asked.
        skills: for each model how many of its answers are right, 0 to 1.
        settings: what is shown, and what that adds to the skill.
        dataset: where the pictures are.
        name: of the dataset.
        dataset_hash: what tells the dataset from others.
        synthetic: whether the dataset was drawn.
    """
    run = RunFolder(folder)
    run.write_items(list(items))
    run.write_manifest(
        RunManifest(
            keju="0", dataset=name, dataset_version="1", dataset_hash=dataset_hash,
            synthetic=synthetic,
            dataset_path="" if dataset is None else os.path.relpath(dataset, folder),
            models={model: {} for model in skills},
            settings={"settings": ",".join(settings)},
        )
    )  # fmt: skip
    for model, skill in skills.items():
        for task in dict.fromkeys(item.task for item in items):
            path = run.responses_path(model, task)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(
                b"".join(
                    msgspec.json.encode(_response(model, item, setting, skill + more)) + b"\n"
                    for setting, more in settings.items()
                    for item in items
                    if item.task == task
                )
            )
    score_run(run)
    return run.path


def _response(model: str, item: Item, setting: Setting, skill: float) -> Response:
    draw = Random(f"{item.id} {setting}")
    luck, seconds = draw.random(), draw.uniform(0.5, 1.5)
    text = _answer(item, skill, luck, draw)
    return Response(
        key=f"{model} {item.id} {setting}", item=item.id, model=model, benchmark=item.benchmark,
        task=item.task, query=item.query, status="answered", setting=setting, text=text,
        seconds=seconds * (0.5 + 4 * skill), usage=Usage(input_tokens=900, output_tokens=len(text)),
        lines=(Line(id="l", text=text or "一", confidence=0.5 + skill * luck / 2),)
        if query_of(item).form == "transcription" else (),
    )  # fmt: skip


def _answer(item: Item, skill: float, luck: float, draw: Random) -> str:
    right = item.answer or item.answer_simplified
    if options_of(item):
        letters = "ABCDEFGHIJ"[: len(options_of(item))]
        return right if luck < skill else letters[(letters.index(right[:1]) + 1) % len(letters)]
    return "".join(sign for sign in right if draw.random() < 0.3 + 0.7 * skill)
