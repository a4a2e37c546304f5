"""Facts about a dataset for its datasheet, as Markdown: counted, never guessed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import polars as pl

from keju.building.markdown import NOTHING, cell, table
from keju.building.releasing.licences import licence_table
from keju.building.releasing.splitting import group_of
from keju.datasets.distributions import distribution_lines
from keju.datasets.stats import Stats
from keju.datasets.store import DatasetManifest
from keju.errors import number_of
from keju.items import Item

_MOST = 30
"""Rows of a table of sources or tools; the rest is counted in one row."""


class Check(NamedTuple):
    """A check of a release, and its result."""

    what: str
    found: str
    passed: bool


class Known(NamedTuple):
    """The data from which facts are made."""

    manifest: DatasetManifest
    items: Sequence[Item]
    stats: Stats
    checks: Sequence[Check]
    files: Mapping[str, int]
    """Name and bytes of each file of the release."""


def facts_of(known: Known) -> dict[str, str]:
    """The facts by the names that datasheet.toml gives them."""
    return {
        "about": _about(known.manifest),
        "counts": _counts(known),
        "domains": _measures(known.stats.domains, "domain", "By domain"),
        "tasks": _measures(known.stats.tasks, "task", "By task"),
        "strata": _strata(known.stats.strata),
        "distributions": table(
            ["distribution of", "unit", "counts"], distribution_lines(known.stats.distributions)
        ),
        "sources": _sources(known.items),
        "licences": licence_table(known.items, known.manifest.licence),
        "provenance": _provenance(known.items),
        "checks": table(
            ["check", "found", ""],
            ((each.what, each.found, "passed" if each.passed else "NOT PASSED")
             for each in known.checks),
        ),
        "use": _use(known.manifest),
        "files": table(["file", "bytes"], known.files.items()),
    }  # fmt: skip


def _about(manifest: DatasetManifest) -> str:
    rows = {
        "name": manifest.name,
        "version": manifest.version,
        "licence": manifest.licence,
        "source": manifest.source,
        "language": manifest.language,
        "script": manifest.script,
        "material": "made by a program" if manifest.synthetic else "",
        "hash": manifest.hash,
        **{f"made: {name}": value for name, value in sorted(manifest.made.items())},
    }
    return table(["", ""], ((name, value) for name, value in rows.items() if value))


def _counts(known: Known) -> str:
    items = known.items
    splits = Counter(item.split for item in items)
    return table(
        ["", "number"],
        [
            ("items", len(items)),
            ("of them asked (test)", splits["test"]),
            ("labelled examples (reference)", splits["reference"]),
            ("images, each once", known.manifest.images),
            ("groups (book, plate, bone …)", len({group_of(item) for item in items})),
            ("items with a transcription", sum(item.transcription is not None for item in items)),
            ("items with lines and places", sum(bool(item.lines) for item in items)),
            ("items with boxes", sum(bool(item.boxes) for item in items)),
            ("drafts, not accepted by a person", sum(item.draft for item in items)),
        ],
    )


def _measures(frame: pl.DataFrame, name: str, title: str) -> str:
    heads = [name, "items", "prompt", "answer", "pixels (least to most)", "width/height"]
    rows = (
        (row[name], row["n_q"], _mean(row["avg_q"]), _mean(row["avg_a"]),
         _span(row["avg_pv"], row["min_pv"], row["max_pv"], "{:,.0f}"),
         _span(row["avg_ar"], row["min_ar"], row["max_ar"], "{:.2f}"))
        for row in frame.iter_rows(named=True)
    )  # fmt: skip
    return (
        f"{title}; prompt and answer are mean lengths in characters without white space, pixels "
        f"and width/height means over items with least and most.\n\n{table(heads, rows)}"
    )


def _strata(frame: pl.DataFrame) -> str:
    if not frame.height:
        return ""
    names = ["stratum", "name", "questions", "images"]
    return table(names, (row[:4] for row in frame.select(names).iter_rows()))


def _sources(items: Sequence[Item]) -> str:
    """The number of items with each source in their provenance."""
    counts: Counter[str] = Counter()
    for item in items:
        counts.update({step.source for step in item.provenance} - {""} or {"that of the whole set"})
    return table(["Source", "items"], _largest(counts))


def _provenance(items: Sequence[Item]) -> str:
    counts: Counter[tuple[str, str, str]] = Counter()
    for item in items:
        counts.update({(each.step, each.tool, each.person) for each in item.provenance})
    without = sum(not item.provenance for item in items)
    if not counts:
        return "No item says what was done to it: the set was imported as it is."
    rows = sorted(counts.items(), key=lambda each: (-each[1], each[0]))
    shown = [(*key, count) for key, count in rows[:_MOST]]
    if len(rows) > _MOST:
        shown.append((f"{len(rows) - _MOST} more", "", "", sum(n for _, n in rows[_MOST:])))
    said = table(["step", "tool", "person", "items"], shown)
    silent = number_of(without, "item says", "items say")
    return f"{said}\n\n{silent} nothing of it." if without else said


def _use(manifest: DatasetManifest) -> str:
    return (
        "keju asks, scores and reports it as it stands: `keju run THIS-FOLDER --model …`. Scores "
        f"bear the dataset's hash; cite version {cell(manifest.version)} and hash "
        f"`{manifest.hash[:12]}`."
    )


def _largest(counts: Counter[str]) -> list[tuple[str, int]]:
    rows = sorted(counts.items(), key=lambda each: (-each[1], each[0]))
    if len(rows) <= _MOST:
        return rows
    return [*rows[:_MOST], (f"{len(rows) - _MOST} more", sum(count for _, count in rows[_MOST:]))]


def _mean(value: float | None) -> str:
    return NOTHING if value is None else f"{value:,.1f}"


def _span(mean: float | None, least: float | None, most: float | None, form: str) -> str:
    if mean is None or least is None or most is None:
        return NOTHING
    return f"{form.format(mean)} ({form.format(least)} to {form.format(most)})"
