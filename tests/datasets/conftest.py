"""Fixtures for small datasets."""

from tests.support.small_datasets import about_fixture, make, picture_fixture, read

__all__ = ["about_fixture", "make", "picture_fixture", "read"]
