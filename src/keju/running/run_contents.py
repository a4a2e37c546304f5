"""`RunContents`: which items a run sends to which models."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from keju.datasets.store import Dataset
from keju.items import Item
from keju.models import Model
from keju.running.dataset_items import items_at
from keju.running.examples import Examples
from keju.running.item_places import shard_places
from keju.running.reading import reader_of
from keju.running.selecting import RequestVariant, Selection


@dataclass(frozen=True)
class RunContents:
    """Which items a run sends to which models, and in which prompt variants.

    Args:
        dataset: the dataset.
        models: the models.
        items: the items that were chosen.
        selection: how they were chosen, in which settings and how often they are sent.
        stored_items: the items as the run is to store them, where they differ from the dataset's.
        examples: what may precede the questions.
    """

    dataset: Dataset
    models: Sequence[Model]
    items: Sequence[Item]
    selection: Selection
    stored_items: Sequence[Item] | None = None
    examples: Examples = field(default_factory=Examples)

    @cached_property
    def sent_items(self) -> Sequence[Item]:
        """The items of the shard."""
        if not self.selection.shard:
            return self.items
        return items_at(self.items, shard_places(self.items, self.selection.shard))

    @property
    def identities(self) -> dict[str, dict[str, str]]:
        """The identities of the models and of those that transcribe for them, by name."""
        found = {model.name: model.identity for model in self.models}
        for model in self.models:
            for variant in self.selection.variants:
                if reader := reader_of(model, variant.setting):
                    found[reader.model.name] = reader.model.identity
        return found

    def turns(self, model: Model) -> Iterator[tuple[int, Item, RequestVariant]]:
        """Each item, with its index in `sent_items`, in each prompt variant of a model."""
        variants = self.selection.variants_for(model.name)
        for place, item in enumerate(self.sent_items):
            for variant in variants:
                yield place, item, variant
