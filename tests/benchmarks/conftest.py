"""Fixtures for small datasets."""

from small_datasets import about_fixture, make, picture_fixture, read

__all__ = ["about_fixture", "make", "picture_fixture", "read"]
