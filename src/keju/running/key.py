"""The key of a request: a hash of everything that determines its response."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import NamedTuple

import msgspec

from keju.items import Request
from keju.models.base import UNKNOWN_DTYPE, Model

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

    It covers the prompt, the images' hashes in their order, the form of the answer, the choices,
    the source text, the box convention, setting, script, wording (with its system prompt and the
    examples), query, round and the run's label, the model's identity (endpoint, name, decoding,
    system prompt, declared dtype, engine versions), and the hash of the file that has the answer,
    where answers are read from files. It does not cover the item's id or the task, which the model
    does not see: two items with identical requests have the same key.
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
        "examples": [
            (example.prompt, example.answer, [ref.sha256 for ref in example.images])
            for example in request.examples
        ],
    }
    decides |= {name: value for name, value in optional.items() if value}
    return hashlib.sha256(msgspec.json.encode(decides, order="sorted")).hexdigest()
