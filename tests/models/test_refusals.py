"""Every wording in refusals.toml is recognised; ordinary failures are not."""

from __future__ import annotations

import pytest

from keju.models.openai_errors import error_of_status
from keju.models.refusals import DROPPABLE, Example, Refusal, refusal_in, rules

SENT = ("temperature", "top_p", "top_k", "seed", "max_tokens")
EXAMPLES = [
    pytest.param(number, example, id=f"{example.server}: {example.message[:50]}")
    for number, rule in enumerate(rules())
    for example in rule.examples
]


@pytest.mark.parametrize(("number", "example"), EXAMPLES)
def test_a_message_drops_what_its_example_says(number: int, example: Example):
    found = refusal_in(example.message, SENT)
    assert found == Refusal(frozenset(example.drops), example.renames)
    # A parameter that was not sent cannot be what the server refuses.
    assert refusal_in(example.message, ()) == Refusal()
    rule = rules()[number]
    assert set(example.drops) <= set(DROPPABLE)
    assert not rule.drops or example.drops == rule.drops


@pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule.says[:40])
def test_every_rule_has_an_example_that_it_recognises(rule: object):
    assert any(example.drops or example.renames for example in rule.examples)


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
    assert refusal_in(message, SENT) == Refusal()


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
    assert refusal_in(error.said, SENT).drops == {dropped}
    assert len(str(error)) < 400
