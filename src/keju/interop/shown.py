"""What a model was shown for a response that is stored: its request, made anew from the run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from keju.datasets.store import Dataset
from keju.items import Item, Request, Response
from keju.running.keys import request_key
from keju.running.reading import reading_request
from keju.running.requests import request_for
from keju.running.selecting import Way, Wording
from keju.runs import RunFolder
from keju.text import answer_part

_PIPELINE = "ocr+llm:"


class _Reader(NamedTuple):
    """Who read the images first, and whether anew in each round."""

    name: str
    identity: dict[str, str]
    every_round: bool


class Shown:
    """Makes the requests of a run anew.

    Args:
        folder: the run.
        dataset: where the pictures are; None where only their names are wanted.
    """

    def __init__(self, folder: RunFolder, dataset: Dataset | None = None) -> None:
        self.dataset = dataset
        self.manifest = folder.manifest()
        self._folder = folder
        self._texts: dict[str, dict[str, str]] = {}

    def request(self, item: Item, response: Response) -> Request:
        """The request that was answered so; a text that was read first stands in it."""
        settings = self.manifest.settings
        way = Way(
            setting=response.setting,
            wording=msgspec.convert(settings.get("wording", "released"), Wording),
            boxes=settings.get("boxes", ""),
            round=response.round,
        )
        request = request_for(item, way, self._reading(item, response))
        if not response.candidate:
            return request
        pair = (item.images[0], *item.images[response.candidate : response.candidate + 1])
        return replace(request, candidate=response.candidate, images=pair)

    def readings_of(self, model: str) -> Iterator[Response]:
        """What a model itself read of the images first."""
        yield from self._folder.readings(model)

    def _reading(self, item: Item, response: Response) -> str | None:
        reader = self._reader(response)
        if reader is None:
            return None
        if reader.name not in self._texts:
            stored = self._folder.readings(reader.name)
            self._texts[reader.name] = {each.key: answer_part(each.text) for each in stored}
        number = response.round if reader.every_round else 1
        key = request_key(reading_request(item.images, number), reader.identity)
        return self._texts[reader.name].get(key)

    def _reader(self, response: Response) -> _Reader | None:
        identity = self.manifest.models.get(response.model, {})
        if response.model.startswith(_PIPELINE):
            name = response.model.removeprefix(_PIPELINE).partition("+")[0]
            parts = {k.removeprefix("engine."): v for k, v in identity.items() if "engine." in k}
            return _Reader(name, parts, every_round=False)
        own = response.setting == "own-ocr"
        return _Reader(response.model, identity, every_round=True) if own else None
