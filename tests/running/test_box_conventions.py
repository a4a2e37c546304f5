"""Box conventions by model, as a real server sees them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from keju.datasets.store import DatasetWriter
from keju.errors import UsageError
from keju.items import Box, Item
from keju.models import ModelOptions
from keju.running import Selection, run
from keju.runs import RunFolder
from keju.scoring import score_run
from tests.support.commanding import keju
from tests.support.making import picture
from tests.support.policies import policy_of
from tests.support.serving import Chat

SIDE = 200
SAID = "[100, 200, 300, 400]"


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One picture of 200 x 200 with one box, asked in all four forms."""
    path = tmp_path_factory.mktemp("boxes") / "d"
    with DatasetWriter(path, name="b", version="1", licence="CC0-1.0", source="tests") as writer:
        ref = writer.add_image(picture(1, side=SIDE), "bone")
        for query, answer in (
            ("What", "A bone."),
            ("Yes-or-No", "Yes"),
            ("How", "1"),
            ("Where", ""),
        ):
            writer.add(
                Item(id=f"bone#{query}", benchmark="OBI-Bench", task="recognition", query=query,
                     images=(ref,), answer=answer, boxes=(Box(x0=40, y0=20, x1=80, y1=60),))
            )  # fmt: skip
    return path


def prompts_by_model(chat: Chat) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for body in map(json.loads, chat.stats()["bodies"]):
        parts = body["messages"][0]["content"]
        found.setdefault(body["model"], []).append("".join(part.get("text", "") for part in parts))
    return found


def go(dataset: Path, out: Path, chat: Chat, *models: str, **chosen: object) -> None:
    summary = run(
        dataset,
        models,
        out,
        selection=Selection(tasks=("recognition/Where",), **chosen),
        options=ModelOptions(base_url=chat.url),
        policy=policy_of(concurrency=2, first_wait=0.01),
    )
    assert summary.complete


def test_the_convention_of_a_run_is_asked_for_stored_and_scored(
    chat: Chat, dataset: Path, tmp_path: Path
):
    chat.plan(images=True, says=SAID)
    out = tmp_path / "run"
    command = [
        "run", str(dataset), "--model", "openai:gemini", "--task", "recognition/Where",
        "--boxes", "yxyx-1000", "--base-url", chat.url, "--out", str(out),
    ]  # fmt: skip
    assert keju(*command).returncode == 0
    assert "[ymin, xmin, ymax, xmax], scaled to 0-1000" in prompts_by_model(chat)["gemini"][0]
    folder = RunFolder.open(out)
    assert [response.box_convention for response in folder.responses()] == ["yxyx-1000"]
    scores = [score.value for score in score_run(folder, ("official",)) if score.metric == "mIoU"]
    # 100/1000 of 200 is 20: these four numbers are the true box.
    assert scores == [1.0]


def test_a_run_resumes_only_in_the_same_convention(chat: Chat, dataset: Path, tmp_path: Path):
    chat.plan(says=SAID)
    out = tmp_path / "run"
    go(dataset, out, chat, "openai:gemini", boxes="yxyx-1000")
    with pytest.raises(UsageError, match=r"--boxes \(yxyx-1000, now \)"):
        go(dataset, out, chat, "openai:gemini")
    with pytest.raises(UsageError, match=r"responses of openai:gemini.*--boxes \(yxyx-1000, now x"):
        go(dataset, out, chat, "openai:other", boxes="xywh")
    go(dataset, out, chat, "openai:other", boxes="yxyx-1000")


def test_a_convention_that_does_not_exist_is_wrong_use(chat: Chat, dataset: Path, tmp_path: Path):
    with pytest.raises(UsageError, match="zz"):
        go(dataset, tmp_path / "r", chat, "openai:served", boxes="zz")
    assert not (tmp_path / "r").exists()
