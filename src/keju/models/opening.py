"""From the way a model is spelled to the model: ``KIND`` or ``KIND:REST``."""

from __future__ import annotations

import difflib
import shutil
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec

from keju.errors import PrerequisiteError, UsageError
from keju.items import Record
from keju.models.base import Model, ModelOptions
from keju.models.baselines import open_baseline
from keju.models.replay import Replay

_API = "pip install 'keju[api]'"
_OCR = "pip install 'keju[ocr]'"
_TESSERACT = "apt-get install tesseract-ocr tesseract-ocr-chi-tra-vert"
_ENGINES = {"ppocr": "PPOCR", "tesseract": "Tesseract"}


class ModelKind(Record, frozen=True, kw_only=True, omit_defaults=False):
    """A kind of model.

    `spelling` is what the user writes, with the part to be filled in capitals. `missing` is empty
    where the kind can answer on this machine, else the command that installs what it needs.
    """

    kind: str
    spelling: str
    what: str
    missing: str = ""


def model_kinds() -> tuple[ModelKind, ...]:
    """Every kind of model, in the order in which a newcomer meets them."""
    return (
        ModelKind(
            kind="openai",
            spelling="openai:MODEL",
            what="a vendor's or your own OpenAI-compatible server (with --base-url)",
            missing=_unless(_API, packages=("openai", "aiohttp")),
        ),
        ModelKind(
            kind="ppocr",
            spelling="ppocr",
            what="PP-OCRv6 with keju's reading order; offline",
            missing=_unless(_OCR, packages=("rapidocr", "onnxruntime")),
        ),
        ModelKind(
            kind="tesseract",
            spelling="tesseract",
            what="Tesseract for vertical traditional Chinese",
            missing=_unless(_TESSERACT, program="tesseract"),
        ),
        ModelKind(
            kind="replay",
            spelling="replay:FILE",
            what="answers made elsewhere: JSON lines of item and text, or RESPONSES.json",
        ),
        ModelKind(
            kind="baseline",
            spelling="baseline:copy",
            what="gives back the text it was shown: the floor under translation and punctuation",
        ),
        ModelKind(
            kind="baseline",
            spelling="baseline:chance",
            what="a uniform random letter, or yes or no",
        ),
        ModelKind(
            kind="baseline",
            spelling="baseline:majority",
            what="the commonest answer of the task in the dataset's reference split",
        ),
    )


def open_model(spec: str, options: ModelOptions) -> Model:
    """Open the model that the user spells as `spec`.

    Raises:
        UsageError: there is no such kind, or a part or a key is missing.
        PrerequisiteError: the kind needs something that is not installed.
        DataError: a file that the model reads is not what it must be.
    """
    kind, _, rest = spec.partition(":")
    if kind == "replay":
        return Replay(rest)
    if kind == "baseline":
        return open_baseline(rest, options)
    known = [each for each in model_kinds() if each.kind == kind]
    if not known:
        near = difflib.get_close_matches(kind, [each.kind for each in model_kinds()], n=1)
        hint = f"Did you mean {near[0]!r}? " if near else ""
        spellings = ", ".join(each.spelling for each in model_kinds())
        raise UsageError(f"no model {spec!r}. {hint}Models: {spellings}")
    if known[0].missing:
        raise PrerequisiteError(f"the model {spec!r}", known[0].missing)
    if kind == "openai":
        return _class("openai_compatible", "OpenAICompatible")(rest, options)
    if rest:
        raise UsageError(f"{kind} takes nothing after it, but {spec!r} was asked for")
    return _class(kind, _ENGINES[kind])(options)


def _class(module: str, name: str) -> Callable[..., Model]:
    """A model's class, imported only now: the SDK and the engines are slow to import."""
    found: Callable[..., Model] = getattr(import_module(f"keju.models.{module}"), name)
    return found


def _unless(install: str, *, packages: tuple[str, ...] = (), program: str = "") -> str:
    """`install` if one of the packages or the program is missing, else an empty string."""
    there = all(find_spec(package) for package in packages)
    if program:
        there = there and shutil.which(program) is not None
    return "" if there else install
