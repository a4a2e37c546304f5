"""Texts for users: the draft of a definition file, sample prompts of a definition, and BibTeX."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path

from keju.definitions.prompts import prompt_of
from keju.definitions.schema import BLANK, NAME, Definition, Query, Task, parse_definition
from keju.errors import UsageError
from keju.files import write_atomic
from keju.items import Item

KEJU_TITLE = "keju: build, run, score and audit multimodal benchmarks of Chinese classical studies"
KEJU_AUTHOR = "The keju maintainers"


def write_draft(name: str, path: Path, metrics: Mapping[str, Sequence[str]]) -> None:
    """Write a commented draft of a definition, whose task ids begin with the benchmark's name.

    A comment lists the names of the metrics for each kind of answer.

    Raises:
        UsageError: the file exists, or the name is not valid.
        DataError: the file cannot be written.
    """
    if path.exists():
        raise UsageError(
            "{}: the file exists already. Choose another -o FILE, or remove the file", path
        )
    text = files("keju.definitions").joinpath("data", "draft.toml").read_text("utf-8")
    if not NAME.fullmatch(name):
        raise UsageError(
            "the name {!r} is not usable. Use letters, digits, spaces, points and hyphens", name
        )
    prefix = re.sub(r"\W+", "_", name.lower())[:40]
    rows = (f"# {kind:<20} {', '.join(names)}" for kind, names in metrics.items())
    text = text.replace("# METRICS", "\n".join(rows))
    text = text.replace("PREFIX", prefix).replace('"NAME"', f'"{name}"').replace("FILE", str(path))
    parse_definition(text, str(path))
    write_atomic(path, text)


def sample_prompt(task: Task, query: Query) -> str:
    """The prompt of a question form of a registered task, filled with sample content."""
    item = Item(
        id="sample",
        benchmark=task.benchmark,
        task=task.id,
        query=query.name,
        question="（问题）",
        fields={blank: f"（{blank}）" for blank in BLANK.findall(query.template)},
        options=("唐代", "宋代", "元代", "明代") if query.form == "letter" else (),
    )
    return prompt_of(item)


def keju_entry(version: str) -> str:
    """The BibTeX entry of keju in a version."""
    version = re.sub(r"[^A-Za-z0-9.+-]", "", version)  # Of a run's file: it may be anything.
    return (
        "@misc{keju,\n"
        f"  author = {{{{{KEJU_AUTHOR}}}}},\n"
        f"  title = {{{{{KEJU_TITLE}}}}},\n"
        f"  version = {{{version}}},\n"
        f"  note = {{Software, version {version}. Licence: Apache-2.0}},\n"
        "}\n"
    )


def benchmark_entry(definition: Definition) -> str:
    """The BibTeX entry in a benchmark's definition; without one, its citation as a comment."""
    if definition.bibtex:
        return f"{definition.bibtex.strip()}\n"
    facts = definition.title, definition.citation, definition.url
    # BibTeX ignores text between entries, in which an @ would begin one.
    return " ".join(" ".join(("%", *facts)).replace("@", "(at)").split()) + "\n"
