"""``shuffled:MODEL``: a model that gets another item's image."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence

import msgspec
from msgspec.structs import replace

from keju.files import sha256_bytes
from keju.items import ImageRef, Request
from keju.models.base import Answer, AskError, ItemImages, ModelOptions
from keju.models.baselines.wrapped import WrappedModel
from keju.models.capabilities import Capabilities, source_of
from keju.texts import _

_Images = tuple[ImageRef, ...]


class Shuffled(WrappedModel):
    """Sends the same prompt to a model with the images of another group of the same task.

    Together with `blind` it shows the effect of an image of the right kind with the wrong content.
    The groups of a task form a ring, in an order drawn with the seed over the dataset's whole test
    split: each gets the images of the next one with other images, so every image is used about as
    often as before. In a pair only the query image is replaced; the candidate stays.
    """

    def __init__(self, spec: str, options: ModelOptions) -> None:
        super().__init__("shuffled", spec, options, roles=("model", "engine"))
        self._images_of = options.images_of
        self._others = other_images(options.item_images, options.seed)
        names = [(item, [ref.sha256 for ref in refs]) for item, refs in self._others.items()]
        self._order = sha256_bytes(msgspec.json.encode(sorted(names)))

    @property
    def identity(self) -> dict[str, str]:
        """The model's, and a hash of which item gets which images."""
        return {**super().identity, "shown": self._order}

    def unsupported_reason(self, request: Request) -> str:
        """As for the wrapped model; also tasks with only one group are not supported."""
        if request.item not in self._others:
            return _("the task has no image of another group to show")
        return super().unsupported_reason(request)

    @property
    def capabilities(self) -> Capabilities:
        """An answer is in the model's file about the other images, if answers are files."""
        return super().capabilities._replace(source_of=self._source_of)

    def _source_of(self, request: Request) -> str:
        return source_of(self.model, self._with_others(request))

    def _with_others(self, request: Request) -> Request:
        refs = self._others[request.item]
        if request.candidate:
            refs = (refs[0], *request.images[1:])
        return replace(request, images=refs)

    async def answer(self, request: Request, images: Sequence[bytes]) -> Answer:
        """The model's answer about the other images.

        Raises:
            AskError: there is no answer.
        """
        del images
        if self._images_of is None:
            raise AskError("bad-request", _("shuffled: was opened without a dataset"))
        asked = self._with_others(request)
        return await self.model.answer(asked, self._images_of(asked.all_images))


def other_images(items: Iterable[ItemImages], seed: int) -> dict[str, _Images]:
    """For each item the images of an item of another group of its task, if there is one.

    Args:
        items: the items and their images.
        seed: draws the order of the groups.
    """
    tasks: dict[tuple[str, str], dict[str, list[ItemImages]]] = {}
    for each in items:
        groups = tasks.setdefault((each.benchmark, each.task), {})
        groups.setdefault(each.group, []).append(each)
    found: dict[str, _Images] = {}
    for place, groups in tasks.items():
        names = sorted(groups)
        draw = sha256_bytes(msgspec.json.encode([seed, place]))
        random.Random(draw).shuffle(names)  # noqa: S311
        ring = [groups[name] for name in names]
        for at, group in enumerate(ring):
            for turn, item in enumerate(group):
                others = (ring[(at + step) % len(ring)] for step in range(1, len(ring)))
                if images := _first_other(item, others, turn):
                    found[item.item] = images
    return found


def _first_other(item: ItemImages, others: Iterable[Sequence[ItemImages]], turn: int) -> _Images:
    """The images of the next group whose first image differs from the item's."""
    candidates = (
        group[(turn + step) % len(group)].images for group in others for step in range(len(group))
    )
    own = item.images[0].sha256
    return next((images for images in candidates if images[0].sha256 != own), ())
