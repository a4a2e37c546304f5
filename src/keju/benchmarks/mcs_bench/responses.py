"""A run as files in the form of the MCS-Bench authors' script: a list of objects with Response.

`keju score FILE` and the script itself read them. One file has the responses of one model in one
prompt variant and round. `Response` is the content as it was returned; a failure has none, so that
scoring the file counts it as a failure again. An item without a reference has no answer fields.
Answers to another prompt than the published one have it in `Wording`, `Prompt`, `System_Prompt` and
`Examples`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from keju.benchmarks.mcs_bench import BENCHMARK
from keju.benchmarks.mcs_bench.texts import official_answer
from keju.datasets.readers.mapped import SOURCE_ID
from keju.definitions import has_reference, options_of, prompt_of, task
from keju.definitions.wordings import RELEASED
from keju.errors import UsageError
from keju.exports import ResponseFile
from keju.files import write_json
from keju.items import Item, PromptVariant, Response, variant_of
from keju.local_paths import check_local
from keju.running.request_rebuilding import RequestRebuilder
from keju.runs import RunFolder, file_name

_WITHOUT_ANSWER = frozenset({"failed", "filtered"})


class _ResponseSet(NamedTuple):
    """Whose responses a file has."""

    model: str
    variant: PromptVariant
    round: int


def export_responses(run: Path, out: Path) -> list[ResponseFile]:
    """Write a run's responses to MCS-Bench's tasks.

    Args:
        run: the run. Responses to other benchmarks' items are skipped.
        out: a file name that ends in ``.json``, for a run of one model in one prompt variant and
            round; else a directory, new or empty.

    Raises:
        UsageError: the run does not exist, it has no response to a task of MCS-Bench, `out` is not
            empty, or `out` is one file and the run has several models, prompt variants or rounds.
        DataError: the run is damaged.
    """
    folder = RunFolder.open(run)
    items = {(item.task, item.id): item for item in folder.items() if item.benchmark == BENCHMARK}
    shown = RequestRebuilder(folder)
    found: dict[_ResponseSet, dict[tuple[str, str], Response]] = {}
    for model in folder.manifest().models:
        for response in folder.responses(model):
            if (place := (response.task, response.item)) in items:
                response_set = _ResponseSet(model, variant_of(response), response.round)
                found.setdefault(response_set, {})[place] = response
    if not found:
        raise UsageError("{}: no responses to tasks of {}", run, BENCHMARK)
    return [
        _write(path, items, found[response_set], shown)
        for response_set, path in _files(out, list(found)).items()
    ]


def _files(out: Path, response_sets: list[_ResponseSet]) -> dict[_ResponseSet, Path]:
    """The file of each set of responses.

    Raises:
        UsageError: `out` is one file for several, or exists and is not empty.
    """
    if out.suffix == ".json":
        if len(response_sets) > 1:
            raise UsageError(
                "-o {}: the run has {} sets of responses (models, prompt variants and rounds), "
                "and a file has one. Give a directory",
                out,
                len(response_sets),
            )
        return {response_sets[0]: out}
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UsageError("-o {}: exists and is not an empty directory. Choose another -o", out)
    check_local(out)
    out.mkdir(parents=True, exist_ok=True)
    paths = (out / f"{file_name(name)}.json" for name in _names(response_sets))
    return dict(zip(response_sets, paths, strict=True))


def _names(response_sets: list[_ResponseSet]) -> Iterator[str]:
    """The model's name, with the prompt variant and the round where there are several."""
    variants = {response_set.variant for response_set in response_sets}
    rounds = {response_set.round for response_set in response_sets}
    for response_set in response_sets:
        label = response_set.variant.label(variants) if len(variants) > 1 else ""
        number = f"round {response_set.round}" if len(rounds) > 1 else ""
        yield " ".join(filter(None, (response_set.model, label, number)))


def _write(
    path: Path,
    items: Mapping[tuple[str, str], Item],
    said: Mapping[tuple[str, str], Response],
    shown: RequestRebuilder,
) -> ResponseFile:
    rows = [_row(item, said[place], shown) for place, item in items.items() if place in said]
    write_json(path, rows)
    return ResponseFile(path, len(rows), sum("Response" not in row for row in rows))


def _sent(item: Item, response: Response, shown: RequestRebuilder) -> dict[str, object]:
    """The text that was sent in place of the published prompt; empty if that was sent alone.

    `Question` stays the published prompt, as the authors' script and other tools expect.
    """
    if response.wording == RELEASED and not shown.manifest.system_hash(response.model):
        return {}
    request = shown.request(item, response)
    found: dict[str, object] = {"Wording": response.wording, "Prompt": request.prompt}
    if system := shown.system_of(request, response.model):
        found["System_Prompt"] = system
    return found


def _released_id(item: Item) -> str:
    """The ID that the item has in the release; its own unless the import put the task before it."""
    notes = (step.note for step in item.provenance if step.note.startswith(SOURCE_ID))
    return next((note.removeprefix(SOURCE_ID) for note in notes), item.id)


def _wordings(item: Item) -> dict[str, str]:
    """The whole prompts in both scripts, of an item that was released in both."""
    return {
        f"Question_{script.capitalize()}": prompt_of(item, script=script)
        for script in item.question_in
    }


def _row(item: Item, response: Response, shown: RequestRebuilder) -> dict[str, object]:
    declared = task(item.task)
    row: dict[str, object] = {
        "ID": _released_id(item),
        "Task_ID": int(item.task.removeprefix("T")),
        "Domain": declared.domain_zh,
        "Task_Name": declared.name_zh,
        "Question": prompt_of(item, script=response.script),
        **_wordings(item),
    }
    if has_reference(item):
        row |= {"Answer_Simplified": official_answer(item), "Answer_Traditional": item.answer}
    if options := options_of(item):
        row["Options"] = list(options)
    row |= _sent(item, response, shown)
    if response.status not in _WITHOUT_ANSWER:
        row["Response"] = json.loads(response.not_text) if response.not_text else response.text
    return row
