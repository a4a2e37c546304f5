"""``models.toml``: facts about models that the people of a leaderboard state.

One table for each model, by its name in the runs::

    ["openai:qwen2.5-vl-72b-instruct"]
    vendor = "Alibaba"
    size_b = 72
    released = 2025-01-26
    url = "https://huggingface.co/Qwen/Qwen2.5-VL-72B-Instruct"

Every key is optional. keju states nothing about a model that is not in this file.
"""

from __future__ import annotations

import datetime as dt
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import msgspec

from keju.errors import DataError
from keju.files import read_toml
from keju.formatting import NOTHING
from keju.items import Record

FILE = "models.toml"

SIZES = (4.0, 10.0, 40.0, 100.0)
"""The upper bounds of the classes of sizes in filters, in billions of parameters."""


class ModelFacts(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The stated facts of one model; empty or None where nothing is stated.

    `size_b` is billions of parameters, `released` the date of its publication, `url` a page about
    it, which must begin with https://.
    """

    vendor: str = ""
    size_b: Annotated[float, msgspec.Meta(gt=0)] | None = None
    released: dt.date | None = None
    url: Annotated[str, msgspec.Meta(pattern="^(https://[^\\s]*)?$")] = ""

    @property
    def size_text(self) -> str:
        """The size in billions of parameters, or a dash."""
        return NOTHING if self.size_b is None else f"{self.size_b:g}B"

    @property
    def size_class(self) -> str:
        """The number of the class of the size in `SIZES`; empty where the size is not known."""
        return "" if self.size_b is None else str(bisect_right(SIZES, self.size_b))


Facts = Mapping[str, ModelFacts]
"""The stated facts by the model's name in runs."""

NO_FACTS = ModelFacts()


def read_model_facts(files: Sequence[Path]) -> Facts:
    """The facts of several files, by model.

    Raises:
        DataError: a file is not valid, or two files state different facts of a model.
    """
    found: dict[str, ModelFacts] = {}
    for path in files:
        for name, facts in read_toml(path, dict[str, ModelFacts]).items():
            if found.setdefault(name, facts) != facts:
                raise DataError(
                    "another models.toml states different facts about this model",
                    file=path,
                    item=name,
                )
    return found
