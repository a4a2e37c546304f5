"""Checks of the models of a run, and what they may use: data of the dataset, the user's prompts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Self, overload

from msgspec.structs import replace

from keju.datasets.page_names import find_named_pages
from keju.datasets.store import Dataset
from keju.definitions import query_of
from keju.definitions.wordings import RELEASED, Wording, own_wordings
from keju.errors import DataError, UsageError
from keju.items import ImageRef, Item, get_group
from keju.models import AskError, DatasetAccess, ItemImages, Model, ModelOptions
from keju.models.base import ENDPOINTS
from keju.running.selection import Selection, takes_no_prompt
from keju.runs.record_list import RecordList
from keju.texts import Text, _, listed


@dataclass
class LazyImages(Sequence[bytes]):
    """The images of a request, read from the dataset on access."""

    dataset: Dataset
    refs: Sequence[ImageRef]

    def __len__(self) -> int:
        return len(self.refs)

    @overload
    def __getitem__(self, index: int) -> bytes: ...
    @overload
    def __getitem__(self, index: slice) -> Self: ...
    def __getitem__(self, index: int | slice) -> bytes | Sequence[bytes]:
        if isinstance(index, slice):
            return LazyImages(self.dataset, self.refs[index])
        try:
            return self.dataset.image_bytes(self.refs[index])
        except DataError as error:
            raise AskError("unreadable-image", str(error)) from None


@dataclass(frozen=True)
class _ItemImages:
    """The images of each item of the test split, read from the dataset at each iteration."""

    dataset: Dataset

    def __iter__(self) -> Iterator[ItemImages]:
        for item in self.dataset:
            if item.split == "test" and item.images:
                yield ItemImages(
                    item=item.id,
                    benchmark=item.benchmark,
                    task=item.task,
                    group=get_group(item),
                    images=item.images,
                )


def access_of(dataset: Dataset, reference: Sequence[Item] = ()) -> DatasetAccess:
    """The data that baselines and files of pages may use.

    Of the test split only the images are used. They are read from the dataset on demand, so that a
    run without such a model does not read them.

    Args:
        dataset: where the images are stored.
        reference: the labelled items of the reference split.
    """
    return DatasetAccess(
        reference=tuple(reference),
        item_images=_ItemImages(dataset),
        images_of=partial(LazyImages, dataset),
        # On disk, because all names of a million pages are compared.
        pages_of=lambda: find_named_pages(RecordList(Item, _pages(dataset))),
    )


def _pages(items: Iterable[Item]) -> Iterator[Item]:
    """The items that ask for a transcription of images, with what their pages are named by."""
    for item in items:
        try:
            is_page = bool(item.images) and query_of(item).form == "transcription"
        except DataError:
            continue  # Of a task that is not registered, so that it cannot be selected.
        if is_page:
            yield Item(
                id=item.id,
                benchmark=item.benchmark,
                task=item.task,
                query=item.query,
                images=item.images,
                metadata=item.metadata,
            )


def with_own_prompts(options: ModelOptions, wordings: Mapping[str, Wording]) -> ModelOptions:
    """The model options, with the texts of the user's own wordings, which must not contain a key.

    Raises:
        UsageError: there are two system prompts.
    """
    stored = {}
    for name, own in wordings.items():
        systems = [own.system, *(prompt.system for prompt in own.prompts.values())]
        if options.system_prompt and any(systems):
            raise UsageError(
                "--system-prompt: wording {} has a system prompt too. Use only one of them", name
            )
        stored[f"--prompts ({name})"] = "\n".join(
            [own.what, *systems, *(prompt.ask for prompt in own.prompts.values())]
        )
    return replace(options, stored=stored)


def check_models(
    models: Sequence[Model], options: ModelOptions, selection: Selection
) -> list[Text]:
    """Check that the models can answer in the selected wordings and form of pairs.

    Replayed answers to pairs must have the form that is selected now: in another form the same
    number means another candidate.

    Returns:
        Notes on tasks that are not run in the user's own prompts, and on unused system prompts.

    Raises:
        UsageError: every model is an OCR engine, which has no prompt, and the wordings are the
            user's own; or replayed answers come from a run in another form of pairs, or not from a
            run while a reduced form is selected.
    """
    wordings = own_wordings(selection.wordings).values()
    names = [model.name for model in models]
    if wordings and all(map(takes_no_prompt, names)):
        raise UsageError(
            "--prompts: {} takes no prompt, because it is an OCR engine. Remove the option",
            ", ".join(names),
        )
    notes = []
    has_system = any(wording.system for wording in wordings)
    if wordings and RELEASED not in selection.wordings and not has_system:
        forms = dict.fromkeys(form for wording in wordings for form in wording.prompts)
        note = _(
            "Only {} are run: the wordings have no prompts for other tasks. Add --wording "
            "released to run the other tasks with the published prompts",
            listed(forms),
        )
        notes.append(note)
    for model in models:
        if options.system_prompt and model.identity.get("kind") not in ENDPOINTS:
            note = _(
                "{} does not accept a system prompt and is run without --system-prompt", model.name
            )
            notes.append(note)
        stored = model.pair_forms
        if stored is not None and (stored or {""}) != {selection.pairs or ""}:
            raise UsageError(
                "{}: its responses are of {}, but --pairs is {}. The candidates have other "
                "numbers there. Use the form in which they were asked",
                model.name,
                ", ".join(form or "all pairs" for form in sorted(stored)) or _("no run"),
                selection.pairs or _("not given"),
            )
    return notes
