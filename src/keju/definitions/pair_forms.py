"""Reduced forms of pair tasks (``--pairs FORM``), and responses that belong to several items.

A task that compares each image with all others, in several rounds and question forms, has millions
of pairs. With a form fewer pairs are compared than in the paper. The forms are ours: their results
are not the paper's experiment. `reduced_form` identifies their items, and signatures name the form.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from msgspec.structs import replace

from keju.definitions.wordings import known_wordings, wording
from keju.errors import UsageError
from keju.items import Item, Provenance, Response

STEP = "pairs"
"""The provenance step of an item that records the reduced form of its pairs."""

_GALLERY = re.compile(r"gallery=([1-9][0-9]{0,5})(?:,seed=([0-9]{1,9}))?")
_NOTE = re.compile(r"(?P<form>\S+): (?P<asked>\d+) of (?P<all>\d+) candidates asked")


class PairForm(NamedTuple):
    """A reduced form.

    ``gallery``: each query has `size` candidates, with all relevant ones among them; the others are
    drawn by `seed` and the query's image. ``once``: of (a, b) and (b, a) only the pair of the item
    that is earlier in the dataset is sent, its own image first; the response counts for both.
    """

    kind: Literal["gallery", "once"]
    size: int = 0
    seed: int = 0

    @property
    def name(self) -> str:
        """The name of the form, as written by users and recorded."""
        return "once" if self.kind == "once" else f"gallery={self.size},seed={self.seed}"


def pair_form(name: str) -> PairForm:
    """The form of that name: ``gallery=N``, ``gallery=N,seed=S`` or ``once``.

    Raises:
        UsageError: it has another spelling.
    """
    if name == "once":
        return PairForm("once")
    if match := _GALLERY.fullmatch(name):
        return PairForm("gallery", int(match[1]), int(match[2] or 0))
    raise UsageError("--pairs must be gallery=N, gallery=N,seed=S or once, not {!r}", name)


def mark_reduced(item: Item, form: PairForm, asked: int) -> Item:
    """The item with a record of the form and of the number of candidates that are sent.

    The first `asked` candidates are sent. For ``gallery`` the number is the size of the gallery,
    and all of it is sent.
    """
    note = f"{form.name}: {asked} of {len(item.images) - 1} candidates asked"
    return replace(item, provenance=(*item.provenance, Provenance(step=STEP, note=note)))


def reduced_form(item: Item) -> str:
    """The reduced form of an item's pairs; empty where all of them are sent."""
    match = _note(item)
    return match["form"] if match else ""


def sent_candidates(item: Item) -> int:
    """The number of an item's candidates that are sent, from the first on."""
    match = _note(item)
    return int(match["asked"]) if match else len(item.images) - 1


def _note(item: Item) -> re.Match[str] | None:
    notes = (_NOTE.fullmatch(step.note) for step in item.provenance if step.step == STEP)
    return next(filter(None, notes), None)


class _Place(NamedTuple):
    task: str
    query: str
    item: str
    candidate: int = 0


class SharedAnswers:
    """The other items of a run to which a response belongs.

    The response to a pair that is compared in one direction (``once``) belongs to both items. A
    wording that combines several question forms in one prompt (`WordedPrompt.also`) has one
    response for the items of these forms that show the same images.
    """

    def __init__(self, items: Iterable[Item]) -> None:
        self._others: dict[_Place, list[_Place]] = {}
        self._same_images: dict[_Place, list[_Place]] = {}
        prompts = (pair for wording in known_wordings() for pair in wording.prompts.items())
        joint_tasks = {form.partition("/")[0] for form, prompt in prompts if prompt.also}
        places_of_images: dict[tuple[str, ...], list[_Place]] = {}
        once = []
        for item in items:
            if reduced_form(item) == "once":
                once.append(item)
            if item.task in joint_tasks:
                place = _Place(item.task, item.query, item.id)
                images = (item.task, *(ref.sha256 for ref in item.images))
                self._same_images[place] = places_of_images.setdefault(images, [])
                self._same_images[place].append(place)
        source_of_pair: dict[tuple[str, str, str, str], _Place] = {}
        for item in once:
            for number in range(1, sent_candidates(item) + 1):
                pair = item.task, item.query, item.images[0].sha256, item.images[number].sha256
                source_of_pair.setdefault(pair, _Place(item.task, item.query, item.id, number))
        for item in once:
            for number in range(sent_candidates(item) + 1, len(item.images)):
                swapped = item.task, item.query, item.images[number].sha256, item.images[0].sha256
                if source := source_of_pair.get(swapped):
                    target = _Place(item.task, item.query, item.id, number)
                    self._others.setdefault(source, []).append(target)

    def copies(self, response: Response) -> Iterator[Response]:
        """Yield a copy of the response, with the same key, for each other item of it."""
        place = _Place(response.task, response.query, response.item, response.candidate)
        places = list(self._others.get(place, ()))
        if same_images := self._same_images.get(place):
            prompt = wording(response.wording).prompt(response.task, response.query)
            also = prompt.also if prompt else ()
            places += [copy for query in also for copy in same_images if copy.query == query]
        for target in places:
            yield replace(
                response, item=target.item, query=target.query, candidate=target.candidate
            )
