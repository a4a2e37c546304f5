"""A release in Hugging Face datasets: loaded by its README's configurations, and written back."""

from __future__ import annotations

import json
from collections.abc import Iterator

from tests.support.contract_tables import (
    TASK,
    asked,
    facts,
    folders,
    part_again,
    pixels,
    releases,
    same_again,
)
from tests.support.contracting import Contract, Exchanged, compared

SCRIPT = """\
import hashlib, json, sys
from collections import Counter
from pathlib import Path
from datasets import Image, load_dataset
release, whole, part, task = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), sys.argv[4]

def loaded(*configuration, **options):
    (split,) = load_dataset(release, *configuration, **options).values()
    return split

def hashed(data):
    return hashlib.sha256(data).hexdigest()

def pixels(rows):
    plain = ((row["path"], row["image"].convert("RGB")) for row in rows)
    return {path: [*image.size, hashed(image.tobytes())] for path, image in plain}

items, images, prompts = loaded(), loaded("images"), set(loaded("prompts")["id"])
stored = images.cast_column("image", Image(decode=False))
data = {row["path"]: hashed(row["image"]["bytes"]) for row in stored}
facts = {row["id"]: [row["task"], row["answer"], row["options"],
                     [data[ref["path"]] for ref in row["images"]]] for row in items}
asked = items.filter(lambda row: row["id"] in prompts).map(lambda row: {"of": row["task"]})["of"]
print(json.dumps([facts, pixels(images), pixels(loaded("images", streaming=True)), Counter(asked)]))

for out, kept in ((whole, items), (part, items.filter(lambda row: row["task"] == task))):
    out.mkdir()
    kept.to_parquet(out / "items.parquet")
    images.to_parquet(out / "images-00000.parquet")
"""


def exchange(contract: Contract) -> Iterator[Exchanged]:
    """Each release is loaded, its images are decoded, and it is written whole and filtered."""
    for name, dataset, release in releases(contract):
        whole, part = folders(contract, release)
        said = contract.call(contract.python, "-c", SCRIPT, release, whole, part, TASK)
        read, loaded, streamed, counted = json.loads(said)
        yield compared(f"{name}: items and images", facts(dataset), read)
        shown = pixels(dataset)
        yield compared(f"{name}: pixels of the images, loaded", shown, loaded)
        yield compared(f"{name}: pixels of the images, streamed", shown, streamed)
        yield compared(f"{name}: items with prompts, filtered and mapped", asked(dataset), counted)
        yield same_again(contract, name, dataset, whole)
        yield part_again(contract, name, dataset, part)
