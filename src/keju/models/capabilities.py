"""`Capabilities`: what a model can do besides answering one request at a time."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from keju.items import Request
    from keju.models.base import Model
    from keju.models.batch_support import BatchSubmitter


class Capabilities(NamedTuple):
    """The abilities of a model besides answering one request at a time; by default none.

    Attributes:
        reader: transcribes the images before the model gets its requests, with the transcription
            as their source.
        submitter: the model's batches, which keju submits and collects later.
        source_of: returns the SHA-256 of the file that has the answer to a request, or an empty
            string; for models whose answers are files.
        pair_forms: the pair forms (`PairForm`) of the runs whose responses the model repeats, the
            full form as an empty string; None if it answers pairs itself.
        diagnosis: returns what the server reports about its models and its address, or an empty
            string.
        notes: lines to print before a run, such as which files are read.
        elsewhere: whether an engine of this machine computes on other machines in this session, so
            that its time is not measured here.
        destinations: the hosts that receive images and texts of the requests, except this machine;
            the name of a vendor where its address is not known.
    """

    reader: Model | None = None
    submitter: BatchSubmitter | None = None
    source_of: Callable[[Request], str] | None = None
    pair_forms: frozenset[str] | None = None
    diagnosis: Callable[[], Awaitable[str]] | None = None
    notes: tuple[str, ...] = ()
    elsewhere: bool = False
    destinations: tuple[str, ...] = ()


NO_CAPABILITIES = Capabilities()


def capabilities_of(model: Model) -> Capabilities:
    """The capabilities of a model; none if its class does not declare them.

    The declaration is optional, so that a class of a user's with the other members is a model.
    """
    found: Capabilities = getattr(model, "capabilities", NO_CAPABILITIES)
    return found


def source_of(model: Model, request: Request) -> str:
    """The SHA-256 of the file that has a model's answer to a request, part of the request's key.

    Empty for models whose answers are not files, and if no file has an answer.
    """
    find = capabilities_of(model).source_of
    return find(request) if find else ""
