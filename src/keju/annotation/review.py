"""Review: people accept, correct or reject drafts, with reasons."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import get_args

import msgspec
from msgspec import structs

from keju.annotation.events import Event, EventLog
from keju.annotation.fields import boxes_of, rows_of
from keju.annotation.queue import Form, lines_of, text_of
from keju.building.drafting.templates import known_of
from keju.building.review_form import ReviewForm, Scale, review_form
from keju.building.reviewing import Decision, Mended, Verdict, on_one_text, seal_of
from keju.definitions import prompt_of, query_of, task
from keju.errors import DataError, UsageError
from keju.items import Item
from keju.messages import message

_DECISIONS: tuple[Decision, ...] = get_args(Decision)
LONGEST_REASON = 10_000
"""Maximum length in characters, as in a verdict."""


class Review:
    """The review queue: items of a dataset, its drafts where it has some.

    Args:
        items: the items to review.
        form: the scales on which people may mark each item, by default keju's own.
    """

    name = "review"

    def __init__(self, items: Sequence[Item], form: ReviewForm | None = None) -> None:
        self._items = {item.id: item for item in items}
        self._form = form or review_form()

    def subjects(self, person: str) -> Sequence[str]:
        """The items in the dataset's order."""
        del person
        return list(self._items)

    def shown(self, subject: str, event: Event | None, language: str) -> dict[str, object]:
        """All fields of the item, as they are or as this person corrected them before."""
        item, asks = self._items[subject], task(self._items[subject].task)
        verdict = _verdict(event)
        mended = {} if verdict is None else verdict.mended.fields()
        now = structs.replace(item, **mended)
        return {
            "task": asks.name_zh if language == "zh" else asks.name_en,
            "task_id": asks.id,
            "query": item.query,
            "images": item.images,
            "item": now,
            "prompt": _prompt(item),
            "options": "\n".join(now.options),
            "has_boxes": bool(item.boxes) or _form(item) == "boxes",
            "boxes": rows_of(now.boxes),
            "known": known_of(item),
            "verdict": verdict,
            "scales": [_asked(scale, verdict, language) for scale in self._form.scale],
            "provenance": item.provenance,
        }

    def content(self, subject: str) -> object:
        """The item, its sources, and the scales."""
        item = self._items[subject]
        return item, _prompt(item), known_of(item), self._form.scale

    def read(self, subject: str, form: Form) -> Verdict:
        """The decision; unchanged fields are not included.

        Raises:
            UsageError: it is not a decision, corrects nothing, rejects without a reason, or
                contains an unknown mark.
        """
        said = form.get("act", "")
        decision = next((known for known in _DECISIONS if known == said), None)
        if decision is None:
            raise UsageError(message("annotation.decision-missing"))
        reason = text_of(form, "reason")
        if len(reason) > LONGEST_REASON:
            raise UsageError(message("annotation.reason-too-long"))
        if decision == "reject" and not reason:
            raise UsageError(message("annotation.reason-missing"))
        item = self._items[subject]
        mended = _mended(item, form) if decision == "mend" else Mended()
        if decision == "mend" and not mended.fields():
            raise UsageError(message("annotation.nothing-changed"))
        verdict = Verdict(
            item=subject,
            person="-",
            decision=decision,
            mended=mended,
            reason=reason,
            marks=self._marks(form),
            seal=seal_of(item),
        )
        if fault := verdict.fault():
            raise UsageError(fault)
        try:
            on_one_text(item, verdict)
        except DataError:
            raise UsageError(message("annotation.answer-transcription-one-text")) from None
        return verdict

    def _marks(self, form: Form) -> dict[str, int]:
        given: dict[str, int] = {}
        for scale in self._form.scale:
            said = form.get(scale.key, "")
            marks = {str(mark): mark for mark in range(1, len(scale.marks) + 1)}
            if said and said not in marks:
                raise UsageError(message("annotation.please-choose-one-marks"))
            if said:
                given[scale.name] = marks[said]
        return given

    def is_shown_again(self, subject: str) -> bool:
        """A decided card is not shown again."""
        del subject
        return False

    def verdicts(self, events: EventLog) -> Iterator[Verdict]:
        """Every current verdict, in the format of ``keju build review``."""
        for (person, subject), event in events.progress(self.name).items():
            verdict = _verdict(event)
            if verdict is not None and subject in self._items:
                yield structs.replace(verdict, person=person)


def _verdict(event: Event | None) -> Verdict | None:
    if event is None or event.kind != "answer":
        return None
    return msgspec.json.decode(event.value, type=Verdict)


def _asked(scale: Scale, verdict: Verdict | None, language: str) -> dict[str, object]:
    """A scale for the page, with the earlier mark, unless that is of a form with more marks."""
    mark = verdict.marks.get(scale.name, 0) if verdict else 0
    return {
        "key": scale.key,
        "name": scale.zh if language == "zh" else scale.name,
        "asks": scale.asks_zh if language == "zh" else scale.asks,
        "words": scale.words(language),
        "mark": mark if mark <= len(scale.marks) else 0,
    }


def _mended(item: Item, form: Form) -> Mended:
    told: dict[str, object] = {}
    for field in ("question", "answer", "transcription"):
        text = text_of(form, field)
        if field in form and text != _plain(getattr(item, field) or ""):
            told[field] = text
    if "options" in form:
        options = lines_of(form, "options")
        if options != tuple(map(_plain, item.options)):
            told["options"] = options
    if "boxes" in form:
        boxes = boxes_of(form)
        if rows_of(boxes) != rows_of(item.boxes):
            told["boxes"] = boxes
    return structs.replace(Mended(), **told)


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n").strip()


def _form(item: Item) -> str:
    try:
        return query_of(item).form
    except DataError:
        return ""


def _prompt(item: Item) -> str:
    """The item's prompt; empty where the draft does not make a prompt yet."""
    try:
        return prompt_of(item)
    except DataError:
        return ""
