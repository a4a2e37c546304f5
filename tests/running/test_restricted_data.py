"""Restricted data: asked about before they leave this machine, never sent without a yes."""

from __future__ import annotations

import asyncio
import io
import json
import os
import pty
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

import keju
from keju.building.drafting.asking import DraftSettings
from keju.building.drafting.step import STEP
from keju.building.engine import Engine
from keju.building.running import StepCall, run_step
from keju.cli.permission import permission
from keju.datasets import mini
from keju.datasets.store import Dataset, DatasetWriter
from keju.errors import UsageError
from keju.items import Provenance
from keju.models import Model, ModelOptions, open_model
from keju.models.endpoints import destinations_of, is_this_machine
from keju.models.function_model import PluginModel
from keju.registry import Plugin, PluginError
from keju.running import Selection, run
from keju.running.restricted_data import Permission, permitting
from keju.runs import RunFolder
from tests.support.children import started
from tests.support.commanding import keju as command
from tests.support.making import page_item, picture
from tests.support.needing import inspect_missing
from tests.support.serving import Chat

ELSEWHERE = "http://server.invalid/v1"
HOST = "server.invalid"
GATED = "gated: ask the library"


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-restricted-0123456789")
    monkeypatch.setenv("KANDIANGUJI_TOKEN", "token-0123456789")
    monkeypatch.setenv("KANDIANGUJI_EMAIL", "reader@example.org")
    for name in ("HTTP_PROXY", "http_proxy", "OPENAI_BASE_URL", "OLLAMA_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def far(chat: Chat, monkeypatch: pytest.MonkeyPatch) -> Chat:
    """The chat server as the proxy of every other host, so that it counts what is sent there."""
    chat.plan()
    monkeypatch.setenv("http_proxy", chat.url.removesuffix("/v1"))
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    return chat


def dataset(path: Path, licence: str, *own: str, pages: int = 2) -> Path:
    """Pages of a dataset under a licence; `own` are licences in the provenance of the first."""
    with DatasetWriter(
        path, name="old-books", version="1", licence=licence, source="the test"
    ) as writer:
        for number in range(pages):
            ref = writer.add_image(picture(9100 + number), f"page {number}")
            given = dict(enumerate(own)).get(number)
            steps = (Provenance(step="scan", licence=given),) if given else ()
            writer.add(page_item(f"i{number:04}", images=(ref,), provenance=steps))
    return path


def ask(data: Path, out: Path, url: str = ELSEWHERE, **given: object) -> keju.Run:
    return keju.run(data, "openai:m", out, base_url=url, **given)


class Asked:
    """Answers each question in the same way, and keeps the questions."""

    def __init__(self, answer: bool) -> None:
        self.answer, self.texts = answer, list[str]()

    def __call__(self, text: str) -> bool:
        self.texts.append(text)
        return self.answer


def ask_with(asked: Asked, data: Path, out: Path, url: str = ELSEWHERE) -> None:
    with permitting(Permission(ask=asked)):
        run(data, ["openai:m"], out, options=ModelOptions(base_url=url))


@pytest.mark.parametrize(
    "host",
    ["localhost", "LOCALHOST.", "here.localhost", "127.0.0.1", "127.8.9.1", "::1", "0.0.0.0",
     "::ffff:127.0.0.1"],
)  # fmt: skip
def test_loopback_is_this_machine(host: str):
    assert is_this_machine(host)


@pytest.mark.parametrize(
    "host",
    ["", "localhost.example.com", "mylocalhost", "127.0.0.1.nip.io", "10.0.0.1", "192.168.1.5",
     "172.16.0.1", "fe80::1", "fd00::1", "::ffff:10.0.0.1", "server", "128.0.0.1"],
)  # fmt: skip
def test_private_networks_and_names_are_other_machines(host: str):
    assert not is_this_machine(host)


def test_a_proxy_receives_what_is_sent_to_this_machine(monkeypatch: pytest.MonkeyPatch):
    url = "http://127.0.0.1:8000/v1"
    monkeypatch.setenv("no_proxy", "")
    for proxy, host in [("http://proxy.invalid:3128", "proxy.invalid"),
                        ("proxy.invalid:3128", "proxy.invalid"),
                        ("http://localhost:3128", "")]:  # fmt: skip
        monkeypatch.setenv("http_proxy", proxy)
        assert destinations_of(url) == tuple(filter(None, (host,)))
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setenv("http_proxy", "http://proxy.invalid:3128")
    assert destinations_of(url) == ()


@pytest.mark.parametrize(
    ("model", "url", "hosts"),
    [
        ("openai:m", ELSEWHERE, (HOST,)),
        ("openai:m", "http://10.0.0.7:8000/v1", ("10.0.0.7",)),
        ("openai:m", "http://localhost:8000/v1", ()),
        ("openai:m", "", ("api.openai.com",)),
        ("blind:openai:m", ELSEWHERE, (HOST,)),
        ("shuffled:openai:m", ELSEWHERE, (HOST,)),
        ("ocr+llm:http-ocr:http://ocr.invalid/read+openai:m", ELSEWHERE, ("ocr.invalid", HOST)),
        ("http-ocr:http://ocr.invalid/read", "", ("ocr.invalid",)),
        ("http-ocr:http://127.0.0.1:9/read", "", ()),
        ("baseline:copy", "", ()),
        pytest.param("inspect:anthropic/m", "", ("anthropic",), marks=inspect_missing),
        pytest.param("inspect:openai-api/own/m", ELSEWHERE, (HOST,), marks=inspect_missing),
        pytest.param("inspect:openai-api/own/m", "http://[::1]/v1", (), marks=inspect_missing),
        pytest.param("inspect:ollama/m", "", (), marks=inspect_missing),
        pytest.param("inspect:ollama/m", ELSEWHERE, (HOST,), marks=inspect_missing),
        pytest.param("inspect:mockllm/m", "", (), marks=inspect_missing),
    ],
)
def test_a_model_names_the_hosts_that_receive_data(model: str, url: str, hosts: tuple[str, ...]):
    opened = open_model(model, ModelOptions(base_url=url, asking=False))
    assert opened.destinations == hosts


class _OfPlugin(Model):
    def __init__(self, destinations: object) -> None:
        self._given = destinations

    @property
    def destinations(self) -> Any:
        return self._given


def test_a_plugin_declares_where_it_sends_data(tmp_path: Path):
    mine = Plugin(name="mine", version="1")
    sends = PluginModel("sends", _OfPlugin((HOST,)), mine)
    assert sends.destinations == (HOST,)
    assert PluginModel("plain", Model(), mine).destinations == ()
    with pytest.raises(UsageError, match=HOST):
        run(dataset(tmp_path / "d", "unknown"), [sends], tmp_path / "r")
    own = open_model("openai:m", ModelOptions(base_url=f"https://{HOST}/v1"))
    assert PluginModel("own", own, mine).destinations == (HOST,)
    for wrong in (HOST, (1,), None):
        with pytest.raises(PluginError) as refused:
            PluginModel("sends", _OfPlugin(wrong), mine)
        assert refused.value.template == "plug-in {}: the model {!r} has a wrong attribute: {}"
        assert "`$.destinations" in str(refused.value)


@pytest.mark.parametrize(
    ("licence", "own"),
    [
        ("unknown", ()),
        (GATED, ()),
        ("InC-1.0", ()),
        ("research-only AND CC0-1.0", ()),
        ("CC0-1.0", (GATED,)),
        ("CC-BY-4.0", ("", "http://rightsstatements.org/vocab/InC/1.0/")),
    ],
)
def test_restricted_data_are_refused_before_any_connection(
    far: Chat, tmp_path: Path, licence: str, own: tuple[str, ...]
):
    data = dataset(tmp_path / "d", licence, *own)
    with pytest.raises(UsageError) as refused:
        ask(data, tmp_path / "r")
    assert refused.value.template.startswith("{}. Nothing was sent. If")
    sending = refused.value.values[0]
    assert sending.template.startswith("the data of {n:,}")
    assert (sending.number, sending.values[1]) == (2, HOST)
    assert (next(filter(None, reversed(own)), "") or licence) in str(refused.value)
    assert "--send-restricted-data" in str(refused.value)
    assert len(str(refused.value).splitlines()) == 1
    assert not (tmp_path / "r").exists()
    assert far.stats()["requests"] == 0


@pytest.mark.parametrize(
    "licence", ["CC0-1.0", "CC-BY-NC-ND-4.0", "MIT", "research-only OR CC-BY-4.0"]
)
def test_data_that_may_be_copied_are_never_asked_about(far: Chat, tmp_path: Path, licence: str):
    asked = Asked(answer=False)
    ask_with(asked, dataset(tmp_path / "d", licence, "CC-BY-SA-4.0"), tmp_path / "r")
    assert (asked.texts, far.stats()["requests"]) == ([], 2)


def test_the_bundled_set_is_never_asked_about(far: Chat, tmp_path: Path):
    keju.run("mini", "openai:m", tmp_path / "r", base_url=ELSEWHERE, limit=1, tasks="T1")
    assert far.stats()["requests"] == 1


def test_a_server_of_this_machine_is_never_asked_about(chat: Chat, tmp_path: Path):
    chat.plan()
    asked = Asked(answer=False)
    ask_with(asked, dataset(tmp_path / "d", "unknown"), tmp_path / "r", chat.url)
    assert (asked.texts, chat.stats()["requests"]) == ([], 2)


def test_only_the_selected_items_count(far: Chat, tmp_path: Path):
    data = dataset(tmp_path / "d", "CC0-1.0", "", GATED)
    ask(data, tmp_path / "r", items=["i0000"])
    assert far.stats()["requests"] == 1
    with pytest.raises(UsageError, match="gated"):
        ask(data, tmp_path / "r2", items=["i0001"])


def test_a_yes_holds_for_one_command(far: Chat, tmp_path: Path):
    data = dataset(tmp_path / "d", "unknown", pages=3)
    out, asked = tmp_path / "r", Asked(answer=True)
    options = ModelOptions(base_url=ELSEWHERE)
    with permitting(Permission(ask=asked)):
        run(data, ["openai:m"], out, options=options, selection=Selection(limit=1))
        run(data, ["openai:m"], out, options=options, selection=Selection(limit=2))
    assert len(asked.texts) == 1
    assert HOST in asked.texts[0]
    assert "unknown" in asked.texts[0]
    with pytest.raises(UsageError) as refused:
        ask(data, out)  # without a terminal and without the option
    assert refused.value.template.startswith("{}. Nothing was sent. If")
    assert far.stats()["requests"] == 2
    both = ["openai:m", "http-ocr:http://other.invalid/ocr"]
    asked_again = Permission(ask=Asked(answer=False), agreed={(HOST, "unknown")})
    with permitting(asked_again), pytest.raises(UsageError, match="nothing was sent"):
        run(data, both, out, options=options)
    (question,) = asked_again.ask.texts
    assert "go to other.invalid." in question


def test_a_no_sends_nothing_and_leaves_nothing(far: Chat, tmp_path: Path):
    with pytest.raises(UsageError) as declined:
        ask_with(Asked(answer=False), dataset(tmp_path / "d", "unknown"), tmp_path / "r")
    assert declined.value.template.startswith("nothing was sent.")
    assert far.stats()["requests"] == 0
    assert not (tmp_path / "r").exists()


def test_the_permission_is_no_part_of_the_run(far: Chat, tmp_path: Path):
    data = dataset(tmp_path / "d", "unknown")
    ask(data, tmp_path / "option", send_restricted_data=True)
    ask_with(Asked(answer=True), data, tmp_path / "asked")
    one, two = (RunFolder.open(tmp_path / name) for name in ("option", "asked"))
    assert one.manifest().models == two.manifest().models
    assert one.manifest().settings == two.manifest().settings
    assert [each.key for each in one.responses()] == [each.key for each in two.responses()]
    assert "restricted" not in (tmp_path / "option" / "run.json").read_text("utf-8")


def test_a_complete_run_is_not_asked_about(far: Chat, tmp_path: Path):
    data, out = dataset(tmp_path / "d", "unknown"), tmp_path / "r"
    ask(data, out, send_restricted_data=True)
    before = far.stats()["requests"]
    ask(data, out)
    assert far.stats()["requests"] == before


def test_arun_refuses_and_permits(far: Chat, tmp_path: Path):
    data = dataset(tmp_path / "d", "unknown")
    with pytest.raises(UsageError) as refused:
        asyncio.run(keju.arun(data, "openai:m", tmp_path / "r", base_url=ELSEWHERE))
    assert refused.value.template.startswith("{}. Nothing was sent. If")
    asyncio.run(
        keju.arun(data, "openai:m", tmp_path / "r", base_url=ELSEWHERE, send_restricted_data=True)
    )
    assert far.stats()["requests"] == 2


def test_a_judge_that_is_refused_can_be_asked_elsewhere(far: Chat, judged: Callable[[str], Path]):
    run_dir = judged("unknown")
    grade = ("judge", "grade", run_dir, "--model", "openai:judge", "--task", "T2")
    refused = command(*grade, "--base-url", ELSEWHERE)
    assert refused.returncode == 2
    assert "--send-restricted-data" in refused.stderr
    assert HOST in refused.stderr
    assert "the data of 1 item" in refused.stderr
    assert far.stats()["requests"] == 0
    far.plan(says="分数：7")
    assert command(*grade, "--base-url", far.url).returncode == 0
    assert far.stats()["requests"] == 1


def test_a_judge_with_permission_is_asked(far: Chat, judged: Callable[[str], Path]):
    run_dir = judged("unknown")
    far.plan(says="分数：7")
    done = command("judge", "grade", run_dir, "--model", "openai:judge", "--task", "T2",
                   "--base-url", ELSEWHERE, "--send-restricted-data")  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert far.stats()["requests"] == 1


def test_a_judge_of_free_data_is_not_asked_about(far: Chat, judged: Callable[[str], Path]):
    far.plan(says="分数：7")
    done = command("judge", "grade", judged("CC0-1.0"), "--model", "openai:judge", "--task", "T2",
                   "--base-url", ELSEWHERE)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert far.stats()["requests"] == 1


def test_a_judge_of_a_run_without_its_dataset_is_asked_about(
    far: Chat, judged: Callable[[str], Path]
):
    run_dir = judged("CC0-1.0")
    (run_dir.parent / "d").rename(run_dir.parent / "moved")
    done = command("judge", "grade", run_dir, "--model", "openai:judge", "--task", "T2",
                   "--base-url", ELSEWHERE)  # fmt: skip
    assert (done.returncode, far.stats()["requests"]) == (2, 0)


@pytest.fixture
def judged(tmp_path: Path) -> Callable[[str], Path]:
    """Makes a run of one translation, of a dataset under a licence."""

    def make(licence: str) -> Path:
        with DatasetWriter(
            tmp_path / "d", name="texts", version="1", licence=licence, source="the test"
        ) as writer:
            writer.add(page_item("t0", task="T2", question="[item t0] 翻譯", answer="学习"))
        given = tmp_path / "a.jsonl"
        given.write_text(json.dumps({"item": "t0", "text": "温习"}) + "\n", "utf-8")
        run(tmp_path / "d", [f"replay:{given}"], tmp_path / "r")
        return tmp_path / "r"

    return make


def test_drafts_are_asked_about_and_the_step_stays_the_same(far: Chat, tmp_path: Path):
    data = dataset(tmp_path / "d", "unknown")
    asked = DraftSettings(model="openai:m", kinds=("ocr",), base_url=ELSEWHERE)
    work = StepCall(STEP, asked, Dataset.open(data))
    draft = ("build", "draft", data, "--out", tmp_path / "out", "--model", "openai:m", "--kinds",
             "ocr", "--base-url", ELSEWHERE)  # fmt: skip
    refused = command(*draft)
    assert refused.returncode == 2
    assert HOST in refused.stderr
    assert "--send-restricted-data" in refused.stderr
    assert far.stats()["requests"] == 0
    done = command(*draft, "--send-restricted-data")
    assert done.returncode == 0, done.stderr
    assert far.stats()["requests"] == 2
    assert not run_step(work, tmp_path / "out", engine=Engine()).built
    assert "--send-restricted-data" not in command("build", "subset", "--help").stdout


def test_a_recipe_is_asked_about(far: Chat, tmp_path: Path):
    data = dataset(tmp_path / "d", "unknown")
    recipe = tmp_path / "r.toml"
    recipe.write_text(
        f"""name = "r"
version = "1"
[[source]]
form = "dataset"
path = {json.dumps(str(data))}
[[step]]
do = "draft"
model = "openai:m"
kinds = ["ocr"]
base_url = "{ELSEWHERE}"
""",
        "utf-8",
    )
    refused = command("build", recipe, "--out", tmp_path / "b")
    assert (refused.returncode, HOST in refused.stderr) == (2, True), refused.stderr
    assert far.stats()["requests"] == 0
    done = command("build", recipe, "--out", tmp_path / "b", "--send-restricted-data")
    assert done.returncode == 0, done.stderr
    assert far.stats()["requests"] == 2


def test_a_report_on_scans_is_asked_about(far: Chat, tmp_path: Path):
    (tmp_path / "scans").mkdir()
    (tmp_path / "scans" / "p1.png").write_bytes(picture(9200))
    (tmp_path / "scans" / "p1.txt").write_text("天地玄黃\n", "utf-8")
    done = command("ocr-report", tmp_path / "scans", "-o", tmp_path / "report.html", "--model",
                   f"http-ocr:http://{HOST}/ocr")  # fmt: skip
    assert done.returncode == 2
    assert f"go to {HOST}" in done.stderr
    assert "--send-restricted-data" in done.stderr
    assert not (tmp_path / "report.html").exists()


def plan(data: Path, *more: object) -> str:
    done = command("run", "--plan", data, "--model", "openai:m", *more)
    assert done.returncode == 0, done.stderr
    return " ".join((done.stdout + done.stderr).split())


def test_a_plan_states_what_will_be_asked(far: Chat, tmp_path: Path):
    data, line = dataset(tmp_path / "d", "unknown"), "Before the first request you will be asked"
    assert line in plan(data, "--base-url", ELSEWHERE)
    assert f"the data of 2 items of old-books go to {HOST}" in plan(data, "--base-url", ELSEWHERE)
    assert line not in plan(data, "--base-url", "http://127.0.0.1:9/v1")
    assert line not in plan(dataset(tmp_path / "free", "CC-BY-4.0"), "--base-url", ELSEWHERE)


def test_without_a_terminal_the_command_ends_with_one_line(far: Chat, tmp_path: Path):
    data = dataset(tmp_path / "d", "unknown")
    asks = ("run", data, "--model", "openai:m", "--base-url", ELSEWHERE, "--out", tmp_path / "r")
    refused = command(*asks)
    assert refused.returncode == 2
    assert len(refused.stderr.splitlines()) == 1
    assert refused.stderr.startswith("keju: the data of 2 items of old-books")
    assert not (tmp_path / "r").exists()
    assert command(*asks, "--send-restricted-data").returncode == 0
    assert far.stats()["requests"] == 2


def on_terminal(arguments: Sequence[object], typed: bytes) -> tuple[int, str]:
    """Run a command on a terminal, type an answer, and return its status and output."""
    ours, theirs = pty.openpty()
    process = started(
        [sys.executable, "-m", "keju", *arguments], stdin=theirs, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    os.write(ours, typed)
    said = b""
    while True:
        try:
            part = os.read(ours, 4096)
        except OSError:  # the terminal is closed at the end of the process
            break
        if not part:
            break
        said += part
    os.close(ours)
    return process.wait(timeout=60), said.decode("utf-8", "replace")


class Terminal(io.StringIO):
    """What a person types, or what a person is shown."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("typed", "given"),
    [
        *((text, True) for text in ("y", " YES ", "是")),
        *((text, False) for text in ("", "no", "yep", "y y", "1", "是吗", "\x04")),
    ],
)
def test_only_a_clear_yes_is_a_permission(monkeypatch: pytest.MonkeyPatch, typed: str, given: bool):
    monkeypatch.setattr(sys, "stdin", Terminal(f"{typed}\n"))
    monkeypatch.setattr(sys, "stderr", Terminal())
    ask_person = permission(given=False).ask
    assert ask_person is not None
    assert ask_person("May they be sent?") == given
    assert "May they be sent?" in sys.stderr.getvalue()


@pytest.mark.slow
def test_a_yes_on_the_terminal_sends(far: Chat, tmp_path: Path):
    data = dataset(tmp_path / "d", "unknown")
    asks = ["run", data, "--model", "openai:m", "--base-url", ELSEWHERE, "--out", tmp_path / "r"]
    status, said = on_terminal(asks, b"y\n")
    assert status == 0, said
    assert "Send them?" in said
    assert far.stats()["requests"] == 2
    status, again = on_terminal(asks, b"\n")
    assert (status, "Send them?" in again) == (0, False)


@pytest.mark.slow
@pytest.mark.parametrize("typed", ["no", "\x04"])
def test_anything_else_on_the_terminal_does_not(far: Chat, tmp_path: Path, typed: str):
    data = dataset(tmp_path / "d", "unknown")
    asks = ["run", data, "--model", "openai:m", "--base-url", ELSEWHERE, "--out", tmp_path / "r"]
    status, said = on_terminal(asks, f"{typed}\n".encode())
    assert status == 2, said
    assert "Send them?" in said
    assert "nothing was sent" in said
    assert far.stats()["requests"] == 0
    assert not (tmp_path / "r").exists()


def test_no_question_for_the_bundled_set_on_a_terminal(far: Chat, tmp_path: Path):
    asks = ["run", mini.path(), "--model", "openai:m", "--base-url", ELSEWHERE, "--limit", "1",
            "--task", "T1", "--out", tmp_path / "r"]  # fmt: skip
    status, said = on_terminal(asks, b"")
    assert (status, "Send them?" in said) == (0, False), said
