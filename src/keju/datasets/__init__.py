"""Datasets: items on disk, with readers, writers, validation and statistics."""

from keju.datasets.store import (
    Dataset,
    DatasetManifest,
    DatasetWriter,
    items_hash,
    read_items,
    write_items,
)

__all__ = [
    "Dataset",
    "DatasetManifest",
    "DatasetWriter",
    "items_hash",
    "read_items",
    "write_items",
]
