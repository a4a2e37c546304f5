"""AncientDoc's strata: category, dynasty and script of a page, spelled as the paper spells them."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path

from keju.datasets.readers.base import Options, listed
from keju.datasets.readers.records import Field, map_fields, text_of
from keju.datasets.readers.tables import read_table
from keju.datasets.values import canonical
from keju.errors import DataError
from keju.items import Item

_PLURALS = {"category": "categories", "dynasty": "dynasties", "script": "scripts"}

_BOOKS = {
    "book": Field(("book", "title")),
    "dynasty": Field(("dynasty",)),
    "script": Field(("script",)),
}

Books = Mapping[str, Mapping[str, str]]
"""Of each book what is known of it: its dynasty, its script."""


@cache
def strata() -> Mapping[str, Mapping[str, float]]:
    """The paper's categories, dynasties and scripts, each with its pages (scripts: shares)."""
    text = files("keju.datasets.readers").joinpath("ancientdoc_strata.toml").read_text("utf-8")
    return tomllib.loads(text)


def as_printed(kind: str, name: str) -> str:
    """A category, dynasty or script as the paper spells it, or as it is where it has none such."""
    found = canonical(kind, name)
    plain = _plain(found.english if found else name)
    return next((one for one in strata()[_PLURALS[kind]] if _plain(one) == plain), name)


def unprinted(items: Sequence[Item]) -> Iterator[str]:
    """Notes on categories, dynasties and scripts that the paper does not know."""
    for kind, plural in _PLURALS.items():
        found = {item.metadata[kind] for item in items if kind in item.metadata}
        if strange := sorted(found - set(strata()[plural])):
            yield f"{plural} that the paper has not: {listed(strange)}"


def books_in(options: Options) -> Books:
    """The table of books that an option names; empty where none does.

    Raises:
        DataError: it is no table with the columns book, dynasty, script.
    """
    if "books" not in options:
        return {}
    file = Path(options["books"])
    rows = read_table(file)
    fields = map_fields(file, [cells for _, cells in rows], _BOOKS)
    books: dict[str, Mapping[str, str]] = {}
    for place, cells in rows:
        said = {role: text_of(cells, fields[role], place).strip() for role in _BOOKS}
        if not said["book"] or said["book"] in books:
            problem = "a line without a book" if not said["book"] else "another line has this book"
            raise DataError(problem, file=file, item=place.item, mend="Keep one line a book")
        books[said["book"]] = {
            kind: as_printed(kind, said[kind]) for kind in ("dynasty", "script") if said[kind]
        }
    return books


def _plain(name: str) -> str:
    words = "".join(char if char.isalnum() else " " for char in name.casefold()).split()
    return "".join(word for word in words if word not in {"the", "dynasty", "dynasties"})
