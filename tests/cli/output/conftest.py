"""A small scored run."""

from tests.reporting.conftest import scored_run, shared_run

__all__ = ["scored_run", "shared_run"]
