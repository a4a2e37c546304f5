"""A release's datasheet: facts from the dataset, counted and never guessed, and answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
from msgspec import Struct

from keju.building.markdown import NOTHING, format_cell, format_table
from keju.building.releasing.summary import ReleaseSummary
from keju.datasets.stats import Stats, distribution_lines
from keju.datasets.store import DatasetManifest
from keju.errors import UsageError, number_of, unknown_name
from keju.files import read_toml, shipped_toml
from keju.texts import in_english, listed, n_

FILE = "DATASHEET.md"

OPEN = "**Open: to be answered by the maker.**"


class _Section(Struct, frozen=True, forbid_unknown_fields=True):
    title: str
    facts: tuple[str, ...]
    ask: dict[str, str]


def read_answers(path: Path) -> dict[str, str]:
    """Read the maker's answers: a TOML file of ``id = "text"``.

    Raises:
        DataError: it cannot be read.
        UsageError: it answers a question that does not exist.
    """
    given = read_toml(path, dict[str, Any])
    asked = {name for part in _load_sections() for name in part.ask}
    for name, value in given.items():
        if name not in asked:
            raise UsageError("{}: {}", path, unknown_name(name, sorted(asked), "question"))
        if not isinstance(value, str) or not value.strip():
            raise UsageError("{}: {}: write the answer as text in quotes", path, name)
    return given


def render_datasheet(known: DatasheetData, answers: Mapping[str, str]) -> str:
    """Render the datasheet as Markdown.

    Questions without an answer are marked as open.
    """
    facts = collect_facts(known)
    lines = [
        f"# Datasheet of {format_cell(known.manifest.name)} {format_cell(known.manifest.version)}",
        "",
    ]
    if left := list_open_questions(answers):
        open_ = n_(
            "{n:,} question is open: {}.", "{n:,} questions are open: {}.", len(left), listed(left)
        )
        lines += [in_english(open_), ""]
    for part in _load_sections():
        lines += [f"## {part.title}", ""]
        for name in part.facts:
            lines += [facts[name], ""] if facts[name] else []
        for name, question in part.ask.items():
            lines += [f"### {question}", "", answers.get(name, OPEN).strip(), ""]
    return "\n".join(lines)


def list_open_questions(answers: Mapping[str, str]) -> list[str]:
    """List the ids of the questions without an answer."""
    return [name for part in _load_sections() for name in part.ask if name not in answers]


@cache
def _load_sections() -> tuple[_Section, ...]:
    return shipped_toml(
        "keju.building.releasing", "datasheet.toml", dict[str, tuple[_Section, ...]]
    )["part"]


_MOST = 30
"""Rows of a table of sources or tools; the rest is counted in one row."""


class Check(NamedTuple):
    """A check of a release, and its result, as messages; the datasheet has them in English."""

    what: str
    found: str
    passed: bool


class DatasheetData(NamedTuple):
    """The data from which facts are made."""

    manifest: DatasetManifest
    items: ReleaseSummary
    stats: Stats
    checks: Sequence[Check]
    files: Mapping[str, int]
    """Name and bytes of each file of the release."""


def collect_facts(known: DatasheetData) -> dict[str, str]:
    """Collect the facts by their names in datasheet.toml."""
    return {
        "about": _render_about(known.manifest),
        "counts": _render_counts(known),
        "domains": _render_measures(known.stats.domains, "domain", "By domain"),
        "tasks": _render_measures(known.stats.tasks, "task", "By task"),
        "strata": _render_strata(known.stats.strata),
        "distributions": format_table(
            ["distribution of", "unit", "counts"], distribution_lines(known.stats.distributions)
        ),
        "sources": format_table(["Source", "items"], _list_largest(known.items.sources)),
        "licences": render_licence_table(known.items.licences.counts),
        "provenance": _render_provenance(known.items),
        "checks": format_table(
            ["check", "found", ""],
            (
                (
                    in_english(each.what),
                    in_english(each.found),
                    "passed" if each.passed else "NOT PASSED",
                )
                for each in known.checks
            ),
        ),
        "use": _render_use(known.manifest),
        "files": format_table(["file", "bytes"], known.files.items()),
    }  # fmt: skip


def _render_about(manifest: DatasetManifest) -> str:
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
    return format_table(["", ""], ((name, value) for name, value in rows.items() if value))


def _render_counts(known: DatasheetData) -> str:
    items = known.items
    splits = items.splits
    return format_table(
        ["", "number"],
        [
            ("items", items.items),
            ("of them questions (test)", splits["test"]),
            ("labelled examples (reference)", splits["reference"]),
            ("images, each once", known.manifest.images),
            ("groups (book, plate, bone …)", items.groups),
            ("items with a transcription", items.transcribed),
            ("items with lines and positions", items.with_lines),
            ("items with boxes", items.with_boxes),
            ("drafts, not accepted by a person", items.drafts),
        ],
    )


def _render_measures(frame: pl.DataFrame, name: str, title: str) -> str:
    heads = [name, "items", "prompt", "answer", "pixels (least to most)", "width/height"]
    rows = (
        (row[name], row["n_q"], _format_mean(row["avg_q"]), _format_mean(row["avg_a"]),
         _format_span(row["avg_pv"], row["min_pv"], row["max_pv"], "{:,.0f}"),
         _format_span(row["avg_ar"], row["min_ar"], row["max_ar"], "{:.2f}"))
        for row in frame.iter_rows(named=True)
    )  # fmt: skip
    return (
        f"{title}. prompt and answer: mean length in characters without white space. pixels and "
        f"width/height: mean over items (minimum to maximum).\n\n{format_table(heads, rows)}"
    )


def _render_strata(frame: pl.DataFrame) -> str:
    if not frame.height:
        return ""
    names = ["stratum", "name", "questions", "images"]
    return format_table(names, (row[:4] for row in frame.select(names).iter_rows()))


def _render_provenance(items: ReleaseSummary) -> str:
    counts, without = items.provenance, items.without_provenance
    if not counts:
        return "No item has a provenance: the dataset was imported without changes."
    rendered = format_table(["step", "tool", "person", "items"], _list_largest(counts))
    silent = number_of(without, "item has", "items have")
    return f"{rendered}\n\n{silent} no provenance." if without else rendered


def _render_use(manifest: DatasetManifest) -> str:
    return (
        "keju runs, scores and reports it without conversion: `keju run THIS-FOLDER --model …`. "
        f"Scores have the dataset's hash; cite version {format_cell(manifest.version)} and hash "
        f"`{manifest.hash[:12]}`."
    )


def _list_largest(counts: Counter[tuple[str, ...]]) -> list[tuple[object, ...]]:
    """List the largest counts after their names, and the rest in one row."""
    rows = sorted(counts.items(), key=lambda each: (-each[1], each[0]))
    shown: list[tuple[object, ...]] = [(*names, count) for names, count in rows[:_MOST]]
    if rest := rows[_MOST:]:
        empty = [""] * (len(rest[0][0]) - 1)
        shown.append((f"{len(rest)} more", *empty, sum(count for _, count in rest)))
    return shown


def _format_mean(value: float | None) -> str:
    return NOTHING if value is None else f"{value:,.1f}"


def _format_span(mean: float | None, least: float | None, most: float | None, form: str) -> str:
    if mean is None or least is None or most is None:
        return NOTHING
    return f"{form.format(mean)} ({form.format(least)} to {form.format(most)})"


def render_licence_table(counts: Mapping[str, int]) -> str:
    """Render a table of licences with their items, the most frequent first."""
    rows = sorted(counts.items(), key=lambda row: (-row[1], row[0]))
    return format_table(["licence", "items"], rows)
