"""Answers of chat models recombined from parts: a statement of the value, what leads up to it, and
what follows.

The files of parts have one part on a line: its group (the question), language, kind and text with
slots in braces. Any lead, statement and tail of one group and language make a plausible response,
whose value is that of the statement. A null is a whole response without a value. The file of slots
has the question of each group and sets of texts for the slots, with the value.
"""

from __future__ import annotations

import json
import random
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

from tests.support.answer_bank import BANKS, agrees, form_of

ALONE, AMONG, NOTHING = "alone", "among others", "nothing"
"""A statement alone, with a lead, a tail or both, and a response without a value."""
_ENDS = '。！？；：:，,”」』）)*.!?;"\n'


class Reading(NamedTuple):
    """How many responses of a form and kind are read as the annotator reads them."""

    form: str
    kind: str
    right: int
    number: int


@cache
def _groups() -> dict[tuple[str, str], dict[str, Any]]:
    lines = (BANKS / "answer_parts_slots.jsonl").read_text("utf-8").splitlines()
    return {(each["group"], each["lang"]): each for each in map(json.loads, lines)}


def recombined(name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The responses of a file of parts, each with its kind, as lines of a bank.

    Each statement comes alone, after a lead, before a tail, and between both.
    """
    parts: dict[tuple[str, str, str], list[dict[str, Any]]] = defaultdict(list)
    for line in (BANKS / name).read_text("utf-8").splitlines():
        part = json.loads(line)
        parts[part["group"], part["lang"], part["part"]].append(part)
    for (group, language, kind), several in parts.items():
        about = _groups()[group, language]
        choose = random.Random(f"{group} {language} {kind}")
        leads, tails = (parts.get((group, language, each), [None]) for each in ("lead", "tail"))
        for part in several:
            if kind == "null":
                yield NOTHING, _response(about, [part["text"]], choose, None)
            elif kind == "statement":
                for lead, tail in ((0, 0), (1, 0), (0, 1), (1, 1)):
                    chosen = [choose.choice(leads) if lead else None, part,
                              choose.choice(tails) if tail else None]  # fmt: skip
                    texts = [each["text"] for each in chosen if each]
                    kind_of = AMONG if len(texts) > 1 else ALONE
                    yield kind_of, _response(about, texts, choose, part)


def _response(
    about: dict[str, Any], texts: list[str], choose: random.Random, statement: dict[str, Any] | None
) -> dict[str, Any]:
    """A line of a bank; the parts follow each other in one paragraph, or in several."""
    slots = choose.choice(about["slots"])
    among = " " if about["lang"] == "en" else ""
    between = "\n\n" if any("\n" in text for text in texts) or choose.random() < 0.5 else among
    joined = texts[0]
    for text in texts[1:]:
        stop = "" if between == "\n\n" or joined[-1] in _ENDS else ("." if among else "。")
        joined += stop + between + text
    for name, value in slots.items():
        joined = joined.replace(f"{{{name}}}", str(value))
    expected = statement and statement.get("value", slots["expected"])
    return {
        "form": about["form"], "question": about["question"], "options": about.get("options"),
        "response": joined, "expected": expected,
    }  # fmt: skip


@cache
def readings_of_parts(name: str) -> tuple[Reading, ...]:
    """By form and kind: how many responses of a file of parts are read as by the annotator."""
    right: Counter[tuple[str, str]] = Counter()
    number: Counter[tuple[str, str]] = Counter()
    for kind, row in recombined(name):
        key = form_of(row), kind
        number[key] += 1
        right[key] += agrees(row)
    return tuple(Reading(*key, right[key], number[key]) for key in number)
