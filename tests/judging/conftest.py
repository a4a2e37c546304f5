"""A run of open questions, and a bench before which it comes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from keju.judging.answers import answers_of
from keju.judging.prompting import read_rubrics
from keju.judging.store import JudgementFolder
from keju.running import run
from keju.runs import RunFolder
from tests.support.judged import GOOD, KEY, POOR, StepContext, items
from tests.support.making import make_dataset
from tests.support.serving import Chat


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


@pytest.fixture
def judged_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunFolder:
    """A run of two replayed models: one answers well, the other poorly, once with nothing."""
    monkeypatch.chdir(tmp_path)
    poor = {"t0": "", "t1": "溫習。", "t2": "每天三次。", "t3": "君子無用。"}
    poor |= {f"q{place}": "不知道。" for place in range(3)}
    answers = {
        "good": {item.id: f"<think>想一想</think>{item.answer}" for item in items()},
        "poor": poor,
    }
    for name, said in answers.items():
        lines = [json.dumps({"item": item, "text": text}) for item, text in said.items()]
        Path(f"{name}.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
    run(make_dataset(Path("set"), items()), [GOOD, POOR], Path("run"))
    return RunFolder.open(Path("run"))


@pytest.fixture
def context(chat: Chat, judged_run: RunFolder) -> StepContext:
    return StepContext(chat, JudgementFolder(judged_run, read_rubrics()))


@pytest.fixture
def answers(context: StepContext):
    return answers_of(context.folder.run, context.folder.rubrics)
