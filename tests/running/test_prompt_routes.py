"""Own prompts by every route: a request is the same directly, in batches, by Inspect.

The servers are real ones of the OpenAI form.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from keju.datasets.store import DatasetWriter
from keju.items import Item
from keju.runs import RunFolder
from tests.running.conftest import BatchChat
from tests.support.commanding import keju
from tests.support.making import picture
from tests.support.needing import inspect_missing

PROMPTS = '[prompts.T7]\nask = "Look. {prompt}"\nsystem = "Be brief."\n'
WORDINGS = 2


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("routes") / "d"
    with DatasetWriter(path, name="r", version="1", licence="CC0-1.0", source="tests") as writer:
        for number, split in enumerate(("test", "test", "reference")):
            ref = writer.add_image(picture(number, side=40), str(number))
            writer.add(Item(id=str(number), benchmark="MCS-Bench", task="T7", images=(ref,),
                            options=("論語", "孟子"), answer="B", answer_simplified="B",
                            group=f"g{number}", split=split))  # fmt: skip
    return path


def ask(
    dataset: Path, out: Path, server: BatchChat, model: str, *more: str, status: int = 0
) -> None:
    prompts = out.parent / "mine.toml"
    prompts.write_text(PROMPTS, "utf-8")
    done = keju(
        "run",
        dataset,
        "--model",
        model,
        "--base-url",
        server.url,
        "--out",
        out,
        "--prompts",
        prompts,
        "--wording",
        "released",
        *more,
    )
    assert done.returncode == status, done.stderr


def turns(server: BatchChat, start: int = 0) -> list[str]:
    """The messages of each request from `start` on, in any order."""
    found = []
    for body in map(json.loads, server.stats()["bodies"][start:]):
        messages = []
        for each in body["messages"]:
            parts = each["content"]
            parts = [{"type": "text", "text": parts}] if isinstance(parts, str) else parts
            shown = [part.get("text") or part["image_url"]["url"] for part in parts]
            messages.append((each["role"], shown))
        found.append(json.dumps(messages))
    return sorted(found)


def stored(out: Path) -> set[tuple[str, ...]]:
    return {(r.item, r.wording, r.text) for r in RunFolder.open(out).responses()}


def test_batches_are_sent_and_stored_as_requests_that_are_asked_directly(
    server: BatchChat, dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-routes-0123456789abcdef")
    server.plan(images=True, says="B")
    ask(dataset, tmp_path / "direct", server, "openai:served")
    count = server.stats()["requests"]
    assert count == 2 * WORDINGS
    ask(dataset, tmp_path / "batched", server, "openai:served", "--batch", status=1)
    assert server.seen()["uploads"] == [count - 1]
    server.post("work", {})
    ask(dataset, tmp_path / "batched", server, "openai:served", "--batch")
    assert turns(server, count) == turns(server)[::2]
    keys = [{(r.key, r.item, r.wording, r.text)
             for r in RunFolder.open(tmp_path / name).responses()}
            for name in ("direct", "batched")]  # fmt: skip
    assert keys[0] == keys[1]
    assert len(keys[0]) == count


@inspect_missing
def test_models_of_inspect_are_sent_the_same_turns(
    server: BatchChat, dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    for name in ("OPENAI_API_KEY", "LOCAL_API_KEY"):
        monkeypatch.setenv(name, "sk-routes-0123456789abcdef")
    server.plan(images=True, says="B")
    ask(dataset, tmp_path / "direct", server, "openai:served")
    count = server.stats()["requests"]
    ask(dataset, tmp_path / "inspect", server, "inspect:openai-api/local/served")
    assert turns(server, count) == turns(server)[::2]
    assert stored(tmp_path / "inspect") == stored(tmp_path / "direct")
    assert len(stored(tmp_path / "direct")) == count
