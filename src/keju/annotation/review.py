"""Review: people accept, correct or reject drafts, with reasons."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import structs

from keju.annotation.events import Event, EventLog, decode_event
from keju.annotation.fields import format_boxes, parse_boxes
from keju.annotation.queue import Form, Queue, describe_task, read_lines, read_text
from keju.building.drafting.templates import collect_known_facts
from keju.building.review_form import ReviewForm, Scale, read_review_form
from keju.building.reviewing import Corrections, Decision, Verdict, compute_seal, unify_texts
from keju.definitions import prompt_of, query_of
from keju.errors import DataError, UsageError
from keju.items import Item

LONGEST_REASON = 10_000
"""Maximum length in characters, as in a verdict."""


class Review(Queue):
    """The review queue: items of a dataset, its drafts where it has some."""

    name = "review"

    def __init__(self, items: Sequence[Item], form: ReviewForm | None = None) -> None:
        self._items = {item.id: item for item in items}
        self._form = form or read_review_form()

    def list_subjects(self, person: str) -> Sequence[str]:
        """The items in the dataset's order."""
        del person
        return list(self._items)

    def build_card(self, subject: str, event: Event | None, language: str) -> dict[str, object]:
        """All fields of the item, as they are or as this person corrected them before."""
        item = self._items[subject]
        verdict = decode_event(event, Verdict)
        corrected = {} if verdict is None else verdict.corrections.fields()
        now = structs.replace(item, **corrected)
        return {
            **describe_task(item, language),
            "images": item.images,
            "item": now,
            "prompt": _build_prompt(item),
            "options": "\n".join(now.options),
            "has_options": bool(item.options) or _find_form(item) == "letter",
            "has_boxes": bool(item.boxes) or _find_form(item) == "boxes",
            "boxes": format_boxes(now.boxes),
            "known": collect_known_facts(item),
            "verdict": verdict,
            "scales": [_build_scale(scale, verdict, language) for scale in self._form.scale],
            "provenance": item.provenance,
        }

    def get_content(self, subject: str) -> object:
        """The item, its sources, and the scales."""
        item = self._items[subject]
        return item, _build_prompt(item), collect_known_facts(item), self._form.scale

    def read(self, subject: str, form: Form) -> Verdict:
        """Read the verdict; unchanged fields are not corrections.

        Raises:
            UsageError: the decision is missing, a correction changes nothing, a rejection has no
                reason, or a mark is unknown.
        """
        try:
            decision = Decision(form.get("act", ""))
        except ValueError:
            raise UsageError("Accept, correct or reject the item") from None
        reason = read_text(form, "reason")
        if len(reason) > LONGEST_REASON:
            raise UsageError("The reason has more than 10,000 characters")
        if decision == Decision.REJECT and not reason:
            raise UsageError("Enter the reason for the rejection")
        item = self._items[subject]
        corrections = Corrections()
        if decision == Decision.CORRECT:
            corrections = _read_corrections(item, form)
            if not corrections.fields():
                raise UsageError("No field is changed. Change a field, or accept the item")
        verdict = Verdict(
            item=subject,
            person="-",
            decision=decision,
            corrections=corrections,
            reason=reason,
            marks=self._read_marks(form),
            seal=compute_seal(item),
        )
        if fault := verdict.find_fault():
            raise UsageError(fault)
        try:
            unify_texts(item, verdict)
        except DataError:
            raise UsageError(
                "The answer and the transcription are the same text in this task. Change only "
                "one of them"
            ) from None
        return verdict

    def _read_marks(self, form: Form) -> dict[str, int]:
        mark_of_scale: dict[str, int] = {}
        for scale in self._form.scale:
            value = form.get(scale.key, "")
            marks = {str(mark): mark for mark in range(1, len(scale.marks) + 1)}
            if value and value not in marks:
                raise UsageError("Choose one of the marks, or none")
            if value:
                mark_of_scale[scale.name] = marks[value]
        return mark_of_scale

    def list_verdicts(self, events: EventLog) -> Iterator[Verdict]:
        """All current verdicts, in the format of ``keju build review``.

        They include verdicts on items that are not in this queue, such as those of an earlier call
        with other options: the event log belongs to one dataset.
        """
        for (person, _), event in events.find_latest(self.name).items():
            verdict = decode_event(event, Verdict)
            if verdict is not None:
                yield structs.replace(verdict, person=person)


def _build_scale(scale: Scale, verdict: Verdict | None, language: str) -> dict[str, object]:
    """The values of a scale for the page, with the person's earlier mark if the scale has it."""
    mark = verdict.marks.get(scale.name, 0) if verdict else 0
    return {
        "key": scale.key,
        "name": scale.zh if language == "zh" else scale.name,
        "asks": scale.asks_zh if language == "zh" else scale.asks,
        "words": scale.words(language),
        "mark": mark if mark <= len(scale.marks) else 0,
    }


def _read_corrections(item: Item, form: Form) -> Corrections:
    values: dict[str, object] = {}
    for field in ("question", "answer", "transcription"):
        text = read_text(form, field)
        if field in form and text != _normalize(getattr(item, field) or ""):
            values[field] = text
    if "options" in form:
        options = read_lines(form, "options")
        if options != tuple(map(_normalize, item.options)):
            values["options"] = options
    if "boxes" in form:
        boxes = parse_boxes(form)
        if format_boxes(boxes) != format_boxes(item.boxes):
            values["boxes"] = boxes
    return structs.replace(Corrections(), **values)


def _normalize(text: str) -> str:
    return text.replace("\r\n", "\n").strip()


def _find_form(item: Item) -> str:
    try:
        return query_of(item).form
    except DataError:
        return ""


def _build_prompt(item: Item) -> str:
    """The prompt of the item, or "" if the draft is not complete enough for a prompt."""
    try:
        return prompt_of(item)
    except DataError:
        return ""
