"""Rows and sentences of the reading errors of a model."""

from __future__ import annotations

from typing import NamedTuple

from keju.analysis.reading_errors import ReadingErrors
from keju.formatting import NOTHING, percent
from keju.text import LAYERS
from keju.texts import Text, _

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
    sentence: Text
    layers: list[str]
    parts: list[Part]
    words: Text
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
        words=_(
            "layout {}, variants and script {}, recognition {}",
            percent(found.layout),
            percent(found.fold),
            percent(found.recognition),
        ),
        with_result=(percent(whole), percent(alone), percent(whole - alone)),
    )


def error_sentence(found: ReadingErrors) -> Text:
    """A sentence on the shares of layout and recognition in the error."""
    whole, alone = found.with_result
    cer, recognition, layout = map(percent, (found.script, found.recognition, found.layout))
    if abs(whole - found.script) <= _SAME:
        return _(
            "Of a strict CER of {} % (pooled over all characters), {} points are recognition "
            "error and {} points are layout error",
            cer,
            recognition,
            layout,
        )
    return _(
        "Of a strict CER of {} % (pooled over all characters), {} points are recognition error "
        "and {} points are layout error. Pages without a result count as wrong; of the pages "
        "with one, CER {} %, recognition error {} %, layout error {} %",
        cer,
        recognition,
        layout,
        percent(whole),
        percent(alone),
        percent(whole - alone)
    )  # fmt: skip


def _bar(found: ReadingErrors) -> list[Part]:
    scale = _BAR / max(1.0, found.layers["exact"])
    shares = {"layout": found.layout, "fold": found.fold, "recognition": found.recognition}
    parts, x = [], 0.0
    for kind, share in shares.items():
        parts.append(Part(kind, round(x, 2), round(share * scale, 2)))
        x += share * scale
    return parts
