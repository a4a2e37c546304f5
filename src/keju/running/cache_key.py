"""The cache key of a request: a hash of everything that determines its response."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

import msgspec

from keju.items import Request
from keju.models.base import UNKNOWN_DTYPE, Model
from keju.models.capabilities import source_of

_FORM = "keju-key-1"


def key_of(request: Request, model: Model) -> str:
    """The key of a request to a model, with the file that has its answer (`source_of`)."""
    return request_key(request, model.identity, source_of(model, request))


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
        "identity": _declared(identity),
        "images": [ref.sha256 for ref in request.images],
        "prompt": request.prompt,
        "query": request.query,
        "round": request.round,
        "setting": request.setting,
        "source": request.source,
    }
    if source_sha256:
        decides["source_sha256"] = source_sha256
    if request.script != "released":
        decides["script"] = request.script
    if request.wording != "released":
        decides["wording"] = request.wording
    if request.system:
        decides["system"] = request.system
    if request.label:
        decides["label"] = request.label
    if request.examples:
        decides["examples"] = [
            (each.prompt, each.answer, [ref.sha256 for ref in each.images])
            for each in request.examples
        ]
    return hashlib.sha256(msgspec.json.encode(decides, order="sorted")).hexdigest()


def _declared(identity: Mapping[str, str]) -> dict[str, str]:
    """An identity without an undeclared dtype, which is not part of the key."""
    return {
        name: value for name, value in identity.items() if (name, value) != ("dtype", UNKNOWN_DTYPE)
    }
