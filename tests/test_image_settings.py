"""What the reading costs: T2 to T6 of the bundled set from the image, the model's own reading, an
engine's, and the true text, asked into one run and laid side by side."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from rich.console import Console

from keju.cli.output.score_tables import scores_tables
from keju.datasets import mini
from keju.datasets.store import Dataset
from keju.definitions import prompt_of, query_of, task
from keju.items import Item
from keju.models import ModelOptions
from keju.running import Policy, Selection, run
from keju.running.requests import with_source
from keju.runs import RunFolder
from keju.scoring import aggregate, score_run
from tests.support.chat_server import asked_for
from tests.support.serving import Chat

TASKS = ("T2", "T3", "T4", "T5", "T6")
READING = task("T1").queries[0].template


def misread(text: str, every: int) -> str:
    """Each so-manieth character is another."""
    return "".join(
        "某" if place % every == every - 1 and mark != "\n" else mark
        for place, mark in enumerate(text)
    )


def said(item: Item, seen: str) -> str:
    """What a model answers that was shown so much of the text: it needs it all to be right."""
    if query_of(item).form == "letter":
        return item.answer if seen == item.transcription else "X"
    return item.answer if seen == item.transcription else misread(item.answer, 4 if seen else 2)


def test_image_own_and_gold_and_a_pipeline_are_one_comparison(tmp_path: Path, chat: Chat) -> None:
    dataset = mini.path()
    opened = Dataset.open(dataset)
    items = [item for item in opened.items() if item.task in TASKS and item.split == "test"]
    replies: dict[str, str] = {}
    engine = tmp_path / "engine.jsonl"
    readings: dict[str, str] = {}
    for item in items:
        pages = [opened.image_bytes(ref) for ref in item.images]
        text = item.transcription or ""
        own, read = misread(text, 5), misread(text, 3)
        replies[asked_for(READING, pages)] = own
        replies[asked_for(prompt_of(item), pages)] = said(item, "")
        for shown in (own, read, text):
            prompt = with_source(prompt_of(item), shown)
            replies[asked_for(prompt, [] if shown == read else pages)] = said(item, shown)
        if len(item.images) == 1:
            readings[item.images[0].sha256] = read
    engine.write_text(
        "".join(json.dumps({"item": sha, "text": text}) + "\n" for sha, text in readings.items())
    )
    chat.plan(replies=replies)
    pipeline = f"ocr+llm:replay:{engine}+openai:served"
    out = tmp_path / "run"
    for models, settings in (
        (["openai:served"], ("image", "own-ocr", "gold-ocr")),
        (["openai:served", pipeline], ("image", "own-ocr", "gold-ocr")),
    ):
        summary = run(
            dataset, models, out,
            selection=Selection(tasks=TASKS, settings=settings),
            options=ModelOptions(base_url=chat.url), policy=Policy(concurrency=8),
        )  # fmt: skip
        assert summary.complete, summary
    scores = score_run(RunFolder.open(out), ("strict",))
    results = {(each.model, each.setting): each for each in aggregate(scores)}
    for name in TASKS:
        image, own, gold, piped = (
            value_of(results[key], name)
            for key in (
                ("openai:served", "image"), ("openai:served", "own-ocr"),
                ("openai:served", "gold-ocr"), (pipeline, "image"),
            )
        )  # fmt: skip
        assert gold == pytest.approx(1), name
        assert image <= own < gold, name
        assert piped == pytest.approx(own), name
    console = Console(width=200, record=True)
    models = list(dict.fromkeys(score.model for score in scores))
    console.print(*scores_tables(list(results.values()), models, width=200))
    (printed,) = console.export_text().split("task  ")[1:]
    assert printed.count("own-ocr") == printed.count("gold-ocr") == 1
    assert all(f"\n {name} " in printed for name in TASKS)


def value_of(result: object, name: str) -> float:
    """The first metric of a task that needs no encoder."""
    found = next(each for each in result.tasks if each.task == name)
    return next(each.value for each in found.metrics if each.value is not None)
