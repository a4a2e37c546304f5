"""Writers of single pages: PAGE-XML, ALTO, hOCR and plain text."""

from __future__ import annotations

from collections.abc import Mapping

from keju.datasets.writers.pages.alto import write_alto
from keju.datasets.writers.pages.hocr import write_hocr
from keju.datasets.writers.pages.page import PageContent, PageForm
from keju.datasets.writers.pages.page_xml import write_page_xml

__all__ = ["PAGE_FORMS", "PageForm"]


def write_text(page: PageContent) -> bytes:
    """The running text of a page in UTF-8, one row per column; without text an empty file."""
    return (page.text + "\n" if page.text else "").encode()


PAGE_FORMS: Mapping[str, PageForm] = {
    "page-xml": PageForm("PAGE-XML (2019-07-15)", ".xml", write_page_xml),
    "alto": PageForm("ALTO 4.4", ".xml", write_alto),
    "hocr": PageForm("hOCR 1.2", ".hocr", write_hocr),
    "txt": PageForm("plain text", ".txt", write_text, of_text=True),
}
"""The formats of one page, by name."""
