"""`read_responses`: a file of responses in the form of a benchmark's authors, ready for scoring."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from keju.errors import DataError
from keju.registry import Plugin, Registry, guarded, provided
from keju.scoring.scoring_sample import ScoringSample

GROUP = "keju.responses"

ReadResponses = Callable[[Path], list[ScoringSample]]
"""Reads a file, or raises `DataError` with the reason where it is not in the form."""


def _form(_name: str, found: object) -> ReadResponses:
    if not callable(found):
        raise TypeError("expected a function that reads a file of responses")
    return found


def _samples(found: Iterable[object]) -> list[ScoringSample]:
    samples = []
    for each in found:
        if not isinstance(each, ScoringSample):
            raise TypeError(f"it returned {type(each).__name__}, not ScoringSample")
        samples.append(each)
    return samples


def _guarded(found: ReadResponses, plugin: Plugin) -> ReadResponses:
    return guarded(found, plugin, GROUP, then=_samples)


FORMS: Registry[ReadResponses] = Registry(
    "form of response files", GROUP, lambda: provided(GROUP), _form, guard=_guarded
)


def read_responses(path: Path) -> list[ScoringSample]:
    """Read a file of responses in the first of the forms that fits.

    Raises:
        DataError: none does; the reason is that of the first form.
        PluginError: a plug-in fails.
    """
    failed: list[DataError] = []
    for read in FORMS.usable():
        try:
            return read(path)
        except DataError as error:
            failed.append(error)
    raise failed[0]
