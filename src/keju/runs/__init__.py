"""Run directories: manifest, items, responses and scores on disk."""

from keju.runs.folder import RunFolder, file_name, read_responses
from keju.runs.manifest import FORMAT, HUMAN, RunManifest
from keju.runs.record_list import RecordList, StoredItems

__all__ = [
    "FORMAT",
    "HUMAN",
    "RecordList",
    "RunFolder",
    "RunManifest",
    "StoredItems",
    "file_name",
    "read_responses",
]
