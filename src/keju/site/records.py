"""The records of a site: a bundle's summary, its entries, and the numbers of a board."""

from __future__ import annotations

from msgspec import field

from keju import __version__
from keju.items import Protocol, Record
from keju.scoring import Result
from keju.site.addresses import address

FORMAT = f"keju-site-5 keju-{__version__}"
"""The format of the files of a bundle in a site; files of another format are made again."""

ITEMS_PER_SHARD = 32
"""Items of a file of answers: about 20 KB for one model, so that a page of 50 loads a megabyte."""

Bounds = tuple[float, float]


class Source(Record, frozen=True, kw_only=True):
    """A bundle of the site, as its file and its run manifest state it.

    `sha256` is that of the file. `shows_texts` is whether the licence of the data permits to
    publish texts of it and answers about it; otherwise the site has only hashes and scores.
    `has_items` is whether questions and references are in the bundle too.
    """

    sha256: str
    file: str
    dataset: str
    dataset_version: str
    items_key: str
    licence: str = ""
    synthetic: bool = False
    created: str = ""
    keju: str = ""
    label: str = ""
    shows_texts: bool = False
    has_items: bool = False
    benchmarks: dict[str, str] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """The name of the bundle's files in the site."""
        return self.sha256[:16]

    @property
    def date(self) -> str:
        """The date of the run, ``YYYY-MM-DD``; empty where it is not stated."""
        return self.created[:10]


class TaskValue(Record, frozen=True, kw_only=True, array_like=True):
    """A model's value of one metric of a task, with its interval where it is a main metric.

    `value_if_right` is the value if every unclear answer were right; None where it is `value`.
    """

    protocol: Protocol
    task: str
    query: str
    metric: str
    main: bool
    value: float | None
    bounds: Bounds | None
    items: int
    scored: int
    signature: str
    value_if_right: float | None = None


class Stratum(Record, frozen=True, kw_only=True, array_like=True):
    """A model's mean over the items with one value of metadata, such as a dynasty.

    `tasks` is the number of tasks with such items; `value_if_right` is that of `TaskValue`.
    """

    kind: str
    name: str
    protocol: Protocol
    value: float
    bounds: Bounds | None
    tasks: int
    items: int
    value_if_right: float | None = None


class Entry(Record, frozen=True, kw_only=True):
    """A row of leaderboards: a model of a bundle in one prompt variant, on one board.

    `name` is the model's name with its variant where that is not the default; `items` is the number
    of answered items with a metric; `statuses` counts the items by status.
    """

    id: str
    board: str
    model: str
    name: str
    role: str
    variant: str = ""
    items: int = 0
    statuses: dict[str, int] = field(default_factory=dict)
    results: tuple[Result, ...] = ()
    values: tuple[TaskValue, ...] = ()
    strata: tuple[Stratum, ...] = ()


class BoardTask(Record, frozen=True, kw_only=True):
    """A task, or a query of it, on a board: its items' ids in their order and its metrics."""

    task: str
    query: str
    ids: tuple[str, ...]
    metrics: tuple[tuple[Protocol, str], ...]

    @property
    def name(self) -> str:
        """The task's id, with the query where it has several."""
        return f"{self.task}/{self.query}" if self.query else self.task

    @property
    def address(self) -> str:
        """The name of the task's page and files."""
        return address(self.name)


class BoardOfBundle(Record, frozen=True, kw_only=True):
    """The items of one benchmark in a bundle; bundles with the same items share a board."""

    id: str
    benchmark: str
    tasks: tuple[BoardTask, ...]


class BundleSummary(Record, frozen=True, kw_only=True, omit_defaults=False):
    """All that pages need of a bundle without reading it again; its entries in their order."""

    format: str = FORMAT
    source: Source
    boards: tuple[BoardOfBundle, ...]
    entries: tuple[Entry, ...]
