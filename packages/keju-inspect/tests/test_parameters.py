"""Parameters of a call, from the notes that Inspect makes of it in each provider's form."""

from __future__ import annotations

from typing import Any

import pytest

from keju.models.decoding import Parameters, not_sent
from tests.support.needing import inspect_missing

pytestmark = inspect_missing
MESSAGES = [{"role": "user", "content": "何字？"}]
CALLS = {
    "anthropic": (
        {"model": "m", "messages": MESSAGES, "system": "s", "extra_headers": {"x-irid": "1"},
         "max_tokens": 2048, "temperature": 0.8, "top_k": 50,
         "thinking": {"type": "enabled", "budget_tokens": 1024}, "extra_body": {"diagnostics": {}}},
        {"max_tokens": "2048", "temperature": "0.8", "top_k": "50",
         "thinking": '{"type":"enabled","budget_tokens":1024}'},
    ),
    "google": (
        {"contents": MESSAGES, "safety_settings": [], "tools": None, "system_instruction": None,
         "generation_config": {"temperature": 0.8, "max_output_tokens": 2048, "top_k": 50,
                               "seed": None}},
        {"temperature": "0.8", "max_output_tokens": "2048", "top_k": "50"},
    ),
    "bedrock": (
        {"modelId": "m", "messages": MESSAGES, "inferenceConfig": {"maxTokens": 9, "topP": 0.9},
         "additionalModelRequestFields": {"top_k": 50}},
        {"maxTokens": "9", "topP": "0.9", "top_k": "50"},
    ),
    "mistral": (
        {"model": "m", "messages": MESSAGES, "tools": None, "temperature": 0.8, "random_seed": 3},
        {"temperature": "0.8", "random_seed": "3"},
    ),
    "openai, responses": (
        {"model": "m", "input": [], "include": [], "store": False, "max_output_tokens": 9,
         "reasoning": {"effort": "low"}},
        {"max_output_tokens": "9", "reasoning": '{"effort":"low"}'},
    ),
}  # fmt: skip


def transcript(*requests: dict[str, Any] | None) -> Any:
    from inspect_ai.event import ModelEvent
    from inspect_ai.log._transcript import Transcript
    from inspect_ai.model import GenerateConfig, ModelOutput
    from inspect_ai.model._model_call import ModelCall

    events = [
        ModelEvent(
            model="m", input=[], tools=[], tool_choice="auto", config=GenerateConfig(),
            output=ModelOutput.from_content("m", "天"),
            call=None if request is None else ModelCall.create(request, None),
        )
        for request in requests
    ]  # fmt: skip
    return Transcript(events)


@pytest.mark.parametrize(("request_", "sent"), CALLS.values(), ids=CALLS)
def test_each_form_gives_its_parameters(request_: dict[str, Any], sent: dict[str, str]):
    from keju_inspect.parameters import passed_on

    assert passed_on(transcript(request_)) == sent
    # Of a call that the SDK repeated, the last is the one that was answered.
    assert passed_on(transcript({"temperature": 2}, request_)) == sent


def test_a_provider_that_notes_no_call_leaves_it_unknown():
    from keju_inspect.parameters import passed_on

    assert passed_on(transcript(None)) is None
    assert passed_on(transcript()) is None


def test_names_of_providers_count_as_sent():
    identity = {"kind": "inspect", "max_tokens": "9", "top_p": "0.9", "top_k": "50", "seed": "3",
                "reasoning_effort": "low"}  # fmt: skip
    assert not_sent(identity, CALLS["bedrock"][1]) == ("seed", "reasoning_effort")
    assert not_sent(identity, CALLS["openai, responses"][1]) == ("top_p", "top_k", "seed")


def test_what_inspect_does_not_know_goes_into_the_body():
    from keju_inspect.parameters import config_of

    parameters = Parameters(
        fields={"max_tokens": 9, "top_k": 50, "min_p": 0.1}, limit="max_completion_tokens"
    )
    config = config_of(parameters)
    assert (config.max_tokens, config.top_k) == (None, 50)
    assert config.extra_body == {"max_completion_tokens": 9, "min_p": 0.1}
    moved = config_of(parameters, extra={"top_k"})
    assert moved.top_k is None
    assert moved.extra_body["top_k"] == 50
