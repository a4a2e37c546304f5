"""Responses in the authors' form: a list of ID, Task_ID, Answer_Simplified, Response."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from keju.benchmarks.mcs_bench import BENCHMARK
from keju.datasets.readers.records import Place
from keju.definitions import Task, is_task_word, task, tasks, tasks_named
from keju.errors import DataError
from keju.files import read_json
from keju.items import Failure, Item, Response, Status
from keju.scoring.scoring_sample import LONGEST, Defect, ScoringSample, json_kind
from keju.text import read_content
from keju.texts import _

_LARGEST = 2 << 30
_QUESTIONS = ("Question", "Question_Simplified", "Question_Traditional")
_ANSWERS = ("Answer", "Answer_Traditional")
_HALF = re.compile("[\ud800-\udfff]")
_STOPS = "the authors' script stops here: TypeError, "


def read_responses(path: Path) -> list[ScoringSample]:
    """Read a file in the authors' form.

    Each object has ``ID`` and ``Task_ID`` (1 to 45; or a ``Task_Name`` that is one task's alone,
    with ``Domain`` where needed), ``Answer_Simplified`` and ``Response``;
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
    if path.is_file() and path.stat().st_size > _LARGEST:
        raise DataError("more than 2 GiB", file=path, hint="Score it in parts")
    samples = list(_cases(path, _rows(path)))
    if not samples:
        raise DataError("contains no responses", file=path)
    if all(sample.defect.answer_missing for sample in samples):
        raise DataError(
            "no item has Answer_Simplified", file=path, hint="Rename the field that has the answers"
        )
    if all(sample.response.status == "failed" for sample in samples):
        raise DataError(
            "no item has Response", file=path, hint="Rename the field that has the responses"
        )
    return samples


def _rows(path: Path) -> list[object]:
    """The list in the file; also with half characters and NaN, which Python's own json writes.

    Half a character becomes U+FFFD. NaN is not null here, as in a replay: the authors' script stops
    at both.
    """
    try:
        return read_json(path, list[object], _LARGEST)
    except DataError:
        try:
            content = json.loads(path.read_bytes().decode("utf-8-sig", "surrogatepass"))
            rows = json.loads(_HALF.sub("\ufffd", json.dumps(content, ensure_ascii=False)))
        except (OSError, ValueError, RecursionError):
            rows = None
        if not isinstance(rows, list):
            raise
        return rows


def _cases(file: Path, rows: list[object]) -> Iterator[ScoringSample]:
    numbers = {task.id.removeprefix("T") for task in tasks() if task.benchmark == BENCHMARK}
    seen: set[tuple[str, str]] = set()
    for position, row in enumerate(rows, start=1):
        place = Place(file, f"item {position}")
        if not isinstance(row, dict):
            raise place.error(_("is {}, not an object", json_kind(row)))
        name = _named(place, row, "ID")
        place = Place(file, f"item {position} (ID {ascii(name)[1:-1][:60]})")
        number = _number(place, row)
        if number not in numbers:
            raise place.error(
                _(
                    "Task_ID {} is not a task of {}",
                    ascii(row["Task_ID"])[:40],
                    BENCHMARK,
                    hint="Use 1 to 45",
                )
            )
        if (number, name) in seen:
            raise place.error(_("ID and Task_ID {} occur twice", number, hint="Remove one of them"))
        seen.add((number, name))
        _check_names(place, row, task(f"T{number}"))
        yield _sample(place, row, name, number)


def _number(place: Place, row: Mapping[str, object]) -> str:
    """The task's number: Task_ID, or without it the only task that Task_Name and Domain name."""
    if "Task_ID" not in row:
        named = tasks_named(_optional(row, "Task_Name"), _optional(row, "Domain"))
        found = [each.id.removeprefix("T") for each in named if each.benchmark == BENCHMARK]
        if len(found) == 1:
            return found[0]
    return _named(place, row, "Task_ID").removeprefix("T")


def _check_names(place: Place, row: Mapping[str, object], task: Task) -> None:
    for key, names in (
        ("Task_Name", (task.name_zh, task.name_en)),
        ("Domain", (task.domain_zh, task.domain)),
    ):
        said = _optional(row, key).strip()
        if is_task_word(said) and said not in names:
            raise place.error(
                _(
                    "Task_ID {} is {}, but {} is {}",
                    task.id,
                    " ".join(names),
                    key,
                    said[:20],
                    hint="Correct one of them",
                )
            )


def _sample(place: Place, row: Mapping[str, object], name: str, number: str) -> ScoringSample:
    for key, value in row.items():
        if isinstance(value, str) and len(value) > LONGEST:
            raise place.error(
                _(
                    "{} has {:,} characters, more than {:,}",
                    key,
                    len(value),
                    LONGEST,
                    hint="Shorten it, or remove the item",
                )
            )
    answer = row.get("Answer_Simplified", "")
    # The authors' script cannot score such an answer.
    flaw = "" if isinstance(answer, str) else f"{_STOPS}Answer_Simplified is {json_kind(answer)}"
    missing = "Answer_Simplified" not in row
    defect = Defect(answer=flaw, answer_missing=missing, in_file=True)
    declared = task(f"T{number}")
    question = _first(row, _QUESTIONS)
    item = Item(
        id=name,
        benchmark=declared.benchmark,
        task=declared.id,
        question=question,
        verbatim=bool(question),
        options=_options(row) if declared.queries[0].form == "letter" else (),
        answer=_first(row, _ANSWERS) if answer else "",
        answer_simplified=_optional(row, "Answer_Simplified"),
    )
    return ScoringSample(item, _response(item, place.file.stem, row), defect)


def _response(item: Item, model: str, row: Mapping[str, object]) -> Response:
    """The response as a run stores it; a failure where the row has none."""
    failed = "Response" not in row
    content = read_content(row.get("Response"))
    status: Status = "answered" if content.text.strip() else "empty"
    return Response(
        key=f"{item.task}/{item.id}",
        item=item.id,
        model=model,
        benchmark=item.benchmark,
        task=item.task,
        status="failed" if failed else status,
        text=content.text,
        not_text=content.not_text,
        error=Failure(kind="missing-answer", message="the file has no Response")
        if failed
        else None,
    )


def _named(place: Place, row: Mapping[str, object], key: str) -> str:
    value = row.get(key)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, str | int) and not isinstance(value, bool) and str(value).strip():
        return str(value).strip()
    problem = _("{} is {}", key, json_kind(value)) if key in row else _("has no {}", key)
    raise place.error(problem, _("Each item needs ID, Task_ID, Answer_Simplified and Response"))


def _optional(row: Mapping[str, object], key: str) -> str:
    value = row.get(key)
    return value if isinstance(value, str) else ""


def _first(row: Mapping[str, object], keys: Sequence[str]) -> str:
    return next(filter(None, (_optional(row, key) for key in keys)), "")


def _options(row: Mapping[str, object]) -> tuple[str, ...]:
    """The options as `keju export mcs-bench` writes them; none in any other form."""
    value = row.get("Options")
    if not isinstance(value, list):
        return ()
    texts = [text for text in value if isinstance(text, str)]
    return tuple(texts) if len(texts) == len(value) else ()
