"""`ItemMaker`: items about the image of one work or object, in each answer form of the tasks."""

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
    """A stored image of a work or an object.

    `group` is the work or object, `transcription` the writing on it (may be empty), `metadata` the
    facts about the drawing.
    """

    id: str
    image: ImageRef
    group: str
    split: Split
    metadata: Mapping[str, str]
    transcription: str = ""


class ItemMaker:
    """Makes items, and distributes the correct answers of each task evenly over the letters."""

    def __init__(self) -> None:
        self._asked: Counter[tuple[str, Split]] = Counter()

    def make_transcription(self, stored: StoredImage, task_id: str, lines: Sequence[Line]) -> Item:
        """An item whose answer is the `transcription` of the image."""
        item = self._make_item(stored, task_id, stored.transcription)
        return structs.replace(item, lines=tuple(lines), transcription=None)

    def make_open_question(self, stored: StoredImage, task_id: str, answer: str) -> Item:
        """An item with a free answer; `answer` is the reference, a few sentences."""
        return self._make_item(stored, task_id, answer)

    def make_choice(
        self, stored: StoredImage, task_id: str, right: str, wrong: Sequence[str]
    ) -> Item:
        """An item with one correct option among wrong ones; its letter changes from item to item.

        Raises:
            DataError: an option occurs twice, or there is no wrong option.
        """
        place = self._asked[task_id, stored.split] % (len(wrong) + 1)
        return self.make_listed_choice(
            stored, task_id, right, [*wrong[:place], right, *wrong[place:]]
        )

    def make_listed_choice(
        self, stored: StoredImage, task_id: str, right: str, options: Sequence[str]
    ) -> Item:
        """An item with one correct option of a list in a fixed order.

        Raises:
            DataError: an option occurs twice, or the correct one is not among them.
        """
        if len(set(options)) != len(options) or right not in options or len(options) < 2:
            problem = message(
                "synthetic.options-invalid", task=task_id, right=right, options=list(options)
            )
            raise DataError(problem, item=stored.id)
        self._asked[task_id, stored.split] += 1
        letter = ascii_uppercase[list(options).index(right)]
        return structs.replace(self._make_item(stored, task_id, letter), options=tuple(options))

    def _make_item(self, stored: StoredImage, task_id: str, answer: str) -> Item:
        kind = task(task_id)
        return Item(
            id=f"{stored.id}-{task_id.casefold()}",
            benchmark=kind.benchmark,
            task=task_id,
            images=(stored.image,),
            question=kind.queries[0].template.partition("\n")[0],
            answer=answer,
            answer_simplified=simplified_reference(answer),
            transcription=stored.transcription or None,
            group=stored.group,
            split=stored.split,
            metadata=dict(stored.metadata),
        )
