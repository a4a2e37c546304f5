"""The bundled definitions as TOML tables, read without keju, for tests that name all of them."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).parents[2] / "src" / "keju"
PAPERS = ("MCS-Bench", "AncientDoc", "OBI-Bench")
"""Those that papers define, in the order of lists; others may follow."""

_FILES = sorted((SOURCE / "benchmarks").glob("*/benchmark.toml"))
FOLDERS = {tomllib.loads(file.read_text("utf-8"))["name"]: file.parent.name for file in _FILES}
"""The folders of `keju.benchmarks` by benchmark."""

DEFINITIONS: dict[str, dict[str, Any]] = {
    table["name"]: table
    for file in (*_FILES, SOURCE / "definitions" / "data" / "pages.toml")
    for table in (tomllib.loads(file.read_text("utf-8")),)
}
"""The tables of all bundled definitions by benchmark, own pages (``pages``) among them."""

TASKS = {name: list(table["tasks"]) for name, table in DEFINITIONS.items()}
"""The ids of the tasks by benchmark, in the order of the file."""

QUERIES = [
    (task, query)
    for table in DEFINITIONS.values()
    for task, row in table["tasks"].items()
    for query in row.get("queries", [""])
]
"""Task and query of every question; an empty query where a task has one question."""
