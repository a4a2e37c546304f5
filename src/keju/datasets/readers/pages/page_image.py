"""`PageImage`: the image of one page of a file that has several."""

from __future__ import annotations

from typing import NamedTuple

MOST_PAGES = 10_000
"""Maximum number of pages of one file; a longer one must be split."""


class PageImage(NamedTuple):
    """An image of a page: its bytes, and how it was made (``embedded`` or ``300 dpi``)."""

    data: bytes
    made: str
