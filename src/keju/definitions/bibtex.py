"""BibTeX entries of benchmarks and of keju."""

from __future__ import annotations

import re

from keju.definitions.definition import Definition
from keju.files import sha256_bytes

KEJU_TITLE = "keju: build, run, score and audit multimodal benchmarks of Chinese classical studies"
KEJU_AUTHOR = "The keju maintainers"
KEJU_LICENCE = "Apache-2.0"

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    # BibTeX counts escaped braces too, so that an unbalanced one would end the file.
    "{": r"\textbraceleft{}",
    "}": r"\textbraceright{}",
    **{char: f"\\{char}" for char in "&%$#_"},
}
_ADDRESS = re.compile(r"https?://[^\s<>，。；）]*[^\s<>，。；）.,;)]")
_IN_ADDRESS = {"\\": "%5C", "{": "%7B", "}": "%7D", '"': "%22"}


def keju_entry(version: str) -> str:
    """The BibTeX entry of keju in a version."""
    return _entry(
        "misc",
        "keju",
        {
            "author": f"{{{escape(KEJU_AUTHOR)}}}",
            "title": f"{{{escape(KEJU_TITLE)}}}",
            "version": escape(version),
            "note": escape(f"Software, version {version}. Licence: {KEJU_LICENCE}"),
        },
    )


def benchmark_entry(definition: Definition) -> str:
    """The BibTeX entry of a benchmark, with the fields that its definition states.

    The note has the licence of the data and the place to get them. Without a table `[paper]` the
    entry has the benchmark's title, and its `citation` in the note.
    """
    paper, name = definition.paper, definition.name
    facts = [f"Benchmark {name}"]
    if paper is None:
        facts = [f"Benchmark, version {definition.version}", definition.citation.rstrip(".")]
    if definition.data:
        facts.append(f"Data: {definition.data}")
    if definition.licence:
        facts.append(f"Data licence: {definition.licence}")
    note = _in_note(". ".join(filter(None, facts)))
    if paper is None:
        title = definition.title or name
        fields = {"title": f"{{{escape(title)}}}", "url": _address(definition.url), "note": note}
        return _entry("misc", bibtex_key(name), fields)
    kind = "article" if paper.journal else "inproceedings" if paper.booktitle else "misc"
    return _entry(
        kind,
        bibtex_key(name),
        {
            "author": " and ".join(map(_author, paper.authors)),
            "title": f"{{{escape(paper.title)}}}",
            "journal": escape(paper.journal),
            "booktitle": escape(paper.booktitle),
            "pages": escape(paper.pages),
            "year": str(paper.year or ""),
            "eprint": paper.arxiv,
            "archiveprefix": "arXiv" if paper.arxiv else "",
            "doi": escape(paper.doi),
            "url": _address(paper.link or definition.url),
            "note": note,
        },
    )


def bibtex_key(name: str) -> str:
    """A citation key from a benchmark's name: ASCII letters, digits and hyphens."""
    plain = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    if not plain or not name.isascii():
        return "-".join(filter(None, (plain, "benchmark", sha256_bytes(name.encode())[:8])))
    return f"{plain}-benchmark" if plain == "keju" else plain


def unstated_fields(definition: Definition) -> list[str]:
    """The fields that the entry of a benchmark lacks because no source states them."""
    paper = definition.paper
    stated = {
        "author": paper and paper.authors,
        "venue": paper and (paper.journal or paper.booktitle or paper.arxiv),
        "year": paper and paper.year,
        "url": (paper and paper.link) or definition.url,
        "licence": definition.licence,
        "data": definition.data,
    }
    return [name for name, value in stated.items() if not value]


def escape(text: str) -> str:
    """A text in one line, with the characters escaped that BibTeX and LaTeX interpret."""
    return _escape_part(text.strip())


def _author(name: str) -> str:
    """A name; one that contains the separator ``and`` is protected by braces."""
    said = escape(name)
    return f"{{{said}}}" if re.search(r"\sand\s", said) else said


def _in_note(text: str) -> str:
    r"""A note, whose addresses are in ``\url``."""
    parts, end = [], 0
    for found in _ADDRESS.finditer(text):
        parts += [_escape_part(text[end : found.start()]), f"\\url{{{_address(found[0])}}}"]
        end = found.end()
    return "".join([*parts, _escape_part(text[end:])])


def _escape_part(text: str) -> str:
    return "".join(_SPECIAL.get(char, char) for char in re.sub(r"\s+", " ", text))


def _address(url: str) -> str:
    """An address in which no character ends a BibTeX field."""
    return "".join(_IN_ADDRESS.get(char, char) for char in url.strip())


def _entry(kind: str, key: str, fields: dict[str, str]) -> str:
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items() if value]
    return "\n".join([f"@{kind}{{{key},", *lines, "}", ""])
