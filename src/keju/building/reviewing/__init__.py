"""Review of drafts: export them in the formats of annotation tools, and read decisions back."""

from keju.building.reviewing.one_text import mended_item, on_one_text
from keju.building.reviewing.verdicts import (
    Decision,
    Mended,
    Verdict,
    add_verdict,
    last_words,
    read_verdicts,
    seal_of,
    write_verdicts,
)

__all__ = [
    "Decision",
    "Mended",
    "Verdict",
    "add_verdict",
    "last_words",
    "mended_item",
    "on_one_text",
    "read_verdicts",
    "seal_of",
    "write_verdicts",
]
