"""`Model`: the protocol of everything that answers requests, and its options."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

import msgspec
from msgspec import field

from keju.datasets.page_names import NamedPage
from keju.errors import KejuError
from keju.items import ImageRef, Item, Line, Record, Request, Status, Usage
from keju.models.images import Fit


class Answer(Record, frozen=True, kw_only=True):
    """The response of a model to one request, before the run adds its cache key and name.

    `text`, `not_text`, `thinking`, `decoding`, `refused`, `served_model` and `fingerprint` are as
    in `keju.items.Response`; an engine or a baseline sends no parameters. `ignored_usage` are the
    implausible token counts of the server, which are not in `usage`, as text.
    """

    text: str
    not_text: str = ""
    status: Status = "answered"
    thinking: str = ""
    finish_reason: str = ""
    usage: Usage = field(default_factory=Usage)
    ignored_usage: str = ""
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
        kind: the class of failure: ``auth``, ``rate``, ``server``, ``timeout``, ``connection``,
            ``refused`` (by policy), ``bad-response``, ``bad-request``, ``unreadable-image``,
            ``engine`` (a local engine broke), ``missing-answer`` and ``failed-elsewhere`` (a
            replayed file has no answer, or reports a failure).
        message: the server's or the system's message, one line, without secrets.
        retryable: whether another attempt may help.
        retry_after: seconds that the server asked to wait, if it did.
        overloaded: the server is overloaded (429, 503, 529): fewer requests may help.
        unreachable: nothing answers at the address: the connection was refused, or the name of
            the server is unknown.
        said: the server's complete message, which is searched for refused parameters. It may
            contain a secret and is not stored.
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
        said: str = "",
    ) -> None:
        self.said = said
        self.kind = kind
        self.retryable = retryable
        self.retry_after = retry_after
        self.overloaded = overloaded
        self.unreachable = unreachable
        super().__init__(message)

    def with_message(self, message: str) -> AskError:
        """The same failure with another message."""
        return AskError(
            self.kind,
            message,
            retryable=self.retryable,
            retry_after=self.retry_after,
            overloaded=self.overloaded,
            unreachable=self.unreachable,
            said=self.said,
        )


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
        fields = {name: getattr(self, name) for name in _BY_NAME}
        return {name: value for name, value in fields.items() if value is not None}

    @property
    def identity(self) -> dict[str, str]:
        """All parameters that are set, as a model's identity records them."""
        extra = {
            f"extra_body.{name}": msgspec.json.encode(value, order="sorted").decode()
            for name, value in self.extra_body.items()
        }
        return {**{n: str(v) for n, v in self.common_parameters.items()}, **extra}


_BY_NAME = ("temperature", "top_p", "top_k", "max_tokens", "seed", "reasoning_effort")

RESULTS = "results"
"""The kind of an engine that keju does not run and whose results are read from files."""

REPLAYED = frozenset({RESULTS, "replay"})
"""Kinds of models whose answers are read from files: they have no speed."""

MISSING = "missing-answer"
"""The kind of failure of a request for which no file has an answer."""

PYTHON = "python"
"""The kind of a Python function of the user's."""

ENDPOINTS = frozenset({"openai", "inspect"})
"""Kinds of models that send decoding parameters to a server, as their identity names them."""

PUBLIC_ENDPOINT = "https://api.openai.com/v1"
"""The address of `openai:` models without a base URL: the vendor's own."""

UNKNOWN_DTYPE = "unknown"
"""The number format of the weights in a model's identity where the user declares none."""


class ItemImages(Record, frozen=True, kw_only=True):
    """The images of an item, without its question and answer."""

    item: str
    benchmark: str
    task: str
    group: str
    images: tuple[ImageRef, ...]


class ModelOptions(Record, frozen=True, kw_only=True):
    """Options of a model, and the data of the dataset that it may use.

    `api_key_env` names the environment variable that contains the key; the key itself is never
    stored. `timeout` is in seconds, for one attempt. `asking` is false where a model is opened for
    a plan only: then no key is needed and no image is read. `fit` are the model's limits on images.
    `system_prompt` is sent before every prompt; `stored` are other texts of the user that the run
    stores, by the option that gave them; `dtype` is the number format in which the server runs the
    model, as the user declares it, since no server reports it; `replay_columns` names the columns
    of the id and the answer in the tables of ``replay:`` (`parse_columns`).

    Of the dataset, `reference` are the labelled items of its reference split, `item_images` the
    images of every item of its test split, and `images_of` returns the stored bytes of images, read
    on access. `pages_of` returns the images to transcribe with their names, computed on demand.
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
    reference: tuple[Item, ...] = ()
    item_images: Sequence[ItemImages] = ()
    images_of: Callable[[Sequence[ImageRef]], Sequence[bytes]] | None = None
    pages_of: Callable[[], Iterable[NamedPage]] | None = None

    @property
    def asked_for(self) -> dict[str, str]:
        """The part of these options in the identity of a model behind an endpoint."""
        system = {"system_prompt": self.system_prompt} if self.system_prompt else {}
        return {**self.decoding.identity, **system, "dtype": self.dtype}


class Model(Protocol):
    """Anything that answers requests; `capabilities_of` returns what else it can do."""

    @property
    def name(self) -> str:
        """The model string, e.g. ``openai:gpt-4o`` or ``ppocr``."""

    @property
    def identity(self) -> dict[str, str]:
        """Everything except the request that determines an answer; never a secret."""

    @property
    def concurrency(self) -> int:
        """The default number of requests in flight."""

    def unsupported_reason(self, request: Request) -> str:
        """Why the model does not support this request, or an empty string."""

    async def answer(self, request: Request, images: Sequence[bytes]) -> Answer:
        """Answer one request; `images` are the stored bytes of `request.all_images`, in order.

        They may be read from disk on access.

        Raises:
            AskError: there is no answer.
        """

    async def close(self) -> None:
        """Release connections and memory."""


class ModelBase:
    """A base class for models of plug-ins, which then only need `answer`.

    Runs record the name and the plug-in. Blocking work of `answer` belongs in `asyncio.to_thread`.
    """

    name = ""

    @property
    def identity(self) -> dict[str, str]:
        """The model's identity apart from its model string; by default empty."""
        return {}

    @property
    def concurrency(self) -> int:
        """The default number of requests in flight; by default 1."""
        return 1

    @property
    def destinations(self) -> tuple[str, ...]:
        """The hosts that receive images or texts, except this machine; by default none.

        keju asks before data of an unknown or restricted licence are sent to them.
        """
        return ()

    def unsupported_reason(self, request: Request) -> str:
        """Why the model does not support this request; by default it supports all."""
        del request
        return ""

    async def answer(self, request: Request, images: Sequence[bytes]) -> Answer | str:
        """The answer to a request, or its text; `images` are the bytes of `request.images`.

        Raises:
            AskError: there is no answer.
        """
        raise NotImplementedError

    async def close(self) -> None:
        """Release connections and memory; by default nothing is open."""
