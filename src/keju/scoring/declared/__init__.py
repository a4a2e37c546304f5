"""The declarations of the metrics that belong to no benchmark, by answer form.

Importing this package declares them.
"""

from keju.scoring.declared import (
    choices,
    detection,
    marks_and_names,
    pairs,
    text,
    transcription,
)

__all__ = [
    "choices",
    "detection",
    "marks_and_names",
    "pairs",
    "text",
    "transcription",
]
