"""The first of two phases: transcribe the images where a prompt needs their text.

In `own-ocr` and `own-text` a model first transcribes an item's images and then gets its own
transcription. The prompt for it is that of the definition's `reading_task`. In a pipeline
``ocr+llm`` an engine transcribes and a text model answers. Transcriptions are stored in the run
like responses, so nothing is transcribed twice: an image of ten items is transcribed once per round
and script.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from keju.definitions import reading_task
from keju.definitions.wordings import RELEASED
from keju.files import sha256_bytes
from keju.items import (
    OWN_READING,
    Failure,
    ImageRef,
    Item,
    PromptScript,
    Request,
    Response,
    Setting,
)
from keju.models import Model, role_of
from keju.running.selection import RequestVariant
from keju.running.store import StoredResponses
from keju.text import in_script
from keju.texts import _

NO_READING = "no-reading"
"""The failure kind of an item whose images could not be transcribed."""


def reading_request(item: Item, number: int, script: PromptScript = "released") -> Request:
    """A request for a transcription of an item's images, in a script and a round."""
    reading = reading_task(item.benchmark)
    query = reading.queries[0]
    prompt = query.template if script == "released" else in_script(query.template, script)
    return Request(
        item=name_of_images(item.images),
        benchmark=reading.benchmark,
        task=reading.id,
        form=query.form,
        prompt=prompt,
        images=item.images,
        script=script,
        round=number,
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
        number = variant.round if self.every_round else 1
        return reading_request(item, number, variant.script if self.prompted else "released")

    @property
    def place(self) -> tuple[str, bool]:
        """Model and rounds: readers that share both make the same transcriptions."""
        return self.model.name, self.every_round


def reader_of(model: Model, setting: Setting) -> Reader | None:
    """The reader that transcribes the images before `model` answers in that setting, or None."""
    if model.reader:
        prompted = is_prompted(model.reader.name)
        return Reader(model.reader, every_round=False, prompted=prompted)
    return Reader(model, every_round=True) if setting in OWN_READING else None


def readers_of(
    models: Iterable[Model], settings: Iterable[Setting]
) -> list[tuple[Reader, list[Model]]]:
    """The readers of models in these settings, each once, with the models that it reads for."""
    readers: dict[tuple[str, bool], tuple[Reader, list[Model]]] = {}
    for model in models:
        for setting in settings:
            if reader := reader_of(model, setting):
                _first, served = readers.setdefault(reader.place, (reader, []))
                if model not in served:
                    served.append(model)
    return list(readers.values())


def is_prompted(reader: str, stored: str = "") -> bool:
    """Whether a reader gets a prompt: a model does, an OCR engine and a replayed file do not.

    Args:
        reader: the reader's name.
        stored: the role that a run recorded of it, if it did.
    """
    return (stored or role_of(reader)) == "model"


def takes_no_prompt(name: str) -> bool:
    """Whether a model is an OCR engine or its stored results, also with shuffled images."""
    return role_of(name.removeprefix("shuffled:")) == "engine"


def unsupported_reason(model: Model, request: Request) -> str:
    """Why a model does not support a request, or an empty string.

    An OCR engine takes no prompt, so that it supports the published wording only.
    """
    if request.wording != RELEASED and takes_no_prompt(model.name):
        return _("an OCR engine takes no prompt: add --wording released to ask it too")
    return model.unsupported_reason(request)


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
