"""Requests that exist already: sent once, and replaced when they change."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from keju.items import Request
from keju.models import Answer, AskError, Model
from keju.running import Policy, ResponseStore, RetryPolicy, RunSummary
from keju.running.session import send_requests
from keju.running.store import StoredResponses
from keju.runs import RunFolder

ONCE = RetryPolicy(attempts=1)


class Repeating(Model):
    """Answers with the prompt, and counts what is sent."""

    name = "openai:repeating"
    identity = {"kind": "openai", "model": "repeating"}  # noqa: RUF012
    concurrency = 1

    def __init__(self, *, broken: str = "") -> None:
        self.broken = broken
        self.sent: list[str] = []

    async def answer(self, request: Request, images: Sequence[bytes]) -> Answer:
        self.sent.append(request.item)
        if request.item == self.broken:
            raise AskError("bad-request", "no")
        return Answer(text=request.prompt)


def request(item: str, prompt: str = "天") -> Request:
    return Request(item=item, benchmark="MCS-Bench", task="T2", form="text", prompt=prompt)


def send(
    out: Path, model: Repeating, requests: Sequence[Request], *, retry_failed: bool = False
) -> RunSummary:
    policy = Policy(retry=ONCE, retry_failed=retry_failed)
    with ResponseStore(RunFolder(out)) as store:
        return send_requests(store, [model], lambda _: requests, policy=policy)


def test_only_missing_and_changed_requests_are_sent(tmp_path: Path):
    requests = [request(name) for name in "abcd"]
    first, second = Repeating(), Repeating()
    assert send(tmp_path / "r", first, requests).complete
    assert first.sent == ["a", "b", "c", "d"]
    changed = [requests[0], replace(requests[1], prompt="地"), *requests[2:], request("e")]
    assert send(tmp_path / "r", second, changed).complete
    assert second.sent == ["b", "e"]
    stored = StoredResponses(RunFolder(tmp_path / "r").responses(second.name))
    replies = stored.find_all(changed, second.identity)
    assert [reply.text if reply else "" for reply in replies] == [
        "天", "地", "天", "天", "天",
    ]  # fmt: skip


def test_a_failure_is_sent_again_only_on_request_and_stays_counted_until_then(tmp_path: Path):
    requests = [request(name) for name in "abc"]
    model = Repeating(broken="b")
    assert send(tmp_path / "r", model, requests).models[0].statuses == {"answered": 2, "failed": 1}
    again = Repeating()
    assert send(tmp_path / "r", again, requests).models[0].statuses == {"answered": 2, "failed": 1}
    assert again.sent == []
    assert send(tmp_path / "r", again, requests, retry_failed=True).complete
    assert again.sent == ["b"]
