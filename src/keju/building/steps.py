"""The steps that a recipe can name, one line each; a step's module is imported when it is used."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

from keju.building.settings import unlike
from keju.building.step import Step
from keju.errors import UsageError


class _Steps(Mapping[str, Step[Any]]):
    """Steps by name, each imported from its ``module:ATTRIBUTE`` when it is first asked for."""

    def __init__(self, places: Mapping[str, str]) -> None:
        self._places = places

    def __getitem__(self, name: str) -> Step[Any]:
        module, _, attribute = self._places[name].partition(":")
        found = getattr(import_module(f"keju.building.{module}"), attribute)
        if not isinstance(found, Step) or found.name != name:
            raise TypeError(f"{self._places[name]} is not the step {name!r}")
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


STEPS: Mapping[str, Step[Any]] = _Steps(
    {
        "select": "selecting:STEP",
        "draft": "drafting.step:STEP",
        "measure": "filtering.step:MEASURE",
        "filter": "filtering.step:FILTER",
        "balance": "filtering.balancing:STEP",
        "split": "releasing.splitting:STEP",
        "release": "releasing.release:STEP",
        "standardise": "standardising.step:STEP",
        "standardise-texts": "standardising.texts:STEP",
        "set-type": "typesetting:STEP",
        "controls": "controls:STEP",
        "tear": "bones.tear:STEP",
        "composites": "bones.composites:STEP",
        "galleries": "galleries:STEP",
        "review": "reviewing.step:STEP",
        "make-choices": "choices.step:STEP",
        "dedup-images": "dedup.pictures:STEP",
        "dedup-texts": "dedup.texts:STEP",
    }
)
"""Every kind of step by the name that recipes and commands use: ``module:ATTRIBUTE`` in here."""


def step_named(name: str, *, place: str) -> Step[Any]:
    """The step of that name.

    Raises:
        UsageError: there is none; it says which may be meant.
    """
    if name not in STEPS:
        raise UsageError(f"{place}: {unlike(name, STEPS, 'step')}")
    return STEPS[name]
