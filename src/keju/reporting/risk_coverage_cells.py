"""Cells and curves of post-editing cost and of error by coverage."""

from __future__ import annotations

from keju.analysis.risk_coverage import COVERAGES, PostEditCost, RiskCoverageRow
from keju.formatting import percent
from keju.reporting.cells import Cell, bounds_text, interval_text
from keju.statistics import Interval, Spread

_WIDTH, _HEIGHT = 120, 36


def post_edit_cells(row: PostEditCost) -> list[Cell]:
    """Mean, median and 90 % quantile with their intervals."""
    return [_spread_cell(each) for each in (row.mean, row.median, row.most)]


def risk_cells(row: RiskCoverageRow) -> list[Cell]:
    """The error at each coverage, of everything, and the share of the possible gain."""
    kept = [_percent_cell(row.curve.at(share), row.at[share]) for share in COVERAGES]
    return [
        *kept,
        Cell(percent(row.curve.whole)),
        _percent_cell(row.curve.area, row.area),
        Cell() if row.curve.gain is None else _percent_cell(row.curve.gain, row.gain),
    ]


def risk_line(row: RiskCoverageRow) -> str:
    """The curve as points of a polyline, coverage to the right and risk upwards."""
    top = max(float(row.curve.risk.max()), 1e-9)
    step = max(1, len(row.curve.risk) // _WIDTH)
    points = [*zip(row.curve.coverage, row.curve.risk, strict=True)]
    shown = [*points[::step], points[-1]]
    return " ".join(
        f"{share * _WIDTH:.1f},{_HEIGHT - 2 - (_HEIGHT - 4) * risk / top:.1f}"
        for share, risk in shown
    )


def _spread_cell(found: Spread) -> Cell:
    bounds = found.interval
    note = bounds_text(f"{bounds.low:.1f}", f"{bounds.high:.1f}") if bounds else ""
    return Cell(f"{found.value:.1f}", note=note)


def _percent_cell(value: float, bounds: Interval | None) -> Cell:
    return Cell(percent(value), note=interval_text(bounds))
