"""What a running step works at: the dataset it is given, the one it writes, and its tables."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from keju.building.engine import Engine
from keju.building.tables import write_table
from keju.datasets.store import Dataset, DatasetWriter
from keju.files import write_atomic
from keju.items import ImageRef, Item, Provenance

SCRATCH = ".scratch"
TABLES = "tables"


class Bench:
    """What a step has at hand while it runs.

    Attributes:
        given: the input, a finished dataset.
        engine: what rows are worked on with; its finished chunks survive a kill.
        writer: of the output dataset.
        out: the output's folder, for what a step writes beside items and tables.
        seed: the recipe's.
        notes: what `note` was told.
    """

    def __init__(
        self, step: str, given: Dataset, writer: DatasetWriter, *, engine: Engine, seed: int = 0
    ) -> None:
        self.given = given
        self.writer = writer
        self.out = writer.path
        self.seed = seed
        self.engine = engine.within(self.out / SCRATCH)
        self.notes: list[str] = []
        self._step = step
        self._items: list[Item] | None = None
        self._by_id: dict[str, Item] = {}

    def items(self) -> list[Item]:
        """The items that the step is given, in their order; read once."""
        if self._items is None:
            self._items = self.given.items()
            self._by_id = {item.id: item for item in self._items}
        return self._items

    def rng(self, *names: str) -> np.random.Generator:
        """Random numbers of the recipe's seed, this step and these names."""
        key = json.dumps([self.seed, self._step, *names]).encode()
        return np.random.default_rng(int.from_bytes(hashlib.sha256(key).digest()[:16], "big"))

    def image_path(self, ref: ImageRef) -> Path:
        """Where an image of the input lies as a file, for engines whose rows name files.

        Raises:
            DataError: it is missing, or not the one that its item was made with.
        """
        if ref.path not in self.given.packed:
            return self.given.image_path(ref)
        file = self.scratch("unpacked") / Path(ref.path).name
        if not file.is_file():
            write_atomic(file, self.given.image_bytes(ref))
        return file

    def keep(self, item: Item, *, note: str = "", tool: str = "", person: str = "") -> None:
        """Put an item into the output.

        Its images are linked from `given` unless the writer has them already. What this step did
        is appended to its provenance where note, tool or person say it, or the item is another
        than the one given.

        Raises:
            DataError: the id is taken, or an image is neither in the input nor added.
        """
        self.items()
        for ref in item.images:
            if not self.writer.has_image(ref):
                self.writer.link_image(self.image_path(ref), ref)
        told = bool(note or tool or person)
        if told or item != self._by_id.get(item.id):
            done = Provenance(step=self._step, tool=tool, person=person, note=note)
            item = replace(item, provenance=(*item.provenance, done))
        self.writer.add(item)

    def table(self, name: str, rows: Sequence[Struct], shape: type[Struct] | None = None) -> None:
        """Write rows as OUT/tables/NAME.parquet and .csv, exact and for spreadsheets.

        Args:
            name: of the table, e.g. ``dropped``.
            rows: flat records, all of one type; of none, no table is written unless `shape` says
                what its columns are.
            shape: the type of the rows.
        """
        write_table(self.out / TABLES, name, rows, shape)

    def note(self, line: str) -> None:
        """Say a line of the step's summary, which is printed and kept in step.json."""
        self.notes.append(line)

    def scratch(self, name: str) -> Path:
        """A folder that survives a kill and is gone when the step is done."""
        folder = self.out / SCRATCH / name
        folder.mkdir(parents=True, exist_ok=True)
        return folder
