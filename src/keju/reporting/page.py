"""The report: one HTML file that holds all it shows and asks no server for anything."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

import jinja2
import msgspec
from markupsafe import Markup

from keju.files import write_atomic
from keju.reporting.beside import BesideTable, beside_tables
from keju.reporting.browser import browser_data
from keju.reporting.gather import Gathered, gather
from keju.reporting.view import View, build_view

PICTURE_BYTES = 24_000_000
"""The most that the pictures of a report weigh, unless asked otherwise."""

_SCRIPTS = ("views.js", "report.js")


class Report(NamedTuple):
    """A report that was written: what it was made of and what it shows, for tables beside it."""

    gathered: Gathered
    view: View

    @property
    def beside(self) -> list[BesideTable]:
        """The tables in the papers' forms; without the papers' rows unless they were asked for."""
        results = self.gathered.results
        return self.view.beside or list(beside_tables(self.gathered, results, published=False))


def write_report(
    runs: Sequence[Path],
    out: Path,
    *,
    title: str = "",
    picture_bytes: int = PICTURE_BYTES,
    published: bool = False,
) -> Report:
    """Write the report of one or several scored runs.

    Args:
        runs: the run folders.
        out: the HTML file.
        title: the page's title; by default the datasets' names.
        picture_bytes: the most that the pictures may weigh; smaller copies are shown, then none.
        published: lay the papers' printed results beside the run's, in the papers' tables.

    Returns:
        What the report was made of and what it shows.

    Raises:
        UsageError: a path is not a run, or it has no scores yet.
        DataError: a file of a run is damaged.
    """
    gathered = gather(runs, picture_bytes=picture_bytes)
    data = browser_data(gathered)
    view = build_view(gathered, title=title or _title(gathered), published=published)
    write_atomic(out, render(gathered, view, data))
    return Report(gathered, view)


def render(gathered: Gathered, view: View, data: object) -> str:
    """The page as text. Everything from models and datasets is escaped, or data and never markup.

    The content security policy allows this page's own style and script by their hashes and nothing
    else, so that an answer that slipped through as markup could neither run nor load anything.
    """
    style = _asset("report.css")
    script = "".join(map(_asset, _SCRIPTS))
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined)
    template = environment.from_string(_asset("report.html.j2"))
    return template.render(
        report=view,
        style=Markup(style),  # noqa: S704 - our own file
        script=Markup(script),  # noqa: S704 - our own file
        style_hash=_hash(style),
        script_hash=_hash(script),
        views=_inert({"models": gathered.models, "strata": view.strata, "options": view.options}),
        data=_inert(data),
    )


def _asset(name: str) -> str:
    return files("keju.reporting").joinpath("assets", name).read_text("utf-8")


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


def _inert(data: object) -> Markup:
    """JSON that no text in it can break out of a script element with."""
    text = msgspec.json.encode(data).decode()
    for char in "<>&\u2028\u2029":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return Markup(text)  # noqa: S704 - escaped just above


def _title(gathered: Gathered) -> str:
    return " and ".join(dict.fromkeys(run.manifest.dataset for run in gathered.runs))
