"""`keju run` through a LiteLLM proxy, beside the same run without it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from tests.support.contract_servers import Recorder, RuleServer
from tests.support.contract_trial import (
    ANSWERS,
    REASONING,
    run,
    scores,
    stopped,
    thinking,
    told,
    trial,
)
from tests.support.contracting import Contract, Exchanged, compared

KEY = "sk-contract-0123456789"
LIMIT = 2
CONFIG = """\
model_list:
  - model_name: served
    litellm_params: {{model: openai/served, api_base: "{url}", api_key: none}}
  - model_name: limited
    litellm_params: {{model: openai/served, api_base: "{url}", api_key: none, rpm: {limit}}}
litellm_settings: {{num_retries: 0, telemetry: false}}
router_settings: {{routing_strategy: usage-based-routing-v2, num_retries: 0}}
general_settings: {{master_key: {key}}}
"""


def exchange(contract: Contract) -> Iterator[Exchanged]:
    """Texts, images, failures, limits and refusals."""
    os.environ["OPENAI_API_KEY"] = KEY
    data = trial(contract.work / "data")
    config = contract.work / "config.yaml"
    litellm = contract.python.parent / "litellm"
    with ExitStack() as stack:
        rules = stack.enter_context(RuleServer(ANSWERS))
        run(data, contract.work / "direct", "openai:served", "--base-url", rules.url)
        direct, rules.seen = rules.seen, []
        config.write_text(CONFIG.format(url=rules.url, key=KEY, limit=LIMIT), "utf-8")
        address = stack.enter_context(
            contract.serve(
                lambda port: [litellm, "--config", config, "--host", "127.0.0.1", "--port", port],
                "/health/liveliness",
                LITELLM_LOCAL_MODEL_COST_MAP="True",
            )
        )
        proxy = stack.enter_context(Recorder(address))
        out = contract.work / "through"
        run(data, out, "openai:served", "--base-url", proxy.url, "--concurrency", 1)
        contract.keep("http.json", proxy.record())
        contract.keep("expected.json", told(out))
        yield from _responses(contract.work / "direct", out)
        yield compared(
            "prompts and images that the model behind it was shown",
            sorted(direct),
            sorted(rules.seen),
        )
        yield from _text_only(contract, rules, proxy)
        yield from _limited(contract, proxy)
        for what, model, key, words in (
            ("wrong model", "nonesuch", KEY, "The server lists 2 models: served, limited"),
            ("wrong key", "served", "sk-contract-wrong", "The server does not take the key"),
        ):
            yield from stopped(contract, proxy, what, f"openai:{model}", words, key=key, status=400)


def _responses(direct: Path, through: Path) -> Iterator[Exchanged]:
    """What LiteLLM changes is reasoning in the text, which it moves to a field of its own."""
    ours, theirs = told(direct), told(through)
    _, text = ours.pop(REASONING)
    _, left = theirs.pop(REASONING)
    yield compared("status and text of each response", ours, theirs)
    said = thinking(through)[REASONING]
    yield compared(
        "reasoning in the text, which LiteLLM moves to reasoning_content",
        text,
        f"<think>{said}</think>{left}",
        detail=f"the text without it is {left!r}",
    )
    before, after = scores(direct), scores(through)
    kept = [name for name in before if "strict" in name or not name.startswith(REASONING)]
    yield compared(
        "scores (official scores of the response with reasoning read the text that is left)",
        {name: before[name] for name in kept},
        {name: after[name] for name in kept},
    )


def _text_only(contract: Contract, rules: RuleServer, proxy: Recorder) -> Iterator[Exchanged]:
    """A request without an image."""
    data = trial(contract.work / "one", ("c3",))
    run(data, contract.work / "text", "openai:served", "--base-url", proxy.url,
        "--setting", "gold-text", code=0)  # fmt: skip
    yield compared(
        "a request of text alone",
        ({"c3": ["answered", ANSWERS["c3"]]}, ()),
        (told(contract.work / "text"), rules.seen[-1].images),
    )


def _limited(contract: Contract, proxy: Recorder) -> Iterator[Exchanged]:
    """A limit of requests a minute: its 429 and headers, and a run that waits."""
    body = {"model": "limited", "messages": [{"role": "user", "content": "[item c3]"}]}
    for _ in range(LIMIT + 1):
        status = _posted(proxy.url, body)
    contract.keep("limited.json", proxy.notes[-1]["reply"])
    yield compared("429 over the limit", 429, status)
    data = trial(contract.work / "few", ("c1", "c2", "c3"))
    out = contract.work / "limited"
    run(data, out, "openai:limited", "--base-url", proxy.url, code=0)
    yield compared(
        "a run of 3 items over the limit waits and has every response",
        {name: ["answered", ANSWERS[name]] for name in ("c1", "c2", "c3")},
        told(out),
    )


def _posted(url: str, body: object) -> int:
    asked = Request(f"{url}/chat/completions", json.dumps(body).encode())
    asked.add_header("Authorization", f"Bearer {KEY}")
    asked.add_header("Content-Type", "application/json")
    try:
        with urlopen(asked, timeout=60) as reply:
            return reply.status
    except HTTPError as error:
        return error.code
