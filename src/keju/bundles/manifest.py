"""`BundleManifest`: the content of bundle.json, which lists all other members of a bundle."""

from __future__ import annotations

from msgspec import field

from keju.definitions import has_task, task
from keju.files import slug
from keju.items import Item, Record
from keju.runs import file_name

FORMAT = "keju-bundle-1"

BUNDLE_MANIFEST = "bundle.json"
CRATE = "ro-crate-metadata.json"
ENVIRONMENT = "environment.json"
INDEX = "items.parquet"
GRADES = "grades.jsonl"
DEFINITIONS = "definitions"
RUN = "run"
RUN_MANIFEST = f"{RUN}/run.json"
RUN_ITEMS = f"{RUN}/items.parquet"
RESPONSES = f"{RUN}/responses"
READINGS = f"{RUN}/readings"
SCORES = f"{RUN}/scores"
DECISIONS = f"{SCORES}/decisions.json"
IMAGES = "images"

FILTERS = ("dynasty", "period", "script", "category", "source")
"""The metadata by which reports filter; other metadata of items may contain references."""


class Member(Record, frozen=True, kw_only=True, omit_defaults=False):
    """A file in a bundle: its uncompressed size in bytes, and its SHA-256."""

    size: int
    sha256: str


class BundledBenchmark(Record, frozen=True, kw_only=True, omit_defaults=False):
    """A benchmark of the items; `definition` is the member with its definition."""

    name: str
    version: str
    definition: str


class BundledDataset(Record, frozen=True, kw_only=True, omit_defaults=False):
    """The dataset of the run; `included` if the bundle contains the items and images.

    `licence` is empty if the dataset was missing when the bundle was made.
    """

    name: str
    version: str
    hash: str
    licence: str = ""
    synthetic: bool = False
    included: bool = False


class BundledModel(Record, frozen=True, kw_only=True, omit_defaults=False):
    """A model: its identity without secrets and local paths, and its counts in the bundle.

    `cleaned` if a secret or path was removed from the identity; the keys of the responses cannot be
    computed from it then. `responses` does not count responses that a later one replaces.
    `scored_by` is the version of keju that computed the scores.
    """

    identity: dict[str, str]
    cleaned: bool = False
    role: str = ""
    responses: int = 0
    scores: int = 0
    scored_by: str = ""


class BundleManifest(Record, frozen=True, kw_only=True, omit_defaults=False):
    """The content of bundle.json.

    `keju` is the version that made the bundle, `run_keju` that of the run, `created` the time at
    which the run was started, and `label` that of the run, or empty. `members` lists every other
    file of the archive by its name.
    """

    format: str = FORMAT
    keju: str
    run_keju: str
    created: str = ""
    label: str = ""
    dataset: BundledDataset
    benchmarks: tuple[BundledBenchmark, ...] = ()
    models: dict[str, BundledModel] = field(default_factory=dict)
    settings: dict[str, str] = field(default_factory=dict)
    items: int = 0
    members: dict[str, Member] = field(default_factory=dict)


class BundledItem(Record, frozen=True, kw_only=True, omit_defaults=False):
    """An item without question, reference and transcription.

    `hash` is the SHA-256 of the item as canonical JSON, which covers its reference; `images` are
    the SHA-256 of its images. `group` is the number of its unit (`number_groups`), because names of
    groups can be answers. `dynasty` and the other filters are empty if the item has no value, or if
    a task asks for the value on the same image.
    """

    id: str
    benchmark: str
    task: str
    query: str = ""
    domain: str = ""
    group: str = ""
    dynasty: str = ""
    period: str = ""
    script: str = ""
    category: str = ""
    source: str = ""
    hash: str
    images: tuple[str, ...] = ()


def domain_of(item: Item) -> str:
    """The domain of an item's task; empty where the task is not registered."""
    return task(item.task).domain if has_task(item.task) else ""


def definition_member(name: str) -> str:
    """The member with a benchmark's definition."""
    return f"{DEFINITIONS}/{file_name(slug(name) or name)}.toml"


def responses_folder(model: str) -> str:
    """The folder of the members with a model's responses."""
    return f"{RESPONSES}/{file_name(model)}"


def scores_member(model: str) -> str:
    """The member with a model's scores."""
    return f"{SCORES}/{file_name(model)}.parquet"


def unknown_members(manifest: BundleManifest) -> list[str]:
    """The listed members that keju does not write and a verification does not read."""
    known = {CRATE, DECISIONS, ENVIRONMENT, INDEX, GRADES, RUN_MANIFEST}
    known.update(each.definition for each in manifest.benchmarks)
    folders = [f"{READINGS}/"]
    if manifest.dataset.included:
        known.add(RUN_ITEMS)
        folders.append(f"{IMAGES}/")
    for model in manifest.models:
        known.add(scores_member(model))
        folders.append(f"{responses_folder(model)}/")
    return [
        name
        for name in manifest.members
        if name not in known and not name.startswith(tuple(folders))
    ]
