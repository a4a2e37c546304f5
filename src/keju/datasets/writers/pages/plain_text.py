"""Plain text: the running text of a page in reading order, UTF-8, one row per column."""

from __future__ import annotations

from keju.datasets.writers.pages.page import PageContent, PageForm


def write_text(page: PageContent) -> bytes:
    """One page as text, each row ended by a newline; a page without text is an empty file."""
    return (page.text + "\n" if page.text else "").encode()


FORM = PageForm("txt", "plain text", ".txt", write_text, of_text=True)
"""The format of ``keju export txt``."""
