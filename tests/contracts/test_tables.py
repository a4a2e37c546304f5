"""Tables of a release as DuckDB wrote them, imported again."""

from __future__ import annotations

from pathlib import Path

from keju.datasets.readers import import_dataset
from keju.datasets.store import Dataset
from tests.support.contract_tables import odd
from tests.support.contracting import RECORDED


def test_a_release_written_by_duckdb_is_the_same_dataset(tmp_path: Path):
    ours = Dataset.open(odd(tmp_path / "odd"))
    done = import_dataset(
        "parquet", RECORDED / "duckdb" / "written", tmp_path / "back",
        name="n", version="1", licence="CC0-1.0", source="s",
    )  # fmt: skip
    assert done.notes == ()
    assert done.manifest.hash == ours.manifest.hash
    assert Dataset.open(tmp_path / "back").items() == ours.items()
