"""AncientDoc's strata: category, dynasty and script of a page, spelled as the paper spells them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

from keju.datasets.readers.base import join_names, plain_file
from keju.datasets.readers.metadata import metadata_of, other_metadata
from keju.datasets.readers.records import Field, JsonObject, map_fields, text_of
from keju.datasets.readers.tables import read_table
from keju.datasets.values import canonical
from keju.errors import DataError, number_of
from keju.files import shipped_toml
from keju.items import Item
from keju.text import normalise
from keju.texts import _

_PLURALS = {"category": "categories", "dynasty": "dynasties", "script": "scripts"}

_BOOKS = {
    "book": Field(("book", "title", "书名", "書名", "name")),
    "dynasty": Field(("dynasty", "period", "朝代", "时代", "時代"), required=False),
    "script": Field(("script", "style", "书体", "書體", "字体", "字體"), required=False),
}


class Books:
    """A table of books: what is known of each besides its pages.

    Titles are compared without 《》, spaces, punctuation, case and differences of script.

    Args:
        rows: of each title its dynasty, its script, and whatever else the table has.
    """

    def __init__(self, rows: Mapping[str, Mapping[str, str]]) -> None:
        self._rows = {title_key(title): known for title, known in rows.items()}
        self._titles = {title_key(title): title for title in rows}

    def get(self, title: str) -> Mapping[str, str]:
        """The data of a book; empty if the table does not have it."""
        return self._rows.get(title_key(title), {})

    def notes(self, titles: Iterable[str]) -> Iterator[str]:
        """Books without a row, and rows without a book.

        Args:
            titles: the books of the source.
        """
        if not self._rows:
            return
        here = {title_key(title): title for title in sorted(titles)}
        if untold := [title for key, title in here.items() if key not in self._rows]:
            yield (
                f"the table of books has no row for {number_of(len(untold), 'book')}: "
                f"{join_names(untold)}"
            )
        if unused := [title for key, title in self._titles.items() if key not in here]:
            yield (
                f"{number_of(len(unused), 'row')} of the table of books without a book: "
                f"{join_names(unused)}"
            )


def title_key(title: str) -> str:
    """A title without the characters that do not distinguish books."""
    return "".join(char for char in normalise(title).casefold() if char.isalnum())


@cache
def strata() -> Mapping[str, Mapping[str, float]]:
    """The paper's categories, dynasties and scripts, each with its pages (scripts: shares)."""
    return shipped_toml(
        "keju.benchmarks.ancientdoc.reader", "strata.toml", dict[str, dict[str, float]]
    )


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
            yield f"{plural} that the paper has not: {join_names(strange)}"


def is_book_table(records: Sequence[JsonObject]) -> bool:
    """Whether records have the columns of a table of books: the book, and dynasty or script."""
    try:
        fields = map_fields(Path(), records, _BOOKS)
    except DataError:
        return False
    return "book" in fields and len(fields) > 1


def books_in(table: Path | None) -> Books:
    """The table of books; empty where there is none.

    Columns other than book, dynasty and script become metadata too, where their values are short.

    Raises:
        DataError: it has no column for the book, or none for dynasty or script; a row has no book,
            or two rows have the same one.
    """
    if table is None:
        return Books({})
    file = plain_file(table)
    rows = read_table(file)
    records = [cells for _, cells in rows]
    fields = map_fields(file, records, _BOOKS)
    if len(fields) == 1:
        raise DataError(
            "no column for dynasty or script; found the columns {}",
            join_names(records[0]),
            file=file,
            hint="Add the column dynasty or script",
        )
    columns = dict.fromkeys(key for record in records for key in record)
    others = other_metadata(records, [key for key in columns if key not in fields.values()])
    books: dict[str, Mapping[str, str]] = {}
    seen: set[str] = set()
    for place, cells in rows:
        title = text_of(cells, fields["book"], place).strip()
        if not title_key(title) or title_key(title) in seen:
            problem = _("a line without a book") if not title else _("another line has this book")
            raise DataError(problem, file=file, item=place.item, hint=_("Keep one line per book"))
        seen.add(title_key(title))
        said = {kind: text_of(cells, fields.get(kind), place) for kind in ("dynasty", "script")}
        books[title] = metadata_of(cells, others) | {
            kind: as_printed(kind, value.strip()) for kind, value in said.items() if value.strip()
        }
    return Books(books)


def _plain(name: str) -> str:
    words = "".join(char if char.isalnum() else " " for char in name.casefold()).split()
    return "".join(word for word in words if word not in {"the", "dynasty", "dynasties"})
