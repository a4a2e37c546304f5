"""`item_names`: match the rows of another program's result file to items.

lmms-eval names a response by the row number in the task's data, VLMEvalKit by ``index``. Both may
be keju's ids, rows of an exported table, or anything else. Each possible interpretation is compared
with the prompts in the file, and one is used only if all possible ones agree.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from keju.errors import DataError
from keju.models.base import ItemPrompt
from keju.models.other_harnesses import ReplayedAnswer
from keju.texts import _

_MOST_COMPARED = 4_000_000
"""Rows times items up to which a prompt is searched within longer prompts."""


class _Reading(NamedTuple):
    """One interpretation of the names of rows: its description, and the item of each row."""

    called: str
    items: tuple[ItemPrompt, ...]


def item_names(
    path: Path, rows: Sequence[ReplayedAnswer], items: Sequence[ItemPrompt]
) -> list[str]:
    """The id of the item of each row.

    Args:
        path: the result file, for errors.
        rows: its responses; `ReplayedAnswer.item` is an id or a row number.
        items: all items of the dataset, in their order.

    Raises:
        DataError: no interpretation fits, or several that disagree.
    """
    readings = [reading for reading in _readings(rows, items) if _agrees(rows, reading)]
    if not readings and len({_plain(row.prompt) for row in rows}) == 1:
        # One common instruction for all images, not from the dataset, does not identify items.
        rows = [replace(row, prompt="") for row in rows]
        readings = [*_readings(rows, items)]
    different = {tuple(each.id for each in reading.items): reading for reading in readings}
    if len(different) == 1:
        return [*different.popitem()[0]]
    if different:
        named = ", ".join(reading.called for reading in different.values())
        raise _unmatched(path, _("its row numbers fit several tables ({})", named))
    if found := _by_prompt(rows, items):
        return found
    raise _unmatched(
        path,
        _(
            "the ids are neither those of the dataset nor row numbers of an exported table of this "
            "size"
        ),
    )


def _unmatched(path: Path, reason: str) -> DataError:
    return DataError(
        "the responses cannot be matched with items: {}, and the prompts do not identify the items",
        reason,
        file=path,
        hint="Add the ids of the items as id (keju data export vlmevalkit-tsv writes them)",
    )


def _readings(rows: Sequence[ReplayedAnswer], items: Sequence[ItemPrompt]) -> Iterator[_Reading]:
    """Every interpretation with an item for each row, and at most one row per item and round."""
    by_id = {each.id: each for each in items}
    names = [row.item for row in rows]
    if all(name in by_id for name in names):
        yield _Reading("the ids", tuple(by_id[name] for name in names))
    numbers = [int(name) for name in names if name.isascii() and name.isdigit() and len(name) < 10]
    if len(numbers) < len(names) or not numbers:
        return
    has_prompts = any(row.prompt for row in rows)
    for called, table in _tables(items):
        # Without prompts to compare, only a table of exactly this size can be meant.
        if max(numbers) < len(table) and (has_prompts or {*numbers} == {*range(len(table))}):
            yield _Reading(called, tuple(table[number] for number in numbers))


def _tables(items: Sequence[ItemPrompt]) -> Iterator[tuple[str, list[ItemPrompt]]]:
    """The tables in which a dataset is exported, each with and without its reference split."""
    groups: dict[str, list[ItemPrompt]] = {"the dataset": [*items]}
    for item in items:
        groups.setdefault(item.task, []).append(item)
        if item.query:
            groups.setdefault(f"{item.task}-{item.query}", []).append(item)
    for name, members in groups.items():
        yield name, members
        if len(tests := [each for each in members if each.split == "test"]) < len(members):
            yield f"{name}, split test", tests


def _agrees(rows: Sequence[ReplayedAnswer], reading: _Reading) -> bool:
    """Whether no row has a prompt that contradicts its item."""
    pairs = zip(rows, reading.items, strict=True)
    return all(not row.prompt or _same(_plain(row.prompt), item) for row, item in pairs)


def _same(prompt: str, item: ItemPrompt) -> bool:
    """Whether a prompt belongs to the item: it equals, contains or is part of one of its texts."""
    texts = [_plain(text) for text in item.texts if text]
    return not texts or any(text in prompt or prompt in text for text in texts)


def _by_prompt(rows: Sequence[ReplayedAnswer], items: Sequence[ItemPrompt]) -> list[str]:
    """The one item with the prompt of each row; empty if a row has none or several."""
    if not all(row.prompt.strip() for row in rows):
        return []
    counts = Counter(text for item in items for text in {_plain(text) for text in item.texts})
    exact = {_plain(text): item.id for item in items for text in item.texts}
    near = len(rows) * len(items) <= _MOST_COMPARED
    found: list[str] = []
    for row in rows:
        prompt = _plain(row.prompt)
        if counts[prompt] == 1:
            found.append(exact[prompt])
            continue
        fitting = [item.id for item in items if near and item.texts and _same(prompt, item)]
        if len(fitting) != 1:
            return []
        found.append(fitting[0])
    twice = Counter(zip(found, (row.round for row in rows), strict=True))
    return found if max(twice.values(), default=0) == 1 else []


def _plain(text: str) -> str:
    """A text without spaces and line breaks, which programs add and remove around prompts."""
    return "".join(text.split())
