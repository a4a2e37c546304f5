"""The first of two phases: what is read of the images, where a prompt needs it.

In the setting ``own-ocr`` a model first transcribes an item's images (MCS-Bench 4.4: by the prompt
of T1) and is then asked about its own transcription; in a pipeline ``ocr+llm`` an engine reads and
a text model answers. Readings are stored in the run like responses, so nothing is read twice: an
image that ten items show is read once a round.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from keju.benchmarks import task
from keju.files import sha256_bytes
from keju.items import Failure, ImageRef, Item, Request, Response, Setting
from keju.models import Model, Pipeline
from keju.running.keys import request_key
from keju.running.selecting import Way

_READING = task("T1")
NO_READING = "no-reading"
"""The kind of failure of an item whose images could not be read."""


def reading_request(images: tuple[ImageRef, ...], number: int) -> Request:
    """What asks for a transcription of some images, for the how-manieth time."""
    (query,) = _READING.queries
    return Request(
        item=name_of_images(images),
        benchmark=_READING.benchmark,
        task=_READING.id,
        form=query.form,
        prompt=query.template,
        images=images,
        round=number,
    )


class Reader(NamedTuple):
    """Who reads for a model. `every_round`: anew in each round, for its own reading may differ."""

    model: Model
    every_round: bool

    def request(self, images: tuple[ImageRef, ...], round_: int) -> Request:
        """What asks for a transcription of some images."""
        return reading_request(images, round_ if self.every_round else 1)

    def key(self, images: tuple[ImageRef, ...], round_: int) -> str:
        """By which a reading is found again."""
        return request_key(self.request(images, round_), self.model.identity)


def reader_of(model: Model, setting: Setting) -> Reader | None:
    """Who reads the images before `model` is asked in that setting; None where nobody does."""
    if isinstance(model, Pipeline):
        return Reader(model.reader, every_round=False)
    return Reader(model, every_round=True) if setting == "own-ocr" else None


def reading_requests(reader: Reader, turns: Iterable[tuple[Item, Way]]) -> Iterator[Request]:
    """What a reader is asked for these items: each image, or row of pages, once a round."""
    seen: set[tuple[str, int]] = set()
    for item, way in turns:
        request = reader.request(item.images, way.round)
        if (request.item, request.round) not in seen:
            seen.add((request.item, request.round))
            yield request


class Readings:
    """What a reader has read, by key."""

    def __init__(self, reader: Reader, stored: Iterable[Response]) -> None:
        self.reader = reader
        self._stored = {response.key: response for response in stored}

    def of(self, item: Item, way: Way) -> Response | None:
        """What was read of an item's images, or None if that was not asked yet."""
        return self._stored.get(self.reader.key(item.images, way.round))


def failure_of(reading: Response) -> Failure | None:
    """Why an item cannot be asked, if its images could not be read."""
    if reading.status not in {"failed", "filtered"}:
        return None
    why = reading.error
    said = f"{why.kind}: {why.message}" if why else reading.status
    return Failure(kind=NO_READING, message=f"its images could not be read ({said})")


def name_of_images(images: tuple[ImageRef, ...]) -> str:
    """What a reading of these images bears as its item."""
    if len(images) == 1:
        return images[0].sha256
    return sha256_bytes("".join(ref.sha256 for ref in images).encode())
