"""`read_responses`: a file of responses in the form of a benchmark's authors, ready for scoring."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from keju.errors import DataError
from keju.registry import Registry, provided
from keju.scoring.scoring_sample import ScoringSample

GROUP = "keju.responses"

ReadResponses = Callable[[Path], list[ScoringSample]]
"""Reads a file, or raises `DataError` with the reason where it is not in the form."""


def _form(_name: str, found: object) -> ReadResponses:
    if not callable(found):
        raise TypeError("expected a function that reads a file of responses")
    return found


FORMS: Registry[ReadResponses] = Registry(
    "form of response files", GROUP, lambda: provided(GROUP), _form
)


def read_responses(path: Path) -> list[ScoringSample]:
    """Read a file of responses in the first of the forms that fits.

    Raises:
        DataError: none does; the reason is that of the first form.
    """
    failed: list[DataError] = []
    for read in FORMS.usable():
        try:
            return read(path)
        except DataError as error:
            failed.append(error)
    raise failed[0]
