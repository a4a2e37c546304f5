"""Pictures that show one thing, and items about them of each shape that tasks ask for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from string import ascii_uppercase
from typing import NamedTuple

from msgspec import structs

from keju.definitions import task
from keju.errors import DataError
from keju.items import ImageRef, Item, Line
from keju.messages import message
from keju.text import simplified_reference
from keju_synthetic.recipe import Split


class StoredImage(NamedTuple):
    """A stored picture of a work or an object.

    `group` is what it shows, `transcription` what is written on it (empty where nothing is),
    `metadata` what was drawn.
    """

    id: str
    image: ImageRef
    group: str
    split: Split
    metadata: Mapping[str, str]
    transcription: str = ""


class ItemMaker:
    """Makes items, and spreads the right answers of each task evenly over the letters."""

    def __init__(self) -> None:
        self._asked: Counter[tuple[str, Split]] = Counter()

    def make_transcription(self, exhibit: StoredImage, task_id: str, lines: Sequence[Line]) -> Item:
        """What stands in the picture is to be read: its `transcription`."""
        item = self._make_item(exhibit, task_id, exhibit.transcription)
        return structs.replace(item, lines=tuple(lines), transcription=None)

    def make_open_question(self, exhibit: StoredImage, task_id: str, answer: str) -> Item:
        """A free answer; `answer` is the reference, of some sentences."""
        return self._make_item(exhibit, task_id, answer)

    def make_choice(
        self, exhibit: StoredImage, task_id: str, right: str, wrong: Sequence[str]
    ) -> Item:
        """One right option among wrong ones, at the letter whose turn it is.

        Raises:
            DataError: an option stands twice, or there is none to choose from.
        """
        place = self._asked[task_id, exhibit.split] % (len(wrong) + 1)
        return self.make_listed_choice(
            exhibit, task_id, right, [*wrong[:place], right, *wrong[place:]]
        )

    def make_listed_choice(
        self, exhibit: StoredImage, task_id: str, right: str, options: Sequence[str]
    ) -> Item:
        """One right option of a list whose order is part of the question.

        Raises:
            DataError: an option stands twice, or the right one is not among them.
        """
        if len(set(options)) != len(options) or right not in options or len(options) < 2:
            problem = message(
                "synthetic.options-invalid", task=task_id, right=right, options=list(options)
            )
            raise DataError(problem, item=exhibit.id)
        self._asked[task_id, exhibit.split] += 1
        letter = ascii_uppercase[list(options).index(right)]
        return structs.replace(self._make_item(exhibit, task_id, letter), options=tuple(options))

    def _make_item(self, exhibit: StoredImage, task_id: str, answer: str) -> Item:
        kind = task(task_id)
        return Item(
            id=f"{exhibit.id}-{task_id.casefold()}",
            benchmark=kind.benchmark,
            task=task_id,
            images=(exhibit.image,),
            question=kind.queries[0].template.partition("\n")[0],
            answer=answer,
            answer_simplified=simplified_reference(answer),
            transcription=exhibit.transcription or None,
            group=exhibit.group,
            split=exhibit.split,
            metadata=dict(exhibit.metadata),
        )
