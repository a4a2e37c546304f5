"""How sure a number is: intervals by resampling groups."""

from keju.statistics.bootstrap import Interval, group_bootstrap

__all__ = ["Interval", "group_bootstrap"]
