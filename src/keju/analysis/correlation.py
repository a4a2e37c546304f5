"""`Correlation`: a coefficient with its interval."""

from __future__ import annotations

from typing import NamedTuple

from keju.statistics import Interval


class Correlation(NamedTuple):
    """A coefficient from -1 to 1; None where one side does not vary."""

    value: float | None
    interval: Interval | None
