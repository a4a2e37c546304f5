"""Run directories: manifest, items, responses and scores on disk."""

from keju.runs.folder import RunFolder, file_name, path_of_name
from keju.runs.manifest import FORMAT, HUMAN, RunManifest
from keju.runs.record_list import RecordList, StoredItems
from keju.runs.responses import ResponsePlace, current_responses, superseded

__all__ = [
    "FORMAT",
    "HUMAN",
    "RecordList",
    "ResponsePlace",
    "RunFolder",
    "RunManifest",
    "StoredItems",
    "current_responses",
    "file_name",
    "path_of_name",
    "superseded",
]
