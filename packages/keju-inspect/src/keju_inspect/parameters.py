"""Decoding parameters of `inspect:` models: those given to Inspect, and those it passes on."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from inspect_ai.log._transcript import Transcript
from inspect_ai.model import GenerateConfig

from keju.errors import UsageError
from keju.models.decoding import Parameters, as_texts

_OF_INSPECT = frozenset({"temperature", "top_p", "top_k", "max_tokens", "seed", "reasoning_effort"})
"""Parameters that Inspect knows by these names; others are fields of the body."""

_EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")

_NESTED = ("extra_body", "generation_config", "inferenceConfig", "additionalModelRequestFields")
"""Fields of a call in which providers (the SDKs of OpenAI and Anthropic, Google, Bedrock) put
parameters."""

_NO_PARAMETERS = frozenset({
    "model", "modelId", "messages", "contents", "input", "system", "system_instruction", "stream",
    "stream_options", "tools", "tool_choice", "tool_config", "toolConfig", "safety_settings",
    "extra_headers", "betas", "store", "include", "background", "metadata", "container",
    "mcp_servers", "diagnostics", "prompt_cache_key", "prompt_cache_options", "safety_identifier",
    "user",
})  # fmt: skip
"""Fields of a call that are not decoding parameters."""


def config_of(parameters: Parameters, extra: Collection[str] = ()) -> GenerateConfig:
    """Return the parameters for Inspect; fields that it does not know go into the request's body.

    Args:
        parameters: the parameters to send.
        extra: names of those that go into the body although Inspect knows them, because it passes
            them on to some providers only.
    """
    direct = _OF_INSPECT.difference(extra)
    known = {name: value for name, value in parameters.sent.items() if name in direct}
    others = {name: value for name, value in parameters.sent.items() if name not in direct}
    return GenerateConfig(**known, extra_body=others or None)


def check_config(name: str, parameters: Parameters) -> None:
    """Check that Inspect accepts the values.

    Raises:
        UsageError: it accepts other values for a parameter.
    """
    effort = parameters.fields.get("reasoning_effort")
    if effort is not None and effort not in _EFFORTS:
        raise UsageError(
            "{}: --reasoning-effort {} is not supported. Inspect supports {}",
            name,
            effort,
            ", ".join(_EFFORTS),
        )


def passed_on(transcript: Transcript) -> dict[str, str] | None:
    """The parameters in the call that a provider made, under its own names.

    Inspect passes on those that it knows a provider to accept and drops others silently.

    Args:
        transcript: Inspect's notes of one call.

    Returns:
        None where the provider does not report what it sent.
    """
    calls = [event.call for event in transcript.events if event.event == "model"]
    if not calls or calls[-1] is None:
        return None
    return as_texts(_parameters(calls[-1].request))


def _parameters(call: Mapping[str, Any]) -> dict[str, Any]:
    parameters: dict[str, Any] = {}
    for name, value in call.items():
        if name in _NO_PARAMETERS or value is None:
            continue
        if name in _NESTED and isinstance(value, dict):
            parameters |= _parameters(value)
        else:
            parameters[name] = value
    return parameters
