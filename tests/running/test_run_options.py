"""``keju run`` from the command line: what the server is sent, what is printed."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from keju.runs import RunFolder
from tests.support.commanding import keju
from tests.support.making import make_dataset
from tests.support.needing import inspect_missing
from tests.support.serving import Chat, run_command

FIELDS = [
    "--preset", "mcs-bench", "--sampling-seed", "7", "--reasoning-effort", "low",
    "--extra-body", 'chat_template_kwargs={"enable_thinking": false}',
    "--extra-body", "min_p=0.1", "--extra-body", 'stop=["。"]',
]  # fmt: skip
KEY = "sk-options-0123456789abcdef"


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_dataset(tmp_path_factory.mktemp("options") / "d", pages=2, first=8400)


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "LOCAL_API_KEY"):
        monkeypatch.setenv(name, KEY)


def said(command: list[str], status: int = 0) -> str:
    done = keju(*command[command.index("keju") + 1 :])
    assert done.returncode == status, done.stderr
    return " ".join((done.stdout + done.stderr).split())


@pytest.mark.parametrize(
    ("model", "dropped"),
    [
        ("openai:served", ""),
        pytest.param("inspect:openai-api/local/served", "top_k", marks=inspect_missing),
    ],
)
def test_everything_given_is_sent_and_recorded(
    chat: Chat, dataset: Path, tmp_path: Path, model: str, dropped: str
):
    chat.plan(images=True)
    prompt = tmp_path / "system.txt"
    prompt.write_text("只答一字。\n", "utf-8")
    command = run_command(dataset, tmp_path / "r", chat)
    command[command.index("openai:served")] = model
    words = said([*command, *FIELDS, "--system-prompt", f"@{prompt}", "--dtype", "bfloat16"])
    (first, second) = map(json.loads, chat.stats()["bodies"])
    assert first.keys() == second.keys()
    expected = {
        "temperature": 0.8, "top_p": 0.95, "top_k": 50, "max_tokens": 2048, "seed": 7,
        "reasoning_effort": "low", "chat_template_kwargs": {"enable_thinking": False},
        "min_p": 0.1, "stop": ["。"],
    }  # fmt: skip
    expected.pop(dropped, None)
    assert {name: first[name] for name in first.keys() - {"model", "messages"}} == expected
    assert first["messages"][0] == {"role": "system", "content": "只答一字。"}
    identity = RunFolder.open(tmp_path / "r").manifest().models[model]
    assert (identity["top_k"], identity["dtype"]) == ("50", "bf16")
    assert identity["extra_body.chat_template_kwargs"] == '{"enable_thinking":false}'
    assert identity["system_prompt"] == "只答一字。"
    assert ("top_k was not sent: Inspect does not pass it on" in words) == bool(dropped)
    assert ("unlike the paper" in words) == bool(dropped)
    # The same command again asks nothing; another system prompt is another run.
    again = [*command, *FIELDS, "--system-prompt", f"@{prompt}", "--dtype", "bf16"]
    said(again)
    assert chat.stats()["requests"] == 2
    assert "system_prompt" in said([*again, "--system-prompt", "otherwise"], status=2)


def test_a_plan_takes_the_same_and_says_what_is_unlike_the_paper(chat: Chat, dataset: Path):
    chat.plan()
    command = [sys.executable, "-m", "keju", "run", "--plan", str(dataset),
               "--model", "openai:served", "--base-url", chat.url, *FIELDS]  # fmt: skip
    assert "dtype is unknown (paper: bf16)" in said(command)
    assert "unlike the paper" not in said([*command, "--dtype", "bf16"])
    assert chat.stats()["requests"] == 0


def test_a_system_prompt_is_counted(chat: Chat, dataset: Path):
    command = (
        "run",
        "--plan",
        dataset,
        "--model",
        "openai:gpt-4o",
        "--base-url",
        chat.url,
        "--json",
    )
    plain = json.loads(keju(*command).stdout)
    longer = json.loads(keju(*command, "--system-prompt", "天" * 100).stdout)
    assert longer["rows"][0]["text_tokens"] - plain["rows"][0]["text_tokens"] == 200


@pytest.mark.parametrize(
    "wrong",
    [["--extra-body", "stream=true"], ["--extra-body", "x=y"], ["--system-prompt", "@/no/such"],
     ["--system-prompt", f"my key is {KEY}"], ["--dtype", "the best"],
     ["--extra-body", "thinking=perhaps"], ["--reasoning-effort", " "]],
)  # fmt: skip
def test_wrong_use_sends_and_stores_nothing(
    chat: Chat, dataset: Path, tmp_path: Path, wrong: list[str]
):
    chat.plan()
    words = said([*run_command(dataset, tmp_path / "r", chat), *wrong], status=2)
    assert wrong[0] in words
    assert KEY not in words
    assert chat.stats()["requests"] == 0
    assert not (tmp_path / "r/run.json").exists()
