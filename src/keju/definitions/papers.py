"""`Paper`: the publication of a benchmark, as the table `[paper]` of its definition states it."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from keju.texts import _

_FORMS = {
    "arxiv": re.compile(r"[0-9]{4}\.[0-9]{4,5}(?:v[0-9]+)?|[a-z-]+(?:\.[A-Z]{2})?/[0-9]{7}"),
    "doi": re.compile(r"10\.[0-9]{4,9}/\S+"),
    "url": re.compile(r"https?://\S+"),
}
_EXAMPLES = {
    "arxiv": "2412.01175",
    "doi": "10.5281/zenodo.1234",
    "url": "https://example.org/paper",
}
FIRST_YEAR, LAST_YEAR = 1450, 2999


class Paper(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The publication of a benchmark; fields that it does not state are empty.

    `authors` are names as printed, the family name last (or first, followed by a comma). `year` is
    the year of publication, 0 where it is not known. `journal` and `booktitle` are as in BibTeX; at
    most one of them is given. `arxiv` is the identifier without a prefix. `url` is the address of
    the publication, where it is neither that of arXiv nor of the DOI.
    """

    title: str
    authors: tuple[str, ...] = ()
    year: int = 0
    journal: str = ""
    booktitle: str = ""
    pages: str = ""
    arxiv: str = ""
    doi: str = ""
    url: str = ""

    @property
    def link(self) -> str:
        """The address of the publication; empty where none is stated."""
        if self.url or not (self.arxiv or self.doi):
            return self.url
        return f"https://doi.org/{self.doi}" if self.doi else f"https://arxiv.org/abs/{self.arxiv}"

    @property
    def line(self) -> str:
        """The publication in one line, as reports and `keju benchmark show` print it."""
        venue = ", ".join(filter(None, (self.journal or self.booktitle, self.pages)))
        parts = [
            ", ".join(self.authors),
            self.title,
            venue,
            str(self.year or ""),
            f"arXiv:{self.arxiv}" if self.arxiv else "",
            f"doi:{self.doi}" if self.doi else "",
            self.url,
        ]
        ended = [each if each.endswith(("?", "!", ".")) else f"{each}." for each in parts if each]
        return " ".join(ended)


def paper_problem(paper: Paper) -> str:
    """The first mistake in a table `[paper]`, or an empty string."""
    if not paper.title.strip():
        return _("{} is empty", "title", hint="Fill it in")
    if any(not each.strip() for each in paper.authors):
        return _("{} is empty", "authors", hint="Fill it in")
    if paper.journal and paper.booktitle:
        return _("the paper has both a journal and a booktitle", hint="Give only one of them")
    if paper.year and not FIRST_YEAR <= paper.year <= LAST_YEAR:
        return _("{} is not a year of publication", paper.year)
    for name, form in _FORMS.items():
        given: Any = getattr(paper, name)
        if given and not form.fullmatch(given):
            return _(
                "the field {} of the paper does not have the form of one",
                name,
                hint=_("Write it like {}, or leave it out", _EXAMPLES[name]),
            )
    return ""
