"""`Decisions`: what people and extractor models decided about unclear answers.

The rules take a value from an answer only where it commits to one (`keju.extraction`). Of any other
answer people (``keju serve``) or an extractor model (``keju judge extract``) decide which value it
gives, if any. Until somebody has decided, it earns nothing, and its score is a range.
"""

from __future__ import annotations

import csv
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from string import ascii_uppercase
from typing import Literal

import msgspec

from keju.errors import DataError, UsageError
from keju.files import FORMULA, sha256_bytes, sha256_file
from keju.items import AnswerForm, Record, Response
from keju.text import parse_number
from keju.texts import _

CODE, VALUE, PERSON = "answer_key", "value", "person"
"""The columns of a decisions file that are read; it may have more."""
NO_ANSWER = "none"
"""The value in a decisions file of an answer that gives none: it is wrong."""
_LONGEST_CELL = 2**31 - 1
"""Answers of a million characters are longer than Python's default limit of cells."""


class Decision(Record, frozen=True, kw_only=True):
    """The value that one unclear answer gives.

    Attributes:
        code: the code of the answer (`answer_code`).
        value: as `Reading.value`; empty if the answer gives none.
        by: who decided it.
    """

    code: str
    value: str
    by: Literal["person", "model"]


class Decisions(Record, frozen=True, kw_only=True):
    """Decisions by code of the answer, and where they are from.

    `sources` are ``people@HASH`` for a file of people's decisions, and ``MODEL@HASH`` for an
    extractor, of which the hash covers the model's settings and the prompts.
    """

    sources: tuple[str, ...] = ()
    by_code: Mapping[str, Decision] = {}

    def of(self, code: str) -> Decision | None:
        """The decision on an answer, or None if it is not decided yet."""
        return self.by_code.get(code)

    @property
    def signature(self) -> str:
        """Part of a score's signature: ``unclear:people@9f8e7d6c+openai:m@1a2b3c4d``, or ""."""
        return f"unclear:{'+'.join(self.sources)}" if self.sources else ""

    def before(self, second: Decisions) -> Decisions:
        """These decisions, and a second set for the answers that these do not decide."""
        return Decisions(
            sources=(*self.sources, *second.sources), by_code={**second.by_code, **self.by_code}
        )


NO_DECISIONS = Decisions()


def answer_code(response: Response) -> str:
    """A code that identifies an answer and its text, but does not show who gave it."""
    fields = ("model", "key", "item", "task", "query", "setting", "round", "text")
    spelled = msgspec.json.encode([getattr(response, field) for field in fields])
    return sha256_bytes(spelled)[:16]


def read_decisions(path: Path) -> Decisions:
    """Read the decisions that ``keju serve`` wrote. Of several people the majority counts.

    An answer on which they are divided evenly stays unclear. The last row of a person counts.

    Raises:
        UsageError: the file does not exist.
        DataError: it is not a table of decisions.
    """
    if not path.is_file():
        raise UsageError("{}: no such file", path)
    votes: dict[str, dict[str, str]] = defaultdict(dict)
    limit = csv.field_size_limit(_LONGEST_CELL)
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            for number, row in enumerate(csv.DictReader(stream), start=2):
                code, value = (row.get(CODE) or "").strip(), (row.get(VALUE) or "").strip()
                if not code or not value:
                    raise DataError(
                        "the row is not a decision: the columns answer_key and value must be "
                        "filled, value with `none` where the answer gives no value",
                        file=path,
                        item=f"row {number}",
                        hint="Write the file with keju serve",
                    )
                voter = (row.get(PERSON) or "").strip() or f"row {number}"
                votes[code][voter] = _without_apostrophe(value)
    except (UnicodeDecodeError, csv.Error) as error:
        raise DataError("not a CSV file in UTF-8: {}", error, file=path) from None
    finally:
        csv.field_size_limit(limit)
    decided = {}
    for code, values in votes.items():
        (value, count), *runners_up = Counter(values.values()).most_common(2)
        if not runners_up or runners_up[0][1] < count:
            value = "" if value == NO_ANSWER else value
            decided[code] = Decision(code=code, value=value, by="person")
    return Decisions(sources=(f"people@{sha256_file(path)[:8]}",), by_code=decided)


def _without_apostrophe(cell: str) -> str:
    """A cell's text without the apostrophe that keeps spreadsheets from reading a formula."""
    return cell[1:] if cell[:1] == "'" and cell[1:].startswith(FORMULA) else cell


def normalised_value(form: AnswerForm, value: str, choices: Sequence[str] = ()) -> str | None:
    """A decided value in the spelling of the reader; None if it is not a value of the form.

    Args:
        form: the form of the answer.
        value: the value, not empty.
        choices: the letters of the item's options, if they are known.
    """
    value, normalised = value.strip(), ""
    match form:
        case "letter":
            letter = value.upper()
            if letter in (choices or tuple(ascii_uppercase)):
                normalised = letter
        case "yes-no":
            normalised = value.capitalize() if value.lower() in {"yes", "no"} else ""
        case "number" | "probability":
            number = parse_number(value)
            if number is not None and (form == "number" or 0 <= number <= 1):
                normalised = f"{number:.15g}"
        case "boxes":
            with suppress(msgspec.DecodeError):
                rows = msgspec.json.decode(value, type=list[tuple[float, float, float, float]])
                normalised = msgspec.json.encode(rows).decode()
        case _:
            normalised = value
    return normalised or None


def check_value(form: AnswerForm, decision: Decision, item: str, choices: Sequence[str]) -> str:
    """The normalised value of a decision.

    Raises:
        DataError: the value is not one of the form.
    """
    if not decision.value:
        return ""
    value = normalised_value(form, decision.value, choices)
    if value is None:
        raise DataError(
            "the decision {!r} on the answer {} is not a value of the form {}",
            decision.value[:40],
            decision.code,
            form,
            item=item,
            hint=_("Correct the row in the file of decisions, or write the file with keju serve"),
        )
    return value
