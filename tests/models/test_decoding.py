"""What was really sent is what a response records, as seen by a server that logs the requests."""

from __future__ import annotations

import asyncio
import hashlib
import json
from typing import Any

import pytest

from keju.models import Answer, AskError, Decoding, ModelOptions, open_model
from keju.models.decoding import Parameters, as_texts, not_sent, refused_in
from keju.models.replies import error_of_status
from tests.models.conftest import ask_once, ref, request
from tests.support.api_keys import set_api_keys
from tests.support.making import picture
from tests.support.needing import inspect_missing
from tests.support.serving import Chat

PAPER = Decoding(temperature=0.8, top_p=0.95, top_k=50, max_tokens=2048)
KEY = "sk-decoding-0123456789abcdef"
OPENAI, OWN, VENDOR = "openai:served", "inspect:openai-api/local/served", "inspect:openai/gpt-4o"
INSPECT = pytest.param(OWN, marks=inspect_missing)
SPECS = [OPENAI, INSPECT, pytest.param(VENDOR, marks=inspect_missing)]
BOTH = [OPENAI, INSPECT]
NO_FIELDS = {"model", "messages", "stream"}


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    set_api_keys(monkeypatch, KEY)


def ask(chat: Chat, spec: str, count: int = 1, **options: Any) -> list[Answer]:
    """The answers of one model to requests that come one after the other."""

    async def go() -> list[Answer]:
        model = open_model(spec, ModelOptions(base_url=chat.url, **options))
        try:
            return [await model.answer(request(), ()) for _ in range(count)]
        finally:
            await model.close()

    return asyncio.run(go())


def sent(chat: Chat) -> list[dict[str, Any]]:
    """The fields of every request that the server saw, beside model and messages."""
    bodies = [json.loads(body) for body in chat.stats()["bodies"]]
    return [{n: v for n, v in body.items() if n not in NO_FIELDS} for body in bodies]


@pytest.mark.parametrize("spec", SPECS)
def test_images_are_sent_as_they_are_stored_before_the_text(chat: Chat, spec: str):
    chat.plan(images=True)
    pictures = {
        "image/png": picture(1), "image/jpeg": picture(2, form="JPEG"),
        "image/webp": picture(3, form="WEBP"),
    }  # fmt: skip
    refs = [ref(data, mime.replace("image/", "a.")) for mime, data in pictures.items()]
    said = ask_once(spec, request(*refs), tuple(pictures.values()), base_url=chat.url)
    assert (said.text, said.finish_reason, said.status) == ("answer to x", "stop", "answered")
    usage = said.usage
    assert (usage.input_tokens, usage.output_tokens, usage.thinking_tokens) == (1000, 12, 5)
    seen = chat.stats()
    hashes = [f"{mime} {hashlib.sha256(data).hexdigest()}" for mime, data in pictures.items()]
    assert seen["images"] == [hashes]
    assert seen["keys"] == [f"Bearer {KEY}"]
    body = json.loads(seen["bodies"][0])
    assert body.keys() <= NO_FIELDS
    assert body["model"] == spec.rpartition(":")[2].rpartition("/")[2]
    content = body["messages"][0]["content"]
    assert [part["type"] for part in content] == ["image_url"] * 3 + ["text"]
    assert content[-1]["text"] == "[item x] 图中何字？"


@pytest.mark.parametrize("spec", SPECS)
def test_the_record_is_the_request(chat: Chat, spec: str):
    chat.plan(images=True)
    (answer,) = ask(chat, spec, decoding=PAPER)
    (seen,) = sent(chat)
    assert answer.decoding == as_texts(seen)
    assert seen["temperature"] == 0.8


@inspect_missing
def test_a_parameter_that_inspect_does_not_pass_on_is_not_recorded(chat: Chat):
    chat.plan(images=True)
    (answer,) = ask(chat, OWN, decoding=PAPER)
    assert "top_k" not in sent(chat)[0]
    assert answer.decoding == {"temperature": "0.8", "top_p": "0.95", "max_tokens": "2048"}
    assert answer.refused == ()
    model = open_model(OWN, ModelOptions(base_url=chat.url, decoding=PAPER))
    assert not_sent(model.identity, answer.decoding) == ("top_k",)


@pytest.mark.parametrize("spec", BOTH)
def test_a_refused_parameter_is_dropped_once_and_for_all(chat: Chat, spec: str):
    words = (
        "`temperature` and `top_p` cannot both be specified for this model. Please use only one."
    )
    body = {"type": "error", "error": {"type": "invalid_request_error", "message": words}}
    chat.plan(
        images=True, refusals=[{"has": ["temperature", "top_p"], "status": 400, "body": body}]
    )
    first, second = ask(chat, spec, 2, decoding=Decoding(temperature=0.8, top_p=0.95))
    seen = sent(chat)
    assert [each.keys() & {"temperature", "top_p"} for each in seen] == [
        {"temperature", "top_p"}, {"temperature"}, {"temperature"},
    ]  # fmt: skip
    for answer in (first, second):
        assert answer.text == "answer to x"
        assert answer.refused == ("top_p",)
        assert answer.decoding == as_texts(seen[-1])


@pytest.mark.parametrize("spec", BOTH)
def test_a_reasoning_model_of_openai_is_asked_in_its_own_terms(chat: Chat, spec: str):
    def refusal(name: str, words: str) -> dict[str, Any]:
        error = {"message": words, "type": "invalid_request_error", "param": name}
        return {"has": [name], "status": 400, "body": {"error": error}}

    chat.plan(images=True, refusals=[
        refusal("max_tokens", "Unsupported parameter: 'max_tokens' is not supported with this "
                "model. Use 'max_completion_tokens' instead."),
        refusal("temperature", "Unsupported value: 'temperature' does not support 0.8 with this "
                "model. Only the default (1) value is supported."),
        refusal("top_p", "Unsupported parameter: 'top_p' is not supported with this model."),
        refusal("top_k", "Unknown parameter: 'top_k'."),
    ])  # fmt: skip
    (answer,) = ask(chat, spec, decoding=PAPER)
    assert answer.decoding == {"max_completion_tokens": "2048"}
    limits = [min(each.keys() & {"max_tokens", "max_completion_tokens"}) for each in sent(chat)]
    assert limits == ["max_tokens", *["max_completion_tokens"] * (len(limits) - 1)]
    assert sent(chat)[-1] == {"max_completion_tokens": 2048}
    assert set(answer.refused) >= {"temperature", "top_p"}


@pytest.mark.parametrize("spec", BOTH)
def test_a_request_that_is_refused_for_another_reason_keeps_its_parameters(chat: Chat, spec: str):
    body = {"error": {"message": "Invalid 'temperature': decimal above maximum value.",
                      "param": "temperature"}}  # fmt: skip
    chat.plan(images=True, refusals=[{"has": ["temperature"], "status": 400, "body": body}])
    with pytest.raises(AskError) as caught:
        ask(chat, spec, decoding=Decoding(temperature=3.0))
    assert caught.value.kind == "bad-request"
    assert len(sent(chat)) == 1


@pytest.mark.parametrize("spec", BOTH)
def test_a_server_that_breaks_on_a_parameter_is_asked_without_it(chat: Chat, spec: str):
    body = {"error": {"message": "create() got an unexpected keyword argument 'seed'"}}
    chat.plan(images=True, refusals=[{"has": ["seed"], "status": 500, "body": body}])
    (answer,) = ask(chat, spec, decoding=Decoding(temperature=0.5, seed=3))
    assert (answer.decoding, answer.refused) == ({"temperature": "0.5"}, ("seed",))
    assert ["seed" in each for each in sent(chat)] == [True, False]


@pytest.mark.parametrize("spec", BOTH)
def test_no_tools_are_sent(chat: Chat, spec: str):
    chat.plan(images=True)
    ask(chat, spec, decoding=PAPER)
    body = json.loads(chat.stats()["bodies"][0])
    assert not body.keys() & {"tools", "tool_choice", "functions", "web_search_options", "plugins"}
    assert [message["role"] for message in body["messages"]] == ["user"]


def test_what_was_asked_for_and_not_sent_is_named_under_any_name_of_the_server():
    identity = {
        "kind": "openai",
        "temperature": "0.8",
        "top_k": "50",
        "max_tokens": "9",
        "seed": "1",
    }
    assert not_sent(identity, {"temperature": "0.8", "max_completion_tokens": "9"}) == (
        "top_k", "seed",
    )  # fmt: skip
    assert (
        not_sent(identity, {"temperature": "0.8", "maxTokens": "9", "k": "50", "seed": "1"}) == ()
    )
    assert not_sent(identity, None) == ()
    assert not_sent({"kind": "baseline", "seed": "1"}, {}) == ()


def test_a_refusal_adds_to_those_that_other_requests_met_meanwhile():
    known = Parameters(fields={"temperature": 0.8, "top_k": 50}, refused=("top_k",))
    tried = Parameters(fields=known.fields)
    changed = known.after("`temperature` is deprecated for this model.", tried)
    assert changed is not None
    assert changed.sent == {}
    assert changed.refused == ("temperature", "top_k")
    assert known.after("out of memory", tried) is None


@pytest.mark.parametrize(
    ("message", "names"),
    [
        (
            "`temperature` and `top_p` cannot both be specified for this model. Please use "
            "only one.",
            "top_p",
        ),
        (
            "Unsupported value: 'temperature' does not support 0.8 with this model. Only "
            "the default (1) value is supported.",
            "temperature",
        ),
        ("Unsupported value: 'messages[0].role' does not support 'system' with this model.", ""),
        (
            "This model has beta-limitations, temperature, top_p and n are fixed at 1, "
            "while presence_penalty and frequency_penalty are fixed at 0.",
            "temperature top_p",
        ),
        (
            "`top_p` must be greater than or equal to 0.95 or unset when thinking is enabled.",
            "top_p",
        ),
        ("seed: Extra inputs are not permitted", "seed"),
        (
            "body.top_k: Extra inputs are not permitted; body.seed: Extra inputs are not permitted",
            "seed top_k",
        ),
        ("messages.0.content.0.image.detail: Extra inputs are not permitted", ""),
        (
            "[{'type': 'extra_forbidden', 'loc': ('body', 'top_k'), 'msg': 'Extra inputs "
            "are not permitted', 'input': 50}]",
            "top_k",
        ),
        ("Extra inputs are not permitted, field: 'seed', value: 7", "seed"),
        ('Invalid JSON payload received. Unknown name "top_k": Cannot find field.', "top_k"),
        (
            "Invalid JSON payload received. Unknown name \"topK\" at 'generation_config': "
            "Cannot find field.",
            "top_k",
        ),
        ("Unrecognized request arguments supplied: seed, top_k", "seed top_k"),
        ("Unknown parameter: 'top_k'.", "top_k"),
        (
            "Failed to deserialize the JSON body into the target type: unknown field "
            "`top_k`, expected one of `temperature`, `top_p`",
            "top_k",
        ),
        ("create() got an unexpected keyword argument 'top_k'", "top_k"),
        ("Argument not supported on this model: seed", "seed"),
        (
            "litellm.UnsupportedParamsError: gpt-5 models (including gpt-5-codex) don't "
            "support temperature=0.8. Only temperature=1 is supported.",
            "temperature",
        ),
        ("Model grok-4.6 does not support parameter topP.", "top_p"),
        (
            "This model doesn't support the temperature field. Remove temperature and try again.",
            "temperature",
        ),
        ("This model does not support image input", ""),
        ("`temperature` is deprecated for this model.", "temperature"),
        ("property 'top_k' is unsupported", "top_k"),
        (
            "Malformed input request: #: extraneous key [top_k] is not permitted, please "
            "reformat your input and try again.",
            "top_k",
        ),
        ("invalid temperature: only 1 is allowed for this model", "temperature"),
        ("不支持的参数：top_k", "top_k"),
        ("top_k 参数不支持", "top_k"),
    ],
)
def test_a_parameter_that_a_message_refuses_is_named(message: str, names: str):
    assert refused_in(message) == set(names.split())


@pytest.mark.parametrize(
    "message",
    [
        "Your request was rejected as a result of our safety system.",
        "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens "
        "(6952 in the messages, 2048 in the completion). Please reduce the length.",
        "max_tokens is too large: 20000. This model supports at most 16384 completion tokens.",
        "Invalid 'temperature': decimal above maximum value. Expected a value <= 2, but got 3.",
        "InternalError.Algo.InvalidParameter: Range of top_p should be (0.0, 1.0]",
        "top_k must be 0 (disable), or at least 1, got -5.",
        "Invalid image: the seed image is larger than 20 MB",
        "The model `gpt-9` does not exist or you do not have access to it.",
        "parameter.enable_thinking must be set to false for non-streaming calls",
        "Unsupported value: 'reasoning_effort' does not support 'minimal' with this model.",
        "This model does not support image input; the image's color temperature was not read",
        "",
    ],
)
def test_an_ordinary_failure_drops_nothing(message: str):
    assert refused_in(message) == set()


@pytest.mark.parametrize(
    ("body", "dropped"),
    [
        (
            [{"error": {"code": 400, "status": "INVALID_ARGUMENT",
                        "message": 'Invalid JSON payload received. Unknown name "top_k": '
                                   "Cannot find field."}}],
            "top_k",
        ),
        ({"detail": [{"type": "extra_forbidden", "loc": ["body", "top_k"],
                      "msg": "Extra inputs are not permitted", "input": 50}]}, "top_k"),
        ({"object": "error", "message": {"detail": [
            {"type": "extra_forbidden", "loc": ["body", "seed"],
             "msg": "Extra inputs are not permitted", "input": 7}]}}, "seed"),
        ({"code": "Client specified an invalid argument",
          "error": "Argument not supported on this model: seed"}, "seed"),
        ({"error": {"message": "Provider returned error", "code": 400, "metadata": {
            "provider_name": "X", "raw": '{"error":{"message":"Unknown parameter: \'seed\'."}}'}}},
         "seed"),
        ({"error": "Bad Request", "message": "property 'top_k' is unsupported"}, "top_k"),
        ({"error": {"detail": "Unsupported parameter(s): `seed`"}}, "seed"),
        ({"detail": '{"error": {"message": "Unknown parameter: \'top_k\'."}}'}, "top_k"),
        ({"error": {"message": f"{'x' * 900} Unknown parameter: 'top_k'."}}, "top_k"),
    ],
    ids=["Gemini's list", "FastAPI's list", "Mistral's list", "xAI",
         "OpenRouter's provider", "beside the error", "the detail of the error", "JSON in a text",
         "a long message"],
)  # fmt: skip
def test_the_message_is_found_in_every_form_of_body(body: object, dropped: str):
    error = error_of_status(400, body, {})
    assert refused_in(error.server_message) == {dropped}
    assert len(str(error)) < 400
