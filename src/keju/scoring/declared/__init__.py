"""The declarations of keju's own metrics, by benchmark for `official`, by answer form for `strict`.

Importing this package declares them.
"""

from keju.scoring.declared import (
    ancientdoc,
    choices,
    marks_and_names,
    mcs_bench,
    obi_bench,
    pairs,
    recognition,
    text,
    transcription,
)

__all__ = [
    "ancientdoc",
    "choices",
    "marks_and_names",
    "mcs_bench",
    "obi_bench",
    "pairs",
    "recognition",
    "text",
    "transcription",
]
