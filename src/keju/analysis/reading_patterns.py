"""The reading pattern of each transcription, and the frequencies of patterns by model."""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

from keju.analysis.labels import task_name
from keju.analysis.page_texts import transcription
from keju.definitions import is_blank
from keju.items import Item, Response
from keju.layout import ReadingPattern, bounds_of, find_reading_pattern
from keju.text import counted, counted_alike
from keju.texts import Text, _, listed, recognised

DOUBTFUL = 0.2
"""Share of a model's pages; a pattern on fewer is doubtful, because single pages may be
misclassified."""


class Patterns(NamedTuple):
    """The patterns of a model's transcriptions of a task, the most frequent first; its pages."""

    found: list[tuple[ReadingPattern, int]]
    pages: int

    @property
    def attributed(self) -> list[tuple[ReadingPattern, int]]:
        """The patterns that are attributed to the model."""
        return [each for each in self.found if each[1] >= DOUBTFUL * self.pages]

    @property
    def doubtful(self) -> list[tuple[ReadingPattern, int]]:
        """The patterns on a small minority of the pages."""
        return [each for each in self.found if each[1] < DOUBTFUL * self.pages]

    @property
    def clauses(self) -> list[Text]:
        """The patterns with the numbers of their pages, and the doubtful ones."""
        found = []
        if self.attributed:
            found.append(_("reading pattern: {}", self._list(self.attributed)))
        if self.doubtful:
            doubtful = self._list(self.doubtful)
            found.append(_("doubtful reading pattern: {}", doubtful))
        return found

    def _list(self, found: list[tuple[ReadingPattern, int]]) -> str:
        return listed(
            _("{} on {} of {} pages", recognised(name), count, self.pages) for name, count in found
        )


class PatternCounts:
    """Finds the pattern of each answer, and counts patterns by model and task."""

    def __init__(self) -> None:
        self._pages: Counter[tuple[str, str]] = Counter()
        self._found: dict[tuple[str, str], Counter[ReadingPattern]] = {}

    def add(
        self, model: str, item: Item, response: Response, said: str | None = None
    ) -> ReadingPattern | None:
        """Add one answer; return its pattern, None where it is in order or cannot be classified.

        `said` is the response's `transcription`, if the caller has it.
        """
        if is_blank(item):
            return None
        key = (model, task_name(item.task, item.query))
        self._pages[key] += 1
        found = pattern_of(item, transcription(response) if said is None else said)
        if found is not None:
            self._found.setdefault(key, Counter())[found] += 1
        return found

    @property
    def names(self) -> set[ReadingPattern]:
        """The patterns that were found, of any model."""
        return {name for found in self._found.values() for name in found}

    @property
    def doubtful(self) -> dict[str, list[ReadingPattern]]:
        """By model, the patterns that are doubtful in each task that has them."""
        found: dict[str, dict[ReadingPattern, bool]] = {}
        for model, task in self._found:
            of_task = self.of(model, task)
            known = found.setdefault(model, {})
            known |= {name: False for name, _ in of_task.attributed}
            for name, __ in of_task.doubtful:
                known.setdefault(name, True)
        return {
            model: [name for name, doubtful in known.items() if doubtful]
            for model, known in found.items()
        }

    def of(self, model: str, task: str) -> Patterns:
        """The patterns of a model's transcriptions of a task."""
        found = self._found.get((model, task), Counter[ReadingPattern]())
        key = (model, task)
        return Patterns(found.most_common(), self._pages[key])


def pattern_of(item: Item, transcribed: str) -> ReadingPattern | None:
    """The pattern of a transcription, from the texts as strict scoring counts them."""
    truth, said = counted_alike([item.answer or item.answer_simplified, transcribed])
    return find_reading_pattern(truth, said, _notes(item, truth))


def _notes(item: Item, truth: str) -> list[int]:
    """Positions in the counted reference of the notes that the item's lines name."""
    places: list[int] = []
    start = 0
    for line in item.lines:
        text = counted(line.text)
        at = truth.find(text, start)
        if text and at >= 0:
            start = at + len(text)
            if line.kind == "note":
                places += range(at, start)
    return places


def lines_as_read(item: Item, response: Response) -> dict[str, Any] | None:
    """An engine's own lines in its reading order, for drawing on the page.

    None where the item has several images or the response no outlines.
    """
    boxes = [bounds_of(line) for line in response.lines]
    drawn = [[*(round(side) for side in box), None, 0] for box in boxes if box is not None]
    if len(item.images) != 1 or not drawn:
        return None
    image = item.images[0]
    return {"by": "outlines", "lines": drawn, "size": [image.width, image.height]}
