"""The options of `keju run` and `keju.run`, and the settings that they produce."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from keju.datasets.store import Dataset
from keju.definitions import read_prompts, task
from keju.definitions.pair_forms import pair_form
from keju.errors import DataError, UsageError
from keju.files import bounded_bytes
from keju.items import Record
from keju.models import Decoding, Fit, ModelOptions
from keju.models.decoding import declared_dtype
from keju.running.limits import Policy, RetryPolicy
from keju.running.presets import preset
from keju.running.prices import read_prices
from keju.running.selection import Selection
from keju.runs.manifest import checked_label

AnyPath = str | os.PathLike[str]

_MOST_BYTES = 64 << 20
"""The maximum size of a list of items in bytes."""


class RunOptions(Record, frozen=True, kw_only=True):
    """The options of a run, with the names, types and defaults of the command line.

    An option that can be given several times there has its plural as its name and takes one value
    or a list. `prompts` are paths of prompt files. `items` is the path of a list of ids, or the
    ids. `extra_body` maps names to JSON values. `system_prompt` is the text itself.
    """

    tasks: str | Sequence[str] | None = None
    limit: int | None = None
    sample: int | None = None
    seed: int = 0
    rounds: int | None = None
    preset: str = ""
    settings: str | Sequence[str] | None = None
    scripts: str | Sequence[str] | None = None
    wordings: str | Sequence[str] | None = None
    prompts: AnyPath | Sequence[AnyPath] | None = None
    boxes: str = ""
    items: AnyPath | Sequence[str] | None = None
    pairs: str | None = None
    shard: str | None = None
    label: str | None = None
    base_url: str = ""
    api_key_env: str = "OPENAI_API_KEY"
    concurrency: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    max_tokens: int | None = None
    sampling_seed: int | None = None
    system_prompt: str = ""
    reasoning_effort: str | None = None
    extra_body: Mapping[str, Any] = msgspec.field(default_factory=dict)
    dtype: str = "unknown"
    timeout: float = 600.0
    max_pixels: int | None = None
    max_bytes: int | None = None
    max_cost: float | None = None
    prices: AnyPath | None = None
    per_minute: float | None = None
    batch: bool = False
    retry_failed: bool = False
    replace: bool = False
    reading_order: bool = True
    replay_columns: str = ""
    send_restricted_data: bool = False

    def selection_for(self, dataset: Path) -> Selection:
        """Return which items of a dataset are selected, and in which prompt variants.

        Raises:
            UsageError: a pair form or a preset does not exist, or the dataset has no item of the
                preset's benchmark, so that each item would be run in rounds that no paper states.
            DataError: dataset.json, the list of items or a prompt file cannot be read.
        """
        if self.preset or self.prompts is not None:
            # The preset, or the tasks of a prompt file, may be those of the dataset's benchmark.
            tasks = Dataset.open(dataset).manifest.tasks
            paper = preset(self.preset)
            if paper.only and paper.only not in {task(name).benchmark for name in tasks}:
                raise UsageError(
                    "--preset {}: the dataset has no item of {}. Remove the option, or ask each "
                    "item several times with --rounds {}",
                    self.preset,
                    paper.only,
                    paper.rounds or 1,
                )
        ids = self.items
        if isinstance(ids, str | os.PathLike):
            ids = read_item_ids(Path(ids))
        paths = self.prompts if self.prompts is not None else ()
        if isinstance(paths, str | os.PathLike):
            paths = (paths,)
        own_wordings = [read_prompts(Path(path)) for path in paths]
        fields = {
            "tasks": _several(self.tasks) or None,
            "settings": _several(self.settings) or ("image",),
            "scripts": _several(self.scripts) or ("released",),
            "wordings": (*_several(self.wordings), *own_wordings) or ("released",),
            "rounds": preset(self.preset).rounds or 1 if self.rounds is None else self.rounds,
            "items": None if ids is None else tuple(ids),
            "pairs": None if self.pairs is None else pair_form(self.pairs).name,
            "label": None if self.label is None else checked_label(self.label),
        }
        return Selection(**{**self._shared(Selection), **fields})

    def model_options(self) -> ModelOptions:
        """The settings of all models.

        Raises:
            UsageError: the reasoning effort is empty, the dtype is not a word, or the preset does
                not exist.
        """
        if self.reasoning_effort is not None and not self.reasoning_effort.strip():
            raise UsageError(
                "--reasoning-effort is empty. Give a value such as low, or drop the option"
            )
        fields = {"seed": self.sampling_seed, "extra_body": dict(self.extra_body)}
        decoding = Decoding(**{**self._shared(Decoding), **fields})
        own = {
            "decoding": preset(self.preset).decoding(decoding),
            "dtype": declared_dtype(self.dtype),
            "fit": Fit(**self._shared(Fit)),
        }
        return ModelOptions(**{**self._shared(ModelOptions), **own})

    def policy(self) -> Policy:
        """The concurrency, timeouts, retries, limits and prices.

        Raises:
            DataError: the price file cannot be read.
        """
        prices = None if self.prices is None else read_prices(Path(self.prices))
        own = {"retry": RetryPolicy(timeout=self.timeout), "prices": prices}
        return Policy(**{**self._shared(Policy), **own})

    def _shared(self, record: type[msgspec.Struct]) -> dict[str, Any]:
        """The options that are fields of another record too."""
        names = set(self.__struct_fields__).intersection(record.__struct_fields__)
        return {name: getattr(self, name) for name in names}


def read_item_ids(file: Path) -> tuple[str, ...]:
    """Read the ids that a text file lists, one per line, in its order.

    Raises:
        DataError: the file is not readable, or lists no id.
    """
    try:
        text = bounded_bytes(file, _MOST_BYTES).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise DataError("the list of items is not UTF-8 text", file=file) from None
    ids = dict.fromkeys(line.strip() for line in text.splitlines() if line.strip())
    if not ids:
        raise DataError("no item id in the list", file=file, hint="Write one id per line")
    return tuple(ids)


def _several(values: str | Sequence[str] | None) -> tuple[str, ...]:
    """The values of an option that can be given several times."""
    return (values,) if isinstance(values, str) else tuple(values or ())
