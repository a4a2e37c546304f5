"""Models through Inspect's providers, against a real server in a process of its own."""

from __future__ import annotations

import asyncio
import hashlib
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from keju.errors import PrerequisiteError, UsageError
from keju.models import Answer, AskError, Fit, ModelOptions, open_model
from keju.running import run
from keju.runs import RunFolder
from tests.models.conftest import ask_once, ref, request
from tests.support.api_keys import set_api_keys
from tests.support.making import make_dataset, picture
from tests.support.needing import inspect_missing
from tests.support.policies import policy_of
from tests.support.serving import Chat

pytestmark = inspect_missing
KEY = "sk-inspect-0123456789abcdef"
OWN, OPENAI = "inspect:openai-api/local/served", "inspect:openai/gpt-4o"
KINDS = {
    "400": "bad-request", "401": "auth", "403": "auth", "404": "bad-request", "408": "timeout",
    "413": "bad-request", "422": "bad-request", "429": "rate", "500": "server", "503": "server",
    "504": "timeout", "529": "server", "no-credit": "auth", "policy": "refused",
    "bad-image": "unreadable-image", "html": "bad-response", "html-502": "server",
    "truncated-json": "bad-response", "wrong-json": "bad-response",
    "empty-choices": "bad-response", "error-object": "bad-response", "drop-before": "connection",
    "drop-body": "connection", "refusal": "refused", "echo-key-401": "auth",
}  # fmt: skip
HELPS = {"408", "429", "500", "503", "504", "529", "html", "html-502", "truncated-json",
         "wrong-json", "empty-choices", "error-object", "drop-before", "drop-body"}  # fmt: skip


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    set_api_keys(monkeypatch, KEY)


def ask(url: str, *asked: Any, spec: str = OWN, **options: object) -> Answer:
    return ask_once(spec, *asked, base_url=url, **options)


def failure(url: str, **options: object) -> AskError:
    with pytest.raises(AskError) as caught:
        ask(url, **options)
    return caught.value


@pytest.mark.parametrize(("mode", "kind"), KINDS.items())
def test_every_failure_has_its_kind_and_is_sent_once(chat: Chat, mode: str, kind: str):
    chat.plan(modes=[mode], times=-1)
    error = failure(chat.url)
    assert error.kind == kind
    assert error.retryable == (mode in HELPS)
    assert error.overloaded == (mode in {"429", "503", "529"})
    assert chat.stats()["requests"] == 1
    assert str(error)
    assert "\n" not in str(error)
    assert KEY not in str(error)


@pytest.mark.parametrize("key", [KEY, "k/3+y-89"])
@pytest.mark.parametrize("spec", [OWN, OPENAI])
def test_a_key_that_is_escaped_short_or_cut_is_hidden_everywhere(
    chat: Chat, monkeypatch: pytest.MonkeyPatch, key: str, spec: str
):
    set_api_keys(monkeypatch, key)
    chat.plan(modes=["echo-key-escaped"], times=-1)
    answer = ask(chat.url, spec=spec)
    assert chat.stats()["keys"] == [f"Bearer {key}"]
    assert "***" in answer.text
    assert key not in repr(answer)
    # The key is where the message is cut.
    for mode in ("echo-key-401", "echo-key-late"):
        chat.plan(modes=[mode], times=-1)
        said = str(failure(chat.url, spec=spec))
        assert said
        assert not [n for n in range(4, len(key)) if key[:n] in said]


def test_the_variable_that_is_named_is_hidden_however_it_is_called(
    chat: Chat, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("CREDENTIAL", "abcd-1234")
    chat.plan(modes=["echo-key"], times=-1)
    assert "abcd-1234" not in repr(ask(chat.url, api_key_env="CREDENTIAL"))
    assert chat.stats()["keys"] == ["Bearer abcd-1234"]


def test_short_settings_of_the_environment_are_not_cut_out_of_answers(
    chat: Chat, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("TOKEN_MODE", "disabled")
    chat.plan(says="The lamp is disabled.")
    assert ask(chat.url).text == "The lamp is disabled."


def test_a_system_prompt_with_the_provider_s_short_key_is_refused(
    chat: Chat, monkeypatch: pytest.MonkeyPatch
):
    set_api_keys(monkeypatch, "k/3+y-89")
    with pytest.raises(UsageError, match="--system-prompt contains a key"):
        ask(chat.url, system_prompt="use k/3+y-89")


def test_retry_after_is_read_and_a_hang_is_a_timeout(chat: Chat):
    chat.plan(modes=["429-after"], times=-1, after="7")
    assert failure(chat.url).retry_after == 7.0
    chat.plan(modes=["hang"], times=-1, hang=5)
    assert failure(chat.url, timeout=0.5).kind == "timeout"


@pytest.mark.parametrize(
    ("mode", "status", "text", "thinking"),
    [
        ("empty-content", "empty", "", ""),
        ("filter", "filtered", "", ""),
        ("length", "truncated", "天地玄", ""),
        ("reasoning", "answered", "B", "it is the second"),
        ("think", "answered", "B", "hm"),
    ],
)
def test_how_an_answer_ended(chat: Chat, mode: str, status: str, text: str, thinking: str):
    chat.plan(modes=[mode], times=-1)
    answer = ask(chat.url)
    assert (answer.status, answer.text, answer.thinking) == (status, text, thinking)


@pytest.mark.parametrize(
    ("stop", "kind"), [("model_length", "bad-request"), ("content_filter", "refused")]
)
def test_an_error_that_inspect_passes_off_as_an_answer_is_none(stop: str, kind: str):
    from inspect_ai.model import ModelOutput, ModelUsage

    from keju_inspect.replies import answer_of

    output = ModelOutput.from_content("m", "This model's maximum context is 8192", stop)
    with pytest.raises(AskError, match="maximum context") as caught:
        answer_of(output)
    assert (caught.value.kind, caught.value.retryable) == (kind, False)
    # What a model said before it was cut or filtered comes with what it cost.
    output.usage = ModelUsage(input_tokens=5, output_tokens=3, input_tokens_cache_read=7)
    answer = answer_of(output)
    assert answer.status in {"truncated", "filtered"}
    assert answer.usage.input_tokens == 12


def test_a_run_is_kejus_own_and_no_key_is_written(
    chat: Chat, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
):
    """Retries and the store are keju's; neither a log nor a cache of Inspect's is left."""
    for name in ("HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "INSPECT_LOG_DIR"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    dataset = make_dataset(tmp_path / "d", pages=24, first=9100)
    storm = ["500", "429", "429-after", "html", "truncated-json", "wrong-json", "empty-choices",
             "error-object", "drop-before", "drop-body", "echo-key-401", "echo-key"]  # fmt: skip
    chat.plan(modes=storm, times=1, after="0.1")
    options = ModelOptions(base_url=chat.url)
    policy = policy_of(first_wait=0.01, concurrency=4, dead_after=100)
    summary = run(dataset, [OWN], tmp_path / "r", options=options, policy=policy)
    seen = chat.stats()
    assert seen["requests"] == summary.models[0].attempts > 24
    assert len(seen["modes"]) > 8
    assert summary.models[0].failures.keys() == {"auth"}
    again = run(
        dataset, [OWN], tmp_path / "r", options=options,
        policy=policy_of(first_wait=0.01, retry_failed=True),
    )  # fmt: skip
    assert again.complete
    manifest = RunFolder.open(tmp_path / "r").manifest()
    assert manifest.models[OWN]["endpoint"] == chat.url
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert not any(KEY.encode() in path.read_bytes() for path in files)
    assert {path.relative_to(tmp_path).parts[0] for path in files} == {"d", "r"}
    assert KEY not in "".join(capfd.readouterr())


def test_a_provider_of_inspect_that_asks_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    # It counts tokens with tables that tiktoken would fetch; here each character is one.
    monkeypatch.setattr("inspect_ai.model._model.count_text_tokens", len)
    dataset = make_dataset(tmp_path / "d", pages=3)
    summary = run(dataset, ["inspect:mockllm/model"], tmp_path / "r")
    assert summary.complete
    folder = RunFolder.open(tmp_path / "r")
    assert {response.text for response in folder.responses()} == {
        "Default output from mockllm/model"
    }
    assert "endpoint" not in folder.manifest().models["inspect:mockllm/model"]


@pytest.mark.parametrize(
    ("provider", "package"),
    [("anthropic", "anthropic"), ("google", "google-genai"), ("mistral", "mistralai"),
     ("groq", "groq"), ("grok", "xai_sdk"), ("azureai", "azure-ai-inference")],
)  # fmt: skip
def test_an_sdk_that_is_not_installed_is_named(provider: str, package: str):
    with pytest.raises(PrerequisiteError, match=f"pip install {package}"):
        open_model(f"inspect:{provider}/some-model", ModelOptions())


def test_a_plan_needs_neither_sdk_nor_key():
    model = open_model("inspect:anthropic/some-model", ModelOptions(asking=False))
    assert model.identity["endpoint"] == "anthropic"
    with pytest.raises(AskError):
        asyncio.run(model.answer(request(), ()))


@pytest.mark.parametrize(
    ("spec", "options", "words"),
    [
        ("inspect:gpt-4o", {}, "needs a provider and a model"),
        ("inspect:unknown/model", {}, "unknown"),
        ("inspect:openai-api/other/model", {}, "OTHER_API_KEY"),
        (OPENAI, {"api_key_env": "NO_SUCH_KEY"}, "Set the environment variable NO_SUCH_KEY"),
        (OPENAI, {"base_url": "http://user:pw@host/v1"}, "without user, password"),
    ],
)
def test_wrong_use_is_said_in_a_line(spec: str, options: dict[str, str], words: str):
    with pytest.raises(UsageError, match=words) as caught:
        open_model(spec, ModelOptions(**options))
    assert "[bold]" not in str(caught.value)


def test_a_smaller_picture_stands_in_the_identity(chat: Chat):
    chat.plan(images=True)
    data = picture(5)
    ask(chat.url, request(ref(data)), (data,), fit=Fit(max_pixels=100))
    assert hashlib.sha256(data).hexdigest() not in chat.stats()["images"][0][0]
    model = open_model(OPENAI, ModelOptions(fit=Fit(max_pixels=100), asking=False))
    assert model.identity["max_pixels"] == "100"


class GrpcError(Exception):
    def code(self) -> object:
        return type("Code", (), {"name": "RESOURCE_EXHAUSTED"})


class CarryingError(Exception):
    """Carries what other SDKs' exceptions carry."""

    def __init__(self, **carried: object) -> None:
        super().__init__("?")
        vars(self).update(carried)


BOTOCORE = {
    "Error": {"Code": "ThrottlingException", "Message": "slow down"},
    "ResponseMetadata": {"HTTPStatusCode": 429, "HTTPHeaders": {"retry-after": "3"}},
}
GOOGLE = {"error": {"code": 503, "message": "overloaded"}}


@pytest.mark.parametrize(
    ("error", "kind", "words"),
    [
        (GrpcError("out of quota"), "rate", "out of quota"),
        (CarryingError(response=BOTOCORE), "rate", "slow down"),
        (CarryingError(code=503, details=GOOGLE), "server", "overloaded"),
        (
            CarryingError(status_code=401, body='{"message": "Unauthorized"}'),
            "auth",
            "Unauthorized",
        ),
        (RuntimeError("CUDA is out"), "engine", "CUDA is out"),
    ],
)
def test_the_exceptions_of_other_sdks(error: Exception, kind: str, words: str):
    from keju_inspect.errors import error_of_provider

    found = error_of_provider(error)
    assert (found.kind, words in str(found)) == (kind, True)


def test_keju_itself_starts_without_inspect():
    code = "import keju.cli, sys; print([m for m in sys.modules if 'inspect_ai' in m])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
