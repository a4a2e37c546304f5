"""The first of two phases: transcribe the images where a prompt needs their text.

In `own-ocr` and `own-text` a model first transcribes an item's images and then gets its own
transcription. The prompt for it is that of the definition's `reading_task`. In a pipeline
``ocr+llm`` an engine transcribes and a text model answers. Transcriptions are stored in the run
like responses, so nothing is transcribed twice: an image of ten items is transcribed once per round
and script.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
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
from keju.running.examples import Examples
from keju.running.key import key_of, request_key
from keju.running.requests import request_for
from keju.running.selecting import RequestVariant, skip_reason
from keju.runs.record_list import RecordList
from keju.text import answer_part, in_script
from keju.texts import _

NO_READING = "no-reading"
"""The failure kind of an item whose images could not be transcribed."""


def reading_request(item: Item, number: int, script: PromptScript = "released") -> Request:
    """A request for a transcription of an item's images, in a script and a round."""
    reading, images = reading_task(item.benchmark), item.images
    query = reading.queries[0]
    prompt = query.template if script == "released" else in_script(query.template, script)
    return Request(
        item=name_of_images(images),
        benchmark=reading.benchmark,
        task=reading.id,
        form=query.form,
        prompt=prompt,
        images=images,
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

    def key(self, item: Item, variant: RequestVariant) -> str:
        """The key of a transcription."""
        return key_of(self.request(item, variant), self.model)


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
    found: dict[tuple[str, bool], tuple[Reader, list[Model]]] = {}
    different = list(dict.fromkeys(settings))
    for model in models:
        for reader in filter(None, (reader_of(model, setting) for setting in different)):
            _, asking = found.setdefault(_place_of(reader), (reader, []))
            if model not in asking:
                asking.append(model)
    return list(found.values())


def is_read_by(
    reader: Reader, model: Model, item: Item, variant: RequestVariant, examples: Examples | None
) -> bool:
    """Whether a reader reads an item for a model, which is then asked in that prompt variant."""
    own = reader_of(model, variant.setting)
    if own is None or _place_of(own) != _place_of(reader) or skip_reason(item, variant):
        return False
    shown = examples.of(item, variant) if examples else ()
    return not unsupported_reason(model, request_for(item, variant, examples=shown))


def _place_of(reader: Reader) -> tuple[str, bool]:
    return reader.model.name, reader.every_round


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


def is_prompted(reader: str, stored: str = "") -> bool:
    """Whether a reader gets a prompt: a model does, an OCR engine and a replayed file do not.

    Args:
        reader: the reader's name.
        stored: the role that a run recorded of it, if it did.
    """
    return (stored or role_of(reader)) == "model"


def reading_requests(
    reader: Reader, turns: Iterable[tuple[Item, RequestVariant]]
) -> Iterator[Request]:
    """The requests to a reader for these items: one per image or row of pages and round."""
    seen: set[tuple[str, str, str, int]] = set()
    for item, variant in turns:
        request = reader.request(item, variant)
        place = (request.item, request.task, request.script, request.round)
        if place not in seen:
            seen.add(place)
            yield request


class Readings:
    """The transcriptions of a reader, by key."""

    def __init__(self, reader: Reader, stored: Iterable[Response]) -> None:
        self.reader = reader
        self._stored: RecordList[Response] = RecordList(Response)
        self._places: dict[str, int] = {}
        for response in stored:
            self._places[response.key] = len(self._stored)
            self._stored.append(response)

    def of(self, item: Item, variant: RequestVariant) -> Response | None:
        """The transcription of an item's images, or None if it was not made yet."""
        place = self._places.get(self.reader.key(item, variant))
        return None if place is None else self._stored[place]


class ReadingTexts:
    """The texts of stored readings, found by their requests where no model is open."""

    def __init__(self, stored: Iterable[Response]) -> None:
        self._stored = {(each.item, each.script, each.round): each for each in stored}

    def text(self, request: Request, identity: Mapping[str, str]) -> str | None:
        """The transcription without reasoning; None if it answers another request or is missing."""
        found = self._stored.get((request.item, request.script, request.round))
        if found is None or found.key != request_key(request, identity, found.source_sha256):
            return None
        return answer_part(found.text)


def failure_of(reading: Response) -> Failure | None:
    """Why an item cannot be sent, if its images could not be transcribed."""
    if reading.status not in {"failed", "filtered"}:
        return None
    why = reading.error
    said = f"{why.kind}: {why.message}" if why else reading.status
    return Failure(kind=NO_READING, message=f"its images could not be read ({said})")


def name_of_images(images: tuple[ImageRef, ...]) -> str:
    """The item id of a transcription of these images."""
    if len(images) == 1:
        return images[0].sha256
    return sha256_bytes("".join(ref.sha256 for ref in images).encode())
