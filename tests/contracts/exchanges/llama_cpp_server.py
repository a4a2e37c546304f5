"""`keju run` on the server of llama-cpp-python with a random model, beside the library itself."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

from tests.support.contract_servers import Recorder
from tests.support.contract_trial import item_of, run, stopped, told, trial, usage
from tests.support.contracting import Contract, Exchanged, compared

KEY = "sk-contract-0123456789"
TOKENS = 20
OPTIONS = (
    "--setting", "gold-text", "--temperature", "0", "--top-k", "40", "--max-tokens", str(TOKENS),
    "--extra-body", "repeat_penalty=1.0",
)  # fmt: skip
"""The server penalises repetition by 1.1 unless a request says otherwise; the library does not."""
ITSELF = """\
import json, sys
from llama_cpp import Llama
model = Llama(sys.argv[1], n_ctx=2048, verbose=False)
for line in open(sys.argv[2], encoding="utf-8"):
    name, text, tokens = json.loads(line)
    said = model.create_chat_completion(
        [{"role": "user", "content": text}], max_tokens=tokens, temperature=0, top_k=40
    )
    told = said["choices"][0]
    print(json.dumps([name, told["message"]["content"], told["finish_reason"], said["usage"]]))
"""


def exchange(contract: Contract) -> Iterator[Exchanged]:
    """Texts, tokens and what was sent; then what stops a run."""
    os.environ["OPENAI_API_KEY"] = KEY
    model = contract.work / "tiny.gguf"
    contract.call(contract.python, Path(__file__).with_name("tiny_gguf.py"), model)
    data, out = trial(contract.work / "data"), contract.work / "run"
    command = [contract.python, "-m", "llama_cpp.server", "--model", model, "--model_alias", "tiny",
               "--n_ctx", 2048, "--api_key", KEY, "--host", "127.0.0.1", "--port"]  # fmt: skip
    with (
        contract.serve(lambda port: [*command, port], "/v1/models") as address,
        Recorder(address) as server,
    ):
        run(data, out, "openai:tiny", "--base-url", server.url, "--concurrency", 1, *OPTIONS)
        notes = server.record()
        contract.keep("http.json", notes)
        contract.keep("options.json", OPTIONS)
        contract.keep("expected.json", told(out))
        yield from _itself(contract, model, notes)
        sent = {"temperature": 0.0, "top_k": 40, "max_tokens": TOKENS, "repeat_penalty": 1.0}
        arrived = [each["request"]["fields"] for each in notes]
        yield compared("decoding parameters that arrive", [sent] * len(notes), arrived)
        yield from stopped(
            contract, server, "wrong key", "openai:tiny", "Check the key",
            key="sk-contract-wrong", status=401, options=OPTIONS,
        )  # fmt: skip
        bare = server.url.removesuffix("/v1")
        yield from stopped(
            contract, server, "address without /v1", "openai:tiny", "/v1", key=KEY, status=404,
            options=OPTIONS, url=bare,
        )  # fmt: skip


def _itself(contract: Contract, model: Path, notes: list[dict]) -> Iterator[Exchanged]:
    """The same prompts answered by the library in a process of its own."""
    out = contract.work / "run"
    prompts = contract.work / "prompts.jsonl"
    asked = (each["request"]["text"] for each in notes)
    texts = {item_of(text): text for text in asked}
    lines = (json.dumps([name, text, TOKENS]) for name, text in texts.items())
    prompts.write_text("\n".join(lines), "utf-8")
    said = contract.call(contract.python, "-c", ITSELF, model, prompts)
    rows = [json.loads(line) for line in said.splitlines()]
    status = {"length": "truncated", "stop": "answered"}
    yield compared(
        "status and text of each response, beside the library without a server",
        {name: [status[ended], text] for name, text, ended, _ in rows},
        told(out),
    )
    yield compared(
        "tokens of each request and response",
        {name: (used["prompt_tokens"], used["completion_tokens"]) for name, *_, used in rows},
        usage(out),
    )
