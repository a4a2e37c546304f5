"""keju's tasks under a real ``inspect eval``, against a real server."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from keju.datasets import mini
from keju.datasets.store import DatasetWriter
from keju.items import Item
from keju.models import ModelOptions
from keju.running import Selection, run
from keju.runs import RunFolder
from keju.scoring import score_run
from tests.support.making import picture
from tests.support.needing import inspect_missing
from tests.support.policies import policy_of
from tests.support.serving import Chat

pytestmark = inspect_missing
KEY = "sk-task-0123456789abcdef"
MODEL = "openai-api/local/served"
TASKS = ("T10", "T6")


def inspect_eval(
    tmp_path: Path, chat: Chat, task: str, *more: str
) -> subprocess.CompletedProcess[str]:
    """Run the command as a user does, its own folders under the test's."""
    places = ("HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME")
    env = {**os.environ, "LOCAL_API_KEY": KEY, "LOCAL_BASE_URL": chat.url,
           **dict.fromkeys(places, str(tmp_path / "home"))}  # fmt: skip
    command = [sys.executable, "-m", "inspect_ai", "eval", task, *more, "--model", MODEL,
               "--log-dir", str(tmp_path / "logs"), "--display", "none"]  # fmt: skip
    return subprocess.run(
        command, env=env, cwd=tmp_path, capture_output=True, text=True, check=False
    )


def only_log(tmp_path: Path):
    from inspect_ai.log import read_eval_log

    (path,) = (tmp_path / "logs").glob("*.eval")
    return path, read_eval_log(str(path))


def sent_requests(chat: Chat) -> list[tuple[object, ...]]:
    """The texts and pictures that a server was shown."""
    seen = chat.stats()
    texts = [json.loads(body)["messages"][0]["content"] for body in seen["bodies"]]
    return sorted(
        (next(part["text"] for part in parts if part["type"] == "text"), *images)
        for parts, images in zip(texts, seen["images"], strict=True)
    )


def test_the_tasks_are_found_by_inspect():
    assert "keju_inspect.tasks" in {e.value for e in entry_points(group="inspect_ai")}


def test_an_eval_asks_and_scores_as_keju_does(chat: Chat, tmp_path: Path):
    """The same prompts, the same pictures byte for byte, the same values under both protocols."""
    selection = Selection(tasks=TASKS)
    chat.plan(modes=["reasoning"], times=-1, images=True)
    os.environ.pop("OPENAI_API_KEY", None)
    run(mini.path(), ["openai:served"], tmp_path / "r", selection=selection,
        options=ModelOptions(base_url=chat.url), policy=policy_of(first_wait=0.01))  # fmt: skip
    ours = sent_requests(chat)
    chat.plan(modes=["reasoning"], times=-1, images=True)
    done = inspect_eval(tmp_path, chat, "keju_inspect/mcs_bench", "-T", f"task={','.join(TASKS)}")
    assert done.returncode == 0, done.stdout + done.stderr
    assert sent_requests(chat) == ours
    path, log = only_log(tmp_path)
    assert log.status == "success"
    assert len(log.samples) == len(ours)
    main: dict[str, dict[str, float | None]] = {}
    for score in score_run(RunFolder.open(tmp_path / "r")):
        main.setdefault(score.item, {}).setdefault(score.protocol, score.value)
    for sample in log.samples:
        (score,) = sample.scores.values()
        values = {k: None if math.isnan(v) else v for k, v in score.value.items()}
        assert values == main[str(sample.id)]
        assert score.metadata["strict"]["verdict"] == "ok"
    listed = {(score.name, name) for score in log.results.scores for name in score.metrics}
    assert {("official", "mean"), ("strict", "stderr"), ("strict", "grouped_T10")} <= listed
    # And its log is read back as answers, like any of Inspect's.
    run(mini.path(), [f"replay:{path}"], tmp_path / "again", selection=selection)
    again = {(s.item, s.protocol, s.metric): s.value
             for s in score_run(RunFolder.open(tmp_path / "again"))}  # fmt: skip
    before = {(s.item, s.protocol, s.metric): s.value
              for s in score_run(RunFolder.open(tmp_path / "r"))}  # fmt: skip
    assert again == before
    assert KEY.encode() not in path.read_bytes()


def test_a_failure_has_no_score_and_the_eval_is_no_success(
    chat: Chat, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    import inspect_ai

    monkeypatch.setenv("LOCAL_API_KEY", KEY)
    chat.plan(modes=["400"], times=-1)
    (log,) = inspect_ai.eval(
        "keju_inspect/ancientdoc", model=MODEL, model_base_url=chat.url, limit=2, display="none",
        task_args={"task": "knowledge_qa"}, log_dir=str(tmp_path / "logs"), max_retries=0,
    )  # fmt: skip
    assert log.status == "error"
    _, log = only_log(tmp_path)
    assert all(sample.error is not None and not sample.scores for sample in log.samples)


def test_own_pages_are_scored_under_strict_alone(
    chat: Chat, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    import inspect_ai

    monkeypatch.setenv("LOCAL_API_KEY", KEY)
    chat.plan()
    own_page(tmp_path / "set")
    (log,) = inspect_ai.eval(
        "keju_inspect/pages", model=MODEL, model_base_url=chat.url, display="none",
        task_args={"dataset": str(tmp_path / "set")}, log_dir=str(tmp_path / "logs"),
    )  # fmt: skip
    assert log.status == "success"
    (scores,) = [sample.scores["both_protocols"].value for sample in log.samples]
    assert set(scores) == {"strict"}


def own_page(path: Path) -> None:
    """A dataset of one own page."""
    with DatasetWriter(path, name="own", version="1", licence="CC0-1.0", source="test") as writer:
        image = writer.add_image(picture(1), "page")
        writer.add(Item(id="p", benchmark="pages", task="page_ocr", images=(image,), answer="天"))


@pytest.mark.parametrize(("setting", "images"), [("image", 1), ("gold-ocr", 1), ("gold-text", 0)])
def test_a_setting_sends_what_keju_run_sends(setting: str, images: int):
    from keju_inspect.tasks import mcs_bench

    made = mcs_bench(task="T2", setting=setting, script="traditional")
    for sample in made.dataset:
        (message,) = sample.input
        kinds = [part.type for part in message.content]
        assert kinds == ["image"] * images + ["text"]
        with_text = message.content[-1].text.startswith("以下是圖中的文字：")
        assert with_text is (setting != "image")


@pytest.mark.parametrize(
    ("task", "more", "words"),
    [
        ("keju_inspect/obi_bench", ["task=rejoining"], "pairs of images"),
        ("keju_inspect/mcs_bench", ["task=T99"], "no task 'T99'"),
        ("keju_inspect/mcs_bench", ["task=page_level_ocr"], "no task of MCS-Bench"),
        ("keju_inspect/mcs_bench", ["dataset=nowhere"], "dataset directory"),
        ("keju_inspect/mcs_bench", ["setting=own-ocr"], "sends two requests"),
        ("keju_inspect/mcs_bench", ["setting=gold-ocr", "task=T1"], "is sent with gold-ocr"),
    ],
)
def test_wrong_use_is_said_without_a_traceback(task: str, more: list[str], words: str):
    from inspect_ai._util.error import PrerequisiteError

    from keju_inspect import tasks

    arguments = dict(each.split("=") for each in more)
    with pytest.raises(PrerequisiteError) as caught:
        getattr(tasks, task.partition("/")[2])(**arguments)
    assert words in str(caught.value.message)
