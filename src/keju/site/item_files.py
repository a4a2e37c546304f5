"""The items of a board: an index for lists and searches, and the items themselves in files.

``data/boards/<board>/`` has ``index.js`` with the id and the first words of every item, and
``items/<task>-<n>.js`` with `ITEMS_PER_SHARD` items each. Questions and references are in them only
if a bundle contains them, which its writer allows for open licences alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from keju.bundles import Bundle, BundledItem
from keju.bundles.manifest import RUN_ITEMS
from keju.datasets.table import iter_items
from keju.definitions import options_of
from keju.items import Item, Record
from keju.site.bundle_items import ItemKey
from keju.site.records import FORMAT, ITEMS_PER_SHARD, BoardOfBundle
from keju.site.script_data import script, write_changed

BOARDS = Path("data", "boards")
_SOURCE, _INDEX = "source.json", "index.js"

_WORDS = 120
"""Maximum characters of an item's question and reference that the search reads."""

_LONGEST = 6_000
"""Maximum characters of a question or a reference on a page."""


class _Stored(Record, frozen=True, kw_only=True):
    """The format and the bundle from which a board's items were written."""

    format: str
    sha256: str


def has_item_files(out: Path, board: str, sha256: str) -> bool:
    """Whether an earlier build wrote the items of a board from this bundle."""
    path = out / BOARDS / board / _SOURCE
    return path.is_file() and path.read_bytes() == _encode_source(sha256)


def write_item_files(
    out: Path,
    board: BoardOfBundle,
    bundle: Bundle,
    items: Mapping[ItemKey, BundledItem],
    *,
    shows_texts: bool,
) -> None:
    """Write the items of a board, and the words for its index.

    Raises:
        DataError: the bundle is damaged.
    """
    folder = out / BOARDS / board.id
    whole = _whole_items(bundle) if shows_texts else {}
    words: list[list[str]] = []
    for known in board.tasks:
        rows = [
            _row(items[known.task, known.query, each], whole.get((known.task, known.query, each)))
            for each in known.ids
        ]
        words.append([_words(whole.get((known.task, known.query, each))) for each in known.ids])
        for start in range(0, len(rows), ITEMS_PER_SHARD):
            name = f"{known.address}-{start // ITEMS_PER_SHARD}"
            key = f"{BOARDS.as_posix()}/{board.id}/items/{name}"
            data = msgspec.json.encode(rows[start : start + ITEMS_PER_SHARD])
            write_changed(out / f"{key}.js", script(key, data))
    index = [
        [each.name, each.address, each.metrics, each.ids, its]
        for each, its in zip(board.tasks, words, strict=True)
    ]
    key = f"{BOARDS.as_posix()}/{board.id}/index"
    write_changed(folder / _INDEX, script(key, msgspec.json.encode(index)))
    write_changed(folder / _SOURCE, _encode_source(bundle.sha256))


def _encode_source(sha256: str) -> bytes:
    return msgspec.json.encode(_Stored(format=FORMAT, sha256=sha256))


def _whole_items(bundle: Bundle) -> Mapping[ItemKey, Item]:
    if not bundle.manifest.dataset.included:
        return {}
    items = iter_items(bundle.table(RUN_ITEMS))
    return {(each.task, each.query, each.id): each for each in items}


def _row(listed: BundledItem, item: Item | None) -> list[Any]:
    """An item: hash, group, filters, image hashes, and its texts if the bundle contains them."""
    filters = [listed.dynasty or listed.period, listed.script, listed.category, listed.source]
    row: list[Any] = [listed.hash, listed.group, filters, list(listed.images)]
    if item is not None:
        truth = item.answer or item.answer_simplified or item.transcription or ""
        if item.relevant:
            truth = ", ".join(map(str, item.relevant))
        options = list(options_of(item))
        row.append(
            [item.question[:_LONGEST], options, truth[:_LONGEST], list(item.metadata.items())]
        )
    return row


def _words(item: Item | None) -> str:
    if item is None:
        return ""
    return f"{item.question[:_WORDS]} {item.answer[:_WORDS]}".strip()
