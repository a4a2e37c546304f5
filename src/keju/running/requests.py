"""Build the requests of an item: what the model is sent, which never contains the reference.

`request_key` is a hash of everything that determines the response to a request.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from itertools import count, islice
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from keju.definitions import choices_of, prompt_of, query_of, task
from keju.definitions.pair_forms import STEP as PAIRS_STEP
from keju.definitions.pair_forms import reduced_form, sent_candidates
from keju.definitions.wordings import wording
from keju.errors import DataError
from keju.files import sha256_bytes
from keju.items import TEXT_ONLY, TRUE_READING, Item, PromptScript, Request
from keju.models.base import UNKNOWN_DTYPE, Model
from keju.running.selection import NO_TRANSCRIPTION, RequestVariant
from keju.text import Script, in_script
from keju.texts import _

PLAINLY = RequestVariant()
"""The default prompt variant: the image, with the prompt of the benchmark."""

_SENT = (
    "id", "benchmark", "task", "query", "images", "question", "question_in", "verbatim", "fields",
    "options", "group",
)  # fmt: skip
"""The fields of an item that requests are made from."""

_OTHER_BRACKETS = str.maketrans("⟦⟧", "〔〕")

SOURCE_PROMPTS: dict[Script, str] = {
    "simplified": "以下是图中的文字：\n{source}\n\n{prompt}",
    "traditional": "以下是圖中的文字：\n{source}\n\n{prompt}",
}
"""How a transcription precedes the question: the true one (`gold-ocr`, `gold-text`), the model's
own (`own-ocr`, `own-text`) or an engine's (``ocr+llm``). The wording is our own. It follows the
script of the question."""


def item_to_send(item: Item, *, transcription: bool) -> Item:
    """The part of an item that a run needs in memory.

    It contains neither the reference nor its metadata, and the transcription only where it is sent.
    """
    fields = {name: getattr(item, name) for name in _SENT}
    pairs = tuple(step for step in item.provenance if step.step == PAIRS_STEP)
    return Item(
        **fields, transcription=item.transcription if transcription else None, provenance=pairs
    )


def request_count(item: Item) -> int:
    """The number of requests of an item in one prompt variant and round."""
    if not task(item.task).of_pairs:
        return 1
    return sent_candidates(item) if reduced_form(item) else max(1, len(item.images) - 1)


def requests_for(
    item: Item, variant: RequestVariant = PLAINLY, reading: str | None = None
) -> Iterator[Request]:
    """The requests of an item, one after the other: one, or one for each candidate.

    The images are sent unless the setting is text only, or is `image` and an engine transcribed
    them (``ocr+llm``). `reading` is the transcription made first, by the model or an engine;
    `gold-ocr` and `gold-text` send the item's transcription.

    Raises:
        DataError: the prompt cannot be made from the item, or it has no transcription to send.
    """
    query = query_of(item)
    own = wording(variant.wording).prompt(item.task, item.query)
    prompt = prompt_of(item, variant.boxes, variant.script, variant.wording)
    # A question as released, or in a wording, states its own box convention.
    boxes = variant.boxes if query.box_convention and not item.verbatim else ""
    boxes = (own.box_convention if own else "") or boxes or query.box_convention
    of_pairs, source, images, text = task(item.task).of_pairs, "", item.images, reading
    if variant.setting in TRUE_READING:
        text = item.transcription or ""
        if not text.strip():
            raise DataError(NO_TRANSCRIPTION, item=item.id, hint=_("Use --setting image"))
    if text is not None and not of_pairs:
        source, prompt = text, with_source(prompt, text, variant.script)
    if variant.setting in TEXT_ONLY or (variant.setting == "image" and text is not None):
        images = ()
    first = Request(
        item=item.id,
        benchmark=item.benchmark,
        task=item.task,
        form=query.form,
        prompt=prompt,
        query=item.query,
        images=images,
        choices=choices_of(item),
        source=source,
        setting=variant.setting,
        script=variant.script,
        wording=variant.wording,
        round=variant.round,
        box_convention=boxes,
        system=own.system if own else "",
        label=variant.label,
    )
    if not of_pairs:
        yield first
        return
    for candidate in range(1, sent_candidates(item) + 1):
        pair = item.images[0], *item.images[candidate : candidate + 1]
        yield replace(first, candidate=candidate, images=pair)


def request_for(
    item: Item, variant: RequestVariant = PLAINLY, reading: str | None = None, candidate: int = 1
) -> Request:
    """The request of an item (`requests_for`); of a task of pairs, that of a candidate."""
    return next(islice(requests_for(item, variant, reading), max(0, candidate - 1), None))


def with_source(prompt: str, source: str, script: PromptScript = "released") -> str:
    """A prompt with a transcription before it (see `SOURCE_PROMPTS`), in the prompt's script."""
    if script == "released":
        # That of most characters: a simplified template may contain a traditional question.
        changed = {
            name: sum(a != b for a, b in zip(prompt, in_script(prompt, name), strict=False))
            for name in SOURCE_PROMPTS
        }
        script = "traditional" if changed["simplified"] > changed["traditional"] else "simplified"
    # The text is inserted last, so that nothing in it is replaced as a placeholder.
    template = SOURCE_PROMPTS[script].replace("{prompt}", prompt)
    return template.replace("{source}", source, 1)


def seal_of(*texts: str) -> str:
    """A number of 16 digits that occurs nowhere in the texts, so that a delimiter with it is safe.

    It is computed from all the texts: a text that contained the number would have another one.
    """
    joined = "\0".join(texts)
    data = joined.encode("utf-8", "replace")
    seals = (sha256_bytes(b"%d\0%s" % (attempt, data))[:16] for attempt in count())
    return next(seal for seal in seals if seal not in joined)


def without_marks(text: str) -> str:
    """A text with other brackets than those of the delimiters, so that it cannot close one."""
    return text.translate(_OTHER_BRACKETS)


_FORM = "keju-key-1"


class Slot(NamedTuple):
    """The place of a response in a run: two items with identical requests have the same key."""

    key: str
    item: str
    candidate: int


def key_of(request: Request, model: Model) -> str:
    """The key of a request to a model, with the file that has its answer (`Model.source_of`)."""
    return request_key(request, model.identity, model.source_of(request))


def request_key(request: Request, identity: Mapping[str, str], source_sha256: str = "") -> str:
    """SHA-256, as 64 hexadecimal digits, over canonical JSON.

    It covers all that a model sees of a request, the run's label, the model's identity (endpoint,
    name, decoding, system prompt, declared dtype, engine versions), and the hash of the file that
    has the answer, where answers are read from files. It does not cover the item's id or the task,
    which the model does not see: two items with identical requests have the same key.
    """
    decides: dict[str, object] = {
        "": _FORM,
        "box_convention": request.box_convention,
        "choices": request.choices,
        "form": request.form,
        # An undeclared dtype is not part of the key.
        "identity": {
            name: value
            for name, value in identity.items()
            if (name, value) != ("dtype", UNKNOWN_DTYPE)
        },
        "images": [ref.sha256 for ref in request.images],
        "prompt": request.prompt,
        "query": request.query,
        "round": request.round,
        "setting": request.setting,
        "source": request.source,
    }
    optional: dict[str, object] = {
        "source_sha256": source_sha256,
        "script": "" if request.script == "released" else request.script,
        "wording": "" if request.wording == "released" else request.wording,
        "system": request.system,
        "label": request.label,
    }
    decides |= {name: value for name, value in optional.items() if value}
    return hashlib.sha256(msgspec.json.encode(decides, order="sorted")).hexdigest()
