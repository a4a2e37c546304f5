"""Review of drafts: export them in the formats of annotation tools, and read decisions back."""

from keju.building.reviewing.corrections import apply_corrections, unify_texts
from keju.building.reviewing.verdicts import (
    Corrections,
    Decision,
    Verdict,
    compute_seal,
    select_latest,
    write_verdicts,
)

__all__ = [
    "Corrections",
    "Decision",
    "Verdict",
    "apply_corrections",
    "compute_seal",
    "select_latest",
    "unify_texts",
    "write_verdicts",
]
