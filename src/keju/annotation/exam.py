"""The exam: people answer the same requests as models, in the same words and order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

import msgspec
from msgspec.structs import replace

from keju.annotation.events import Event, EventLog, decode_event
from keju.annotation.fields import HumanAnswer, format_boxes, parse_answer
from keju.annotation.queue import Form, Queue, describe_task
from keju.definitions import options_of, query_of, task
from keju.errors import DataError
from keju.items import Item, Request, Response
from keju.running import ResponseStore, request_key
from keju.running.requests import request_count, request_for
from keju.running.selection import RequestVariant
from keju.runs import HUMAN, RunFolder
from keju.text import has_han

WARM_UP = "warm-up:"


class Exam(Queue):
    """The exam queue: a few examples with their answers first, then every request."""

    name = "exam"

    def __init__(
        self, items: Sequence[Item], references: Iterable[Item], variant: RequestVariant
    ) -> None:
        self._variant = variant
        self._items = {make_item_key(item): item for item in items}
        self._examples = dict(_choose_examples(items, references, variant))

    @cached_property
    def _subjects(self) -> list[str]:
        subjects = list(self._examples)
        for item in self._items.values():
            first = 1 if task(item.task).of_pairs else 0
            places = range(first, first + request_count(item))
            subjects += [make_subject(item, candidate) for candidate in places]
        return subjects

    def list_subjects(self, person: str) -> Sequence[str]:
        """The cards, the same for everybody."""
        del person
        return self._subjects

    def request(self, subject: str) -> tuple[Item, Request]:
        """Find the item and the request of a card.

        Raises:
            KeyError: the card does not exist.
        """
        if example := self._examples.get(subject):
            return example, request_for(example, self._variant)
        *place, candidate = msgspec.json.decode(subject, type=tuple[str, str, str, int])
        item = self._items[place[0], place[1], place[2]]
        return item, request_for(item, self._variant, candidate=candidate)

    def build_card(self, subject: str, event: Event | None, language: str) -> dict[str, object]:
        """The request as a model gets it; for an answered example also the answer."""
        item, request = self.request(subject)
        example = subject in self._examples
        before = decode_event(event, HumanAnswer)
        return {
            "request": request,
            "in_chinese": has_han(request.prompt),
            "options": options_of(item),
            "images": request.images,
            "paired": bool(request.candidate),
            **describe_task(item, language),
            "example": example,
            "before": before,
            "boxes": format_boxes(before.boxes) if before else [],
            "reference": _get_reference(item, request) if example and before is not None else None,
            "reference_boxes": format_boxes(item.boxes) if example and before is not None else [],
        }

    def get_content(self, subject: str) -> object:
        """The request, the options, and the answer that an example shows afterwards."""
        item, request = self.request(subject)
        reference = None
        if subject in self._examples:
            reference = (_get_reference(item, request), item.boxes)
        return request, options_of(item), reference

    def read(self, subject: str, form: Form) -> HumanAnswer:
        """Read the person's answer.

        Raises:
            UsageError: it is not a valid answer to that question.
        """
        return parse_answer(self.request(subject)[1], form)

    def is_shown_again(self, subject: str) -> bool:
        """Whether the card is an example, which is shown once more with its answer."""
        return subject in self._examples


def make_item_key(item: Item) -> tuple[str, str, str]:
    """The task, the query and the id of an item, which are unique in a run."""
    return item.task, item.query, item.id


def make_subject(item: Item, candidate: int) -> str:
    """The id of a card of the exam: an item and a candidate."""
    return msgspec.json.encode((*make_item_key(item), candidate)).decode()


def _choose_examples(
    items: Sequence[Item], references: Iterable[Item], variant: RequestVariant
) -> Iterable[tuple[str, Item]]:
    """The first labelled item of each kind of question in the exam."""
    classes = {_classify(item) for item in items}
    for item in references:
        try:
            kind = _classify(item)
            request_for(item, variant)
        except DataError:
            continue
        if kind in classes and not task(item.task).of_pairs:
            classes.discard(kind)
            yield f"{WARM_UP}{item.id}", item


def _classify(item: Item) -> tuple[str, str, bool]:
    return item.benchmark, query_of(item).form, task(item.task).of_pairs


def _get_reference(item: Item, request: Request) -> str:
    if request.form == "boxes":
        return ""
    return item.answer or item.answer_simplified


def make_identity(person: str) -> dict[str, str]:
    """The identity of a person in a run's manifest, which is part of every cache key."""
    return {"kind": "human", "name": person}


def list_responses(events: EventLog, exam: Exam, person: str) -> list[Response]:
    """A person's current answers, in the exam's order."""
    places = {subject: place for place, subject in enumerate(exam.list_subjects(person))}
    placed_responses: list[tuple[int, Response]] = []
    for (_, subject), event in events.find_latest(exam.name, person).items():
        answer = decode_event(event, HumanAnswer)
        if answer is None or subject not in places or subject.startswith(WARM_UP):
            continue
        _, request = exam.request(subject)
        response = Response(
            key=request_key(request, make_identity(person)),
            item=request.item,
            model=f"{HUMAN}{person}",
            benchmark=request.benchmark,
            task=request.task,
            status="answered" if answer.text else "empty",
            query=request.query,
            setting=request.setting,
            script=request.script,
            wording=request.wording,
            round=request.round,
            candidate=request.candidate,
            box_convention=request.box_convention,
            text=answer.text,
            seconds=event.seconds,
        )
        placed_responses.append((places[subject], response))
    return [response for _, response in sorted(placed_responses, key=lambda row: row[0])]


def replace_answers(folder: RunFolder, answers: Mapping[str, Sequence[Response]]) -> None:
    """Replace all answers of the given people in a run.

    An empty list of answers removes the person from the run.

    Raises:
        UsageError: another process is writing to this run.
        DataError: a stored line is damaged, or the disk is full.
    """
    with ResponseStore(folder) as store:
        manifest = folder.manifest()
        models = dict(manifest.models)
        for person, responses in answers.items():
            models.pop(f"{HUMAN}{person}", None)
            if responses:
                models[f"{HUMAN}{person}"] = make_identity(person)
        folder.write_manifest(replace(manifest, models=models))
        # An interruption loses nothing: the log of events has the answers, and is read again.
        for person, responses in answers.items():
            store.drop(f"{HUMAN}{person}", store.known(f"{HUMAN}{person}"))
            for response in responses:
                store.append(response)
