"""`RowMatcher`: find the item of a sheet's row after a spreadsheet has changed the cells.

Spreadsheets read ``001`` as 1, ``1/2`` as a date, ``50%`` as 0.5, ``true`` as TRUE or 1, and a
seal such as ``0e06696004031235`` as 0. A seal is therefore exported with a letter before it, and an
item whose id was altered is found by its seal.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from math import isclose

from keju.building.reviewing.verdicts import compute_seal
from keju.items import Item

LETTER = "k"
"""Prefix of a seal in a sheet. It is not a hexadecimal digit, so that a seal is never a number."""

_NUMERIC = re.compile(r"(?:[0-9.,:/%+\-\s年月日時时分秒eETZ]|[AP]M){1,40}")
_DIGITS = re.compile("[0-9]+")
_LOGICAL = {"true": "1", "false": "0"}
"""Words that spreadsheets read as logical values, and the numbers that LibreOffice saves."""


class RowMatcher:
    """Finds the items of returned rows."""

    def __init__(self, items: Mapping[str, Item]) -> None:
        self._items = items
        seals = {item.id: compute_seal(item) for item in items.values()}
        counts = Counter(seals.values())
        self._by_seal = {seal: name for name, seal in seals.items() if counts[seal] == 1}
        self._seals = seals

    def match(self, item: str, seal: str) -> tuple[str, str]:
        """Find the id and the seal of a row as they were exported.

        If they are unknown, they are returned as given.
        """
        seal = seal.strip().removeprefix(LETTER)
        by_seal = self._by_seal.get(seal)
        if by_seal is not None and by_seal != item:
            known = item in self._items
            if not known or (self._seals[item] != seal and is_converted(item, by_seal)):
                return by_seal, seal
        return item, seal


def format_seal(item: Item) -> str:
    """The seal of an item for a cell: `LETTER` and sixteen hexadecimal digits."""
    return LETTER + compute_seal(item)


def is_converted(cell: str, shown: str) -> bool:
    """Whether a cell is a spreadsheet's conversion of a number, date, time, percentage or TRUE.

    A converted date or time contains all numbers of the exported cell, and may contain others (the
    year).
    """
    cell, shown = cell.strip(), shown.strip()
    if (number := _LOGICAL.get(shown.casefold())) is not None:
        return cell.casefold() in {shown.casefold(), number}
    if not (_NUMERIC.fullmatch(cell) and _NUMERIC.fullmatch(shown)):
        return False
    if _are_equal(cell, shown):
        return True
    if re.fullmatch(r"[0-9.]+", shown):
        return False  # A plain number never becomes a date.
    ours, theirs = (Counter(map(int, _DIGITS.findall(text))) for text in (shown, cell))
    return bool(ours) and ours <= theirs


def _are_equal(cell: str, shown: str) -> bool:
    """Whether two texts are the same number, to the fifteen digits that a spreadsheet stores."""
    numbers = [_parse_number(cell), _parse_number(shown)]
    return None not in numbers and (
        numbers[0] == numbers[1] or isclose(numbers[0] or 0, numbers[1] or 0, rel_tol=1e-14)
    )


def _parse_number(text: str) -> float | None:
    plain = text.strip()
    share = plain.endswith("%")
    with suppress(ValueError):
        return float(plain.removesuffix("%")) / (100 if share else 1)
    return None
