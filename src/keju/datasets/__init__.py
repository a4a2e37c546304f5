"""Datasets: items on disk, with readers, writers, validation and statistics."""

from keju.datasets.store import Dataset

__all__ = ["Dataset"]
