"""`RequestRebuilder`: the request of a stored response, rebuilt from the run."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from keju.datasets.store import Dataset
from keju.errors import UsageError
from keju.items import OWN_READING, TRUE_READING, Item, Request, Response
from keju.running.contents import is_prompted, reading_request
from keju.running.requests import request_for
from keju.running.selection import RequestVariant, transcription_filler
from keju.running.store import StoredResponses
from keju.runs import RunFolder
from keju.text import answer_part

_PIPELINE = "ocr+llm:"


class RequestRebuilder:
    """Rebuilds the requests of a run; `dataset` is None where only names of images are needed."""

    def __init__(self, folder: RunFolder, dataset: Dataset | None = None) -> None:
        self.dataset = dataset
        self.manifest = folder.manifest()
        self._folder = folder
        self._readings: dict[str, StoredResponses] = {}
        self._fill: Callable[[Item], Item] | None = None

    def request(self, item: Item, response: Response) -> Request:
        """The request of that response, including the transcription made first."""
        settings = self.manifest.settings
        variant = RequestVariant(
            setting=response.setting,
            script=response.script,
            wording=response.wording,
            boxes=settings.get("boxes", ""),
            round=response.round,
            label=self.manifest.label,
        )
        if response.setting in TRUE_READING:
            item = self._with_text(item)
        return request_for(
            item, variant, self._reading(item, response, variant), response.candidate
        )

    def system_of(self, request: Request, model: str) -> str:
        """The system prompt of a model's request; empty where there was none."""
        return request.system or self.manifest.models.get(model, {}).get("system_prompt", "")

    def _reading(self, item: Item, response: Response, variant: RequestVariant) -> str | None:
        """The transcription that was sent, made by the model itself or by the engine before it."""
        name, is_prompted_reader = response.model, True
        identity = self.manifest.models.get(name, {})
        if name.startswith(_PIPELINE):
            name = name.removeprefix(_PIPELINE).partition("+")[0]
            identity = {
                key.removeprefix("engine."): value
                for key, value in identity.items()
                if "engine." in key
            }
            is_prompted_reader = is_prompted(name, self.manifest.roles.get(name, ""))
        elif response.setting not in OWN_READING:
            return None
        request = reading_request(item, variant, prompted=is_prompted_reader)
        if name not in self._readings:
            self._readings[name] = StoredResponses(self._folder.readings(name))
        reading = self._readings[name].find(request, identity)
        return answer_part(reading.text) if reading else None

    def _with_text(self, item: Item) -> Item:
        """The item with the transcription that was sent, which may come from another item."""
        if (item.transcription or "").strip():
            return item
        if self._fill is None:
            dataset = self.dataset
            with suppress(UsageError):  # The dataset may be elsewhere now.
                dataset = dataset or self._folder.dataset()
            everything = self._folder.iter_items() if dataset is None else iter(dataset)
            # One pass for all items of the run, of which only texts are kept.
            self._fill = transcription_filler(self._folder.iter_items(), everything)
        return self._fill(item)
