"""A real run of lmms-eval on a model that answers by rule, its result files replayed."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from tests.support.contract_servers import RuleServer
from tests.support.contract_trial import ANSWERS, QUESTIONS, images_of, run, scores, told, trial
from tests.support.contracting import Contract, Exchanged, compared

COLUMNS = "id,resps,filtered_resps"
"""The columns of lmms-eval's samples; `resps` exists only where it removed reasoning."""
CONSTANT = "B"
"""What lmms-eval's dummy model answers to every item."""
HEAD = """\
dataset_path: json
dataset_kwargs: {{data_files: {{test: {data}}}}}
test_split: test
output_type: generate_until
doc_to_visual: !function functions.visual
doc_to_text: !function functions.text
doc_to_target: answer
process_results: !function functions.results
generation_kwargs: {{max_new_tokens: 64}}
metric_list:
  - {{metric: acc, aggregation: mean, higher_is_better: true}}
metadata: [{{version: 0.0}}]
"""
FILTER = """\
filter_list:
  - name: letter
    filter:
      - {function: regex, regex_pattern: "([A-D])"}
      - {function: take_first}
"""
FUNCTIONS = """\
from PIL import Image

def visual(doc):
    return [Image.open(file).convert("RGB") for file in doc["files"]]

def text(doc, kwargs=None):
    return doc["question"]

def results(doc, results):
    # lmms-eval writes what this returns into each line of samples; metric_list has only acc.
    return {"acc": float(results[0] == doc["answer"]), "id": doc["id"]}
"""
_STAMP = re.compile(r"^\d{8}_\d{6}")
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")
_AGGREGATE = ("results", "configs", "versions", "n-shot", "higher_is_better", "n-samples")


def exchange(contract: Contract) -> Iterator[Exchanged]:
    """A plain task, one with a filter, and the dummy model."""
    data = trial(contract.work / "data")
    _tasks(contract, data)
    with RuleServer(ANSWERS) as rules, RuleServer(dict.fromkeys(ANSWERS, CONSTANT)) as constant:
        run(data, contract.work / "direct", "openai:served", "--base-url", rules.url)
        run(data, contract.work / "constant", "openai:served", "--base-url", constant.url)
        rules.seen.clear()
        served = f"model_version=served,base_url={rules.url},api_key=none,max_retries=1"
        for task in ("plain", "filtered"):
            _evaluated(contract, task, task, "openai", served)
        yield compared(
            "prompts and number of images that lmms-eval sends, each in two tasks",
            sorted((text, 2 if "c8" in text else 1) for text in QUESTIONS.values()),
            sorted({(each.text, len(each.images)) for each in rules.seen}),
        )
    _evaluated(contract, "plain", "dummy", "dummy", f"response={CONSTANT}")
    for name, direct, what in (
        ("plain", "direct", "result folder of its `openai` model"),
        ("dummy", "constant", "result folder of its `dummy` model"),
    ):
        out = _replayed(contract, data, name)
        ours = contract.work / direct
        yield compared(f"{what}: status and text of each response", told(ours), told(out))
        yield compared(f"{what}: scores", scores(ours), scores(out))
    yield compared(
        "result folder of a task with a filter: it has what the filter took, and the failure",
        {name: _filtered(*each) for name, each in told(contract.work / "direct").items()},
        told(_replayed(contract, data, "filtered")),
    )


def _filtered(status: str, text: str) -> list[str]:
    found = re.search("[A-D]", text)
    return [status, (found[0] if found else "[invalid]") if status == "answered" else ""]


def _tasks(contract: Contract, data: Path) -> None:
    folder = contract.work / "tasks"
    folder.mkdir()
    rows = contract.work / "rows.jsonl"
    files = {
        name: [str(path.relative_to(contract.work)) for path in images_of(data, name)]
        for name in QUESTIONS
    }
    lines = (
        json.dumps(
            {"id": name, "question": text, "files": files[name], "answer": "B"}, ensure_ascii=False
        )
        for name, text in QUESTIONS.items()
    )
    rows.write_text("\n".join(lines), "utf-8")
    head = HEAD.format(data=rows.name)
    (folder / "functions.py").write_text(FUNCTIONS, "utf-8")
    (folder / "plain.yaml").write_text(f"task: plain\n{head}", "utf-8")
    (folder / "filtered.yaml").write_text(f"task: filtered\n{head}{FILTER}", "utf-8")


def _evaluated(contract: Contract, task: str, name: str, model: str, arguments: str) -> None:
    """Run lmms-eval and take over what it wrote, under names without the time."""
    out = contract.work / "out" / name
    contract.call(
        contract.python, "-m", "lmms_eval", "--model", model, "--model_args", arguments,
        "--include_path", contract.work / "tasks", "--tasks", task, "--log_samples",
        "--output_path", out,
    )  # fmt: skip
    kept = contract.recorded / "replay" / name / "files"
    kept.mkdir(parents=True)
    for file in out.rglob("*.json*"):
        target = kept / _STAMP.sub("20261122_000000", file.name)
        if file.suffix == ".json":
            whole = json.loads(file.read_text("utf-8"))
            part = {key: whole[key] for key in _AGGREGATE if key in whole}
            text = json.dumps(part, ensure_ascii=False, indent=2)
            target.write_text(_ADDRESS.sub("", text), "utf-8")
        else:
            shutil.copy(file, target)


def _replayed(contract: Contract, data: Path, name: str) -> Path:
    """The run that reads the folder as lmms-eval wrote it."""
    out = contract.work / f"replay-{name}"
    run(data, out, f"replay:{contract.work / 'out' / name}", "--replay-columns", COLUMNS)
    contract.keep(f"replay/{name}/expected.json", told(out))
    contract.keep(f"replay/{name}/replay.json", {"files": "", "columns": COLUMNS})
    return out
