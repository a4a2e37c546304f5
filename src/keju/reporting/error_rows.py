"""Rows and sentences of the reading errors of a model."""

from __future__ import annotations

from typing import NamedTuple

from keju.analysis.reading_errors import ReadingErrors
from keju.formatting import NOTHING, percent
from keju.text import LAYERS

_BAR = 176
_SAME = 1e-9


class Part(NamedTuple):
    """A segment of the bar of errors, in pixels."""

    kind: str
    x: float
    width: float


class ErrorRow(NamedTuple):
    """The components of a model's reading errors in a task; `cer` is the sum of both errors.

    `wrong_recognition` and `wrong_layout` are the permutation floors: the errors of the same
    responses against other pages' texts. `with_result` are the three errors without failures.
    """

    model: str
    task: str
    cer: str
    recognition: str
    layout: str
    wrong_recognition: str
    wrong_layout: str
    sentence: str
    layers: list[str]
    parts: list[Part]
    words: str
    with_result: tuple[str, str, str]

    @property
    def over_results(self) -> ErrorRow:
        """The row with its errors over the pages that have a result."""
        cer, recognition, layout = self.with_result
        return self._replace(cer=cer, recognition=recognition, layout=layout)


def error_row(found: ReadingErrors) -> ErrorRow:
    """The errors as text, and the segments of their bar."""
    whole, alone = found.with_result
    return ErrorRow(
        model=found.model,
        task=found.task,
        cer=percent(found.cer),
        recognition=percent(found.recognition),
        layout=percent(found.layout),
        wrong_recognition=percent(found.floor.recognition_error) if found.floor else NOTHING,
        wrong_layout=percent(found.floor.layout_error) if found.floor else NOTHING,
        sentence=error_sentence(found),
        layers=[percent(found.layers[layer]) for layer in LAYERS],
        parts=_bar(found),
        words=(
            f"layout {percent(found.layout)}, variants and script "
            f"{percent(found.fold)}, recognition {percent(found.recognition)}"
        ),
        with_result=(percent(whole), percent(alone), percent(whole - alone)),
    )


def error_sentence(found: ReadingErrors) -> str:
    """A sentence on the shares of layout and recognition in the error."""
    whole, alone = found.with_result
    of_results = (
        f". Pages without a result count as wrong; of the pages with one, CER {percent(whole)} %, "
        f"recognition error {percent(alone)} %, layout error {percent(whole - alone)} %"
        if abs(whole - found.script) > _SAME
        else ""
    )
    return (
        f"Of a strict CER of {percent(found.script)} % (pooled over all characters), "
        f"{percent(found.recognition)} points are recognition error and "
        f"{percent(found.layout)} points are layout error{of_results}"
    )


def _bar(found: ReadingErrors) -> list[Part]:
    scale = _BAR / max(1.0, found.layers["exact"])
    shares = {"layout": found.layout, "fold": found.fold, "recognition": found.recognition}
    parts, x = [], 0.0
    for kind, share in shares.items():
        parts.append(Part(kind, round(x, 2), round(share * scale, 2)))
        x += share * scale
    return parts
