"""What the reading errors of a model are made of: layout, variants and script, recognition."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from keju.reporting.labels import percent
from keju.reporting.leaderboard import Results
from keju.scoring import MetricResult
from keju.text import LAYERS

_BAR = 176


class Part(NamedTuple):
    """A stretch of the bar of errors, in pixels."""

    kind: str
    x: float
    width: float


class ErrorRow(NamedTuple):
    """What the reading errors of a model in a task are made of; `cer` is the sum of both errors."""

    model: str
    task: str
    cer: str
    recognition: str
    layout: str
    layers: list[str]
    parts: list[Part]
    words: str


def error_rows(results: Results) -> Iterator[ErrorRow]:
    """One row for each model and task of transcription that had a whole answer."""
    for (model, protocol), result in results.items():
        for each in result.tasks:
            found = {metric.metric: metric for metric in each.metrics}
            cer, recognition = found.get("CER"), found.get("CER_recognition")
            if protocol != "strict" or cer is None or recognition is None:
                continue
            if cer.layers and cer.without_failures is not None and recognition.value is not None:
                yield _error_row(model, each.name, cer, recognition.value)


def _error_row(model: str, name: str, cer: MetricResult, recognition: float) -> ErrorRow:
    exact, script = cer.layers["exact"], cer.layers["script"]
    shares = {
        "layout": script - recognition,
        "fold": max(0.0, exact - script),
        "recognition": recognition,
    }
    scale = _BAR / max(1.0, exact)
    parts, x = [], 0.0
    for kind, share in shares.items():
        parts.append(Part(kind, round(x, 2), round(share * scale, 2)))
        x += share * scale
    return ErrorRow(
        model=model,
        task=name,
        cer=percent(cer.value),
        recognition=percent(recognition),
        layout=percent(shares["layout"]),
        layers=[percent(cer.layers[layer]) for layer in LAYERS],
        parts=parts,
        words=(
            f"layout {percent(shares['layout'])}, variants and script "
            f"{percent(shares['fold'])}, recognition {percent(shares['recognition'])}"
        ),
    )
