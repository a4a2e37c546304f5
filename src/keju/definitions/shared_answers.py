"""`SharedAnswers`: responses that belong to several items.

The response to a pair that is compared in one direction (`PairForm` ``once``) belongs to both
items. A prompt wording that combines several question forms in one prompt (`WordedPrompt.also`) has
one response for the items of these forms that show the same images.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from msgspec.structs import replace

from keju.definitions.pair_forms import reduced_form, sent_candidates
from keju.definitions.wordings import known_wordings, wording
from keju.items import Item, Response


class _Place(NamedTuple):
    task: str
    query: str
    item: str
    candidate: int = 0


class SharedAnswers:
    """The other items of a run to which a response belongs."""

    def __init__(self, items: Iterable[Item]) -> None:
        self._others: dict[_Place, list[_Place]] = {}
        self._same_images: dict[_Place, list[_Place]] = {}
        prompts = (pair for wording in known_wordings() for pair in wording.prompts.items())
        joint_tasks = {form.partition("/")[0] for form, prompt in prompts if prompt.also}
        places_of_images: dict[tuple[str, ...], list[_Place]] = {}
        once = []
        for item in items:
            if reduced_form(item) == "once":
                once.append(item)
            if item.task in joint_tasks:
                place = _Place(item.task, item.query, item.id)
                images = (item.task, *(ref.sha256 for ref in item.images))
                self._same_images[place] = places_of_images.setdefault(images, [])
                self._same_images[place].append(place)
        source_of_pair: dict[tuple[str, str, str, str], _Place] = {}
        for item in once:
            for number in range(1, sent_candidates(item) + 1):
                pair = item.task, item.query, item.images[0].sha256, item.images[number].sha256
                source_of_pair.setdefault(pair, _Place(item.task, item.query, item.id, number))
        for item in once:
            for number in range(sent_candidates(item) + 1, len(item.images)):
                swapped = item.task, item.query, item.images[number].sha256, item.images[0].sha256
                if source := source_of_pair.get(swapped):
                    target = _Place(item.task, item.query, item.id, number)
                    self._others.setdefault(source, []).append(target)

    def copies(self, response: Response) -> Iterator[Response]:
        """Yield a copy of the response, with the same key, for each other item of it."""
        place = _Place(response.task, response.query, response.item, response.candidate)
        places = list(self._others.get(place, ()))
        if same_images := self._same_images.get(place):
            prompt = wording(response.wording).prompt(response.task, response.query)
            also = prompt.also if prompt else ()
            places += [copy for query in also for copy in same_images if copy.query == query]
        for target in places:
            yield replace(
                response, item=target.item, query=target.query, candidate=target.candidate
            )
