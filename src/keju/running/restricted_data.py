"""`check_sending`: ask before restricted data are sent to servers that are not on this machine.

Data are restricted if a licence of them forbids copies or is not known to allow them, as for a
bundle with its data (`list_restricted`). A permission holds for one command and is not stored, so
that one person's permission never sends data for another.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product

from keju.datasets.licences import list_restricted
from keju.datasets.store import Dataset
from keju.errors import UsageError, shortened
from keju.items import Item
from keju.models import Model
from keju.texts import Text, _, listed, n_

_MOST_NAMED = 5
"""The number of licences that a question names."""


@dataclass
class Permission:
    """Who permits that restricted data are sent.

    `given` is true if the user permitted it in the command. `ask` shows the user a text, and
    returns whether the data may be sent; it is None without a terminal. `agreed` are the hosts and
    licences of the answers so far, so that one command asks once.
    """

    given: bool = False
    ask: Callable[[str], bool] | None = None
    agreed: set[tuple[str, str]] = field(default_factory=set)


_PERMISSION: ContextVar[Permission] = ContextVar("permission to send")


@contextmanager
def permitting(permission: Permission) -> Iterator[None]:
    """Use a permission for all requests of the block; without it, restricted data are not sent."""
    token = _PERMISSION.set(permission)
    try:
        yield
    finally:
        _PERMISSION.reset(token)


@dataclass
class SentData:
    """The data that requests contain: a dataset's name, its licence, and its items.

    `items` returns the items with their provenance.
    """

    name: str
    licence: str
    items: Callable[[], Iterable[Item]]
    item_count: int

    @classmethod
    def of(cls, dataset: Dataset, items: Sequence[Item]) -> SentData:
        """The data of items of a dataset; the items may be reduced (`item_to_send`)."""

        def own_items() -> Iterator[Item]:
            ids = {item.id for item in items}
            return (item for item in dataset if item.id in ids)

        about = dataset.manifest
        return cls(about.name, about.licence, own_items, len(items))

    @cached_property
    def restricted(self) -> dict[str, str]:
        """The restricted licences, with the reason of each; all items are read once for it."""
        return dict(list_restricted(self.licence, self.items()))


def check_sending(models: Sequence[Model], data: SentData) -> None:
    """Ask whether data may be sent to models; called before the first request is sent.

    Raises:
        UsageError: sending is not permitted.
    """
    permission = _PERMISSION.get(Permission())
    question = "" if permission.given else sending_question(models, data, permission.agreed)
    if not question:
        return
    if permission.ask is None:
        raise UsageError(
            "{}. Nothing was sent. If you may send them, add --send-restricted-data (in "
            "Python send_restricted_data=True)",
            question,
        )
    if not permission.ask(str(question)):
        raise UsageError("nothing was sent. Use a model on this machine, or another dataset")
    permission.agreed.update(product(_hosts(models), data.restricted))


def sending_question(
    models: Iterable[Model], data: SentData, agreed: Collection[tuple[str, str]] = ()
) -> Text | str:
    """The question before restricted data are sent to models; empty if none is necessary."""
    hosts = [
        host
        for host in _hosts(models)
        if any((host, licence) not in agreed for licence in data.restricted)
    ]
    if not hosts:
        return ""
    licences = [
        _("licence {} ({})", shortened(name), reason)
        for name, reason in [*data.restricted.items()][:_MOST_NAMED]
    ]
    return n_(
        "the data of {n:,} item of {} go to {}. Copies are not allowed, or not known to be "
        "allowed: {}",
        "the data of {n:,} items of {} go to {}. Copies are not allowed, or not known to be "
        "allowed: {}",
        data.item_count,
        shortened(data.name),
        listed(hosts),
        listed(licences),
    )


def _hosts(models: Iterable[Model]) -> list[str]:
    return sorted({host for model in models for host in model.destinations})
