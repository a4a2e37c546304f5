"""What a model is to keju: a name, what decides its answers, and a way to ask it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from msgspec import field

from keju.errors import KejuError
from keju.items import Item, Line, Record, Request, Status, Usage


class Answer(Record, frozen=True):
    """What a model gave back for one request, before the run puts its key and name to it."""

    text: str
    status: Status = "answered"
    thinking: str = ""
    finish_reason: str = ""
    usage: Usage = field(default_factory=Usage)
    lines: tuple[Line, ...] = ()


class AskError(KejuError):
    """A request that brought no answer.

    Args:
        kind: the class of failure: ``auth``, ``rate``, ``server``, ``timeout``, ``connection``,
            ``refused`` (by policy), ``bad-response``, ``bad-request``, ``unreadable-image``.
        message: the server's or the system's words, one line, without secrets.
        retryable: whether asking again may help.
        retry_after: seconds that the server asked to wait, if it did.
    """

    def __init__(
        self,
        kind: str,
        message: str,
        *,
        retryable: bool = False,
        retry_after: float | None = None,
    ) -> None:
        self.kind = kind
        self.retryable = retryable
        self.retry_after = retry_after
        super().__init__(message)


class Decoding(Record, frozen=True):
    """Decoding parameters; None leaves the server's default. `max_tokens` counts new tokens."""

    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    max_tokens: int | None = None
    seed: int | None = None


class ModelOptions(Record, frozen=True):
    """What the user may set for a model beside its name.

    `api_key_env` names the environment variable that holds the key; the key itself is never
    stored. `reference` are the labelled items of the dataset's reference split.
    """

    base_url: str = ""
    api_key_env: str = "OPENAI_API_KEY"
    decoding: Decoding = field(default_factory=Decoding)
    timeout: float = 600.0
    seed: int = 0
    reading_order: bool = True
    reference: tuple[Item, ...] = ()


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
        """Answer one request; `images` are the stored bytes of `request.images`, in order.

        Raises:
            AskError: no answer came.
        """

    async def close(self) -> None:
        """Give back connections and memory."""
