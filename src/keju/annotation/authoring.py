"""Authoring: people write new items about the images of a dataset; drafts until reviewed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from keju.annotation.events import EventLog, decode_event
from keju.annotation.fields import parse_boxes
from keju.annotation.queue import Form, read_lines, read_text
from keju.datasets.store import Dataset, DatasetWriter
from keju.definitions import prompt_of, tasks
from keju.definitions.prompts import box_format
from keju.errors import DataError, UsageError
from keju.items import AnswerForm, ImageRef, Item, Provenance
from keju.texts import _

STEP = "authoring"
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


class QuestionKind(msgspec.Struct, frozen=True):
    """A kind of question that can be written: a task, one of its queries, and its form.

    `name` is the task's id, with the query if there is one: ``recognition/Where``. `blanks` are the
    fields of the prompt that the author fills in.
    """

    name: str
    name_en: str
    name_zh: str
    benchmark: str
    form: AnswerForm
    blanks: tuple[str, ...]
    template: str


def list_kinds() -> tuple[QuestionKind, ...]:
    """All kinds of questions about one image; questions about pairs of images are excluded."""
    return tuple(
        QuestionKind(
            f"{each.id}/{query.name}".rstrip("/"), each.name_en, each.name_zh, each.benchmark,
            query.form,
            tuple(b for b in ("term", "character", "book") if f"{{{b}}}" in query.template),
            query.template.replace("{box_format}", box_format(query.box_convention or "xyxy")),
        )
        for each in tasks()
        if not each.of_pairs
        for query in each.queries
    )  # fmt: skip


class Authoring:
    """The authoring queue: new items, stored as events.

    An item is the latest version that its author saved under its id.
    """

    name = "authoring"

    def __init__(self, dataset: Dataset, items: Sequence[Item]) -> None:
        self.dataset = dataset
        self.images: dict[str, ImageRef] = {}
        self._groups: dict[str, str] = {}
        self._lines: dict[str, str] = {}
        self._used_ids = {item.id for item in items}
        for item in items:
            for ref in item.images:
                self.images.setdefault(ref.sha256, ref)
                if item.group:
                    self._groups.setdefault(ref.sha256, item.group)
            if len(item.images) == 1 and item.transcription:
                self._lines.setdefault(item.images[0].sha256, item.transcription)

    def find_transcription(self, sha256: str) -> str:
        """The transcription of an image in the dataset, or ""."""
        return self._lines.get(sha256, "")

    def read(self, person: str, subject: str, form: Form) -> Item:
        """Read the item that a person wrote.

        Raises:
            UsageError: a field is missing or not valid; the message is for the person.
        """
        image = self.images.get(form.get("image", ""))
        if image is None:
            raise UsageError("Choose an image")
        kind = next((each for each in list_kinds() if each.name == form.get("kind")), None)
        if kind is None:
            raise UsageError("Choose a task")
        task_id, _, query = kind.name.partition("/")
        options = read_lines(form, "options")
        options = options if kind.form == "letter" else ()
        boxes = parse_boxes(form) if kind.form == "boxes" else ()
        item = Item(
            id=subject,
            benchmark=kind.benchmark,
            task=task_id,
            query=query,
            images=(image,),
            question=read_text(form, "question"),
            fields={name: read_text(form, name) for name in kind.blanks},
            options=options,
            answer="" if kind.form == "boxes" else _read_answer(form, kind, options),
            boxes=boxes,
            transcription=read_text(form, "transcription") or None,
            group=self._groups.get(image.sha256, ""),
            provenance=(Provenance(step=STEP, tool="keju serve", person=person),),
            draft=True,
        )
        try:
            prompt_of(item)
        except DataError as error:
            raise UsageError(error.hint or error.problem) from None
        if kind.form == "boxes" and not boxes:
            raise UsageError("Draw at least one box")
        if kind.form == "transcription" and item.transcription is None:
            item = msgspec.structs.replace(item, transcription=item.answer)
        return item

    def make_subject(self, person: str, ticket: str) -> str:
        """A new id, which no item of the dataset has."""
        name = hashlib.sha256(f"{person}\0{ticket}".encode()).hexdigest()
        length = next(n for n in range(8, 65) if f"new-{name[:n]}" not in self._used_ids)
        return f"new-{name[:length]}"

    def list_items(self, events: EventLog, person: str | None = None) -> Iterator[tuple[str, Item]]:
        """The current new items, each after its author."""
        for (author, __), event in events.find_latest(self.name, person).items():
            if item := decode_event(event, Item):
                yield author, item

    def export(self, events: EventLog, out: Path) -> int:
        """Write the new items and their images as a dataset; return the number of items.

        Raises:
            UsageError: the directory is not empty.
            DataError: an image is damaged, or the disk is full.
        """
        about = self.dataset.manifest
        items = [item for _, item in self.list_items(events)]
        if not items:
            return 0
        with DatasetWriter(
            out,
            name=f"{about.name}-authored",
            version=about.version,
            licence=about.licence,
            source=f"written by people on images of {about.name} {about.version}",
            language=about.language,
            script=about.script,
        ) as writer:
            for item in items:
                refs = [
                    writer.add_image(self.dataset.image_bytes(ref), ref.path) for ref in item.images
                ]
                writer.add(msgspec.structs.replace(item, images=tuple(refs)))
        return len(items)


def _read_answer(form: Form, kind: QuestionKind, options: tuple[str, ...]) -> str:
    answer = read_text(form, "answer", needed=_("Enter the answer"))
    if kind.form != "letter":
        return answer
    if len(options) < 2 or len(options) > len(_LETTERS):
        raise UsageError("Enter at least two options, one per line")
    letter = answer.upper()
    if letter not in _LETTERS[: len(options)]:
        raise UsageError("The answer must be the letter of one of the options")
    return letter
