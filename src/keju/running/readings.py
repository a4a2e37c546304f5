"""The first of two phases: transcribe the images where a prompt needs their text.

In `own-ocr` and `own-text` a model first transcribes an item's images and then gets its own
transcription. The prompt for it is that of the definition's `reading_task`. In a pipeline
``ocr+llm`` an engine transcribes and a text model answers. Transcriptions are stored in the run
like responses, so nothing is transcribed twice: an image of ten items is transcribed once per round
and script.
"""

from __future__ import annotations

from typing import NamedTuple

from keju.definitions import reading_task
from keju.files import sha256_bytes
from keju.items import Failure, ImageRef, Item, Request, Response
from keju.models import Model, role_of
from keju.running.selection import RequestVariant
from keju.running.store import StoredResponses
from keju.text import in_script

NO_READING = "no-reading"
"""The failure kind of an item whose images could not be transcribed."""


def reading_request(
    item: Item, variant: RequestVariant, *, every_round: bool, prompted: bool
) -> Request:
    """A request for a transcription of an item's images (see `Reader`)."""
    reading = reading_task(item.benchmark)
    query = reading.queries[0]
    script = variant.script if prompted else "released"
    prompt = query.template if script == "released" else in_script(query.template, script)
    return Request(
        item=name_of_images(item.images),
        benchmark=reading.benchmark,
        task=reading.id,
        form=query.form,
        prompt=prompt,
        images=item.images,
        script=script,
        round=variant.round if every_round else 1,
    )


class Reader(NamedTuple):
    """The model or engine that transcribes for a model.

    `every_round`: it transcribes again in each round. `prompted`: it gets a prompt, and so
    transcribes in each script; an OCR engine gets none, and transcribes once.
    """

    model: Model
    every_round: bool
    prompted: bool = True

    def request(self, item: Item, variant: RequestVariant) -> Request:
        """A request for a transcription of an item's images."""
        return reading_request(item, variant, every_round=self.every_round, prompted=self.prompted)

    @classmethod
    def of(cls, model: Model) -> Reader:
        """The engine before a model in a pipeline, else the model itself."""
        if model.reader:
            return cls(model.reader, every_round=False, prompted=is_prompted(model.reader.name))
        return cls(model, every_round=True)


def is_prompted(reader: str, stored: str = "") -> bool:
    """Whether a reader gets a prompt: a model does, an OCR engine and a replayed file do not.

    Args:
        reader: the reader's name.
        stored: the role that a run recorded of it, if it did.
    """
    return (stored or role_of(reader)) == "model"


class Readings(NamedTuple):
    """The stored transcriptions of a reader."""

    reader: Reader
    stored: StoredResponses

    def of(self, item: Item, variant: RequestVariant) -> Response | None:
        """The transcription of an item's images, or None if it was not made yet."""
        model, request = self.reader.model, self.reader.request(item, variant)
        return self.stored.find(request, model.identity, model.source_of(request))


def failure_of(reading: Response) -> Failure | None:
    """Why an item cannot be sent, if its images could not be transcribed."""
    if reading.status not in {"failed", "filtered"}:
        return None
    error = reading.error
    reason = f"{error.kind}: {error.message}" if error else reading.status
    return Failure(kind=NO_READING, message=f"its images could not be read ({reason})")


def name_of_images(images: tuple[ImageRef, ...]) -> str:
    """The item id of a transcription of these images."""
    if len(images) == 1:
        return images[0].sha256
    return sha256_bytes("".join(ref.sha256 for ref in images).encode())
