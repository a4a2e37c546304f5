"""Extraction: a language model reads the value that an unclear answer gives.

The model sees the question, the options and the answer without its reasoning; never the image, the
reference or the name of the model that answered. Its value counts only if the answer contains it,
so an extractor cannot answer better than the model did. Whatever else it replies leaves the answer
unclear.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import tee
from pathlib import Path
from typing import Literal, get_args

import msgspec

from keju.definitions import choices_of, options_of
from keju.errors import DataError, UsageError
from keju.extraction import body_of
from keju.files import sha256_bytes
from keju.items import Item, Record, Request, Response
from keju.judging.prompting import extraction_prompts, question_of, sealed_prompt
from keju.judging.store import ExtractionFolder
from keju.running.requests import without_marks
from keju.runs import RunFolder
from keju.scoring import (
    NO_DECISIONS,
    Decision,
    Decisions,
    answer_code,
    read_decisions,
    unclear_samples,
)
from keju.scoring.decisions import normalised_value
from keju.scoring.scoring_sample import ScoringSample
from keju.scoring.short_answer import entity_set
from keju.scoring.verdicts import is_looping
from keju.text import counted, parse_english_number, parse_number, to_half_width
from keju.text.numerals import CHINESE_NUMBER, ENGLISH_NUMBER
from keju.texts import _

_OBJECT = re.compile(r"\{[^{}]{1,20000}\}")
_LONGEST_REPLY = 40_000
"""Characters at the end of a reply in which the value is looked for."""
_BEGINNING, _END = 4000, 2000
"""Characters of a looping answer that an extractor is sent: between them it only repeats."""
_ARABIC = re.compile(r"(?<![A-Za-z\d.])[+-]?\d+(?:,\d{3})*(?:\.\d+)?")
_PERCENT = re.compile(rf"{_ARABIC.pattern}(?=\s?%)")
_CHINESE = re.compile(CHINESE_NUMBER)
_ENGLISH = re.compile(rf"\b{ENGLISH_NUMBER}", re.IGNORECASE)

State = Literal["value", "none", "not-contained", "unreadable", "failed", "missing"]
"""`value`: the model read one. `none`: it found that the answer gives none. `not-contained`: its
value is not in the answer. `unreadable`: its reply has no value. `failed`: the call failed.
`missing`: it was not asked yet. The first two decide the answer."""


class TaskExtractions(Record, frozen=True):
    """An extractor's readings of the unclear answers of one model to one task, counted by state."""

    extractor: str
    model: str
    task: str
    states: dict[State, int]


def extraction_request(sample: ScoringSample) -> Request:
    """The request about an unclear answer. Equal answers to one question share a request.

    Raises:
        DataError: the item's prompt cannot be made.
    """
    prompts, form = extraction_prompts(), sample.form
    text = without_marks(body_of(sample.response.text).strip())
    between = len(text) - _BEGINNING - _END
    if between > 0 and is_looping(text):
        text = f"{text[:_BEGINNING]}\n……（此处略去 {between} 个字符）……\n{text[-_END:]}"
    question = question_of(sample.item, sample.response.box_convention)
    options = "\n".join(f"{letter}、{option}" for letter, option in _options(sample.item).items())
    blanks = {
        "question": question,
        "options": prompts.options.replace("{text}", options) if options else "",
        "rule": prompts.forms[form].rule,
        "reply": prompts.forms[form].reply,
    }
    prompt = sealed_prompt(prompts, blanks, text, question, options)
    return Request(
        item=sha256_bytes(f"{sample.item.id}\0{prompt}".encode())[:16],
        benchmark=sample.item.benchmark,
        task=sample.item.task,
        form="short",
        prompt=prompt,
    )


def _options(item: Item) -> dict[str, str]:
    """The texts of an item's options by their letters."""
    return dict(zip(choices_of(item), options_of(item), strict=True))


def extraction_requests(run: RunFolder) -> Iterator[Request]:
    """The requests about the unclear answers of a run, each once.

    Raises:
        DataError: a stored response is damaged.
    """
    ids: set[str] = set()
    for request in _requests(run, unclear_samples(run)):
        if request.item not in ids:
            ids.add(request.item)
            yield request


def _requests(run: RunFolder, samples: Iterable[ScoringSample]) -> Iterator[Request]:
    try:
        yield from map(extraction_request, samples)
    except DataError as error:
        place = error.file or run.items_path
        raise DataError(error.problem, file=place, item=error.item, hint=error.hint) from None


def extractions_of(run: RunFolder, extractor: str) -> Iterator[tuple[ScoringSample, State, str]]:
    """Each unclear answer of a run, and what an extractor's stored reply says: state and value.

    Raises:
        UsageError: it has no replies to the prompts of this keju.
        DataError: a stored line is damaged.
    """
    folder = ExtractionFolder(run)
    if extractor not in (stored := folder.replied()):
        raise UsageError(
            "{0}: there are no replies of the extractor {1} (stored: {2}). Ask it with: keju judge "
            "extract {0} --model {1}",
            run.path,
            extractor,
            ", ".join(stored) or _("none"),
        )
    samples, again = tee(unclear_samples(run))
    replies = folder.find_replies(extractor, _requests(run, again))
    for sample, reply in zip(samples, replies, strict=True):
        state, value = value_of_reply(reply) if reply else ("missing", "")
        if state == "value":
            decided = normalised_value(sample.form, value, choices_of(sample.item))
            contained = decided is not None and is_contained(sample, decided)
            state, value = ("value", decided or "") if contained else ("not-contained", "")
        yield sample, state, value


def value_of_reply(reply: Response) -> tuple[State, str]:
    """The value in an extractor's reply: in its one JSON object, or in several that agree."""
    if reply.status in {"failed", "filtered"}:
        return "failed", ""
    values = set()
    for match in _OBJECT.finditer(body_of(reply.text)[-_LONGEST_REPLY:]):
        try:
            row = msgspec.json.decode(match[0].encode("utf-8", "replace"))
            value = _as_text(row["answer"])
        # A reply may have any text, such as a number of 5,000 digits.
        except (msgspec.DecodeError, KeyError, OverflowError, RecursionError, ValueError):
            continue
        values.add(value)
    if len(values) != 1 or None in values:
        return "unreadable", ""
    (value,) = values
    return ("value", value) if value else ("none", "")


def _as_text(value: object) -> str | None:
    """A value of JSON as a decision has it: "" for null, None where it is not a value."""
    match value:
        case None:
            return ""
        case str():
            return value.strip() or None
        case int() | float() if not isinstance(value, bool):
            return f"{value:.15g}"
        case [str(), *_]:
            return "、".join(map(str, value))
        case [list(), *_]:
            return msgspec.json.encode(value).decode()
    return None


def is_contained(sample: ScoringSample, value: str) -> bool:
    """Whether an answer contains a value that an extractor has read from it.

    A letter is contained as itself or by the text of its option, a number as a numeral of this
    value, a box as four numbers one after the other; names, and short answers, by their characters
    after normalisation. Yes and no cannot be checked.
    """
    text, item = body_of(sample.response.text), sample.item
    match sample.form:
        case "yes-no":
            return True
        case "letter":
            letter = rf"(?<![A-Za-z]){value}(?![A-Za-z])"
            option = _options(item).get(value, "")
            return bool(re.search(letter, to_half_width(text))) or _has_characters(text, option)
        case "number" | "probability":
            percents = _arabic_numbers(text, _PERCENT) if sample.form == "probability" else []
            fractions = {float(f"{number / 100:.15g}") for number in percents}
            return float(value) in _numbers(text) | fractions
        case "boxes":
            numbers = _arabic_numbers(text)
            boxes = {tuple(numbers[place : place + 4]) for place in range(len(numbers) - 3)}
            return boxes.issuperset(map(tuple, msgspec.json.decode(value)))
        case "entities":
            names = entity_set(value)
            return bool(names) and all(_has_characters(text, name) for name in names)
    number = parse_number(value)
    return _has_characters(text, value) if number is None else number in _numbers(text)


def _has_characters(text: str, part: str) -> bool:
    """Whether a text contains the characters of another, without regard to width or script."""
    characters = counted(part).casefold()
    return bool(characters) and characters in counted(text).casefold()


def _arabic_numbers(text: str, pattern: re.Pattern[str] = _ARABIC) -> list[float]:
    return [float(digits.replace(",", "")) for digits in pattern.findall(to_half_width(text))]


def _numbers(text: str) -> set[float | None]:
    """The values of all numerals in a text."""
    values = {*_arabic_numbers(text), *map(parse_number, _CHINESE.findall(text))}
    return values | {*map(parse_english_number, _ENGLISH.findall(text))}


def gather_decisions(run: RunFolder, adjudicated: Path | None, extractor: str = "") -> Decisions:
    """The decisions of people in a file, and of an extractor on what people did not decide.

    Raises:
        UsageError: the file does not exist, or the extractor has no replies.
        DataError: the file or a stored line is damaged.
    """
    decisions = read_decisions(adjudicated) if adjudicated else NO_DECISIONS
    if not extractor:
        return decisions
    by_code: dict[str, Decision] = {}
    for sample, state, value in extractions_of(run, extractor):
        if state in {"value", "none"}:
            code = answer_code(sample.response)
            by_code[code] = Decision(code=code, value=value, by="model")
    spelled = f"{ExtractionFolder(run).hash_of(extractor)} {extraction_prompts().id}"
    source = f"{extractor}@{sha256_bytes(spelled.encode())[:8]}"
    return decisions.before(Decisions(sources=(source,), by_code=by_code))


def count_extractions(run: RunFolder, extractors: Iterable[str]) -> list[TaskExtractions]:
    """Count what extractors have read, by model and task of the answers (`extractions_of`)."""
    tasks: dict[tuple[str, str, str], TaskExtractions] = {}
    for extractor in extractors:
        for sample, state, _value in extractions_of(run, extractor):
            place = extractor, sample.response.model, sample.item.task
            states = dict.fromkeys(get_args(State), 0)
            tasks.setdefault(place, TaskExtractions(*place, states)).states[state] += 1
    return [*tasks.values()]
