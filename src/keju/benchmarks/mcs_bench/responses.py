"""The authors' RESPONSES.json: a list of objects with ID, Task_ID, Answer_Simplified and Response.

`read_responses` reads a file for scoring; `export_responses` writes a run as such files, which
`keju score FILE` and the authors' script read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from msgspec.structs import replace

from keju.benchmarks.mcs_bench import BENCHMARK
from keju.benchmarks.mcs_bench.script import official_answer
from keju.datasets.readers.mapped import SOURCE_ID
from keju.datasets.readers.records import Place
from keju.definitions import (
    Task,
    benchmark,
    has_reference,
    options_of,
    prompt_of,
    task,
)
from keju.definitions.wordings import RELEASED
from keju.errors import DataError, UsageError
from keju.exports import ResponseFile
from keju.files import bounded_bytes, read_json, write_json
from keju.items import Item, PromptVariant, Response, variant_of
from keju.local_paths import check_local
from keju.running.request_rebuilding import RequestRebuilder
from keju.runs import RunFolder, file_name
from keju.scoring.scoring_sample import LONGEST, Defect, ScoringSample, json_kind, text_response
from keju.text import read_content
from keju.texts import _

_LARGEST = 2 << 30
"""Bytes of the largest file that is read."""

_QUESTIONS = ("Question", "Question_Simplified", "Question_Traditional")
_ANSWERS = ("Answer", "Answer_Traditional")
_HALF = re.compile("[\ud800-\udfff]")
_WITHOUT_ANSWER = frozenset({"failed", "filtered"})

Row = Mapping[str, object]

# Reading.


def read_responses(path: Path) -> list[ScoringSample]:
    """Read a file in the authors' form.

    Each object has ``ID``, ``Task_ID`` (1 to 45), ``Answer_Simplified`` and ``Response``;
    ``Question`` (whose options help to take a letter; also ``Question_Simplified`` or
    ``Question_Traditional``) and ``Answer`` or ``Answer_Traditional`` (which `strict` prefers) are
    read where they exist, ``Options`` as a list too. An object without ``Response`` is a failure,
    as in a run, and a null one is empty text. Both are our reading: the authors' script stops, but
    for AR, CR and Edit_Distance of an object without ``Response``, which it reads as empty text.
    An item whose answer is not text is unscored; one whose response is not text is unscored where
    the authors' script stops at it. IDs may be whole floats, which pandas makes of numbers.

    Raises:
        DataError: the file is not such a list, or no object has a response or an answer; the
            message names the file and the item.
    """
    declared = {task.id: task for task in benchmark(BENCHMARK).tasks}
    samples: dict[tuple[str, str], ScoringSample] = {}
    for position, row in enumerate(_rows(path), start=1):
        place = Place(path, f"item {position}")
        if not isinstance(row, dict):
            raise place.error(_("is {}, not an object", json_kind(row)))
        name = _named(place, row, "ID")
        place = Place(path, f"item {position} (ID {ascii(name)[1:-1][:60]})")
        number = _named(place, row, "Task_ID").removeprefix("T")
        if f"T{number}" not in declared:
            problem = _("Task_ID {} is not a task of {}", ascii(number)[:40], BENCHMARK)
            raise place.error(problem, _("Use 1 to 45"))
        if (number, name) in samples:
            problem = _("ID and Task_ID {} occur twice", number)
            raise place.error(problem, _("Remove one of them"))
        samples[number, name] = _sample(place, row, name, declared[f"T{number}"])
    if not samples:
        raise DataError("contains no responses", file=path)
    hint = _("Rename the field that has it")
    if all(sample.defect.answer_missing for sample in samples.values()):
        raise DataError("no item has {}", "Answer_Simplified", file=path, hint=hint)
    if all(sample.response.status == "failed" for sample in samples.values()):
        raise DataError("no item has {}", "Response", file=path, hint=hint)
    return list(samples.values())


def _rows(path: Path) -> list[object]:
    """The list in the file; also with half characters and NaN, which Python's own json writes.

    Half a character becomes U+FFFD. NaN is not null here, as in a replay: the authors' script stops
    at both.
    """
    try:
        return read_json(path, list[object], _LARGEST)
    except DataError:
        with suppress(DataError, ValueError, RecursionError):
            text = bounded_bytes(path, _LARGEST).decode("utf-8-sig", "surrogatepass")
            valid_text = _HALF.sub("\ufffd", json.dumps(json.loads(text), ensure_ascii=False))
            if isinstance(rows := json.loads(valid_text), list):
                return rows
        raise


def _sample(place: Place, row: Row, name: str, declared: Task) -> ScoringSample:
    for key, value in row.items():
        if isinstance(value, str) and len(value) > LONGEST:
            problem = _("{} has {:,} characters, more than {:,}", key, len(value), LONGEST)
            raise place.error(problem, _("Shorten it, or remove the item"))
    answer = row.get("Answer_Simplified", "")
    stop = f"the authors' script stops here: TypeError, Answer_Simplified is {json_kind(answer)}"
    defect = Defect(
        answer="" if isinstance(answer, str) else stop,
        answer_missing="Answer_Simplified" not in row,
        in_file=True,
    )
    question = _text(row, *_QUESTIONS)
    options = row.get("Options")
    if declared.queries[0].form != "letter" or not isinstance(options, list):
        options = []
    item = Item(
        id=name,
        benchmark=declared.benchmark,
        task=declared.id,
        question=question,
        verbatim=bool(question),
        options=tuple(options) if all(isinstance(text, str) for text in options) else (),
        answer=_text(row, *_ANSWERS) if answer else "",
        answer_simplified=_text(row, "Answer_Simplified"),
    )
    content = read_content(row.get("Response"))
    text = content.text if "Response" in row else None
    response = text_response(item, text, place.file.stem, f"{item.task}/{item.id}")
    response = replace(response, not_text=content.not_text)
    return ScoringSample(item, response, defect)


def _named(place: Place, row: Row, key: str) -> str:
    """A name or whole number, which each item must have.

    Raises:
        DataError: it has none.
    """
    value = row.get(key)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, str | int) and not isinstance(value, bool) and str(value).strip():
        return str(value).strip()
    problem = _("{} is {}", key, json_kind(value)) if key in row else _("has no {}", key)
    raise place.error(problem, _("Each item needs ID, Task_ID, Answer_Simplified and Response"))


def _text(row: Row, *keys: str) -> str:
    """The first text of these fields; empty where there is none."""
    texts = (value for key in keys if isinstance(value := row.get(key), str))
    return next(filter(None, texts), "")


# Writing.


def export_responses(run: Path, out: Path) -> list[ResponseFile]:
    """Write a run's responses to MCS-Bench's tasks.

    A file has the responses of one model in one prompt variant and round. `Response` is the content
    as it was returned; a failure has none, so that scoring the file counts it as a failure again.
    An item without a reference has no answer fields.

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
    rebuilder = RequestRebuilder(folder)
    sets: dict[tuple[str, PromptVariant, int], dict[tuple[str, str], Response]] = {}
    for model in folder.manifest().models:
        for response in folder.responses(model):
            if (key := (response.task, response.item)) in items:
                response_set = (model, variant_of(response), response.round)
                sets.setdefault(response_set, {})[key] = response
    if not sets:
        raise UsageError("{}: no responses to tasks of {}", run, BENCHMARK)
    in_one_file = out.suffix == ".json"
    if in_one_file and len(sets) > 1:
        raise UsageError(
            "-o {}: the run has {} sets of responses (models, prompt variants and rounds), and a "
            "file has one. Give a directory",
            out,
            len(sets),
        )
    if not in_one_file:
        if out.exists() and (not out.is_dir() or any(out.iterdir())):
            raise UsageError("-o {}: exists and is not an empty directory. Choose another -o", out)
        check_local(out)
        out.mkdir(parents=True, exist_ok=True)
    __, variants, rounds = map(set, zip(*sets, strict=True))
    files: list[ResponseFile] = []
    for (model, variant, number), responses in sets.items():
        label = variant.label(variants) if len(variants) > 1 else ""
        parts = (model, label, f"round {number}" if len(rounds) > 1 else "")
        path = out if in_one_file else out / f"{file_name(' '.join(filter(None, parts)))}.json"
        rows = [
            _row(item, responses[key], rebuilder) for key, item in items.items() if key in responses
        ]
        write_json(path, rows)
        failures = sum("Response" not in row for row in rows)
        files.append(ResponseFile(path, len(rows), failures))
    return files


def _row(item: Item, response: Response, rebuilder: RequestRebuilder) -> dict[str, object]:
    declared = task(item.task)
    # The ID in the release, which differs where the import put the task before it.
    notes = (step.note for step in item.provenance if step.note.startswith(SOURCE_ID))
    row: dict[str, object] = {
        "ID": next((note.removeprefix(SOURCE_ID) for note in notes), item.id),
        "Task_ID": int(item.task.removeprefix("T")),
        "Domain": declared.domain_zh,
        "Task_Name": declared.name_zh,
        "Question": prompt_of(item, script=response.script),
    }
    for script in item.question_in:
        row[f"Question_{script.capitalize()}"] = prompt_of(item, script=script)
    if has_reference(item):
        row |= {"Answer_Simplified": official_answer(item), "Answer_Traditional": item.answer}
    if options := options_of(item):
        row["Options"] = list(options)
    # `Question` stays the published prompt, as the authors' script and other tools expect; the text
    # that was sent in its place is in fields of its own.
    if response.wording != RELEASED or rebuilder.manifest.system_hash(response.model):
        request = rebuilder.request(item, response)
        row |= {"Wording": response.wording, "Prompt": request.prompt}
        if system := rebuilder.system_of(request, response.model):
            row["System_Prompt"] = system
    if response.status not in _WITHOUT_ANSWER:
        row["Response"] = json.loads(response.not_text) if response.not_text else response.text
    return row
