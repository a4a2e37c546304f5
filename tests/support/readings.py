"""The banks of answers, and how far the reader takes what a careful annotator takes."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from math import sqrt
from pathlib import Path
from typing import Any, NamedTuple

from keju.extraction import Reading, read
from keju.scoring.short_answer import entity_set, same_short
from keju.text import counted

BANKS = Path(__file__).parents[1] / "banks"
FORMS = (
    "letter", "short", "number", "yes-no", "boxes", "probability",
    "entities", "transcription", "punctuated", "translation", "text",
)  # fmt: skip
VALUE_FORMS = FORMS[:6]
"""The forms with a value, over which the bars are counted."""
NATURAL = ("answers_natural.jsonl", "answers_natural_second.jsonl")
HARD = ("answers_frozen.jsonl",)
DEVELOPMENT = ("development.jsonl",)
STRESS = ("stress.jsonl",)
_NAMES = {"yes_no": "yes-no", "yesno": "yes-no", "count": "number", "ocr": "transcription",
          "mcq": "letter", "choice": "letter", "box": "boxes", "entity": "entities",
          "open": "text", "numeric": "number", "prob": "probability"}  # fmt: skip


class Counts(NamedTuple):
    """How the reader does on some lines.

    Attributes:
        right: values read as the annotator takes them.
        wrong: values read where the annotator takes another one.
        invented: values read where the annotator takes none.
        unclear: answers of which the annotator takes a value and the reader none.
        without: answers of which both take nothing.
    """

    right: int = 0
    wrong: int = 0
    invented: int = 0
    unclear: int = 0
    without: int = 0

    @property
    def read(self) -> int:
        """The values that were read; precision is the share of the right ones."""
        return self.right + self.wrong + self.invented

    @property
    def answers(self) -> int:
        """The answers that give a value; coverage is the share that was read rightly."""
        return self.right + self.wrong + self.unclear

    def __add__(self, other: Counts) -> Counts:  # type: ignore[override]  # a sum, not a chain
        return Counts(*(left + right for left, right in zip(self, other, strict=True)))


def lines(names: Iterable[str]) -> list[dict[str, Any]]:
    """The lines of some banks."""
    return [
        json.loads(line)
        for name in names
        for line in (BANKS / name).read_text("utf-8").splitlines()
        if line.strip()
    ]


def form_of(row: dict[str, Any]) -> str:
    """The answer form of a line, under keju's name."""
    form = str(row["form"]).strip().lower()
    return _NAMES.get(form, form)


def reading_of(row: dict[str, Any]) -> Reading:
    """What the reader takes of the response of a line."""
    options = row.get("options") or ()
    options = tuple(options.values()) if isinstance(options, dict) else tuple(options)
    return read(form_of(row), row["response"], row.get("question") or "", options)


def counts_by_form(rows: Iterable[dict[str, Any]]) -> dict[str, Counts]:
    """The counts of some lines, by form."""
    outcomes: dict[str, Counter[str]] = {form: Counter() for form in FORMS}
    for row in rows:
        outcomes[form_of(row)][_outcome(row)] += 1
    return {form: Counts(**counter) for form, counter in outcomes.items()}


def total(counts: dict[str, Counts], forms: Iterable[str] = VALUE_FORMS) -> Counts:
    """The counts of some forms together."""
    result = Counts()
    for form in forms:
        result = result + counts[form]
    return result


def wilson(part: int, whole: int) -> tuple[float, float]:
    """The 95 % Wilson interval of a share."""
    if not whole:
        return 0.0, 1.0
    share, z = part / whole, 1.959964
    centre = (share + z * z / (2 * whole)) / (1 + z * z / whole)
    half = z * sqrt(share * (1 - share) / whole + z * z / (4 * whole * whole)) / (1 + z * z / whole)
    return max(centre - half, 0.0), min(centre + half, 1.0)


def _outcome(row: dict[str, Any]) -> str:
    reading, expected = reading_of(row), row["expected"]
    if reading.state != "read":
        return "without" if expected is None else "unclear"
    tempting = [value for value in row.get("not") or () if not _same(row, expected, value)]
    if expected is None:
        return "invented"
    is_tempted = any(_credits(row, reading.value, value) for value in tempting)
    return "right" if _credits(row, reading.value, expected) and not is_tempted else "wrong"


def _same(row: dict[str, Any], expected: Any, value: Any) -> bool:
    """Whether a tempting value is the expected one in another spelling."""
    if expected is None:
        return False
    if form_of(row) == "short":
        return same_short(str(value), str(expected))
    return form_of(row) == "transcription" and counted(str(value)) == counted(str(expected))


def _credits(row: dict[str, Any], value: str, expected: Any) -> bool:  # noqa: PLR0911
    """Whether a value earns the credit where the reference is another one."""
    match form_of(row):
        case "number" | "probability":
            try:
                return abs(float(value) - float(expected)) < 1e-9
            except (TypeError, ValueError):
                return False
        case "yes-no":
            truth = {"true": "yes", "false": "no"}.get(str(expected).lower(), str(expected).lower())
            return value.lower() == truth
        case "short":
            return same_short(str(expected), value)
        case "entities":
            return entity_set(value) == entity_set(_entities(expected))
        case "boxes":
            boxes = [expected] if expected and not isinstance(expected[0], list) else expected
            return bool(json.loads(value) == [list(map(float, box)) for box in boxes])
        case "letter":
            return bool(value == expected)
        case "transcription":
            return counted(str(expected)) == counted(value)
    return "".join(str(expected).split()) == "".join(value.split())


def _entities(expected: str | list[str] | list[dict[str, str]]) -> str:
    """The entities in the form of a reference; types are not compared."""
    if isinstance(expected, str):
        return expected
    return "、".join(name["text"] if isinstance(name, dict) else name for name in expected)
