"""Writers of single pages: PAGE-XML, ALTO, hOCR and plain text."""

from collections.abc import Mapping

from keju.datasets.writers.pages import alto, hocr, page_xml, plain_text
from keju.datasets.writers.pages.page import PageForm

__all__ = ["PAGE_FORMS", "PageForm"]

PAGE_FORMS: Mapping[str, PageForm] = {
    form.name: form for form in (page_xml.FORM, alto.FORM, hocr.FORM, plain_text.FORM)
}
"""The formats of one page, by name."""
