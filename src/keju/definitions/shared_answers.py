"""`SharedAnswers`: responses that belong to several items.

The response to a pair that is compared in one direction (`PairForm` ``once``) belongs to both
items. A prompt wording that combines several question forms in one prompt (`WordedPrompt.also`) has
one response for the items of these forms that show the same images.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from keju.definitions.pair_forms import reduced_form, sent_candidates
from keju.definitions.wordings import RELEASED, joint_tasks, wording
from keju.items import Item, Response


class _Place(NamedTuple):
    task: str
    query: str
    item: str
    candidate: int


class SharedAnswers:
    """The other items of a run to which a response belongs."""

    def __init__(self, items: Iterable[Item]) -> None:
        self._others: dict[_Place, list[_Place]] = {}
        self._images: dict[_Place, tuple[str, ...]] = {}
        self._shown: dict[tuple[str, ...], list[_Place]] = {}
        joined = joint_tasks()
        once = []
        for item in items:
            if reduced_form(item) == "once":
                once.append(item)
            if item.task in joined:
                place = _Place(item.task, item.query, item.id, 0)
                self._images[place] = tuple(ref.sha256 for ref in item.images)
                self._shown.setdefault(self._images[place], []).append(place)
        self._pair(once)

    def _pair(self, once: Sequence[Item]) -> None:
        place_of_answer: dict[tuple[str, str, str, str], _Place] = {}
        for item in once:
            for place in range(1, sent_candidates(item) + 1):
                pair = item.task, item.query, item.images[0].sha256, item.images[place].sha256
                place_of_answer.setdefault(pair, _Place(item.task, item.query, item.id, place))
        for item in once:
            for place in range(sent_candidates(item) + 1, len(item.images)):
                swapped = item.task, item.query, item.images[place].sha256, item.images[0].sha256
                if source := place_of_answer.get(swapped):
                    target = _Place(item.task, item.query, item.id, place)
                    self._others.setdefault(source, []).append(target)

    def copies(self, response: Response) -> Iterator[Response]:
        """Yield a copy of the response, with the same key, for each other item of it."""
        place = _Place(response.task, response.query, response.item, response.candidate)
        places = list(self._others.get(place, ()))
        if response.wording != RELEASED and place in self._images:
            prompt = wording(response.wording).prompt(response.task, response.query)
            places += [
                place_of_copy
                for query in (prompt.also if prompt else ())
                for place_of_copy in self._shown[self._images[place]]
                if (place_of_copy.task, place_of_copy.query) == (response.task, query)
            ]
        for place_of_copy in places:
            yield replace(
                response,
                item=place_of_copy.item,
                query=place_of_copy.query,
                candidate=place_of_copy.candidate,
            )
