"""The available figures of runs, datasets and papers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from typing import TypeVar

from keju.errors import UsageError, did_you_mean, nearest_names
from keju.figures import (
    bars,
    boxes,
    costs,
    datasets,
    heatmap,
    judges,
    settings,
    specimens,
    standings,
)
from keju.figures.datasets import OfDataset
from keju.figures.figure import Drawn
from keju.figures.parts import OfRun
from keju.texts import Text, _, listed

Source = TypeVar("Source")

OF_RUN: Mapping[str, Callable[[OfRun], Iterator[Drawn]]] = {
    "standings": standings.standings,
    "ranks": standings.ranks,
    "differences": standings.differences,
    "heatmap": heatmap.heatmap,
    "boxes": boxes.boxes,
    "settings": settings.settings,
    "options": bars.options,
    "classes": bars.classes,
    "costs": costs.costs,
    "risks": costs.risks,
    "specimens": specimens.specimens,
}

OF_DATASET: Mapping[str, Callable[[OfDataset], Iterator[Drawn]]] = {
    "questions": datasets.questions,
    "strata": datasets.strata,
    "distributions": datasets.distributions,
    "pictures": datasets.pictures,
}

OF_PAPERS: Mapping[str, Callable[[], Iterator[Drawn]]] = {
    "standings": standings.published_standings,
    "heatmap": heatmap.published_heatmaps,
    "boxes": boxes.published_boxes,
    "settings": settings.published_settings,
    "classes": bars.published_classes,
    "judges": judges.published_judges,
    "questions": datasets.published_questions,
    "strata": datasets.published_strata,
    "pictures": datasets.published_pictures,
}


def of_run(source: OfRun, which: Sequence[str] = ()) -> Iterator[Drawn]:
    """The figures of a run, all or those of some kinds.

    Raises:
        UsageError: a run has no such figure.
    """
    return chain.from_iterable(make(source) for make in _chosen(OF_RUN, which, _("a run")))


def of_dataset(source: OfDataset, which: Sequence[str] = ()) -> Iterator[Drawn]:
    """The figures of a dataset, all or those of some kinds.

    Raises:
        UsageError: a dataset has no such figure.
    """
    chosen = _chosen(OF_DATASET, which, _("a dataset"))
    return chain.from_iterable(make(source) for make in chosen)


def of_papers(which: Sequence[str] = ()) -> Iterator[Drawn]:
    """The figures that the papers' printed tables permit, all or those of some kinds.

    Raises:
        UsageError: the printed tables permit no such figure.
    """
    chosen = _chosen(OF_PAPERS, which, _("the printed tables"))
    return chain.from_iterable(make() for make in chosen)


def _chosen(made: Mapping[str, Source], which: Sequence[str], of: Text) -> list[Source]:
    for name in which:
        if name not in made:
            hint, known = did_you_mean(nearest_names(name, made)), listed(made)
            raise UsageError("no figure {!r} of {}.{} Choose from: {}", name, of, hint, known)
    return [make for name, make in made.items() if not which or name in which]
