"""A small scored run."""

from tests.support.scored_runs import scored_run

__all__ = ["scored_run"]
