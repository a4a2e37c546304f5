"""The Croissant metadata of a release in mlcroissant: validated, and its records read."""

from __future__ import annotations

import json
from collections.abc import Iterator

from keju.datasets.store import Dataset
from keju.definitions import prompt_of
from tests.support.contract_tables import has_prompt, pixels, releases
from tests.support.contracting import Contract, Exchanged, compared

SCRIPT = """\
import hashlib, json, sys
import mlcroissant
croissant = mlcroissant.Dataset(jsonld=f"{sys.argv[1]}/croissant.json")
metadata, issues = croissant.metadata, croissant.metadata.issues
about = {"errors": list(issues.errors), "warnings": list(issues.warnings),
         "name": metadata.name, "version": str(metadata.version)}

def plain(value):
    if isinstance(value, list):
        return [plain(each) for each in value]
    return value.decode() if isinstance(value, bytes) else value

def records(name):
    for row in croissant.records(name):
        yield {key.partition("/")[2]: plain(value) for key, value in row.items()}

items = {row["id"]: [row[name] for name in sys.argv[2:]] for row in records("items")}
prompts = {row["id"]: row["prompt"] for row in records("prompts")}
images = ((row["path"], row["image"].convert("RGB")) for row in records("images"))
pixels = {path: [*image.size, hashlib.sha256(image.tobytes()).hexdigest()]
          for path, image in images}
print(json.dumps([about, items, prompts, pixels]))
"""
FIELDS = ("benchmark", "task", "query", "question", "answer", "answer_simplified", "transcription",
          "group", "split", "verbatim", "options")  # fmt: skip


def exchange(contract: Contract) -> Iterator[Exchanged]:
    """Each release's metadata, then the records of its three record sets."""
    for name, dataset, release in releases(contract):
        said = contract.call(contract.python, "-c", SCRIPT, release, *FIELDS, "images")
        about, items, prompts, images = json.loads(said)
        ours = {"name": dataset.manifest.name, "version": dataset.manifest.version}
        yield compared(
            f"{name}: metadata, no errors or warnings", {"errors": [], "warnings": []} | ours, about
        )
        yield compared(f"{name}: records of items", _items(dataset), items)
        asked = {item.id: prompt_of(item) for item in dataset.items() if has_prompt(item)}
        yield compared(f"{name}: records of prompts", asked, prompts)
        yield compared(f"{name}: records of images, pixels", pixels(dataset), images)


def _items(dataset: Dataset) -> dict[str, object]:
    """The fields of each item that the metadata describes; a tuple is a list there."""
    return {
        item.id: [
            *(list(value) if isinstance(value, tuple) else value
              for value in (getattr(item, name) for name in FIELDS)),
            [ref.path for ref in item.images],
        ]
        for item in dataset.items()
    }  # fmt: skip
