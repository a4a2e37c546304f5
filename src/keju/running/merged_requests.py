"""`check_requests`: check that this version of keju makes the requests of stored responses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from keju.errors import UsageError, shortened
from keju.items import OWN_READING, Item, Request
from keju.running.box_conventions import convention_in
from keju.running.cache_key import request_key
from keju.running.examples import Examples
from keju.running.reading import NO_READING, ReadingTexts, reading_request
from keju.running.requests import requests_for
from keju.running.selecting import RequestVariant, Selection, skip_reason
from keju.running.store import RequestId, StoredResponse
from keju.runs import RunFolder, RunManifest

_PIPELINE = "ocr+llm:"
"""The prefix of pipelines. Their engine and their model receive different requests."""


def variants_of(manifest: RunManifest, model: str = "") -> list[RequestVariant]:
    """The prompt variants and rounds of each item in a run, with a model's box convention."""
    return Selection(
        settings=tuple(manifest.input_settings),
        scripts=tuple(manifest.scripts),
        wordings=tuple(manifest.wordings),
        rounds=manifest.rounds,
        boxes=convention_in(manifest.settings, model),
        label=manifest.label or None,
    ).variants


def check_requests(
    run: RunFolder, model: str, items: Sequence[Item], stored: Mapping[RequestId, StoredResponse]
) -> None:
    """Compare the cache key of each stored response with that of the request made now.

    Responses of pipelines (``ocr+llm:``) are not compared, nor those with a transcription that
    comes from another item of the dataset.

    Raises:
        UsageError: a response has another key.
    """
    identity = run.manifest().models[model]
    for request in _requests(run, model, identity, items):
        found = stored.get(RequestId.of(request))
        if found is None or found.kind == NO_READING:
            continue
        if found.key != request_key(request, identity, found.source_sha256):
            raise UsageError(
                "{}: the stored response of {} to {} belongs to a different request (prompt, "
                "image or setting) than the one that this version of keju makes. Merge with keju "
                "{}, which made the run, or repeat the run",
                run.path,
                model,
                shortened(request.item),
                run.manifest().keju,
            )


def _requests(
    run: RunFolder, model: str, identity: Mapping[str, str], items: Sequence[Item]
) -> Iterator[Request]:
    """The requests to a model, as far as the content of the run suffices to make them."""
    if model.startswith(_PIPELINE):
        return
    readings = ReadingTexts(run.readings(model))
    variants = variants_of(run.manifest(), model)
    examples = Examples(run.examples())
    for item in items:
        for variant in variants:
            reading = None
            if skip_reason(item, variant):
                continue
            if variant.setting in OWN_READING:
                read = reading_request(item, variant.round, variant.script)
                reading = readings.text(read, identity)
                if reading is None:
                    continue
            yield from requests_for(item, variant, reading, examples.of(item, variant))
