"""Box conventions by model, as a real server sees them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from keju.datasets.store import DatasetWriter
from keju.errors import UsageError
from keju.items import Box, Item
from keju.models import ModelOptions
from keju.running import Selection, merge, run
from keju.running.box_conventions import parse_boxes
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


def test_each_model_is_asked_in_its_own_convention_in_one_run(
    chat: Chat, dataset: Path, tmp_path: Path
):
    chat.plan(images=True, says=SAID)
    out = tmp_path / "run"
    command = [
        "run", str(dataset), "--model", "openai:gemini", "--model", "openai:other",
        "--task", "recognition/Where", "--boxes", "openai:gemini=yxyx-1000",
        "--base-url", chat.url, "--out", str(out),
    ]  # fmt: skip
    assert keju(*command).returncode == 0
    seen = prompts_by_model(chat)
    assert {name: len(each) for name, each in seen.items()} == {"gemini": 1, "other": 1}
    assert "[ymin, xmin, ymax, xmax], scaled to 0-1000" in seen["gemini"][0]
    assert "[xmin, ymin, xmax, ymax] format" in seen["other"][0]
    folder = RunFolder.open(out)
    said = {each.model: each.box_convention for each in folder.responses()}
    assert said == {"openai:gemini": "yxyx-1000", "openai:other": "xyxy"}
    scores = {
        score.model: score.value
        for score in score_run(folder, ("official",))
        if score.metric == "mIoU"
    }
    # 100/1000 of 200 is 20: the same four numbers are the true box for one model only.
    assert scores == {"openai:gemini": 1.0, "openai:other": 0.0}


def test_a_run_resumes_only_in_the_same_conventions(chat: Chat, dataset: Path, tmp_path: Path):
    chat.plan(says=SAID)
    out = tmp_path / "run"
    go(dataset, out, chat, "openai:gemini", boxes_of={"openai:gemini": "yxyx-1000"})
    with pytest.raises(UsageError, match=r"--boxes of openai:gemini \(yxyx-1000, now none\)"):
        go(dataset, out, chat, "openai:gemini")
    go(dataset, out, chat, "openai:other", boxes="xywh")
    settings = RunFolder.open(out).manifest().settings
    assert settings["boxes of openai:gemini"] == "yxyx-1000"
    with pytest.raises(UsageError, match=r"--boxes of openai:gemini \(yxyx-1000, now xywh\)"):
        go(dataset, out, chat, "openai:gemini", boxes="xywh")


def test_runs_of_models_with_conventions_of_their_own_merge(
    chat: Chat, dataset: Path, tmp_path: Path
):
    chat.plan(says=SAID)
    go(dataset, tmp_path / "a", chat, "openai:gemini", boxes_of={"openai:gemini": "yxyx-1000"})
    go(dataset, tmp_path / "b", chat, "openai:other")
    merged = merge([tmp_path / "a", tmp_path / "b"], tmp_path / "c")
    assert merged.responses == 2
    settings = RunFolder.open(tmp_path / "c").manifest().settings
    assert settings["boxes of openai:gemini"] == "yxyx-1000"


def test_conventions_that_make_no_sense_are_wrong_use(chat: Chat, dataset: Path, tmp_path: Path):
    assert parse_boxes(["xyxy-unit", "replay:a=b=yxyx"]) == ("xyxy-unit", {"replay:a=b": "yxyx"})
    for values in (["m=zz"], ["xyxy", "yxyx"], ["m=xyxy", "m=yxyx"]):
        with pytest.raises(UsageError):
            parse_boxes(values)
    with pytest.raises(UsageError, match=r"openai:nobody.*not a model of this run.*openai:served"):
        go(dataset, tmp_path / "r", chat, "openai:served", boxes_of={"openai:nobody": "xyxy"})
    assert not (tmp_path / "r").exists()
