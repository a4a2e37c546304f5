"""VLMEvalKit loads keju's tables, answers them by rule, and its result files are replayed."""

from __future__ import annotations

import io
import json
import re
import subprocess
import zipfile
from collections.abc import Iterator
from pathlib import Path

from tests.support.commanding import keju
from tests.support.contract_servers import RuleServer
from tests.support.contract_trial import (
    ANSWERS,
    QUESTIONS,
    REASONING,
    item_of,
    run,
    scores,
    thinking,
    told,
    trial,
)
from tests.support.contracting import Contract, Exchanged, compared

SCRIPT = Path(__file__).with_name("vlmevalkit_run.py")
FOLDERS = {
    "xlsx": "xlsx of a local model with SKIP_ERR=1",
    "tsv": "tsv of a local model with SKIP_ERR=1",
    "json": "json of a local model with SKIP_ERR=1",
    "api": "xlsx of its API model, which asks the same server",
}
_TIME = re.compile(rb"\d{4}-\d\d-\d\dT[\d:.+-]+")
_STAMP = b"2026-11-22T00:00:00"


def version(contract: Contract) -> str:
    """The commit of the checkout."""
    command = ["git", "-C", str(contract.checkout), "rev-parse", "HEAD"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout[:8]


def exchange(contract: Contract) -> Iterator[Exchanged]:
    """Each format of result files, with and without thinking apart."""
    data, direct = trial(contract.work / "data"), contract.work / "direct"
    tables = contract.work / "tables"
    exported = keju("data", "export", "vlmevalkit-tsv", data, "--out", tables)
    if exported.returncode:
        raise RuntimeError(exported.stderr)
    rules_file = contract.work / "rules.json"
    rules_file.write_text(json.dumps(ANSWERS, ensure_ascii=False), "utf-8")
    with RuleServer(ANSWERS) as rules:
        run(data, direct, "openai:served", "--base-url", rules.url)
        rules.seen.clear()
        contract.call(
            contract.python,
            SCRIPT,
            contract.checkout,
            tables,
            contract.work / "out",
            rules.url,
            rules_file,
        )
        yield compared(
            "each item of keju's tables with its images, as its API model sends them",
            {name: 2 if name == "c8" else 1 for name in QUESTIONS},
            {item_of(each.text): len(each.images) for each in rules.seen},
        )
    for folder, what in FOLDERS.items():
        replayed = _replayed(contract, data, folder)
        yield compared(f"{what}: status and text", told(direct), told(replayed))
        yield compared(f"{what}: scores", scores(direct), scores(replayed))
    yield from _thinking(contract, data, direct)


def _thinking(contract: Contract, data: Path, direct: Path) -> Iterator[Exchanged]:
    """SPLIT_THINK moves reasoning to a column, which keju stores apart from the text."""
    replayed = _replayed(contract, data, "thinking")
    ours, theirs = told(direct), told(replayed)
    _, text = ours.pop(REASONING)
    _, left = theirs.pop(REASONING)
    yield compared("SPLIT_THINK=1: status and text of the others", ours, theirs)
    yield compared(
        "SPLIT_THINK=1: text and reasoning of the one with reasoning",
        "".join(text.split()),
        f"<think>{thinking(replayed)[REASONING]}</think>{left}",
        detail=f"the text without it is {left!r}",
    )
    kept = {name: value for name, value in scores(direct).items() if "strict" in name}
    after = scores(replayed)
    yield compared("SPLIT_THINK=1: strict scores", kept, {name: after[name] for name in kept})


def _replayed(contract: Contract, data: Path, name: str) -> Path:
    """The run that reads a folder as VLMEvalKit wrote it; the folder is recorded."""
    out = contract.work / f"replay-{name}"
    folder = contract.work / "out" / name
    # Its evaluation writes tables beside these: served_T11_exact_matching_result.xlsx.
    files = f"served/served_T*[0-9].{name if name in {'tsv', 'json'} else 'xlsx'}"
    run(data, out, f"replay:{folder / files}")
    contract.keep(f"replay/{name}/expected.json", told(out))
    contract.keep(f"replay/{name}/replay.json", {"files": files, "columns": ""})
    for file in (each for each in folder.rglob("*") if each.is_file()):
        content = file.read_bytes()
        if file.name == "status.json":
            content = _TIME.sub(_STAMP, content)
        elif file.suffix == ".xlsx":
            content = _undated(content)
        contract.keep(f"replay/{name}/files/{file.relative_to(folder)}", content)
    return out


def _undated(workbook: bytes) -> bytes:
    """The same workbook with one time of creation, so that records of equal content are equal."""
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(workbook)) as there, zipfile.ZipFile(made, "w") as here:
        for each in there.infolist():
            content = there.read(each)
            if each.filename == "docProps/core.xml":
                content = _TIME.sub(_STAMP, content)
            here.writestr(each, content)
    return made.getvalue()
