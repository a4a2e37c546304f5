"""What a user is advised about failures that would come again, and where a model is stopped."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from keju.errors import UsageError
from keju.items import Failure
from keju.models import Decoding, ModelOptions
from keju.running import Policy, Selection, run
from keju.running.run_summary import failure_hint
from keju.runs import RunFolder
from tests.support.commanding import keju
from tests.support.making import make_dataset
from tests.support.serving import Chat, run_command

WORDS = [
    ("auth", "HTTP 401: Incorrect API key provided", "--api-key-env"),
    ("auth", "HTTP 429: You exceeded your current quota, please check your billing", "credit"),
    ("bad-request", "HTTP 404: The model `gpt-9` does not exist or you do not have access to it.",
     "/models"),
    ("bad-request", "HTTP 404: Not Found", "/v1"),
    ("bad-request", "HTTP 405: Method Not Allowed", "/v1"),
    ("bad-response", "the reply is an HTML page: '<html>'", "/v1"),
    ("bad-request", "HTTP 400: This model's maximum context length is 8192 tokens", "--max-tokens"),
    ("bad-request", "HTTP 413: Request Entity Too Large", "--max-pixels"),
    ("bad-request", "HTTP 400: image exceeds 5 MB maximum: 6000000 bytes > 5242880 bytes",
     "--max-bytes"),
    ("bad-request", "HTTP 400: qwen3 is not a multimodal model", "--setting"),
    ("bad-request", "HTTP 400: This model does not support image inputs", "--setting"),
    ("bad-request", "HTTP 400: At most 0 image(s) may be provided in one prompt.", "--setting"),
    ("bad-request", "HTTP 400: parameter.enable_thinking must be set to false for non-streaming "
     "calls", "--extra-body"),
    ("bad-request", "HTTP 400: Unsupported value: 'reasoning_effort' does not support 'minimal'",
     "--reasoning-effort"),
    ("bad-request", "HTTP 400: Unsupported value: 'messages[0].role' does not support 'system'",
     "--system-prompt"),
    ("bad-request", "HTTP 400: Range of top_p should be (0.0, 1.0]", "parameter"),
    ("bad-request", "HTTP 400: told to", "again"),
    ("bad-request", "HTTP 400: No connected db.", "--api-key-env"),
    ("bad-request", "HTTP 400: {'error': 'Invalid API key provided'}", "--api-key-env"),
    ("bad-request", "HTTP 400: Invalid model name passed in model=nonesuch. Call /v1/models to "
     "view available models", "/models"),
    ("bad-request", "HTTP 400: User location is not supported for the API use.", "region"),
    ("auth", "HTTP 403: Country, region, or territory not supported", "region"),
    ("bad-request", "HTTP 400: The response was filtered due to the prompt triggering Azure "
     "OpenAI's content management policy", "content filter"),
    ("bad-request", "HTTP 400: Input data may contain inappropriate content.", "content filter"),
    ("bad-request", "HTTP 400: At most 1 image(s) may be provided in one prompt.",
     "--limit-mm-per-prompt"),
    ("bad-request", "HTTP 400: Too many images in request: 12 > 10", "--task"),
    ("bad-request", "HTTP 413: Payload Too Large", "--max-bytes"),
    ("missing-answer", "the file has no answer for this item", "--out"),
]  # fmt: skip


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_dataset(tmp_path_factory.mktemp("failures") / "d", pages=38, first=8800)


@pytest.mark.parametrize(("kind", "said", "names"), WORDS)
def test_a_hint_names_what_can_be_changed(kind: str, said: str, names: str):
    assert names in failure_hint(Failure(kind=kind, message=said)).whole


@pytest.mark.parametrize("kind", ["rate", "server", "timeout", "connection", "refused"])
def test_failures_that_may_pass_have_no_hint(kind: str):
    assert failure_hint(Failure(kind=kind, message="HTTP 500: try later")).whole == ""


def refusing(words: str) -> dict[str, Any]:
    return {"has": ["messages"], "status": 400, "body": {"error": {"message": words}}}


def test_a_model_that_takes_no_image_is_stopped_after_five_requests(
    chat: Chat, dataset: Path, tmp_path: Path
):
    chat.plan(refusals=[refusing("This model does not support image inputs")])
    options = ModelOptions(base_url=chat.url, decoding=Decoding(temperature=0.8))
    summary = run(dataset, ["openai:served"], tmp_path / "r", options=options)
    assert chat.stats()["requests"] == 5
    model = summary.models[0]
    assert (model.failures, model.left) == ({"bad-request": 5}, 33)
    assert "does not support image inputs" in model.halted
    assert "--setting" in summary.advice
    assert "--retry-failed" not in summary.advice


def test_the_command_reports_the_words_of_the_server_and_a_hint(
    chat: Chat, dataset: Path, tmp_path: Path
):
    chat.plan(refusals=[refusing("The model `served` does not exist.")])
    said = keju(*run_command(dataset, tmp_path / "r", chat)[3:])
    assert said.returncode == 1
    assert chat.stats()["requests"] == 5
    assert "was stopped: 5 requests failed and none succeeded" in said.stdout
    assert "The model `served` does not exist." in said.stdout
    assert "BASE_URL/models" in said.stdout
    assert "--retry-failed" not in said.stdout


def test_a_key_that_was_wrong_is_corrected_in_the_same_run(
    chat: Chat, dataset: Path, tmp_path: Path
):
    chat.plan(modes=["401"], times=-1)
    options = ModelOptions(base_url=chat.url)
    stopped = run(dataset, ["openai:served"], tmp_path / "r", options=options)
    model = stopped.models[0]
    assert (stopped.failures, model.left) == (5, 33)
    assert model.halted.endswith("HTTP 401: told to answer 401")
    assert "--retry-failed" in stopped.advice
    chat.plan()
    policy = Policy(retry_failed=True)
    done = run(dataset, ["openai:served"], tmp_path / "r", options=options, policy=policy)
    assert done.complete
    assert chat.stats()["requests"] == 38


def test_one_item_that_fails_does_not_stop_the_retry_of_a_run_with_answers(
    chat: Chat, dataset: Path, tmp_path: Path
):
    chat.plan(modes=["bad-image"], share=0.3, times=-1)
    options = ModelOptions(base_url=chat.url)
    policy = Policy(concurrency=1)
    first = run(dataset, ["openai:served"], tmp_path / "r", options=options, policy=policy)
    failed = first.failures
    assert failed > 5
    assert first.left == 0
    policy = Policy(concurrency=1, retry_failed=True)
    again = run(dataset, ["openai:served"], tmp_path / "r", options=options, policy=policy)
    assert (again.models[0].asked, again.left) == (failed, 0)


def test_failures_in_other_words_stop_a_model_too(chat: Chat, dataset: Path, tmp_path: Path):
    chat.plan(modes=["echo-400"], times=-1)
    options = ModelOptions(base_url=chat.url)
    summary = run(dataset, ["openai:served"], tmp_path / "r", options=options)
    assert chat.stats()["requests"] == 25
    assert summary.left == 13
    assert "25 requests failed and none succeeded" in summary.models[0].halted


def test_an_unknown_model_is_reported_with_the_models_of_the_server(
    chat: Chat, dataset: Path, tmp_path: Path
):
    chat.plan(
        refusals=[refusing("Invalid model name passed in model=served")],
        models=["qwen-vl", "glm-4v"],
    )
    options = ModelOptions(base_url=chat.url)
    summary = run(dataset, ["openai:served"], tmp_path / "r", options=options)
    assert chat.stats()["requests"] == 5
    assert "The server lists 2 models: qwen-vl, glm-4v" in summary.advice


def test_an_address_without_v1_is_corrected_in_the_same_run(
    chat: Chat, dataset: Path, tmp_path: Path
):
    chat.plan(models=["served"])
    wrong = ModelOptions(base_url=chat.url.removesuffix("/v1"))
    stopped = run(dataset, ["openai:served"], tmp_path / "r", options=wrong)
    assert stopped.failures == 5
    assert "Does the address end in /v1?" in stopped.advice
    assert f"The server at {chat.url} lists 1 model: served" in stopped.advice
    assert "same --out" in stopped.advice
    assert chat.stats()["requests"] == 0

    done = run(dataset, ["openai:served"], tmp_path / "r", options=ModelOptions(base_url=chat.url))
    assert done.complete
    assert chat.stats()["requests"] == 38
    stored = list(RunFolder.open(tmp_path / "r").responses())
    assert [each.status for each in stored] == ["answered"] * 38
    identity = RunFolder.open(tmp_path / "r").manifest().models["openai:served"]
    assert identity["endpoint"] == chat.url


def test_another_address_is_refused_once_a_model_has_answered(
    chat: Chat, dataset: Path, tmp_path: Path
):
    chat.plan()
    options = ModelOptions(base_url=chat.url)
    selection = Selection(limit=1)
    run(dataset, ["openai:served"], tmp_path / "r", options=options, selection=selection)
    other = ModelOptions(base_url=chat.url.removesuffix("/v1"))
    before = (tmp_path / "r" / "run.json").read_bytes()
    with pytest.raises(
        UsageError,
        match=r"stored responses of openai:served are outdated.*endpoint of openai:served \(",
    ):
        run(dataset, ["openai:served"], tmp_path / "r", options=other)
    assert (tmp_path / "r" / "run.json").read_bytes() == before
