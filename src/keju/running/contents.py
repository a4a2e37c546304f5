"""`RunContents`: the items that a run sends to its models, and the requests made of them.

Where a prompt needs the text of the images, they are transcribed first, by a `Reader`. In `own-ocr`
and `own-text` that is the model itself, with the prompt of the definition's `reading_task`; in a
pipeline ``ocr+llm`` an engine transcribes and a text model answers. Transcriptions are stored in
the run like responses, so that an image of ten items is transcribed once per round and script.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product, repeat
from typing import NamedTuple, Self, overload

from keju.datasets.page_names import find_named_pages
from keju.datasets.store import Dataset
from keju.definitions import query_of, reading_task
from keju.errors import DataError
from keju.files import sha256_bytes
from keju.items import OWN_READING, Failure, ImageRef, Item, Request, Response, Setting
from keju.models import AskError, DatasetAccess, Model, role_of
from keju.running.requests import request_count, request_for, requests_for
from keju.running.selection import RequestVariant, Selection, in_shard, skip_reason
from keju.running.store import StoredResponses
from keju.runs import RunFolder
from keju.runs.record_list import RecordList
from keju.text import answer_part, in_script


@dataclass
class LazyImages(Sequence[bytes]):
    """The images of a request, read from the dataset on access."""

    dataset: Dataset
    refs: Sequence[ImageRef]

    def __len__(self) -> int:
        return len(self.refs)

    @overload
    def __getitem__(self, index: int) -> bytes: ...
    @overload
    def __getitem__(self, index: slice) -> Self: ...
    def __getitem__(self, index: int | slice) -> bytes | Sequence[bytes]:
        if isinstance(index, slice):
            return LazyImages(self.dataset, self.refs[index])
        try:
            return self.dataset.image_bytes(self.refs[index])
        except DataError as error:
            raise AskError("unreadable-image", str(error)) from None


def access_of(dataset: Dataset, reference: Sequence[Item] = ()) -> DatasetAccess:
    """The data that baselines and files of pages may use: `reference` is the reference split.

    Of the test split only the images are used. They are read from the dataset on demand, so that a
    run without such a model does not read them.
    """
    return DatasetAccess(
        reference=tuple(reference),
        tested_items=lambda: (item for item in dataset if item.split == "test" and item.images),
        images_of=partial(LazyImages, dataset),
        # On disk, because all names of a million pages are compared.
        pages_of=lambda: find_named_pages(RecordList(Item, _pages(dataset))),
    )


def _pages(items: Iterable[Item]) -> Iterator[Item]:
    """The items that ask for a transcription of images, with what their pages are named by."""
    for item in items:
        try:
            is_page = bool(item.images) and query_of(item).form == "transcription"
        except DataError:
            continue  # Of a task that is not registered, so that it cannot be selected.
        if is_page:
            yield Item(
                id=item.id,
                benchmark=item.benchmark,
                task=item.task,
                query=item.query,
                images=item.images,
                metadata=item.metadata,
            )


NO_READING = "no-reading"
"""The failure kind of an item whose images could not be transcribed."""


def reading_request(item: Item, variant: RequestVariant, *, prompted: bool) -> Request:
    """A request for a transcription of an item's images, to a reader that gets a prompt or not."""
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
        round=variant.round if prompted else 1,
    )


class Reader(NamedTuple):
    """The model or engine that transcribes for a model.

    `prompted`: it gets a prompt, and so transcribes in each script and round; an OCR engine gets
    none, and transcribes once.
    """

    model: Model
    prompted: bool = True

    def request(self, item: Item, variant: RequestVariant) -> Request:
        """A request for a transcription of an item's images."""
        return reading_request(item, variant, prompted=self.prompted)

    def find(self, stored: StoredResponses, item: Item, variant: RequestVariant) -> Response | None:
        """The stored transcription of an item's images, or None if it was not made yet."""
        request = self.request(item, variant)
        return stored.find(request, self.model.identity, self.model.source_of(request))

    @classmethod
    def of(cls, model: Model) -> Reader:
        """The engine before a model in a pipeline, else the model itself."""
        reader = model.reader
        return cls(reader, is_prompted(reader.name)) if reader else cls(model)


def is_prompted(reader: str, stored: str = "") -> bool:
    """Whether a reader gets a prompt: a model does, an OCR engine and a replayed file do not.

    `stored` is the role that a run recorded of it, if it did.
    """
    return (stored or role_of(reader)) == "model"


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


class Planned(NamedTuple):
    """A request to be sent, or why none is.

    `skip_reason` is given without a request. With a failure the request is stored as failed,
    because its images could not be read. `waits`: it waits for their transcription, and has the
    item's own one, or none, instead.
    """

    request: Request | None
    skip_reason: str = ""
    failure: Failure | None = None
    waits: bool = False


FindReading = Callable[[Item, RequestVariant], Response | None]
"""Finds the transcription of an item's images, made before in a prompt variant."""


@dataclass
class RunContents:
    """Which items a run sends to which models, and in which prompt variants.

    `items` were chosen by `selection`; `stored_items` are those that the run stores, where they
    differ from the dataset's. `sent_items` are the items of the shard, and `variants` the prompt
    variants of each. `readers` transcribe the images before a model answers in a setting.
    """

    dataset: Dataset
    models: Sequence[Model]
    items: Sequence[Item]
    selection: Selection
    stored_items: Sequence[Item] | None = None

    def __post_init__(self) -> None:
        shard = self.selection.shard
        self.sent_items = in_shard(self.items, shard) if shard else self.items
        self.variants = self.selection.variants
        self.readers: dict[tuple[str, Setting], Reader] = {}
        shared: dict[tuple[str, bool], Reader] = {}
        for model, variant in product(self.models, self.variants):
            if model.reader or variant.setting in OWN_READING:
                # Two pipelines with one engine share its transcriptions.
                reader = Reader.of(model)
                reader = shared.setdefault((reader.model.name, reader.prompted), reader)
                self.readers[model.name, variant.setting] = reader

    def requests(self, model: Model, folder: RunFolder) -> Iterator[Planned]:
        """The requests to a model in the order of the items, and those that are not sent.

        They contain the transcriptions that the run has in `folder`.
        """
        readings = self.readings(model, folder) if self.readers else {}
        for item in self.sent_items:
            yield from self.requests_of(item, model, readings)

    def readings(self, model: Model, folder: RunFolder) -> dict[Setting, FindReading]:
        """Finders of the transcriptions in a run, by the settings in which a model needs some."""
        return {
            setting: partial(reader.find, StoredResponses(folder.readings(reader.model.name)))
            for (name, setting), reader in self.readers.items()
            if name == model.name
        }

    def requests_of(
        self, item: Item, model: Model, readings: Mapping[Setting, FindReading]
    ) -> Iterator[Planned]:
        """The requests of an item to a model, in each prompt variant."""
        for variant in self.variants:
            reads_first = variant.setting in readings
            reason = skip_reason(item, variant, model.name)
            if reads_first and not reason:
                # A model that transcribes first must support the request with the images.
                reason = model.unsupported_reason(request_for(item, variant))
            if reason:
                yield from repeat(Planned(None, reason), request_count(item))
                continue
            text, failure, transcription = None, None, None
            if reads_first:
                transcription = readings[variant.setting](item, variant)
                text = item.transcription or ""
            if transcription is not None:
                # The reasoning of the reader is not part of the transcription.
                text, failure = answer_part(transcription.text), failure_of(transcription)
            for request in requests_for(item, variant, text):
                reason = "" if reads_first else model.unsupported_reason(request)
                waits = reads_first and transcription is None
                yield Planned(None, reason) if reason else Planned(request, "", failure, waits)

    def reading_requests(self, reader: Reader) -> Iterator[Request]:
        """The requests to a reader, from all models and settings that it transcribes for.

        One for each image, or row of pages, and each round and script.
        """
        names: set[tuple[str, str, str, int]] = set()
        pairs = [
            (model, variant)
            for model, variant in product(self.models, self.variants)
            if self.readers.get((model.name, variant.setting)) == reader
        ]
        for item in self.sent_items:
            for model, variant in pairs:
                if skip_reason(item, variant, model.name) or model.unsupported_reason(
                    request_for(item, variant)
                ):
                    continue
                request = reader.request(item, variant)
                name = request.item, request.task, request.script, request.round
                if name not in names:
                    names.add(name)
                    yield request
