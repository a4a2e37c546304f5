"""Labelled crops of characters, by class, from which retrieval sets are made."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from keju.errors import DataError, UsageError
from keju.items import ImageRef, Item
from keju.texts import n_


class Crop(NamedTuple):
    """A crop of one character: its class, its image and the position of its source item."""

    name: str
    ref: ImageRef
    place: int


Classes = dict[str, list[Crop]]


def group_by_class(items: Iterable[Item]) -> Classes:
    """Group the labelled crops by class, in order of name; each image once.

    A crop is the image of an item of the reference split whose answer is its class, or the query
    image of a gallery whose metadata name its class.

    Raises:
        DataError: there are fewer than two classes, or one image has two classes.
    """
    found: Classes = {}
    owners: dict[str, str] = {}
    for place, item in enumerate(items):
        name = _get_class(item)
        if not name or not item.images:
            continue
        ref = item.images[0]
        owner = owners.get(ref.sha256)
        if owner is None:
            owners[ref.sha256] = name
            found.setdefault(name, []).append(Crop(name, ref, place))
        elif owner != name:
            raise DataError(
                "its image is of class {}, and elsewhere of class {}",
                name,
                owner,
                item=item.id,
                hint="Remove it from one of the two",
            )
    if len(found) < 2:
        raise DataError(
            n_(
                "{n:,} class of crops, but two or more are required",
                "{n:,} classes of crops, but two or more are required",
                len(found),
                hint="Import crops with: keju data import obi-classification or obi-retrieval",
            )
        )
    return dict(sorted(found.items()))


def _get_class(item: Item) -> str:
    if item.split == "reference" and len(item.images) == 1 and item.answer:
        return item.answer
    return item.metadata.get("class_name") or item.metadata.get("class", "")


def sample_classes(classes: Classes, count: int, rng: np.random.Generator) -> Classes:
    """Draw a random sample of classes, in order of name; 0 for all.

    Raises:
        UsageError: there are fewer.
    """
    if count > len(classes):
        raise UsageError("classes: {}, but there are {}", count, len(classes))
    names = list(classes)
    chosen = [names[int(at)] for at in rng.permutation(len(names))[: count or len(names)]]
    return {name: classes[name] for name in sorted(chosen)}
