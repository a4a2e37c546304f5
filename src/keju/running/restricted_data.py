"""`SendingCheck`: ask before restricted data are sent to servers that are not on this machine.

Data are restricted if a licence of them forbids copies or is not known to allow them, as for a
bundle with its data (`list_restricted`). What was permitted is stored in the folder of the
responses, so that a resumed run does not ask again; it is not part of the run's identity.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import NamedTuple

from msgspec import field

from keju.datasets.licences import list_restricted
from keju.datasets.store import Dataset
from keju.errors import UsageError, shortened
from keju.files import read_json, write_json
from keju.items import Item, Record
from keju.models import Model
from keju.runs import RunFolder
from keju.texts import Text, _, listed, n_

FILE = "sending.json"
"""The file of what was permitted, in the folder of the responses."""

FORMAT = "keju-sending-1"

_MOST_NAMED = 5
"""The number of licences that a question names."""


class Permission(NamedTuple):
    """Who permits that restricted data are sent.

    `given` is true if the user permitted it in the command. `ask` shows the user a text, and
    returns whether the data may be sent; it is None without a terminal.
    """

    given: bool = False
    ask: Callable[[str], bool] | None = None


_PERMISSION: ContextVar[Permission | None] = ContextVar("permission to send", default=None)


@contextmanager
def permitting(permission: Permission) -> Iterator[None]:
    """Use a permission for all requests of the block; without it, restricted data are not sent."""
    token = _PERMISSION.set(permission)
    try:
        yield
    finally:
        _PERMISSION.reset(token)


class SentData(NamedTuple):
    """The data that requests contain.

    `licence` is that of the whole dataset, `items` returns its items with their provenance, and
    `item_count` is the number of items. `images` is false if only texts are sent.
    """

    name: str
    licence: str
    items: Callable[[], Iterable[Item]]
    item_count: int
    images: bool

    @classmethod
    def of(cls, dataset: Dataset, items: Sequence[Item]) -> SentData:
        """The data of items of a dataset, in its order; may be reduced (`item_to_send`)."""

        def complete_items() -> Iterator[Item]:
            selected = iter(items)
            next_item = next(selected, None)
            for item in dataset:
                if next_item is not None and item.id == next_item.id:
                    yield item
                    next_item = next(selected, None)
            if next_item is not None:  # In another order: the licences of all items count.
                yield from dataset

        about = dataset.manifest
        return cls(about.name, about.licence, complete_items, len(items), bool(about.images))


class _Agreed(Record, frozen=True, kw_only=True, omit_defaults=False):
    """One host and licence for which sending was permitted, and when."""

    host: str
    licence: str
    at: str


class _AgreedFile(Record, frozen=True, kw_only=True, omit_defaults=False):
    """The content of sending.json."""

    format: str = FORMAT
    agreed: list[_Agreed] = field(default_factory=list)


class SendingCheck:
    """Checks whether the data of requests may be sent to models.

    Args:
        folder: where the responses are stored, and what was permitted.
        data: the data; their items are read only if a model is on another machine.
    """

    def __init__(self, folder: RunFolder, data: SentData) -> None:
        self._path = folder.path / FILE
        self._data = data
        self._permission = _PERMISSION.get() or Permission()
        self._licences: dict[str, str] | None = None
        """The restricted licences, with the reason of each; None before they are looked up."""
        self._new: list[_Agreed] = []

    def check(self, models: Iterable[Model]) -> None:
        """Ask, unless this was permitted before; called before the first request is sent.

        Raises:
            UsageError: sending is not permitted.
            DataError: the stored permissions are damaged.
        """
        hosts, question = self.question(models)
        if hosts and not self._permission.given:
            if self._permission.ask is None:
                raise UsageError(
                    "{}. Nothing was sent. If you may send them, add --send-restricted-data (in "
                    "Python send_restricted_data=True)",
                    question,
                )
            if not self._permission.ask(str(question)):
                raise UsageError(
                    "nothing was sent to {}. Use a model on this machine, or another dataset",
                    listed(hosts),
                )
        now = datetime.now(UTC).isoformat(timespec="seconds")
        self._new += [
            _Agreed(host=host, licence=licence, at=now)
            for host in hosts
            for licence in self._licences or ()
        ]
        # It is stored once the folder exists: a refused run leaves none.
        if self._new and self._path.parent.is_dir():
            write_json(self._path, _AgreedFile(agreed=[*self._stored(), *self._new]))
            self._new = []

    def question(self, models: Iterable[Model]) -> tuple[list[str], Text | str]:
        """The hosts without a permission, and the question before anything is sent there.

        Raises:
            DataError: the stored permissions are damaged.
        """
        hosts = {host for model in models for host in model.destinations}
        if hosts and self._licences is None:
            self._licences = dict(list_restricted(self._data.licence, self._data.items()))
        if not hosts or not self._licences:
            return [], ""
        stored = {(agreed.host, agreed.licence) for agreed in (*self._stored(), *self._new)}
        missing = sorted(
            host for host in hosts if {(host, name) for name in self._licences} - stored
        )
        if not missing:
            return [], ""
        licences = [
            _("licence {} ({})", shortened(name), reason)
            for name, reason in [*self._licences.items()][:_MOST_NAMED]
        ]
        count, dataset = self._data.item_count, shortened(self._data.name)
        if not self._data.images:
            return missing, n_(
                "the texts of {n:,} item of {} go to {}. Copies are not allowed, or not known to "
                "be allowed: {}",
                "the texts of {n:,} items of {} go to {}. Copies are not allowed, or not known to "
                "be allowed: {}",
                count,
                dataset,
                listed(missing),
                listed(licences),
            )
        return missing, n_(
            "the images and texts of {n:,} item of {} go to {}. Copies are not allowed, or not "
            "known to be allowed: {}",
            "the images and texts of {n:,} items of {} go to {}. Copies are not allowed, or not "
            "known to be allowed: {}",
            count,
            dataset,
            listed(missing),
            listed(licences),
        )

    def _stored(self) -> list[_Agreed]:
        return read_json(self._path, _AgreedFile).agreed if self._path.is_file() else []
