"""The tables of a release in pandas: read, joined, filtered, and written back."""

from __future__ import annotations

import json
from collections.abc import Iterator

from tests.support.contract_tables import (
    TASK,
    asked,
    facts,
    folders,
    part_again,
    releases,
    same_again,
)
from tests.support.contracting import Contract, Exchanged, compared

SCRIPT = """\
import hashlib, json, sys
from pathlib import Path
import pandas as pd
release, whole, part, task = *map(Path, sys.argv[1:4]), sys.argv[4]

items = pd.read_parquet(release / "items.parquet")
images = pd.concat(map(pd.read_parquet, sorted(release.glob("images-*.parquet"))))
data = {row.path: hashlib.sha256(row.image["bytes"]).hexdigest() for row in images.itertuples()}
facts = {row.id: [row.task, row.answer, list(row.options),
                  [data[ref["path"]] for ref in row.images]] for row in items.itertuples()}
prompts = pd.read_parquet(release / "prompts.parquet")
asked = items.merge(prompts, on="id", validate="one_to_one").groupby("task").size().to_dict()
print(json.dumps([facts, asked]))

for out, kept in ((whole, items), (part, items[items["task"] == task])):
    out.mkdir()
    kept.to_parquet(out / "items.parquet")
    for file in release.glob("images-*.parquet"):
        pd.read_parquet(file).to_parquet(out / file.name)
"""


def exchange(contract: Contract) -> Iterator[Exchanged]:
    """Each release is read and written twice: whole, and filtered to one task."""
    for name, dataset, release in releases(contract):
        whole, part = folders(contract, release)
        said = contract.call(contract.python, "-c", SCRIPT, release, whole, part, TASK)
        read, joined = json.loads(said)
        yield compared(f"{name}: read, items and images", facts(dataset), read)
        yield compared(f"{name}: items joined with prompts, by task", asked(dataset), joined)
        yield same_again(contract, name, dataset, whole)
        yield part_again(contract, name, dataset, part)
