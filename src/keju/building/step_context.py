"""Step context: the input dataset, the output writer and the tables of a running step."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from keju.building.engine import Engine
from keju.building.image_files import ImageFiles
from keju.building.tables import write_table
from keju.datasets.store import Dataset, DatasetWriter
from keju.errors import DataError
from keju.files import write_atomic
from keju.items import ImageRef, Item, Provenance
from keju.runs.record_list import RecordList


class InputItems(RecordList[Item]):
    """The items of a step's input, read once; many are in a temporary file."""

    def __init__(self, items: Iterable[Item]) -> None:
        super().__init__(Item, items)

    @cached_property
    def by_id(self) -> Mapping[str, Item]:
        """The items by their ids, in their order; the ids are in memory."""
        return _ItemsById(self)


class _ItemsById(Mapping[str, Item]):
    """Items by id; each access reads one from the list."""

    def __init__(self, items: Sequence[Item]) -> None:
        self._items = items
        self._places = {item.id: place for place, item in enumerate(items)}

    def __getitem__(self, name: str) -> Item:
        return self._items[self._places[name]]

    def __contains__(self, name: object) -> bool:
        return name in self._places

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


SCRATCH = ".scratch"
TABLES = "tables"


class StepContext:
    """The context in which a step runs.

    Attributes:
        dataset: the input dataset; it is complete.
        engine: applies functions to rows; its finished chunks survive an interruption.
        writer: of the output dataset.
        out: the output's directory, for files that a step writes beside items and tables.
        seed: the recipe's seed.
        notes: the lines passed to `note`.
    """

    def __init__(
        self, step: str, dataset: Dataset, writer: DatasetWriter, *, engine: Engine, seed: int = 0
    ) -> None:
        self.dataset = dataset
        self.writer = writer
        self.out = writer.path
        self.seed = seed
        self.engine = engine.within(self.out / SCRATCH)
        self.notes: list[str] = []
        self._step = step
        self._items: InputItems | None = None
        self._current: Item | None = None

    def iter_items(self) -> Iterator[Item]:
        """Yield the items of the input, in their order; only a batch of them is in memory.

        Each call reads the input again. `keep` compares an item with the one that was yielded last.
        """
        for item in self.dataset:
            self._current = item
            yield item

    def items(self) -> InputItems:
        """The items of the input, in their order, for access by position or by id; read once.

        More than 10,000 items are in a temporary file, and each access reads one from there: keep
        positions in memory, not items.
        """
        if self._items is None:
            self._items = InputItems(self.dataset)
        return self._items

    def rng(self, *names: str) -> np.random.Generator:
        """A random generator, seeded by the recipe's seed, this step and these names."""
        key = json.dumps([self.seed, self._step, *names]).encode()
        return np.random.default_rng(int.from_bytes(hashlib.sha256(key).digest()[:16], "big"))

    def image_name(self, ref: ImageRef) -> str:
        """The name of an image of the input in the rows of an engine; `image_files` finds it.

        Raises:
            DataError: its path leaves the dataset.
        """
        if ref.path not in self.dataset.packed:
            self.dataset.check_image_path(ref)
            return ImageFiles.name(ref)
        return ImageFiles.name(ref, self.image_path(ref).name)

    def image_files(self) -> ImageFiles:
        """The images of the input for workers: `engine.map` gives them to its function.

        Raises:
            UsageError: the Ray cluster does not respond.
        """
        unpacked = str(self.scratch("unpacked").absolute())
        if address := self.dataset.address:
            # Images of tables are unpacked on this machine.
            driver = self.engine.driver_files() if self.dataset.packed else None
            return ImageFiles((unpacked,), address, driver)
        roots = (str(self.dataset.path.absolute()), unpacked)
        return ImageFiles(roots, driver=self.engine.driver_files())

    def fetch_scratch(self, name: str) -> Path:
        """The local path of a file that a worker wrote into `engine.files`.

        Raises:
            DataError: the file is missing, or the store of the scratch directory fails.
        """
        path = self.out / SCRATCH / name
        if not path.is_file():
            data = self.engine.files().read(name)
            if data is None:
                raise DataError(
                    "a file of the scratch directory is missing or damaged",
                    file=path,
                    hint="Run the same command again",
                )
            write_atomic(path, data)
        return path

    def image_path(self, ref: ImageRef) -> Path:
        """The path of an image of the input on this machine.

        Raises:
            DataError: the image is missing, or has another hash than the item states.
        """
        if ref.path not in self.dataset.packed:
            return self.dataset.image_path(ref)
        file = self.scratch("unpacked") / Path(ref.path).name
        if not file.is_file():
            write_atomic(file, self.dataset.image_bytes(ref))
        return file

    def keep(self, item: Item, *, note: str = "", tool: str = "", person: str = "") -> None:
        """Add an item to the output.

        Its images are linked from `dataset` unless the writer has them already. The step is
        appended to its provenance if note, tool or person is given, or the item differs from the
        input item. An item that is not the last one of `iter_items` is compared with that of
        `items`, which then reads the input.

        Raises:
            DataError: the id is taken, or an image is neither in the input nor added.
        """
        for ref in item.images:
            if not self.writer.has_image(ref):
                self.writer.link_image(self.image_path(ref), ref)
        described = bool(note or tool or person)
        if described or item != self._find_input_item(item.id):
            done = Provenance(step=self._step, tool=tool, person=person, note=note)
            item = replace(item, provenance=(*item.provenance, done))
        self.writer.add(item)

    def _find_input_item(self, name: str) -> Item | None:
        """Find the item of the input with that id; None if it has none."""
        if self._current is not None and self._current.id == name:
            return self._current
        return self.items().by_id.get(name)

    def table(self, name: str, rows: Iterable[Struct], shape: type[Struct] | None = None) -> None:
        """Write rows as OUT/tables/NAME.parquet (exact) and .csv (for spreadsheets).

        Args:
            name: of the table, e.g. ``dropped``.
            rows: flat records, all of one type, written in batches as they come; without rows, no
                table is written unless `shape` gives the columns.
            shape: the type of the rows.
        """
        write_table(self.out / TABLES, name, rows, shape)

    def note(self, line: str) -> None:
        """Add a line to the step's summary, which is printed and stored in step.json."""
        self.notes.append(line)

    def scratch(self, name: str) -> Path:
        """A directory that survives an interruption and is removed when the step is done."""
        folder = self.out / SCRATCH / name
        folder.mkdir(parents=True, exist_ok=True)
        return folder
