"""Export of an audit: every cell of every finding as a table, with the finding's severity."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import polars as pl

from keju.csv_files import write_frame
from keju.published import Audit, Section, benchmarks_of, sections
from keju.texts import in_english


def write_cells(audit: Audit, path: Path) -> Path:
    """Write one row per cell, the most severe finding of each paper or table first.

    Columns: benchmark, finding, check, severity, certainty, extracted (the text extraction may be
    wrong), ranks (that change), ranked, pairs, points, place, where, printed, recomputed.
    """
    rows = [
        row
        for benchmark in benchmarks_of(audit)
        for section in sections(audit, benchmark)
        for row in _rows(section)
    ]
    return write_frame(pl.DataFrame(rows, schema=_SCHEMA), path)


_SCHEMA = {
    "benchmark": pl.String,
    "finding": pl.String,
    "check": pl.String,
    "severity": pl.String,
    "certainty": pl.String,
    "extracted": pl.Boolean,
    "ranks": pl.Int64,
    "ranked": pl.Int64,
    "pairs": pl.Int64,
    "points": pl.Float64,
    "place": pl.String,
    "where": pl.String,
    "printed": pl.String,
    "recomputed": pl.String,
}


def _rows(section: Section) -> Iterator[dict[str, object]]:
    points = section.size.points
    for finding in section.findings:
        for each in finding.mismatches:
            yield {
                "benchmark": finding.benchmark,
                "finding": finding.topic,
                "check": finding.check,
                "severity": section.severity,
                "certainty": section.certainty,
                "extracted": finding.artefact,
                "ranks": section.size.ranks,
                "ranked": section.size.ranked or None,
                "pairs": section.size.pairs,
                "points": None if points is None else round(points, 4),
                "place": finding.place,
                "where": in_english(each.where),
                "printed": in_english(each.printed),
                "recomputed": in_english(each.recomputed),
            }
