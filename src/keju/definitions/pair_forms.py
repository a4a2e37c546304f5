"""Reduced forms of pair tasks (``--pairs FORM``): fewer pairs are compared than in the paper.

A task that compares each image with all others, in several rounds and question forms, has millions
of pairs. The forms are ours. Results of a reduced form are not the paper's experiment:
`reduced_form` identifies their items, and signatures name the form.
"""

from __future__ import annotations

import re
from typing import Literal

from msgspec.structs import replace

from keju.definitions.registry import tasks
from keju.definitions.tasks import Candidates
from keju.errors import UsageError
from keju.items import Item, Provenance, Record

STEP = "pairs"
"""The provenance step of an item that records the reduced form of its pairs."""

_GALLERY = re.compile(r"gallery=([1-9][0-9]{0,5})(?:,seed=([0-9]{1,9}))?")
_RANKED = re.compile(r"([a-z]+)=([1-9][0-9]{0,5})")
_NOTE = re.compile(r"(?P<form>\S+): (?P<asked>\d+) of (?P<all>\d+) candidates asked")


RANKERS: dict[str, Candidates] = {"edges": "fragments", "hog": "classes"}
"""The baselines that can rank candidates beforehand, with what these are (`Task.candidates`)."""


class PairForm(Record, frozen=True, kw_only=True):
    """A reduced form.

    ``gallery``: each query has `size` candidates, with all relevant ones among them; the others are
    drawn by `seed` and the query's image. ``once``: of (a, b) and (b, a) only the pair of the item
    that is earlier in the dataset is sent, its own image first; the response counts for both.
    ``ranked``: a `baseline` ranks all candidates beforehand. The first `size` are sent, and the
    others rank below them in the baseline's order.
    """

    kind: Literal["gallery", "once", "ranked"]
    size: int = 0
    seed: int = 0
    baseline: str = ""

    @property
    def name(self) -> str:
        """The name of the form, as written by users and recorded."""
        match self.kind:
            case "once":
                return "once"
            case "gallery":
                return f"gallery={self.size},seed={self.seed}"
            case "ranked":
                return f"{self.baseline}={self.size}"

    @property
    def tasks(self) -> list[str]:
        """The tasks whose pairs can have this form, sorted."""
        if self.kind == "ranked":
            return sorted(ranked_tasks(self.baseline))
        return sorted(each.id for each in tasks() if each.of_pairs)

    def applies(self, item: Item) -> bool:
        """Whether an item's pairs can have this form."""
        return item.task in self.tasks


def ranked_tasks(baseline: str) -> frozenset[str]:
    """The tasks whose candidates a baseline can rank beforehand."""
    return frozenset(each.id for each in tasks() if each.candidates == RANKERS[baseline])


def pair_form(name: str) -> PairForm:
    """The form of that name: ``gallery=N``, ``gallery=N,seed=S``, ``once`` or ``BASELINE=N``.

    Raises:
        UsageError: it has another spelling.
    """
    if name == "once":
        return PairForm(kind="once")
    if found := _GALLERY.fullmatch(name):
        return PairForm(kind="gallery", size=int(found[1]), seed=int(found[2] or 0))
    found = _RANKED.fullmatch(name)
    if found and found[1] in RANKERS:
        return PairForm(kind="ranked", size=int(found[2]), baseline=found[1])
    raise UsageError(
        "--pairs must be gallery=N, gallery=N,seed=S, once, edges=N or hog=N, not {!r}", name
    )


def mark_reduced(item: Item, form: PairForm, asked: int) -> Item:
    """The item with a record of the form and of the number of candidates that are sent.

    The first `asked` candidates are sent. For ``gallery`` the number is the size of the gallery,
    and all of it is sent.
    """
    note = f"{form.name}: {asked} of {len(item.images) - 1} candidates asked"
    return replace(item, provenance=(*item.provenance, Provenance(step=STEP, note=note)))


def reduced_form(item: Item) -> str:
    """The reduced form of an item's pairs; empty where all of them are sent."""
    found = _note(item)
    return found["form"] if found else ""


def sent_candidates(item: Item) -> int:
    """The number of an item's candidates that are sent, from the first on."""
    found = _note(item)
    return int(found["asked"]) if found else len(item.images) - 1


def _note(item: Item) -> re.Match[str] | None:
    if not item.provenance:
        return None
    notes = (_NOTE.fullmatch(each.note) for each in item.provenance if each.step == STEP)
    return next((found for found in notes if found), None)
