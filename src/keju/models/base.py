"""What a model is to keju: a name, what decides its answers, and a way to ask it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, Protocol

import msgspec
from msgspec import field

from keju.datasets.page_names import NamedPage
from keju.errors import KejuError
from keju.items import ImageRef, Item, Line, Record, Request, Status, Usage
from keju.models.fitting import Fit


class Answer(Record, frozen=True, kw_only=True):
    """The reply of a model to one request, before the run adds its key and name.

    `text`, `not_text`, `thinking`, `decoding` and `refused` are as in `keju.items.Response`; an
    engine or a baseline sends no parameters. `ignored_usage` are the token counts of the server
    that cannot be right and are not in `usage`, in words.
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


def status_of(text: str) -> Status:
    """The status of an answer that is whole: one without a visible character is empty.

    An engine that finds boxes without text gives line breaks, which are no answer.
    """
    return "answered" if text.strip() else "empty"


class AskError(KejuError):
    """A request that brought no answer.

    Args:
        kind: the class of failure: ``auth``, ``rate``, ``server``, ``timeout``, ``connection``,
            ``refused`` (by policy), ``bad-response``, ``bad-request``, ``unreadable-image``,
            ``engine`` (a local engine broke), ``missing-answer`` and ``failed-elsewhere`` (a
            replayed file has no answer, or says that there was none).
        message: the server's or the system's words, one line, without secrets.
        retryable: whether asking again may help.
        retry_after: seconds that the server asked to wait, if it did.
        overloaded: the server has too much to do (429, 503, 529): asking slower may help.
        said: the server's message at length, in which refused parameters are looked for. It may
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
        said: str = "",
    ) -> None:
        self.said = said
        self.kind = kind
        self.retryable = retryable
        self.retry_after = retry_after
        self.overloaded = overloaded
        super().__init__(message)


class Decoding(Record, frozen=True, kw_only=True):
    """Decoding parameters; None leaves the server's default.

    `max_tokens` counts new tokens. `seed` is the server's sampling seed. `thinking` is the switch
    of a hybrid model, whose fields differ by server (thinking.toml); `extra_body` are fields of the
    request's body as they are.
    """

    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    max_tokens: int | None = None
    seed: int | None = None
    reasoning_effort: str | None = None
    thinking: Literal["on", "off"] | None = None
    extra_body: dict[str, Any] = field(default_factory=dict)

    @property
    def given(self) -> dict[str, float | int | str]:
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
        thinking = {"thinking": self.thinking} if self.thinking else {}
        return {**{n: str(v) for n, v in self.given.items()}, **thinking, **extra}


_BY_NAME = ("temperature", "top_p", "top_k", "max_tokens", "seed", "reasoning_effort")

RESULTS = "results"
"""The kind of an engine that keju does not run and whose results are read from files."""

PYTHON = "python"
"""The kind of a Python function of the user's."""

ENDPOINTS = frozenset({"openai", "inspect"})
"""Kinds of models that send decoding parameters to a server, as their identity names them."""

UNKNOWN_DTYPE = "unknown"
"""The number format of the weights in a model's identity where the user declares none."""


class Shown(Record, frozen=True, kw_only=True):
    """Which images an item shows, and nothing else of it: neither its question nor its answer."""

    item: str
    benchmark: str
    task: str
    group: str
    images: tuple[ImageRef, ...]


class ItemPrompt(Record, frozen=True, kw_only=True):
    """What a result file of another program may name an item by: its place and its prompts.

    `texts` are the prompt and the question; the answer is not among them.
    """

    id: str
    task: str
    query: str = ""
    split: str = "test"
    texts: tuple[str, ...] = ()


class ModelOptions(Record, frozen=True, kw_only=True):
    """What the user may set for a model beside its name, and what the dataset lends it.

    `api_key_env` names the environment variable that holds the key; the key itself is never
    stored. `timeout` is in seconds, for one attempt. `asking` is false where a model is opened for
    a plan only: then no key is needed and no image is read. `fit` are the limits that the model has
    for pictures. `system_prompt` is sent before every prompt; `stored` are other texts of the user
    that the run stores, by the option that gave them; `dtype` is the number format in which
    the server runs the model, as the user declares it, since no server says.

    Of the dataset, `reference` are the labelled items of its reference split, `shown` the images of
    every item of its test split, and `images_of` gives the stored bytes of images, read when they
    are looked at. `prompts_of` gives all items in their order with their prompts, and `pages_of`
    the images to transcribe with their names, both made when they are needed.
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
    asking: bool = True
    fit: Fit = Fit()
    reference: tuple[Item, ...] = ()
    shown: tuple[Shown, ...] = ()
    images_of: Callable[[Sequence[ImageRef]], Sequence[bytes]] | None = None
    prompts_of: Callable[[], Sequence[ItemPrompt]] | None = None
    pages_of: Callable[[], Sequence[NamedPage]] | None = None

    @property
    def asked_for(self) -> dict[str, str]:
        """The part of these options in the identity of a model behind an endpoint."""
        system = {"system_prompt": self.system_prompt} if self.system_prompt else {}
        return {**self.decoding.identity, **system, "dtype": self.dtype}


class Model(Protocol):
    """Anything that answers requests."""

    @property
    def name(self) -> str:
        """As the user spells it, e.g. ``openai:gpt-4o`` or ``ppocr``."""

    @property
    def identity(self) -> dict[str, str]:
        """Everything beside the request that decides an answer; never a secret."""

    @property
    def concurrency(self) -> int:
        """Requests in flight that suit it, unless the user says otherwise."""

    def declines(self, request: Request) -> str:
        """Why this request is not for this model, or an empty string if it is."""

    async def answer(self, request: Request, images: Sequence[bytes]) -> Answer:
        """Answer one request; `images` are the stored bytes of `request.all_images`, in order.

        They may be read from disk only when they are looked at.

        Raises:
            AskError: no answer came.
        """

    async def close(self) -> None:
        """Give back connections and memory."""


class ModelBase:
    """A base class for models of plug-ins, which then only need `answer`.

    The name and the plug-in are added to what runs record. Blocking work of `answer` belongs in
    `asyncio.to_thread`.
    """

    name = ""

    @property
    def identity(self) -> dict[str, str]:
        """What decides an answer beside the request and the spelling; by default nothing."""
        return {}

    @property
    def concurrency(self) -> int:
        """Requests in flight that suit it; by default 1."""
        return 1

    def declines(self, request: Request) -> str:
        """Why this request is not for this model; by default every request is."""
        del request
        return ""

    async def answer(self, request: Request, images: Sequence[bytes]) -> Answer:
        """Answer one request; `images` are the stored bytes of `request.images`, in order.

        Raises:
            AskError: no answer came.
        """
        raise NotImplementedError

    async def close(self) -> None:
        """Give back connections and memory; by default nothing is open."""
