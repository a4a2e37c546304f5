"""Run directories: manifest, items, responses and scores on disk."""

from keju.runs.folder import RunFolder, file_name, path_of_name
from keju.runs.format_1 import setting_in_format_1, setting_of_format_1
from keju.runs.manifest import FORMAT, FORMAT_1, HUMAN, RunManifest
from keju.runs.record_list import RecordList, StoredItems
from keju.runs.responses import ResponsePlace, current_responses, superseded

__all__ = [
    "FORMAT",
    "FORMAT_1",
    "HUMAN",
    "RecordList",
    "ResponsePlace",
    "RunFolder",
    "RunManifest",
    "StoredItems",
    "current_responses",
    "file_name",
    "path_of_name",
    "setting_in_format_1",
    "setting_of_format_1",
    "superseded",
]
