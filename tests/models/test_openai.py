"""The real client against a real server in a process of its own."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keju.errors import UsageError
from keju.items import Failure
from keju.models import Answer, AskError, Decoding, ModelOptions, open_model
from keju.models.openai import read_answer
from keju.running.run_summary import failure_hint
from tests.models.conftest import ask_once, ref, request
from tests.support.making import picture
from tests.support.serving import Chat

KEY = "sk-test-0123456789abcdefABCDEF"
HTTP_KINDS = {
    "400": "bad-request", "401": "auth", "403": "auth", "404": "bad-request", "408": "timeout",
    "409": "server", "413": "bad-request", "422": "bad-request", "429": "rate", "500": "server",
    "501": "server", "503": "server", "504": "timeout", "529": "server",
}  # fmt: skip
OTHER_KINDS = {
    "no-credit": "auth", "policy": "refused", "bad-image": "unreadable-image",
    "html": "bad-response", "html-502": "server", "truncated-json": "bad-response",
    "wrong-json": "bad-response", "empty-choices": "bad-response", "error-object": "server",
    "drop-before": "connection", "drop-body": "connection", "refusal": "refused",
    "echo-key-401": "auth",
}  # fmt: skip
HELPS = {"408", "409", "429", "500", "503", "504", "529", "html", "html-502", "truncated-json",
         "wrong-json", "empty-choices", "error-object", "drop-before", "drop-body"}  # fmt: skip


def ask(url: str, *asked: Any, **options: object) -> Answer:
    return ask_once("openai:some/model", *asked, base_url=url, **options)


def failure(url: str, **options: object) -> AskError:
    with pytest.raises(AskError) as caught:
        ask(url, **options)
    return caught.value


@pytest.fixture(autouse=True)
def _no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(("mode", "kind"), [*HTTP_KINDS.items(), *OTHER_KINDS.items()])
def test_every_wire_failure_has_its_kind(chat: Chat, mode: str, kind: str):
    chat.plan(modes=[mode], times=-1)
    error = failure(chat.url)
    assert error.kind == kind
    assert error.retryable == (mode in HELPS)
    assert error.overloaded == (mode in {"429", "503", "529"})
    assert str(error)
    assert "\n" not in str(error)


@pytest.mark.parametrize(
    ("mode", "status", "text", "thinking"),
    [
        ("empty-content", "empty", "", ""),
        ("filter", "filtered", "", ""),
        ("length", "truncated", "天地玄", ""),
        ("reasoning", "answered", "B", "it is the second"),
        ("think", "answered", "<think>\nhm\n</think>\n\nB", ""),
    ],
)
def test_how_an_answer_ended(chat: Chat, mode: str, status: str, text: str, thinking: str):
    chat.plan(modes=[mode], times=-1)
    answer = ask(chat.url)
    assert (answer.status, answer.text, answer.thinking) == (status, text, thinking)


def test_retry_after_is_read_as_seconds_and_as_a_date(chat: Chat):
    chat.plan(modes=["429-after"], times=-1, after="7")
    assert failure(chat.url).retry_after == 7
    chat.plan(modes=["429-date"], times=-1, after="60")
    wait = failure(chat.url).retry_after
    assert wait is not None
    assert 50 < wait <= 60


def test_a_hanging_server_times_out(chat: Chat):
    chat.plan(modes=["hang"], times=-1, hang=3)
    error = failure(chat.url, timeout=0.2)
    assert (error.kind, error.retryable) == ("timeout", True)


@pytest.mark.parametrize("host", ["127.0.0.1:9", "no-such-host.invalid"])
def test_a_refused_connection_and_an_unknown_host_are_unreachable(host: str):
    error = failure(f"http://{host}/v1")
    assert (error.kind, error.retryable, error.unreachable) == ("connection", True, True)


def test_the_key_is_sent_and_never_given_back(chat: Chat, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    chat.plan(modes=["echo-key-401"], times=-1)
    error = failure(chat.url)
    assert chat.stats()["keys"] == [f"Bearer {KEY}"]
    assert KEY not in str(error)
    assert "Incorrect key: Bearer ***" in str(error)
    chat.plan(modes=["echo-key"], times=-1)
    answer = ask(chat.url)
    assert "Bearer ***" in answer.text
    assert KEY not in answer.text


@pytest.mark.parametrize("key", [KEY, "k/3+y-89"])
def test_a_key_that_is_escaped_or_short_is_hidden_everywhere(
    chat: Chat, monkeypatch: pytest.MonkeyPatch, key: str
):
    monkeypatch.setenv("OPENAI_API_KEY", key)
    chat.plan(modes=["echo-key-escaped"], times=-1)
    answer = ask(chat.url)
    assert (answer.text, answer.finish_reason) == ("says Bearer ***", "stop: Bearer ***")
    assert key not in repr(answer)
    chat.plan(modes=["echo-key-401"], times=-1)
    assert key not in str(failure(chat.url))


def test_no_part_of_the_key_stays_where_a_long_message_is_cut(
    chat: Chat, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    chat.plan(modes=["echo-key-late"], times=-1)
    assert str(failure(chat.url)).endswith("xBearer ***")


def test_a_server_of_ones_own_needs_no_key(chat: Chat):
    chat.plan()
    ask(chat.url)
    assert chat.stats()["keys"] == [""]


def test_a_word_in_place_of_a_key_is_not_cut_out_of_answers(
    chat: Chat, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("OPENAI_API_KEY", "lm-studio")
    chat.plan(says="lm-studio")
    assert ask(chat.url).text == "lm-studio"
    monkeypatch.setenv("OPENAI_API_KEY", "answer")
    chat.plan()
    assert ask(chat.url).text == "answer to x"


def test_the_key_comes_from_the_variable_that_is_named(chat: Chat, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OTHER_KEY", KEY)
    chat.plan()
    ask(chat.url, api_key_env="OTHER_KEY")
    assert chat.stats()["keys"] == [f"Bearer {KEY}"]


def test_the_public_endpoint_without_a_key_is_refused_before_asking():
    with pytest.raises(UsageError, match=r"no key\. Set .*OPENAI_API_KEY.*--base-url"):
        open_model("openai:gpt-4o", ModelOptions())
    assert open_model("openai:gpt-4o", ModelOptions(asking=False)).name == "openai:gpt-4o"


@pytest.mark.parametrize(
    "url",
    ["http://user:pass@host/v1", "https://host/v1?key=secret", "localhost:8000", "http://", "ftp://h/",
     "http://host:99999/v1"],
)  # fmt: skip
def test_a_base_url_with_a_secret_or_without_a_host_is_refused(url: str):
    with pytest.raises(UsageError) as caught:
        open_model("openai:m", ModelOptions(base_url=url))
    assert "pass" not in str(caught.value).replace("password", "")
    assert "secret" not in str(caught.value).replace("the secret", "")


def test_identity_holds_what_decides_the_answer_and_no_key(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    options = ModelOptions(base_url="http://host/v1/", decoding=Decoding(temperature=0.0, seed=7))
    identity = open_model("openai:m", options).identity
    assert identity == {
        "kind": "openai", "endpoint": "http://host/v1", "model": "m",
        "temperature": "0.0", "seed": "7", "dtype": "unknown",
    }  # fmt: skip


def test_a_key_that_no_header_can_carry_is_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-\n-line")
    with pytest.raises(UsageError, match="contains characters") as caught:
        open_model("openai:m", ModelOptions())
    assert "sk-" not in str(caught.value)


def test_any_prompt_arrives_as_it_is_around_its_pictures(chat: Chat):
    chat.plan(images=True)
    data = picture(1)
    prompt = 'a\0b "data:image/png;base64,AAAA" \\u0000 \u2028 [item x]'
    ask(chat.url, request(ref(data), ref(data), prompt=prompt), (data, data))
    (body,) = chat.stats()["bodies"]
    content = json.loads(body)["messages"][0]["content"]
    assert [part["type"] for part in content] == ["image_url", "image_url", "text"]
    assert content[2]["text"] == prompt
    assert chat.stats()["images"][0].count(f"image/png {hashlib.sha256(data).hexdigest()}") == 2


PASSWORD = "geheim-0123456789"


@pytest.fixture
def proxied(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    return monkeypatch


@pytest.mark.parametrize(
    ("variable", "value", "name"),
    [
        ("http_proxy", "127.0.0.1:9", "http://127.0.0.1:9"),
        ("HTTP_PROXY", "http://127.0.0.1:9/", "http://127.0.0.1:9"),
        ("all_proxy", "127.0.0.1:9", "http://127.0.0.1:9"),
        ("http_proxy", f"user:{PASSWORD}@127.0.0.1:9", "http://127.0.0.1:9"),
        ("http_proxy", f"http://user:{PASSWORD}@localhost:9", "http://localhost:9"),
    ],
)
def test_a_connection_that_fails_through_a_proxy_names_it_without_its_password(
    proxied: pytest.MonkeyPatch, variable: str, value: str, name: str
):
    proxied.setenv(variable, value)
    error = failure("http://127.0.0.1:10/v1")
    assert (error.kind, error.retryable, error.unreachable) == ("connection", True, True)
    assert f"(through the proxy {name})" in str(error)
    assert PASSWORD not in str(error)
    assert "no_proxy" in failure_hint(Failure(kind=error.kind, message=str(error))).what


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("http_proxy", "socks5://127.0.0.1:1080"),
        ("all_proxy", f"socks5h://user:{PASSWORD}@[::1]:1080"),
        ("ALL_PROXY", "socks4://127.0.0.1"),
        ("http_proxy", "htp://127.0.0.1:1080"),
        ("http_proxy", f"http://user:{PASSWORD}@:1080"),
        ("http_proxy", "http://127.0.0.1:port"),
        ("http_proxy", "http://127.0.0.1:99999"),
        ("http_proxy", "http://[::1"),
    ],
)
def test_a_proxy_that_keju_cannot_use_is_wrong_use(
    proxied: pytest.MonkeyPatch, variable: str, value: str
):
    proxied.setenv(variable, value)
    words = (
        "the proxy of the environment for http .* is not an HTTP proxy.*no_proxy=nowhere.invalid"
    )
    with pytest.raises(UsageError, match=words) as caught:
        ask("http://nowhere.invalid/v1")
    assert PASSWORD not in str(caught.value)
    proxied.setenv("no_proxy", "127.0.0.1:10")
    assert "proxy" not in str(failure("http://127.0.0.1:10/v1"))


@pytest.mark.parametrize(
    ("status", "kind", "retryable"),
    [("502", "server", True), ("407", "connection", False), ("403", "auth", False)],
)
@pytest.mark.parametrize("url", ["http://nowhere.invalid/v1", "https://nowhere.invalid/v1"])
def test_an_answer_of_the_proxy_itself_names_the_proxy(
    chat: Chat, proxied: pytest.MonkeyPatch, url: str, status: str, kind: str, retryable: bool
):
    address = chat.url.removesuffix("/v1")
    proxied.setenv("http_proxy", address)
    proxied.setenv("https_proxy", address)
    chat.plan(modes=[status], times=-1)
    error = failure(url)
    if url.startswith("http:"):
        assert (error.kind, error.retryable) == (kind, retryable)
        assert str(error).startswith(f"HTTP {status}: ")
    assert f"(through the proxy {address})" in str(error)


def test_a_proxy_of_the_environment_is_used(chat: Chat, monkeypatch: pytest.MonkeyPatch):
    chat.plan()
    monkeypatch.setenv("http_proxy", chat.url.removesuffix("/v1"))
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    assert ask("http://nowhere.invalid/v1").text == "answer to x"
    monkeypatch.setenv("no_proxy", "nowhere.invalid")
    assert failure("http://nowhere.invalid/v1").kind == "connection"


def body(content: object, finish: object = "stop", **message: object) -> bytes:
    choice = {"message": {"content": content, **message}, "finish_reason": finish}
    return json.dumps({"choices": [choice]}).encode()


@pytest.mark.parametrize(
    "content",
    [
        "<think>why</think>B",
        "\n<think>\nwhy\n</think>\n\nB\n",
        "<think></think>B",
        "why</think>B",
        "<think>cut off",
        " B \n",
        "B<|im_end|>",
    ],
)
def test_the_content_is_kept_as_it_was_returned(content: str):
    answer = read_answer(body(content, reasoning_content=" \nhm\n"))
    assert (answer.text, answer.thinking, answer.not_text) == (content, " \nhm\n", "")


@pytest.mark.parametrize(
    ("content", "text", "not_text"),
    [
        (None, "", ""),
        (["天", "地"], "天地", '["\\u5929", "\\u5730"]'),
        ([], "", "[]"),
        ([{"type": "image"}], "", '[{"type": "image"}]'),
        (12345, "12345", "12345"),
        (True, "true", "true"),
        ({"answer": "乙"}, '{"answer": "乙"}', '{"answer": "\\u4e59"}'),
        ({}, "", "{}"),
    ],
)
def test_a_content_that_is_not_text_is_kept_in_json(content: object, text: str, not_text: str):
    answer = read_answer(body(content))
    assert (answer.text, answer.not_text) == (text, not_text)


@pytest.mark.parametrize(
    ("finish", "content", "status"),
    [
        ("stop", "B", "answered"),
        ("stop", " \n", "empty"),
        ("stop", None, "empty"),
        ("stop", 0, "answered"),
        ("stop", {}, "empty"),
        ({"type": "stop", "matched": 2}, "B", "answered"),
        ({"type": "length"}, "B", "truncated"),
        ("stop", "<think>all thought</think>", "answered"),
        ("length", "", "truncated"),
        ("length", "<think>cut", "truncated"),
        ("content_filter: PROHIBITED_CONTENT", "", "filtered"),
        (None, "B", "answered"),
    ],
)
def test_status_says_what_the_wire_said(finish: object, content: object, status: str):
    assert read_answer(body(content, finish)).status == status


def test_parts_of_text_are_joined():
    parts = [{"type": "text", "text": "天"}, {"type": "text", "text": "地"}, {"type": "image"}]
    answer = read_answer(body(parts))
    assert (answer.text, answer.not_text) == ("天地", "")


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
def test_both_names_of_reasoning_are_read(name: str):
    answer = read_answer(body("B", **{name: "why"}))
    assert (answer.thinking, answer.text) == ("why", "B")


@pytest.mark.parametrize(
    "usage", [[], "many", {"prompt_tokens": "1"}, {"completion_tokens_details": 3}, None, True]
)
def test_odd_usage_is_passed_over(usage: object):
    data = json.loads(body("B"))
    answer = read_answer(json.dumps({**data, "usage": usage}).encode())
    assert answer.text == "B"
    assert answer.usage.input_tokens is None


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"null",
        b"[]",
        b'"text"',
        b'{"choices": null}',
        b'{"choices": [{}]}',
        b'{"choices": [{"message": null}]}',
        b'{"choices": [{"message": "B"}]}',
        b"\xff\xfe\x00",
        b"[" * 100_000,
    ],
)
def test_what_is_no_completion_is_a_bad_response(data: bytes):
    with pytest.raises(AskError) as caught:
        read_answer(data)
    assert (caught.value.kind, caught.value.retryable) == ("bad-response", True)
    assert len(str(caught.value)) < 400


def outcome(data: bytes) -> str:
    try:
        return read_answer(data).status
    except AskError as error:
        return error.kind


STATUSES = {"answered", "empty", "truncated", "filtered"}
KINDS = {"bad-response", "refused", "auth", "rate", "server", "timeout", "bad-request"}


@given(st.binary(max_size=200))
def test_any_bytes_give_an_answer_or_a_classified_failure(data: bytes):
    assert outcome(data) in STATUSES | {"bad-response"}


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 999) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["choices", "message", "content", "error", "code", "usage", "x"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(json_values)
def test_any_json_gives_an_answer_or_a_classified_failure(value: object):
    data = json.dumps({"choices": [{"message": value}], "error": value}).encode()
    assert outcome(data) in STATUSES | KINDS


def test_an_error_with_200_takes_the_class_of_its_code():
    def kind(error: object) -> str:
        with pytest.raises(AskError) as caught:
            read_answer(json.dumps({"error": error}).encode())
        return caught.value.kind

    assert kind({"code": 429, "message": "slow"}) == "rate"
    assert kind({"code": "401", "message": "who"}) == "auth"
    assert kind({"code": "content_filter", "message": "no"}) == "refused"
    assert kind("words") == "bad-response"
