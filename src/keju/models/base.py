"""`Model`: the base class of everything that answers requests, and its options."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import msgspec
from msgspec import field

from keju.datasets.page_names import NamedPage
from keju.errors import KejuError
from keju.items import ImageRef, Item, Line, Record, Request, Status, Usage
from keju.models.images import Fit

if TYPE_CHECKING:
    from keju.models.openai_batches import Batches
    from keju.registry import Plugin


class Answer(Record, frozen=True, kw_only=True):
    """The response of a model to one request, before the run adds its cache key and name.

    `text`, `not_text`, `thinking`, `decoding`, `refused`, `served_model` and `fingerprint` are as
    in `keju.items.Response`; an engine or a baseline sends no parameters.
    """

    text: str
    not_text: str = ""
    status: Status = "answered"
    thinking: str = ""
    finish_reason: str = ""
    usage: Usage = field(default_factory=Usage)
    lines: tuple[Line, ...] = ()
    decoding: dict[str, str] | None = field(default_factory=dict)
    refused: tuple[str, ...] = ()
    served_model: str = ""
    fingerprint: str = ""


def status_of(text: str) -> Status:
    """The status of a complete answer: one without a visible character is empty.

    An engine that finds boxes without text returns line breaks, which are not an answer.
    """
    return "answered" if text.strip() else "empty"


class AskError(KejuError):
    """A request that got no answer.

    Args:
        kind: ``auth``, ``rate``, ``server``, ``timeout``, ``connection``, ``refused`` (by policy),
            ``bad-response``, ``bad-request``, ``unreadable-image``, ``engine`` (a local engine
            broke), ``missing-answer`` and ``failed-elsewhere`` (a replayed file has no answer, or
            reports a failure).
        message: the server's or the system's message, one line, without secrets.
        retryable: whether another attempt may help.
        retry_after: seconds that the server asked to wait, if it did.
        overloaded: the server is overloaded (429, 503, 529): fewer requests may help.
        unreachable: the connection was refused, or the name of the server is unknown.
        server_message: the server's complete message, which is searched for refused parameters. It
            is not stored.
    """

    def __init__(
        self,
        kind: str,
        message: str,
        *,
        retryable: bool = False,
        retry_after: float | None = None,
        overloaded: bool = False,
        unreachable: bool = False,
        server_message: str = "",
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.retryable, self.retry_after = retryable, retry_after
        self.overloaded, self.unreachable = overloaded, unreachable
        self.server_message = server_message

    def replace_message(self, message: str) -> None:
        """Give the failure another message."""
        super().__init__(message)


class Decoding(Record, frozen=True, kw_only=True):
    """Decoding parameters; None leaves the server's default.

    `max_tokens` counts new tokens. `seed` is the server's sampling seed. `extra_body` are
    additional fields of the request's body, such as a vendor's thinking switch.
    """

    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    max_tokens: int | None = None
    seed: int | None = None
    reasoning_effort: str | None = None
    extra_body: dict[str, Any] = field(default_factory=dict)

    @property
    def common_parameters(self) -> dict[str, float | int | str]:
        """The parameters that are set and have the same name on every server, by name."""
        return {name: value for name in PARAMETERS if (value := getattr(self, name)) is not None}


PARAMETERS = ("temperature", "top_p", "top_k", "max_tokens", "seed", "reasoning_effort")
"""The parameters that have the same name on every server."""

Role = Literal["model", "engine", "answers", "baseline"]
"""A model answers, an engine transcribes, answers are those of others; baselines are floors."""

PYTHON = "python"
RESULTS = "results"
REPLAYED = frozenset({RESULTS, "replay"})
ENDPOINTS = frozenset({"openai", "inspect"})
"""Kinds of models in their identities: a Python function of the user's, the results of an engine
that keju does not run, all whose answers are read from files, so that they have no speed, and those
that send decoding parameters to a server."""

MISSING = "missing-answer"
"""The kind of failure of a request for which no file has an answer."""

UNKNOWN_DTYPE = "unknown"
"""The number format of the weights in a model's identity where the user declares none."""


class ModelOptions(Record, frozen=True, kw_only=True):
    """Options of a model.

    `api_key_env` names the environment variable that contains the key; the key itself is never
    stored. `timeout` is in seconds, for one attempt. `asking` is false where a model is opened for
    a plan only: then no key is needed and no image is read. `stored` are texts of the user that the
    run stores besides the system prompt, by the option that gave them. `dtype` is the number format
    in which the server runs the model, as the user declares it, since no server reports it.
    `replay_columns` names the columns of the id and the answer in the tables of ``replay:``.
    """

    base_url: str = ""
    api_key_env: str = "OPENAI_API_KEY"
    decoding: Decoding = field(default_factory=Decoding)
    system_prompt: str = ""
    stored: dict[str, str] = field(default_factory=dict)
    dtype: str = UNKNOWN_DTYPE
    timeout: float = 600.0
    seed: int = 0
    reading_order: bool = True
    replay_columns: str = ""
    asking: bool = True
    fit: Fit = Fit()

    @property
    def asked_for(self) -> dict[str, str]:
        """The part of these options in the identity of a model behind an endpoint."""
        identity = {name: str(value) for name, value in self.decoding.common_parameters.items()}
        for name, value in self.decoding.extra_body.items():
            identity[f"extra_body.{name}"] = msgspec.json.encode(value, order="sorted").decode()
        if self.system_prompt:
            identity["system_prompt"] = self.system_prompt
        return {**identity, "dtype": self.dtype, **self.fit.identity}


class DatasetAccess(NamedTuple):
    """The data of a dataset that a model may use.

    `reference` are the labelled items of the reference split, `tested_items` those of the test
    split that have images, of which only the images may be used. `images_of` returns the stored
    bytes of images, read on access, and `pages_of` the images to transcribe with their names; both
    are None without a dataset.
    """

    reference: Sequence[Item] = ()
    tested_items: Callable[[], Iterable[Item]] = tuple
    images_of: Callable[[Sequence[ImageRef]], Sequence[bytes]] | None = None
    pages_of: Callable[[], Iterable[NamedPage]] | None = None


NO_DATASET = DatasetAccess()


class Model:
    """Anything that answers requests: the base class, of which a model needs only `answer`.

    Blocking work of `answer` belongs in `asyncio.to_thread`.

    Attributes:
        name: the model string, e.g. ``openai:gpt-4o`` or ``ppocr``.
        role: its role; `open_model` sets it from the declaration of its kind.
        concurrency: the default number of requests in flight.
        destinations: the hosts that receive images or texts, except this machine; the name of a
            vendor where its address is not known. keju asks before data of an unknown or restricted
            licence are sent to them.
        notes: lines to print before a run, such as which files are read.
        reader: transcribes the images before the model gets its requests, with the transcription as
            their source.
        pair_forms: the pair forms (`PairForm`) of the runs whose responses the model repeats, the
            full form as an empty string; None if it answers pairs itself.
        local: whether it computes on this machine, so that it runs alone and is timed.
        plugins: the plug-ins that provide it and the models that are part of it.
    """

    name: str = ""
    role: Role = "model"
    concurrency: int = 1
    destinations: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    reader: Model | None = None
    pair_forms: frozenset[str] | None = None
    local: bool = False
    plugins: tuple[Plugin, ...] = ()

    @cached_property
    def identity(self) -> dict[str, str]:
        """Everything except the request that determines an answer; never a secret."""
        return {}

    def unsupported_reason(self, request: Request) -> str:
        """Why the model does not support this request; by default it supports all."""
        del request
        return ""

    def source_of(self, request: Request) -> str:
        """The SHA-256 of the file with the answer, part of the request's key; empty for none."""
        del request
        return ""

    async def answer(self, request: Request, images: Sequence[bytes]) -> Answer:
        """Answer one request; `images` are the stored bytes of `request.images`, in order.

        They may be read from disk on access. A model of a plug-in may return the text alone.

        Raises:
            AskError: there is no answer.
            DataError: an image cannot be read.
        """
        raise NotImplementedError

    async def diagnosis(self) -> str:
        """The report of the server about its models and its address; by default empty."""
        return ""

    def batches(self) -> Batches | None:
        """The model's batches, which keju submits and collects later; by default none."""
        return None

    async def close(self) -> None:
        """Release connections and memory; by default nothing is open."""
