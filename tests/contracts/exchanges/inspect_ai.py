"""`inspect eval` of keju's tasks on a model that answers by rule, and logs in both directions."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from tests.support.contract_servers import RuleServer
from tests.support.contract_trial import (
    ANSWERS,
    REASONING,
    main_scores,
    run,
    scores,
    thinking,
    told,
    trial,
)
from tests.support.contracting import Contract, Exchanged, compared

MODEL = "openai-api/local/served"
READ = """\
import json, math, sys
from inspect_ai.log import read_eval_log
log = read_eval_log(sys.argv[1])
value = lambda v: None if isinstance(v, float) and math.isnan(v) else v
print(json.dumps([log.status, {str(s.id): [
    s.output.completion,
    {k: value(v) for score in (s.scores or {}).values() for k, v in score.value.items()},
] for s in log.samples}]))
"""


def exchange(contract: Contract) -> Iterator[Exchanged]:
    """A direct run and an eval of the same model, then replays and an export."""
    data = trial(contract.work / "data")
    direct = contract.work / "direct"
    logs = contract.work / "logs"
    inspect = (contract.python, "-m", "inspect_ai")
    with RuleServer(ANSWERS) as rules:
        run(data, direct, "openai:served", "--base-url", rules.url)
        shown, rules.seen = rules.seen, []
        contract.call(
            *inspect, "eval", "keju_inspect/mcs_bench", "-T", f"dataset={data}", "--model", MODEL,
            "--log-dir", logs, "--display", "none", "--no-fail-on-error", "--max-retries", "0",
            LOCAL_API_KEY="none", LOCAL_BASE_URL=rules.url,
        )  # fmt: skip
    yield compared(
        "prompts and images of keju's task in `inspect eval`",
        sorted(each[1:] for each in shown),
        sorted(each[1:] for each in rules.seen),
    )
    (log,) = logs.glob("*.eval")
    contract.call(*inspect, "log", "convert", log, "--to", "json", "--output-dir", logs / "json")
    yield from _replayed(contract, data, log, next((logs / "json").glob("*.json")))
    yield from _exported(contract, data)


def _replayed(contract: Contract, data: Path, *logs: Path) -> Iterator[Exchanged]:
    """What Inspect changes is reasoning in the text, which it moves to a part of its own."""
    direct = contract.work / "direct"
    main = main_scores(direct)
    _, samples = json.loads(contract.call(contract.python, "-c", READ, logs[0]))
    kept = {name: values for name, (_, values) in samples.items() if values}
    failed = {name for name, (status, _) in told(direct).items() if status == "failed"}
    strict = {name: main[name]["strict"] for name in main.keys() - failed}
    yield compared(
        "strict scores in Inspect's log", strict, {name: kept[name]["strict"] for name in kept}
    )
    for log in logs:
        out = contract.work / f"replay{log.suffix}"
        run(data, out, f"replay:{log}")
        ours, theirs = told(direct), told(out)
        said = thinking(out)[REASONING]
        _, left = theirs.pop(REASONING)
        yield compared(
            f"replay of the log ({log.suffix}): reasoning, which Inspect moves to a part",
            "".join(ours.pop(REASONING)[1].split()),
            f"<think>{said}</think>{left}",
            detail=f"the text without it is {left!r}",
        )
        yield compared(f"replay of the log ({log.suffix}): status and text", ours, theirs)
        before, after = scores(direct), scores(out)
        same = [name for name in before if "strict" in name or not name.startswith(REASONING)]
        yield compared(
            f"replay of the log ({log.suffix}): scores (not official of the one with reasoning)",
            {name: before[name] for name in same},
            {name: after[name] for name in same},
        )


def _exported(contract: Contract, data: Path) -> Iterator[Exchanged]:
    """keju's run as a log that Inspect reads, and read back."""
    direct = contract.work / "direct"
    contract.call(
        contract.python, "-m", "keju", "export", "inspect", direct, "--out",
        contract.work / "export",
    )  # fmt: skip
    samples: dict[str, list[str]] = {}
    for log in (contract.work / "export").rglob("*.eval"):
        samples |= json.loads(contract.call(contract.python, "-c", READ, log))[1]
    answered = {name: text for name, (status, text) in told(direct).items() if status != "failed"}
    yield compared(
        "`keju export inspect` read by Inspect: texts",
        answered,
        {name: samples[name][0] for name in answered},
    )
    out = contract.work / "back"
    run(data, out, f"replay:{contract.work / 'export' / '**' / '*.eval'}")
    yield compared("`keju export inspect` replayed: status and text", told(direct), told(out))
    yield compared("`keju export inspect` replayed: scores", scores(direct), scores(out))
