"""Reduced forms of pair tasks (``--pairs FORM``): fewer pairs are compared than in the paper.

A task that compares each image with all others, in several rounds and question forms, has millions
of pairs. The forms are ours. Results of a reduced form are not the paper's experiment:
`reduced_form` identifies their items, and signatures name the form.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from msgspec.structs import replace

from keju.errors import UsageError
from keju.items import Item, Provenance

STEP = "pairs"
"""The provenance step of an item that records the reduced form of its pairs."""

_GALLERY = re.compile(r"gallery=([1-9][0-9]{0,5})(?:,seed=([0-9]{1,9}))?")
_NOTE = re.compile(r"(?P<form>\S+): (?P<asked>\d+) of (?P<all>\d+) candidates asked")


class PairForm(NamedTuple):
    """A reduced form.

    ``gallery``: each query has `size` candidates, with all relevant ones among them; the others are
    drawn by `seed` and the query's image. ``once``: of (a, b) and (b, a) only the pair of the item
    that is earlier in the dataset is sent, its own image first; the response counts for both.
    `name` is the form as written by users and recorded.
    """

    kind: Literal["gallery", "once"]
    name: str
    size: int = 0
    seed: int = 0


def pair_form(name: str) -> PairForm:
    """The form of that name: ``gallery=N``, ``gallery=N,seed=S`` or ``once``.

    Raises:
        UsageError: it has another spelling.
    """
    if name == "once":
        return PairForm("once", name)
    if match := _GALLERY.fullmatch(name):
        size, seed = int(match[1]), int(match[2] or 0)
        return PairForm("gallery", f"gallery={size},seed={seed}", size, seed)
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
