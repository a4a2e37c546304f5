"""A storm of every fault at once, and a disk that is full: nothing is lost, nothing made up."""

from __future__ import annotations

import resource
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from keju.items import Response
from keju.models import ModelOptions
from keju.running import run
from keju.runs import RunFolder
from tests.support.commanding import keju
from tests.support.making import make_dataset
from tests.support.policies import policy_of
from tests.support.serving import Chat, run_command

MODEL = "openai:served"
PASSING = [
    "429", "429-after", "429-date", "500", "503", "529", "drop-before", "drop-body", "slow-body",
    "html", "html-502", "truncated-json", "wrong-json", "empty-choices", "error-object",
]  # fmt: skip
LASTING = {
    "400": ("failed", "bad-request"),
    "hang": ("failed", "timeout"),
    "bad-image": ("failed", "unreadable-image"),
    "policy": ("filtered", "refused"),
    "refusal": ("filtered", "refused"),
    "filter": ("filtered", ""),
    "empty-content": ("empty", ""),
    "length": ("truncated", ""),
}
QUICK = {"concurrency": 16, "first_wait": 0.01, "longest_wait": 0.1}


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_dataset(tmp_path_factory.mktemp("faults") / "d", pages=120, first=9000)


def outcome(response: Response) -> tuple[str, str]:
    return response.status, response.error.kind if response.error else ""


def test_in_a_storm_every_item_ends_answered_or_classified(
    chat: Chat, dataset: Path, tmp_path: Path
):
    chat.plan(modes=PASSING, share=0.3, times=2, after="0.05", slow=0.1)
    summary = run(
        dataset, [MODEL], tmp_path / "run", options=ModelOptions(base_url=chat.url),
        policy=policy_of(**QUICK),
    )  # fmt: skip
    seen = chat.stats()
    model = summary.models[0]
    assert model.statuses == {"answered": 120}
    assert len(set(seen["modes"]) - {"fine"}) >= 10
    assert model.attempts == seen["requests"] > 120
    assert model.waited > 0
    responses = list(RunFolder.open(tmp_path / "run").responses())
    assert {r.item: r.text for r in responses} == {r.item: f"answer to {r.item}" for r in responses}
    assert sum(r.attempts for r in responses) == seen["requests"]


def test_what_lasts_is_classified_and_no_words_of_a_failure_are_an_answer(
    chat: Chat, dataset: Path, tmp_path: Path
):
    chat.plan(modes=list(LASTING), share=0.3, times=-1, hang=3)
    policy = policy_of(**QUICK, timeout=0.5, attempts=2)
    summary = run(
        dataset, [MODEL], tmp_path / "run", options=ModelOptions(base_url=chat.url), policy=policy
    )
    seen = chat.stats()
    assert summary.left == 0
    responses = list(RunFolder.open(tmp_path / "run").responses())
    assert len(responses) == 120
    found = Counter(map(outcome, responses))
    assert set(found) == {("answered", ""), *LASTING.values()}
    assert found["answered", ""] == seen["modes"]["fine"]
    for response in responses:
        says = {"answered": f"answer to {response.item}", "truncated": "天地玄"}
        assert response.text == says.get(response.status, "")
        assert response.attempts == (2 if outcome(response)[1] == "timeout" else 1)


def test_a_full_disk_stops_the_run_cleanly_and_with_room_it_goes_on(
    chat: Chat, dataset: Path, tmp_path: Path
):
    chat.plan(says="書" * 700)
    out, most = tmp_path / "run", 60_000

    def little_room() -> None:
        # A limit on the size of a file: a write is cut at it as on a full disk, the next one fails.
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))

    command = run_command(dataset, out, chat)
    stopped = subprocess.run(
        command, capture_output=True, text=True, check=False, preexec_fn=little_room
    )
    assert stopped.returncode == 2
    last = stopped.stderr.splitlines()[-1]
    assert "could not be written" in last
    assert "File too large. Correct this, then run the same command again" in last
    assert "Traceback" not in stopped.stderr
    kept = {r.item for r in RunFolder.open(out).responses()}
    assert 0 < len(kept) < 120
    lost = chat.stats()["requests"] - len(kept)
    assert lost <= 5  # those in flight when it stopped
    assert keju(*command[3:]).returncode == 0
    responses = list(RunFolder.open(out).responses())
    assert len(responses) == len({r.item for r in responses}) == 120
    assert chat.stats()["requests"] == 120 + lost
