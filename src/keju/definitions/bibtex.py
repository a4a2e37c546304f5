"""BibTeX entries of benchmarks and of keju."""

from __future__ import annotations

import re

from keju.definitions.schema import Definition
from keju.files import sha256_bytes

KEJU_TITLE = "keju: build, run, score and audit multimodal benchmarks of Chinese classical studies"
KEJU_AUTHOR = "The keju maintainers"

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    # BibTeX counts escaped braces too, so that an unbalanced one would end the file.
    "{": r"\textbraceleft{}",
    "}": r"\textbraceright{}",
    **{char: f"\\{char}" for char in "&%$#_"},
}


def keju_entry(version: str) -> str:
    """The BibTeX entry of keju in a version."""
    fields = {
        "author": f"{{{KEJU_AUTHOR}}}",
        "title": f"{{{KEJU_TITLE}}}",
        "version": escape(version),
        "note": escape(f"Software, version {version}. Licence: Apache-2.0"),
    }
    return _entry("keju", fields)


def benchmark_entry(definition: Definition) -> str:
    """The BibTeX entry of a benchmark: as its definition has it, or made of title and citation."""
    if definition.bibtex:
        return f"{definition.bibtex.strip()}\n"
    facts = [f"Benchmark, version {definition.version}", definition.citation.rstrip(".")]
    if definition.data:
        facts.append(f"Data: {definition.data}")
    if definition.licence:
        facts.append(f"Data licence: {definition.licence}")
    fields = {
        "title": f"{{{escape(definition.title or definition.name)}}}",
        "url": escape(definition.url),
        "note": escape(". ".join(filter(None, facts))),
    }
    return _entry(bibtex_key(definition.name), fields)


def bibtex_key(name: str) -> str:
    """A citation key from a benchmark's name: ASCII letters, digits and hyphens."""
    plain = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    if not plain or not name.isascii():
        return "-".join(filter(None, (plain, "benchmark", sha256_bytes(name.encode())[:8])))
    return f"{plain}-benchmark" if plain == "keju" else plain


def escape(text: str) -> str:
    """A text in one line, with the characters escaped that BibTeX and LaTeX interpret."""
    return "".join(_SPECIAL.get(char, char) for char in re.sub(r"\s+", " ", text.strip()))


def _entry(key: str, fields: dict[str, str]) -> str:
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items() if value]
    return "\n".join([f"@misc{{{key},", *lines, "}", ""])
