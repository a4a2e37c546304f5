"""Batches: submitted once, collected when they are ready, never paid for twice."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from keju.errors import DataError, UsageError
from keju.models import Decoding, ModelOptions
from keju.running import RunSummary, Selection, run
from keju.running import batching as module
from keju.running.prices import Prices
from keju.runs import RunFolder
from keju.texts import _
from tests.running.conftest import BatchChat
from tests.support.commanding import keju
from tests.support.making import make_dataset
from tests.support.policies import policy_of
from tests.support.serving import run_command

MODEL = "openai:served"
KEY = "sk-batch-0123456789abcdef"
ITEMS = 12


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_dataset(tmp_path_factory.mktemp("batch") / "d", pages=ITEMS, first=7000)


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "run"


def go(
    dataset: Path, out: Path, server: BatchChat, *, batch: bool = True, **policy: object
) -> RunSummary:
    return run(
        dataset,
        [MODEL],
        out,
        options=ModelOptions(base_url=server.url),
        policy=policy_of(batch=batch, first_wait=0.01, **policy),
    )


def texts(out: Path) -> dict[str, str]:
    return {r.item: r.text for r in RunFolder.open(out).responses()}


def test_what_is_submitted_is_collected_when_it_is_ready(
    server: BatchChat, dataset: Path, out: Path
):
    first = go(dataset, out, server)
    # One is asked directly, so that what is wrong is seen at once.
    assert (first.waiting, first.left, first.models[0].asked) == (ITEMS - 1, ITEMS - 1, 1)
    assert first.advice == _("Run the same command again later to collect the finished responses")
    early = go(dataset, out, server)
    assert (early.waiting, early.models[0].asked) == (ITEMS - 1, 0)
    assert server.seen() == {"uploads": [ITEMS - 1], "batches": 1}
    server.post("work", {})
    done = go(dataset, out, server)
    assert done.complete
    assert done.waiting == 0
    assert texts(out) == {f"i{n:04}": f"answer to i{n:04}" for n in range(ITEMS)}
    assert server.stats()["requests"] == ITEMS
    assert not list(out.glob("batches/*/*"))
    assert go(dataset, out, server).complete
    assert server.seen()["batches"] == 1


def test_answers_in_batches_are_stored_as_those_asked_directly(
    server: BatchChat, dataset: Path, tmp_path: Path
):
    go(dataset, tmp_path / "direct", server, batch=False)
    go(dataset, tmp_path / "batched", server)
    server.post("work", {})
    go(dataset, tmp_path / "batched", server)

    def stored(path: Path) -> set[tuple[object, ...]]:
        responses = RunFolder.open(path).responses()
        return {(r.item, r.key, r.text, r.status, r.usage.output_tokens) for r in responses}

    assert stored(tmp_path / "batched") == stored(tmp_path / "direct")
    shown = [tuple(images) for images in server.stats()["images"]]
    assert len(set(shown)) == ITEMS - 1
    (manifest, other) = (RunFolder.open(tmp_path / n).manifest() for n in ("batched", "direct"))
    assert manifest.models == other.models


def test_requests_that_failed_in_a_batch_are_failures(server: BatchChat, dataset: Path, out: Path):
    go(dataset, out, server)
    server.plan(modes=["400"], share=0.5, times=-1)
    server.post("work", {})
    summary = go(dataset, out, server)
    failed = summary.failures
    assert 0 < failed < ITEMS
    assert summary.models[0].failures == {"bad-request": failed}
    assert summary.left == 0
    server.plan()
    go(dataset, out, server, retry_failed=True)
    server.post("work", {})
    assert go(dataset, out, server, retry_failed=True).complete


def test_what_expired_is_submitted_again_and_the_rest_is_kept(
    server: BatchChat, dataset: Path, out: Path
):
    go(dataset, out, server)
    server.post("work", {"status": "expired", "share": 0.5})
    half = go(dataset, out, server)
    assert half.models[0].statuses["answered"] + half.waiting == ITEMS
    assert server.seen()["uploads"] == [ITEMS - 1, half.waiting]
    server.post("work", {})
    assert go(dataset, out, server).complete
    assert server.stats()["requests"] == ITEMS


@pytest.fixture
def fresh_server() -> Iterator[BatchChat]:
    """The tag is a hash of the requests, so that this server has seen no other test's."""
    server = BatchChat()
    yield server
    server.stop()


def test_a_batch_whose_name_never_arrived_is_found_by_its_tag(
    fresh_server: BatchChat, dataset: Path, out: Path
):
    fresh_server.plan(lose=True)
    with pytest.raises(UsageError, match="openai:served: the connection failed"):
        go(dataset, out, fresh_server)
    assert len(list(out.glob("batches/*/*.json"))) == 1
    again = go(dataset, out, fresh_server)
    assert again.waiting == ITEMS - 1
    assert fresh_server.seen()["batches"] == 1
    fresh_server.post("work", {})
    assert go(dataset, out, fresh_server).complete
    assert fresh_server.stats()["requests"] == ITEMS


def test_a_batch_that_never_got_there_is_submitted(server: BatchChat, dataset: Path, out: Path):
    go(dataset, out, server)
    (noted,) = out.glob("batches/*/*.json")
    lost = {**json.loads(noted.read_text()), "id": "", "tag": "0" * 32}
    noted.unlink()
    noted.with_name(f"{lost['tag']}.json").write_text(json.dumps(lost))
    # Nothing is under way now, so that again one request goes directly first.
    assert go(dataset, out, server).waiting == ITEMS - 2
    assert server.seen()["batches"] == 2


def test_a_batch_that_the_server_refused_is_named_and_not_submitted_over_and_over(
    server: BatchChat, dataset: Path, out: Path
):
    go(dataset, out, server)
    server.post("work", {"status": "failed"})
    with pytest.raises(DataError, match=r"rejected batch batch_\d+: .*not a model of ours"):
        go(dataset, out, server)
    assert server.seen()["batches"] == 1


def test_a_wrong_key_is_seen_before_anything_is_submitted(
    server: BatchChat, dataset: Path, out: Path
):
    server.plan(modes=["echo-key-401"], times=-1)
    summary = go(dataset, out, server)
    assert summary.models[0].failures == {"auth": 1}
    assert (summary.left, summary.waiting) == (ITEMS - 1, 0)
    assert server.seen() == {"uploads": [], "batches": 0}


def test_a_batch_records_what_its_requests_were_sent_with_in_a_later_session_too(
    server: BatchChat, dataset: Path, out: Path
):
    body = {"error": {"message": "Unrecognized request argument supplied: top_k"}}
    server.plan(images=True, refusals=[{"has": ["top_k"], "status": 400, "body": body}])
    options = ModelOptions(base_url=server.url, decoding=Decoding(temperature=0.5, top_k=50))
    policy = policy_of(batch=True, first_wait=0.01)
    run(dataset, [MODEL], out, options=options, policy=policy)
    server.post("work", {})
    done = run(dataset, [MODEL], out, options=options, policy=policy)
    assert done.complete
    # In all, top_k went out once: in the first request, which was refused.
    assert ["top_k" in json.loads(each) for each in server.stats()["bodies"][:2]] == [True, False]
    responses = list(RunFolder.open(out).responses())
    assert len(responses) == ITEMS
    assert {each.refused for each in responses} == {("top_k",)}
    assert all(each.decoding == {"temperature": "0.5"} for each in responses)
    assert RunFolder.open(out).manifest().models[MODEL]["top_k"] == "50"
    assert (done.models[0].refused, done.models[0].not_sent) == (["top_k"], ["top_k"])


def test_files_are_no_larger_than_the_server_takes(
    server: BatchChat, dataset: Path, out: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(module, "MOST_LINES", 4)
    assert go(dataset, out, server).waiting == ITEMS - 1
    assert server.seen()["uploads"] == [4, 4, 3]
    server.post("work", {})
    assert go(dataset, out, server).complete


def test_while_a_batch_is_under_way_nothing_is_asked_beside_it(
    server: BatchChat, dataset: Path, out: Path
):
    go(dataset, out, server)
    with pytest.raises(UsageError, match=r"cost money twice\. .*add --batch to"):
        go(dataset, out, server, batch=False)
    assert server.stats()["requests"] == 1


@pytest.mark.parametrize(
    ("models", "how", "policy", "words"),
    [
        (["baseline:copy"], {}, {}, "baseline:copy has no batch endpoints"),
        ([MODEL], {}, {"max_cost": 3, "prices": Prices(currency="EUR")}, "budgets and limits"),
        ([MODEL], {}, {"per_minute": 3}, "budgets and limits"),
        ([MODEL], {"settings": ("own-ocr",)}, {}, "images are transcribed first"),
    ],
)
def test_what_batches_cannot_do_is_refused(
    server: BatchChat, dataset: Path, out: Path, models: list[str], how: dict[str, object],
    policy: dict[str, object], words: str,
):  # fmt: skip
    with pytest.raises(UsageError, match=words):
        run(
            dataset, models, out, selection=Selection(**how),
            options=ModelOptions(base_url=server.url), policy=policy_of(batch=True, **policy),
        )  # fmt: skip
    assert not (out / "run.json").exists()


def test_the_command_comes_back_and_no_file_holds_the_key(
    server: BatchChat, dataset: Path, out: Path
):
    command = [*run_command(dataset, out, server)[3:], "--batch"]
    said = keju(*command)
    assert said.returncode == 1
    assert f"Submitted in batches and not returned yet: {ITEMS - 1} requests" in said.stdout
    for path in out.rglob("*"):
        assert not path.is_file() or KEY.encode() not in path.read_bytes()
    server.post("work", {})
    assert keju(*command).returncode == 0


@pytest.mark.parametrize(
    ("status", "words"), [(404, "Not Found"), (500, "files_settings is not set")]
)
def test_a_server_without_batch_endpoints_is_explained(
    server: BatchChat, dataset: Path, out: Path, status: int, words: str
):
    server.plan(refuse=status, words=words)
    with pytest.raises(UsageError, match="Run the same command without --batch"):
        go(dataset, out, server)
    assert len(list(RunFolder.open(out).responses())) == 1
    # The server has no batch, so that none is looked for later.
    assert not list(out.glob("batches/*/*.json"))


def test_lines_of_a_batch_are_read_as_direct_replies(server: BatchChat, dataset: Path, out: Path):
    go(dataset, out, server)
    raw = b'{"choices":[{"message":{"content":"\xe5\xad\xb8"},"finish_reason":"SAFETY"}]}'
    server.plan(
        modes=["raw"], times=-1, raw={"body": base64.b64encode(raw).decode(), "status": 201}
    )
    server.post("work", {})
    done = go(dataset, out, server)
    assert done.models[0].statuses == {"answered": 1, "filtered": ITEMS - 1}
    assert set(texts(out).values()) == {"answer to i0000", "學"}


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ('{"choices": [{"message": {"content": "a"}, "finish_reason": "foo"}]}', "bad-response"),
        ('{"choices": [{"message": {"content": "cut', "server"),
    ],
)  # fmt: skip
def test_a_line_without_an_answer_is_a_failure_of_its_item_alone(
    server: BatchChat, dataset: Path, out: Path, body: str, kind: str
):
    go(dataset, out, server)
    raw = {"body": base64.b64encode(body.encode()).decode()}
    server.plan(modes=["raw"], times=-1, share=0.5, raw=raw)
    server.post("work", {})
    done = go(dataset, out, server)
    failed = done.failures
    assert 0 < failed < ITEMS - 1
    assert done.models[0].failures == {kind: failed}
    assert (done.models[0].statuses["answered"], done.left) == (ITEMS - failed, 0)


@pytest.mark.parametrize(
    ("error", "kind", "words"),
    [
        ({"code": 429, "message": "busy"}, "rate", "HTTP 429: busy"),
        ({"code": "content_filter", "message": "no"}, "refused", "no"),
        ({"code": "server_busy", "message": "later"}, "server", "later"),
        ("out of luck", "server", "out of luck"),
    ],
)
def test_an_error_of_a_line_has_its_kind_and_words(
    server: BatchChat, dataset: Path, out: Path, error: object, kind: str, words: str
):
    go(dataset, out, server)
    server.plan(modes=["line-error"], times=-1, raw={"error": error})
    server.post("work", {})
    go(dataset, out, server)
    failed = [r.error for r in RunFolder.open(out).responses() if r.error]
    assert [(each.kind, each.message) for each in failed] == [(kind, words)] * (ITEMS - 1)
