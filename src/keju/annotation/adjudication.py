"""Adjudication: people decide which option a response chose if the rules cannot decide it.

People see the question and the answer, but neither the reference nor the model. They select the
chosen option, or none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from keju.annotation.events import Event, EventLog, decode_event
from keju.annotation.exam import make_item_key
from keju.annotation.fields import parse_choice
from keju.annotation.queue import Form, Queue, describe_task, format_csv
from keju.definitions import choices_of, options_of, prompt_of, query_of
from keju.files import cell_text
from keju.items import Item, Record, Response
from keju.runs import RunFolder
from keju.scoring import answer_code, is_unclear
from keju.scoring.decisions import CODE, LETTER, NONE
from keju.text import answer_part

COLUMNS = (
    CODE, "item", "task", "query", "setting", "round", "model", "person", LETTER, "answer",
)  # fmt: skip


class ChosenOption(Record, frozen=True, kw_only=True):
    """One stored decision: the letter of the option, or `NONE`."""

    letter: str


class Adjudication(Queue):
    """Adjudication queue: all answers to questions with options that the rules cannot decide."""

    name = "adjudication"

    def __init__(self, run: RunFolder) -> None:
        self._answers = {
            answer_code(response): (item, response) for item, response in _list_unclear(run)
        }

    def list_subjects(self, person: str) -> Sequence[str]:
        """The codes of the answers, in an order that does not depend on the models."""
        del person
        return sorted(self._answers)

    def build_card(self, subject: str, event: Event | None, language: str) -> dict[str, object]:
        """The question, its options and the answer; neither the reference nor the model."""
        item, response = self._answers[subject]
        before = decode_event(event, ChosenOption)
        return {
            **describe_task(item, language),
            "images": item.images,
            "question": prompt_of(item),
            "choices": choices_of(item),
            "options": options_of(item),
            "answer": answer_part(response.text),
            "letter": before.letter if before else None,
        }

    def get_content(self, subject: str) -> object:
        """The question, its options and images, and the answer."""
        item, response = self._answers[subject]
        question = (prompt_of(item), choices_of(item), options_of(item), item.images)
        return question, answer_part(response.text)

    def read(self, subject: str, form: Form) -> ChosenOption:
        """Read the chosen option.

        Raises:
            UsageError: it is not one of the options.
        """
        item, _ = self._answers[subject]
        return ChosenOption(letter=parse_choice(form, (*choices_of(item), NONE)))

    def export(self, events: EventLog) -> str:
        """The current decisions, one row each, in the format of ``keju score --adjudicated``."""
        return format_csv(COLUMNS, self._list_rows(events))

    def _list_rows(self, events: EventLog) -> Iterator[Sequence[object]]:
        for (person, subject), event in events.find_latest(self.name).items():
            chosen = decode_event(event, ChosenOption)
            if chosen is None or subject not in self._answers:
                continue
            item, response = self._answers[subject]
            yield (
                subject, cell_text(item.id), item.task, item.query,
                response.setting, response.round, cell_text(response.model),
                cell_text(person), chosen.letter, cell_text(answer_part(response.text)),
            )  # fmt: skip


def _list_unclear(run: RunFolder) -> Iterator[tuple[Item, Response]]:
    items = {
        make_item_key(item): item
        for item in run.items()
        if query_of(item).form == "letter" and choices_of(item)
    }
    for response in run.responses(tasks={task_id for task_id, _, _ in items}):
        item = items.get((response.task, response.query, response.item))
        if item is not None and is_unclear(item, response):
            yield item, response
