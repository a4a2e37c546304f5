"""Labels of runs: the names of checkpoints or dates."""

from __future__ import annotations

from keju.errors import UsageError, printable, shortened
from keju.messages import message

LONGEST_LABEL = 60
"""The maximum number of characters of a label."""


def checked_label(text: str) -> str:
    """A label as it is stored, without white space at both ends.

    Raises:
        UsageError: it is empty or too long, or contains a control character, a slash or a
            backslash, or is ``.`` or ``..``: a label is never a path.
    """
    label = text.strip()
    if not label or len(label) > LONGEST_LABEL:
        raise UsageError(message("runs.label-length", count=len(label), most=LONGEST_LABEL))
    if printable(label) != label or "/" in label or "\\" in label or label in (".", ".."):
        raise UsageError(message("runs.label-characters", label=shortened(printable(label))))
    return label
