"""Batches that Inspect submits and keju waits for: what they cost, and what they must not lose."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from keju.errors import UsageError
from keju.models import ModelOptions, inspect_batches
from keju.running import Policy, RunSummary, run
from keju.runs import RunFolder
from tests.running.conftest import BatchChat
from tests.support.making import make_dataset
from tests.support.needing import inspect_missing
from tests.support.policies import policy_of
from tests.support.serving import Chat

pytestmark = inspect_missing
MODEL = "inspect:openai/gpt-4o"
KEY = "sk-held-0123456789abcdef"
ITEMS = 13


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setattr(inspect_batches, "TICK", 0.1)
    monkeypatch.setattr(inspect_batches, "SIZE", 4)


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_dataset(tmp_path_factory.mktemp("held") / "d", pages=ITEMS, first=7100)


@contextmanager
def working(server: BatchChat, **how: Any) -> Iterator[None]:
    """The server works on its batches all the while."""
    done = threading.Event()

    def work() -> None:
        while not done.wait(0.2):
            server.post("work", how)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def go(dataset: Path, out: Path, server: Chat, **policy: object) -> RunSummary:
    return run(
        dataset,
        [MODEL],
        out,
        options=ModelOptions(base_url=server.url),
        policy=policy_of(**{"batch": True, "first_wait": 0.01, **policy}),
    )


def stored(out: Path) -> set[tuple[object, ...]]:
    responses = RunFolder.open(out).responses()
    return {(r.item, r.key, r.text, r.status, r.usage.output_tokens) for r in responses}


def test_answers_from_batches_are_those_asked_directly(
    server: BatchChat, dataset: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
):
    assert go(dataset, tmp_path / "direct", server, batch=False).complete
    server.plan()
    with working(server):
        summary = go(dataset, tmp_path / "r", server)
    assert summary.complete
    assert stored(tmp_path / "r") == stored(tmp_path / "direct")
    # One is asked directly, so that what is wrong is seen at once; each is paid for once.
    seen = server.seen()
    assert sum(seen["uploads"]) == ITEMS - 1
    assert max(seen["uploads"]) <= 4
    assert server.stats()["requests"] == ITEMS
    assert len({tuple(images) for images in server.stats()["images"]}) == ITEMS - 1
    assert "".join(capfd.readouterr()) == ""


def test_a_line_that_failed_is_the_failure_of_its_request_alone(
    server: BatchChat, dataset: Path, tmp_path: Path
):
    with working(server):
        server.plan(modes=["400"], share=0.4, times=-1)
        summary = go(dataset, tmp_path / "r", server)
        failed = summary.failures
        assert 0 < failed < ITEMS - 1
        assert summary.models[0].failures == {"bad-request": failed}
        assert summary.models[0].statuses["answered"] == ITEMS - failed
        assert server.stats()["requests"] == ITEMS
        server.plan()
        assert go(dataset, tmp_path / "r", server, retry_failed=True).complete
        assert server.stats()["requests"] == failed


def test_what_expired_fails_and_what_was_answered_is_kept(
    server: BatchChat, dataset: Path, tmp_path: Path
):
    with working(server, status="expired", share=0.5):
        summary = go(dataset, tmp_path / "r", server)
    assert summary.models[0].failures == {"server": summary.failures}
    assert summary.models[0].statuses["answered"] == ITEMS - summary.failures
    assert server.stats()["requests"] == ITEMS - summary.failures


def test_a_refused_submission_fails_its_own_batch_and_the_rest_goes_on(
    server: BatchChat, dataset: Path, tmp_path: Path
):
    with working(server):
        server.plan(refuse=403)
        summary = go(dataset, tmp_path / "r", server, concurrency=4)
        assert summary.models[0].failures == {"auth": 4}
        assert summary.models[0].statuses["answered"] == ITEMS - 4
        assert go(dataset, tmp_path / "r", server, retry_failed=True).complete


def test_a_wrong_key_is_seen_before_anything_is_submitted(
    server: BatchChat, dataset: Path, tmp_path: Path
):
    server.plan(modes=["401"], times=-1)
    summary = go(dataset, tmp_path / "r", server)
    assert (summary.failures, summary.left) == (1, ITEMS - 1)
    assert server.seen()["uploads"] == []


def test_a_provider_without_batches_is_refused(server: BatchChat, dataset: Path, tmp_path: Path):
    with pytest.raises(UsageError, match="Inspect supports batches of anthropic, google, grok"):
        run(dataset, ["inspect:mockllm/model"], tmp_path / "r", policy=Policy(batch=True))


def test_a_server_without_batch_endpoints_is_named_and_not_waited_for(
    chat: Chat, dataset: Path, tmp_path: Path
):
    chat.plan()
    with pytest.raises(UsageError, match=r"no batch endpoints \(GET /batches: HTTP 404\)"):
        go(dataset, tmp_path / "r", chat)
    assert chat.stats()["requests"] == 1
    assert len(list(RunFolder.open(tmp_path / "r").responses())) == 1
