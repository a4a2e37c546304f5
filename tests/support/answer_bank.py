"""The banks of answers, and how far an extracted answer is what a careful human takes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from keju.definitions import task
from keju.items import Item, Response
from keju.scoring.numeric_answer import extract_final_probability
from keju.scoring.scoring_sample import ScoringSample
from keju.scoring.short_answer import entity_set, same_short
from keju.text import counted

BANKS = Path(__file__).parents[1] / "banks"
_TASKS = {"letter": "T5", "short": "T21", "entities": "T4", "transcription": "T1", "text": "T6",
          "punctuated": "T3", "translation": "T2"}  # fmt: skip
_QUERIES = {"number": "How", "yes-no": "Yes-or-No", "boxes": "Where"}
_NAMES = {"yes_no": "yes-no", "yesno": "yes-no", "count": "number", "ocr": "transcription",
          "mcq": "letter", "choice": "letter", "box": "boxes", "entity": "entities",
          "open": "text", "numeric": "number", "prob": "probability"}  # fmt: skip


def bank(name: str) -> list[dict[str, Any]]:
    """The lines of a bank; none where the file does not exist."""
    path = BANKS / name
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


def form_of(row: dict[str, Any]) -> str:
    """The answer form of a line, under keju's name."""
    form = str(row["form"]).strip().lower()
    return _NAMES.get(form, form)


def sample_of(row: dict[str, Any]) -> ScoringSample:
    """A line as an item with its response."""
    form = form_of(row)
    name, query = _TASKS.get(form, "recognition"), _QUERIES.get(form, "")
    options = row.get("options") or ()
    if isinstance(options, dict):
        options = list(options.values())
    item = Item(
        id="1", benchmark=task(name).benchmark, task=name, query=query,
        question=row.get("question") or "", answer="…", options=tuple(options),
        fields={"term": "…"} if form == "letter" else {},
    )  # fmt: skip
    text = row["response"]
    response = Response(
        key="1", item="1", model="m", benchmark=item.benchmark, task=name, query=query,
        status="answered" if text.strip() else "empty", text=text,
    )  # fmt: skip
    return ScoringSample(item, response)


def extracted(row: dict[str, Any]) -> Any:
    """What `strict` takes of a response, in the form of `expected`; None for no answer."""
    form = form_of(row)
    if form == "probability":
        return extract_final_probability(row["response"]).answer
    sample = sample_of(row)
    if form == "boxes":
        return sample.box_list.rows
    answer = sample.extracted.answer
    return None if answer is not None and not answer.strip() else answer


def agrees(row: dict[str, Any]) -> bool:
    """Whether `strict` takes what the human takes, and gives no credit for a value in `not`."""
    expected, found = row["expected"], extracted(row)
    tempting = [each for each in row.get("not") or () if not _same(row, expected, each)]
    if found is not None and any(_credits(row, found, each) for each in tempting):
        return False
    if expected is None or found is None:
        return expected is None and found is None
    return _credits(row, found, expected)


def _credits(row: dict[str, Any], found: Any, value: Any) -> bool:  # noqa: PLR0911
    """Whether an extracted answer earns the credit where the reference is a value."""
    match form_of(row):
        case "number" | "probability":
            return _is_number(value) and abs(float(found) - float(value)) < 1e-9
        case "yes-no":
            truth = {"true": "yes", "false": "no"}.get(str(value).lower(), str(value).lower())
            return str(found).lower() == truth
        case "short":
            return any(same_short(str(value), each) for each in readings(row))
        case "entities":
            return entity_set(found) == entity_set(_entities(value))
        case "boxes":
            rows = [value] if value and not isinstance(value[0], list) else value
            return [list(row) for row in found] == [list(map(float, row)) for row in rows]
        case "letter":
            return bool(found == value)
        case "transcription":
            return counted(str(value)) == counted(found)
    return "".join(str(value).split()) == "".join(found.split())


def readings(row: dict[str, Any]) -> tuple[str, ...]:
    """The readings of a short answer, the first of which is the extracted one."""
    return sample_of(row).extracted.readings


def _same(row: dict[str, Any], expected: Any, value: Any) -> bool:
    """Whether a scorer cannot tell two values apart (one text in two scripts)."""
    if expected is None:
        return False
    if form_of(row) == "short":
        return same_short(str(value), str(expected))
    return form_of(row) == "transcription" and counted(str(value)) == counted(str(expected))


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def _entities(expected: str | list[str] | list[dict[str, str]]) -> str:
    """The entities in the form of a reference; types are not scored, so they are dropped."""
    if isinstance(expected, str):
        return expected
    return "、".join(each["text"] if isinstance(each, dict) else each for each in expected)
