"""`Check`: the base class of all checks of printed numbers."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from keju.published.checks.outcome import (
    Certainty,
    Mismatch,
    Outcome,
    Severity,
    compare_column,
    differs,
    format_value,
)
from keju.published.checks.sizes import AnyWeighing
from keju.published.printed_tables import PrintedTables

__all__ = [
    "Certainty",
    "Check",
    "Mismatch",
    "Outcome",
    "Severity",
    "compare_column",
    "differs",
    "format_value",
]


class Check(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="kind"
):
    """A declared check.

    `holds` is the expected statement, in a few words. Where it is false, `title` names the finding,
    `says` describes it and `consequence` is the consequence for a reader; each has a Chinese
    version. `artefacts` are patterns of places where the text extraction may be wrong, not the
    print. `topic` is the id of another check whose section shows this one's findings; `topics` does
    so for single places. `weigh` is how the finding's size is computed.
    """

    id: str
    holds: str
    says: str
    consequence: str
    severity: Severity
    title: str = ""
    certainty: Certainty = "proved"
    holds_zh: str = ""
    title_zh: str = ""
    says_zh: str = ""
    consequence_zh: str = ""
    artefacts: tuple[str, ...] = ()
    topic: str = ""
    topics: dict[str, str] = msgspec.field(default_factory=dict)
    weigh: AnyWeighing | None = None

    def examine(self, paper: PrintedTables) -> Iterator[Outcome]:
        """Compare, place by place.

        Raises:
            DataError: the declaration names a column that does not exist.
        """
        raise NotImplementedError
