"""`keju run` on `transformers serve` with a random LLaVA, beside the library itself."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from tests.support.contract_servers import Recorder
from tests.support.contract_trial import (
    images_of,
    item_of,
    run,
    stopped,
    thinking,
    told,
    trial,
    usage,
)
from tests.support.contracting import Contract, Exchanged, compared

TOKENS = 20
MODEL = "tiny-llava"
OPTIONS = ("--temperature", "0", "--top-k", "5", "--max-tokens", str(TOKENS))
SCRIPT = Path(__file__).with_name("tiny_llava.py")


def exchange(contract: Contract) -> Iterator[Exchanged]:
    """Texts, tokens, a refused parameter; then what stops a run."""
    # Without a cache of models its list of models is an error.
    (contract.work / "home" / "hub").mkdir(parents=True)
    contract.call(contract.python, SCRIPT, "write", MODEL)
    data, out = trial(contract.work / "data"), contract.work / "run"
    serve = [contract.python.parent / "transformers", "serve", MODEL, "--device", "cpu",
             "--host", "127.0.0.1", "--port"]  # fmt: skip
    with (
        contract.serve(lambda port: [*serve, port], "/health") as address,
        Recorder(address, {str(contract.work): "."}) as server,
    ):
        said = run(data, out, f"openai:{MODEL}", "--base-url", server.url,
                   "--concurrency", 1, *OPTIONS)  # fmt: skip
        notes = [each for each in server.record() if each["request"]["method"] == "POST"]
        contract.keep("http.json", notes)
        contract.keep("options.json", OPTIONS)
        contract.keep("expected.json", told(out))
        yield from _itself(contract, notes)
        yield compared(
            "top_k, which it refuses, is not sent again and is reported",
            (1, True),
            (sum("top_k" in each["request"].get("fields", {}) for each in notes), "top_k" in said),
            detail="refused once with HTTP 422; the run continues without it",
        )
        yield from stopped(
            contract, server, "wrong model", "openai:nonesuch", "model", key="none", status=400,
        )  # fmt: skip


def _itself(contract: Contract, notes: list[dict]) -> Iterator[Exchanged]:
    """The same prompts and images answered by the library in a process of its own."""
    data, out = contract.work / "data", contract.work / "run"
    texts = {item_of(each["request"]["text"]): each["request"]["text"] for each in notes}
    lines = (
        json.dumps([name, text, [str(file) for file in images_of(data, name)]])
        for name, text in texts.items()
    )
    requests = contract.work / "requests.jsonl"
    requests.write_text("\n".join(lines), "utf-8")
    said = contract.call(contract.python, SCRIPT, "answer", MODEL, requests, TOKENS)
    rows = [json.loads(line) for line in said.splitlines()]
    texts = {name: [_status(made), text] for name, text, _, made in rows}
    yield compared(
        "status and text of each response, beside the library without a server",
        {
            name: ["truncated" if made == TOKENS else "answered", text]
            for name, text, _, made in rows
        },
        told(out),
    )
    yield compared(
        "tokens of each request, those of images included, and response",
        {name: (length, made) for name, _, length, made in rows},
        usage(out),
    )
    yield compared("no reasoning is found in them", {row[0]: "" for row in rows}, thinking(out))


def _status(made: int) -> str:
    return "truncated" if made == TOKENS else "answered"
