"""`render_licence_table`: the licences of a release and their conditions, as Markdown."""

from __future__ import annotations

from collections.abc import Mapping

from keju.building.markdown import format_table
from keju.datasets.licences import format_demands


def render_licence_table(counts: Mapping[str, int]) -> str:
    """Render a table of licences with their items and conditions, the most frequent first."""
    return format_table(
        ["licence", "items", "demands"],
        (
            (licence, count, format_demands(licence))
            for licence, count in sorted(counts.items(), key=lambda each: (-each[1], each[0]))
        ),
    )
