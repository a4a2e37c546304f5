"""Answers that serve several items: a response to one of them stands for the others too.

Of a pair that is asked in one direction (`PairForm` ``once``) the answer belongs to both pictures.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from msgspec.structs import replace

from keju.benchmarks.pair_forms import asked_candidates, reduction_of
from keju.items import Item, Response


class _Place(NamedTuple):
    task: str
    query: str
    item: str
    candidate: int


class SharedAnswers:
    """Which items an answer belongs to beside the one that was asked.

    Args:
        items: the items of a run.
    """

    def __init__(self, items: Iterable[Item]) -> None:
        self._others: dict[_Place, list[_Place]] = {}
        once = [item for item in items if reduction_of(item) == "once"]
        asked: dict[tuple[str, str, str, str], _Place] = {}
        for item in once:
            for place in range(1, asked_candidates(item) + 1):
                pair = item.task, item.query, item.images[0].sha256, item.images[place].sha256
                asked.setdefault(pair, _Place(item.task, item.query, item.id, place))
        for item in once:
            for place in range(asked_candidates(item) + 1, len(item.images)):
                turned = item.task, item.query, item.images[place].sha256, item.images[0].sha256
                if lender := asked.get(turned):
                    borrower = _Place(item.task, item.query, item.id, place)
                    self._others.setdefault(lender, []).append(borrower)

    def copies(self, response: Response) -> Iterator[Response]:
        """The response as that of each other item that it belongs to; its key stays."""
        if not self._others:
            return
        place = _Place(response.task, response.query, response.item, response.candidate)
        for other in self._others.get(place, ()):
            yield replace(response, item=other.item, query=other.query, candidate=other.candidate)
