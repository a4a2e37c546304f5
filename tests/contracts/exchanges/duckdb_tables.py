"""The tables of a release in DuckDB: queried, joined, and written back by SQL alone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from tests.support.contract_tables import (
    ODD,
    TASK,
    asked,
    facts,
    folders,
    part_again,
    releases,
    same_again,
)
from tests.support.contracting import Contract, Exchanged, compared

RUN = "import duckdb, json, sys; print(json.dumps(duckdb.sql(sys.argv[1]).fetchall()))"
READ = """\
WITH hashes AS (SELECT path, sha256(image.bytes) AS hash FROM '{release}/images-*.parquet'),
items AS (FROM '{release}/items.parquet'),
shown AS (SELECT id, unnest(images).path AS path, unnest(range(len(images))) AS place FROM items),
pictures AS (SELECT id, list(hash ORDER BY place) AS found FROM shown JOIN hashes USING (path)
             GROUP BY id)
SELECT id, task, answer, options, coalesce(found, []) FROM items LEFT JOIN pictures USING (id)
"""
JOIN = """\
SELECT task, count(*) FROM '{release}/items.parquet' JOIN '{release}/prompts.parquet' USING (id)
GROUP BY task
"""
WRITE = "COPY (FROM '{src}'{where}) TO '{out}' (FORMAT parquet, COMPRESSION zstd)"


def exchange(contract: Contract) -> Iterator[Exchanged]:
    """Each release is read and written twice: whole, and filtered to one task."""
    for name, dataset, release in releases(contract):
        rows = {row[0]: row[1:] for row in _rows(contract, READ.format(release=release))}
        yield compared(f"{name}: read, items and images", facts(dataset), rows)
        joined = {row[0]: row[1] for row in _rows(contract, JOIN.format(release=release))}
        yield compared(f"{name}: items joined with prompts, by task", asked(dataset), joined)
        whole, part = folders(contract, release)
        _write(contract, release, whole)
        _write(contract, release, part, f" WHERE task = '{TASK}'")
        yield same_again(contract, name, dataset, whole)
        yield part_again(contract, name, dataset, part)
        if name == ODD:
            for file in whole.iterdir():
                contract.keep(f"written/{file.name}", file.read_bytes())


def _write(contract: Contract, release: Path, out: Path, where: str = "") -> None:
    out.mkdir()
    for file in [release / "items.parquet", *release.glob("images-*.parquet")]:
        chosen = where if file.name == "items.parquet" else ""
        query = WRITE.format(src=file, where=chosen, out=out / file.name)
        contract.call(contract.python, "-c", RUN, query)


def _rows(contract: Contract, query: str) -> list[list[str]]:
    return json.loads(contract.call(contract.python, "-c", RUN, query))
