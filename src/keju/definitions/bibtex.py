"""BibTeX entries of benchmarks and of keju."""

from __future__ import annotations

import re

from keju.definitions.schema import Definition

KEJU_TITLE = "keju: build, run, score and audit multimodal benchmarks of Chinese classical studies"
KEJU_AUTHOR = "The keju maintainers"


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
    facts = definition.title or definition.name, definition.citation, definition.url
    # BibTeX ignores text between entries, in which an @ would begin one.
    return " ".join(" ".join(("%", *facts)).replace("@", "(at)").split()) + "\n"
