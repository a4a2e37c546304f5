"""The exam: people answer the same requests as models, in the same words and order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

import msgspec

from keju.annotation.events import Event
from keju.annotation.fields import Given, given_of, rows_of
from keju.annotation.queue import Form
from keju.definitions import options_of, query_of, task
from keju.errors import DataError
from keju.items import Item, Request
from keju.running.requests import request_count, request_for, requests_for
from keju.running.selecting import RequestVariant
from keju.text import is_han

WARM_UP = "warm-up:"


class Exam:
    """The exam queue: a few examples with their answers first, then every request.

    Args:
        items: the items, in the run's order.
        references: labelled items for the examples, one for each kind of question.
        way: the prompt variant.
    """

    name = "exam"

    def __init__(
        self, items: Sequence[Item], references: Iterable[Item], way: RequestVariant
    ) -> None:
        self._way = way
        self._items = {place_of(item): item for item in items}
        self._examples = dict(_examples(items, references, way))

    @cached_property
    def _subjects(self) -> list[str]:
        found = list(self._examples)
        for item in self._items.values():
            first = 1 if task(item.task).of_pairs else 0
            places = range(first, first + request_count(item))
            found += [subject_of(item, candidate) for candidate in places]
        return found

    def subjects(self, person: str) -> Sequence[str]:
        """The cards, the same for everybody."""
        del person
        return self._subjects

    def request(self, subject: str) -> tuple[Item, Request]:
        """The item and the request of a card.

        Raises:
            KeyError: there is no such card.
        """
        if example := self._examples.get(subject):
            return example, next(requests_for(example, self._way))
        *place, candidate = msgspec.json.decode(subject, type=tuple[str, str, str, int])
        item = self._items[place[0], place[1], place[2]]
        return item, next(
            each for each in requests_for(item, self._way) if each.candidate == candidate
        )

    def shown(self, subject: str, event: Event | None, language: str) -> dict[str, object]:
        """The request as a model gets it; for an answered example also the answer."""
        item, request = self.request(subject)
        asks = task(item.task)
        example = subject in self._examples
        before = given_by(event)
        return {
            "asked": request,
            "in_chinese": any(map(is_han, request.prompt)),
            "options": options_of(item),
            "images": request.images,
            "paired": bool(request.candidate),
            "task": asks.name_zh if language == "zh" else asks.name_en,
            "task_id": asks.id,
            "query": item.query,
            "example": example,
            "before": before,
            "boxes": rows_of(before.boxes) if before else [],
            "truth": _truth(item, request) if example and before is not None else None,
            "truth_boxes": rows_of(item.boxes) if example and before is not None else [],
        }

    def content(self, subject: str) -> object:
        """The request, the options, and the answer that an example shows afterwards."""
        item, request = self.request(subject)
        truth = (_truth(item, request), item.boxes) if subject in self._examples else None
        return request, options_of(item), truth

    def read(self, subject: str, form: Form) -> Given:
        """The person's answer.

        Raises:
            UsageError: it is not a valid answer to that question.
        """
        return given_of(self.request(subject)[1], form)

    def is_shown_again(self, subject: str) -> bool:
        """An example is shown once more, with its answer."""
        return subject in self._examples


def place_of(item: Item) -> tuple[str, str, str]:
    """The key that distinguishes an item from all others of a run."""
    return item.task, item.query, item.id


def subject_of(item: Item, candidate: int) -> str:
    """The id of a card of the exam; it has one answer."""
    return msgspec.json.encode((*place_of(item), candidate)).decode()


def given_by(event: Event | None) -> Given | None:
    """The answer in an event; None where it has none."""
    if event is None or event.kind != "answer":
        return None
    return msgspec.json.decode(event.value, type=Given)


def _examples(
    items: Sequence[Item], references: Iterable[Item], way: RequestVariant
) -> Iterable[tuple[str, Item]]:
    """The first labelled item of each kind of question in the exam."""
    wanted = {_kind(item) for item in items}
    for item in references:
        try:
            kind = _kind(item)
            request_for(item, way)
        except DataError:
            continue
        if kind in wanted and not task(item.task).of_pairs:
            wanted.discard(kind)
            yield f"{WARM_UP}{item.id}", item


def _kind(item: Item) -> tuple[str, str, bool]:
    return item.benchmark, query_of(item).form, task(item.task).of_pairs


def _truth(item: Item, request: Request) -> str:
    if request.form == "boxes":
        return ""
    return item.answer or item.answer_simplified
