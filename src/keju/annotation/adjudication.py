"""Adjudication: people decide which value an unclear answer gives, if any.

People see the question, its images and the answer, but neither the reference nor the model. Answers
with boxes are left to an extractor model (``keju judge extract``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from string import ascii_uppercase

from keju.annotation.events import Event, EventLog, decode_event
from keju.annotation.fields import parse_choice
from keju.annotation.queue import Form, Queue, describe_task, format_csv, read_text
from keju.definitions import choices_of, options_of
from keju.errors import UsageError
from keju.files import cell_text
from keju.items import ImageRef, Item, Record, Response
from keju.judging.prompting import question_of
from keju.runs import RunFolder
from keju.scoring import answer_code, unclear_samples
from keju.scoring.decisions import CODE, NO_ANSWER, PERSON, VALUE, normalised_value
from keju.text import answer_part
from keju.texts import _

COLUMNS = (
    CODE, "item", "task", "query", "setting", "round", "model", PERSON, VALUE, "answer",
)  # fmt: skip
_NO_VALUE = _('Enter the value that the answer gives, or choose "No value"')
_HINTS = {
    "number": _("Write one number, such as 3 or 三."),
    "probability": _("Write a number from 0 to 1, such as 0.7."),
}


class DecidedValue(Record, frozen=True, kw_only=True, omit_defaults=False):
    """One stored decision: the value; empty if the answer gives none."""

    value: str


class Adjudication(Queue):
    """Adjudication queue: all unclear answers of a run but those with boxes."""

    name = "adjudication"

    def __init__(self, run: RunFolder) -> None:
        self._answers = {
            answer_code(sample.response): (sample.item, sample.form, sample.response)
            for sample in unclear_samples(run)
            if sample.form != "boxes"
        }

    def list_subjects(self, person: str) -> Sequence[str]:
        """The codes of the answers, in an order that does not depend on the models."""
        del person
        return sorted(self._answers)

    def build_card(self, subject: str, event: Event | None, language: str) -> dict[str, object]:
        """The question, its options and the answer; neither the reference nor the model."""
        item, form, response = self._answers[subject]
        before = decode_event(event, DecidedValue)
        return {
            **describe_task(item, language),
            "images": _images(item, response),
            "paired": bool(response.candidate),
            "question": question_of(item),
            "form": form,
            "choices": _choices(item, form),
            "options": options_of(item),
            "answer": answer_part(response.text),
            "hint": _HINTS.get(form, ""),
            "value": before.value if before else None,
        }

    def get_content(self, subject: str) -> object:
        """The question, its options and images, and the answer."""
        item, _, response = self._answers[subject]
        question = (question_of(item), choices_of(item), options_of(item), _images(item, response))
        return question, answer_part(response.text)

    def read(self, subject: str, form: Form) -> DecidedValue:
        """Read the decided value.

        Raises:
            UsageError: it is not one of the options, or not a value of the answer's form.
        """
        item, answer_form, _ = self._answers[subject]
        if form.get("act") == NO_ANSWER:
            return DecidedValue(value="")
        if choices := _choices(item, answer_form):
            return DecidedValue(value=parse_choice(form, choices))
        text = read_text(form, "answer", needed=_NO_VALUE)
        value = normalised_value(answer_form, "" if text == NO_ANSWER else text)
        if value is None:
            raise UsageError(_HINTS.get(answer_form, _NO_VALUE))
        return DecidedValue(value=value)

    def export(self, events: EventLog) -> str:
        """The current decisions, one row each, in the format of ``keju score --adjudicated``."""
        return format_csv(COLUMNS, self._list_rows(events))

    def _list_rows(self, events: EventLog) -> Iterator[Sequence[object]]:
        for (person, subject), event in events.find_latest(self.name).items():
            decided = decode_event(event, DecidedValue)
            if decided is None or subject not in self._answers:
                continue
            item, _, response = self._answers[subject]
            yield (
                subject, cell_text(item.id), item.task, item.query,
                response.setting, response.round, cell_text(response.model),
                cell_text(person), cell_text(decided.value) or NO_ANSWER,
                cell_text(answer_part(response.text)),
            )  # fmt: skip


def _images(item: Item, response: Response) -> tuple[ImageRef, ...]:
    """The images of the question: of pairs the two that the model compared."""
    if not response.candidate:
        return item.images
    return item.images[0], item.images[response.candidate]


def _choices(item: Item, form: str) -> tuple[str, ...]:
    """The values to choose from; empty where a value is written."""
    if form == "letter":
        return choices_of(item) or tuple(ascii_uppercase[:6])
    return ("Yes", "No") if form == "yes-no" else ()
