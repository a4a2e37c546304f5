"""Dataset card (README) of a release: metadata for hubs and the `datasets` library, and its use.

Format: the dataset cards of the Hugging Face hub. The header is YAML, of which JSON is a subset, so
every text in it is written as JSON.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from keju.building.markdown import format_cell, format_table
from keju.building.releasing.datasheet import render_licence_table
from keju.building.releasing.summary import ReleaseSummary
from keju.datasets.store import ITEMS, DatasetManifest
from keju.definitions import task, tasks
from keju.errors import number_of

FILE = "README.md"

_LICENCES = frozenset(
    {
        "apache-2.0", "cc", "cc-by-2.0", "cc-by-3.0", "cc-by-4.0", "cc-by-nc-2.0", "cc-by-nc-3.0",
        "cc-by-nc-4.0", "cc-by-nc-nd-3.0", "cc-by-nc-nd-4.0", "cc-by-nc-sa-2.0", "cc-by-nc-sa-3.0",
        "cc-by-nc-sa-4.0", "cc-by-nd-4.0", "cc-by-sa-3.0", "cc-by-sa-4.0", "cc0-1.0",
        "gfdl", "mit", "odbl", "odc-by", "pddl", "unlicense",
    }
)  # fmt: skip
"""Licences that the hub has names for; any other is written as ``other`` with its own name."""

_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))

_KINDS = {"letter": "multiple-choice", "transcription": "image-to-text"}


def render_card(
    manifest: DatasetManifest,
    items: ReleaseSummary,
    *,
    notes: Sequence[str] = (),
    tables: str = ITEMS,
) -> str:
    """Render the README of a release."""
    split = "_and_".join(name for name in ("test", "reference") if name in items.splits)
    head = [
        "---",
        *_render_licence(manifest.licence),
        *([f"language: {json.dumps([manifest.language])}"] if manifest.language else []),
        f"pretty_name: {json.dumps(manifest.name, ensure_ascii=False)}",
        f"size_categories: {json.dumps([_get_size_class(items.items)])}",
        f"task_categories: {json.dumps(_list_categories(items.tasks))}",
        'tags: ["keju", "classical-chinese"]',
        "configs:",
        *_render_config("items", split, tables, default=True),
        *_render_config("prompts", split, "prompts.parquet"),
        *(_render_config("images", split, "images-*.parquet") if manifest.images else []),
        "---",
    ]
    licences = render_licence_table(items.licences.counts)
    return "\n".join([*head, "", *_render_text(manifest, split, notes, licences), ""])


def _render_config(name: str, split: str, path: str, *, default: bool = False) -> list[str]:
    return [
        f"- config_name: {name}",
        *(["  default: true"] if default else []),
        "  data_files:",
        f"  - split: {split}",
        f"    path: {json.dumps(path)}",
    ]


def _render_licence(licence: str) -> list[str]:
    known = licence.strip().lower().replace(" ", "-")
    if known in _LICENCES:
        return [f"license: {known}"]
    return ["license: other", f"license_name: {json.dumps(licence, ensure_ascii=False)}"]


def _get_size_class(count: int) -> str:
    return next((name for most, name in _SIZES if count < most), "n>1M")


def _list_categories(names: Iterable[str]) -> list[str]:
    forms = {query.form for name in names for query in task(name).queries}
    return sorted({_KINDS.get(form, "visual-question-answering") for form in forms})


def _render_text(
    manifest: DatasetManifest, split: str, notes: Sequence[str], licences: str
) -> list[str]:
    counts = (
        (each.id, each.name_zh, manifest.tasks[each.id])
        for each in tasks()
        if each.id in manifest.tasks
    )
    made = " It was made by a program." if manifest.synthetic else ""
    lines = [
        f"# {format_cell(manifest.name)} {format_cell(manifest.version)}",
        "",
        *(f"> {note}\n" for note in notes),
        f"{number_of(manifest.items, 'item')} over {number_of(manifest.images, 'image')}. Source: "
        f"{format_cell(manifest.source)}. Licence: {format_cell(manifest.licence)}.{made} "
        "For contents, origin and processing see [DATASHEET.md](DATASHEET.md).",
        "",
        format_table(["task", "", "items"], counts),
        "",
        licences,
        "",
        "## Using it",
        "",
        "With keju, without conversion:",
        "",
        "    keju data validate THIS-FOLDER",
        "    keju run THIS-FOLDER --model openai:MODEL --out RUN",
        "",
        "With the `datasets` library:",
        "",
        "    from datasets import load_dataset",
        f'    items = load_dataset("THIS-FOLDER", "items", split="{split}")',
        f'    prompts = load_dataset("THIS-FOLDER", "prompts", split="{split}")  # by id',
    ]
    if manifest.images:
        lines += [
            f'    images = load_dataset("THIS-FOLDER", "images", split="{split}")',
            '    place = {path: number for number, path in enumerate(images["path"])}',
            '    picture = images[place[items[0]["images"][0]["path"]]]["image"]',
        ]
    return [
        *lines,
        "",
        "`croissant.json` describes the tables for `mlcroissant`; `sha256sum -c SHA256SUMS` checks "
        f"every file; the dataset's hash is `{manifest.hash}`.",
    ]
