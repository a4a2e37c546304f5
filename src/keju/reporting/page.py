"""The report as one HTML file or a directory; both are self-contained and use no server."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from keju.analysis.breakdowns import OWN_KINDS, Json
from keju.analysis.confusions import Misread
from keju.analysis.engine_times import Costs
from keju.analysis.run_set import RunSet, load_runs
from keju.analysis.same_models import SameAs, check_same_as
from keju.datasets.thumbnails import Thumbnails, thumbnails_of
from keju.errors import PrerequisiteError, UsageError, error_text
from keju.files import write_atomic
from keju.formatting import number_range, percent, percent_range
from keju.local_paths import check_local
from keju.reporting.cells import correlation_cell
from keju.reporting.conclusions import Verdict, points_note, verdicts
from keju.reporting.item_browser import Browser
from keju.reporting.item_pages import (
    ITEMS_PER_PAGE,
    PAGE,
    escape,
    inert,
    page_assets,
    page_data,
    page_fields,
    report_templates,
    write_item_pages,
)
from keju.reporting.paper_table_form import PaperTable
from keju.reporting.row_cells import CELLS
from keju.reporting.stages import show_stage
from keju.reporting.view import View, build_view, only_own_pages, papers_tables
from keju.running.prices import Prices
from keju.texts import _, in_english
from keju.words import Words, check_language

if TYPE_CHECKING:
    from keju.figures import ReportFigure

PICTURE_BYTES = 24_000_000
"""The default maximum size of the images of a report."""

NO_COSTS = Costs()
_HTML = frozenset({".html", ".htm"})


class Report(NamedTuple):
    """A report that was written: its data and its content, for further tables."""

    run_set: RunSet
    view: View
    misread: Sequence[Misread]
    page: Path
    size: int

    @property
    def paper_tables(self) -> list[PaperTable]:
        """The paper tables; without the papers' rows unless requested."""
        results = self.run_set.results
        given = self.view.grades.means
        return self.view.paper_tables or papers_tables(
            self.run_set, results, given, published=False
        )


def write_report(
    runs: Sequence[Path],
    out: Path,
    *,
    title: str = "",
    picture_bytes: int = PICTURE_BYTES,
    published: bool = False,
    same_as: Sequence[SameAs] = (),
    language: str = "en",
    costs: Costs = NO_COSTS,
) -> Report:
    """Write the report of one or several scored runs.

    Args:
        runs: the run directories.
        out: the HTML file, or a directory (any name that does not end in .html): there the page
            loads items and images on demand, which keeps it fast for any number of them. Above
            `ITEMS_PER_PAGE` items, further pages of items are in directories of their own.
        title: the page's title; by default the datasets' names.
        picture_bytes: the maximum size of the images; smaller copies are shown, then none.
        published: show the papers' results with the run's, in the papers' tables.
        same_as: which models of the runs are, in the same version, models of a paper: the
            difference is then shown. Used with `published` only.
        language: of the report's own texts: ``en`` or ``zh``.
        costs: prices of tokens, and the collection that times and costs are converted to.

    Returns:
        The report's data and content; `size` is in bytes.

    Raises:
        UsageError: a path is not a run, or it has no scores yet; the directory contains something
            else, or `out` has the name of a file of another kind; there is no such language; a
            model of `same_as` is not in the runs.
        DataError: a file of a run is damaged.
    """
    check_report_place(out)
    check_language(language)
    single = out.suffix.lower() in _HTML
    show_stage(_("Reading responses and scores"))
    run_set = load_runs(runs)
    images = thumbnails_of(run_set.datasets, budget=picture_bytes)
    words = Words(language, own_pages=only_own_pages(run_set))
    check_same_as(same_as, run_set)
    browser = Browser(run_set, words, images, per_part=0 if single else ITEMS_PER_PAGE)
    show_stage(_("Computing tables"))
    view = build_view(
        run_set,
        title=title or " and ".join(dict.fromkeys(run.manifest.dataset for run in run_set.runs)),
        published=published,
        same_as=same_as,
        prices=costs.prices,
        collection=costs.collection,
        images_left_out=sum(each.left_out for each in images.values()),
    )
    page = out if single else out / PAGE
    show_stage(_("Drawing figures"))
    figures, lacking = _figures(
        run_set, view, words, images, published=published, prices=costs.prices
    )
    show_stage(_("Writing the report"))
    misread = browser.mistakes.commonest()
    found = verdicts(view, run_set, misread, browser.patterns)
    pieces = render(
        view, browser, words, single=single, figures=figures, lacking=lacking, concluded=found
    )
    if not single:
        write_item_pages(out, view, browser, words)
    write_atomic(page, pieces)
    written = [page] if single else [path for path in out.rglob("*") if path.is_file()]
    return Report(run_set, view, misread, page, sum(path.stat().st_size for path in written))


def check_report_place(out: Path) -> None:
    """Check that a path is suitable for a report: an HTML file or a directory for it.

    Raises:
        UsageError: the name has the suffix of another kind of file, the path is an address, the
            directory has other content, or a directory has the name of the HTML file.
    """
    check_local(out)
    if out.suffix and out.suffix.lower() not in _HTML and not out.is_dir():
        raise UsageError(
            "{}: a report is an HTML file or a folder. Choose -o {}. To get a PDF, print the "
            "report from a browser; --csv DIR writes tables",
            out,
            out.with_suffix(".html"),
        )
    if out.suffix.lower() not in _HTML:
        _check_folder(out)
    elif out.is_dir():
        raise UsageError("{} is a folder, not an HTML file. Choose another -o", out)


def _figures(
    run_set: RunSet,
    view: View,
    words: Words,
    images: Mapping[Path, Thumbnails],
    *,
    published: bool,
    prices: Prices | None,
) -> tuple[Sequence[ReportFigure], str]:
    """The page's figures; without the packages for drawing, none and what to install."""
    try:
        from keju.figures import OfRun, report_figures  # noqa: PLC0415  altair: 0.3 s
    except (PrerequisiteError, UsageError) as error:
        return [], error_text(error)
    source = OfRun(run_set, view.boards, images, published=published, prices=prices)
    return list(report_figures(source, words)), ""


def render(
    view: View,
    browser: Browser,
    words: Words,
    *,
    single: bool,
    figures: Sequence[ReportFigure] = (),
    lacking: str = "",
    concluded: Sequence[Verdict] = (),
) -> Iterator[bytes]:
    """The page in pieces. Everything from models and datasets is escaped, or data and never markup.

    The content security policy allows this page's own style and script by their hashes, and the
    files of a report in a directory, and nothing else, so that an answer that was inserted as
    markup by mistake could neither run nor load anything.
    """
    paged = len(browser.parts) > 1
    assets = page_assets(paged=paged)
    environment = report_templates()
    environment.filters |= {
        "percent": percent,
        "correlation": correlation_cell,
        "english": in_english,
    }
    stream = environment.get_template("report.html.j2").stream(
        **assets.fields,
        **page_fields(browser, 0),
        report=view,
        figures=figures,
        no_figures=lacking,
        verdicts=concluded,
        points=points_note(),
        _=words,
        n_=words.number,
        p_=words.in_context,
        cells=CELLS,
        number_range=number_range,
        percent_range=percent_range,
        confusions=browser.mistakes.commonest(),
        orders=browser.orders.rows,
        patterns=browser.patterns,
        beside="" if single else " 'self'",
        views=inert(
            {
                "models": view.names,
                "breakdowns": [_translate_breakdown(table, words) for table in view.breakdowns],
                "options": view.options,
                "words": words.in_script(assets.script),
            }
        ),
        data=inert(page_data(browser, 0, single=single)),
        chunks=map(escape, browser.encoded_chunks) if single else (),
        pictures=(base64.b64encode(each).decode() for each in browser.parts[0].pictures)
        if single
        else (),
    )
    stream.enable_buffering(200)
    return (piece.encode() for piece in stream)


def _translate_breakdown(table: Json, words: Words) -> Json:
    """A breakdown with keju's own names of its rows, sizes and lengths, in the page's language."""
    kind = table["kind"]
    if kind not in OWN_KINDS:
        return table | {"kind_label": words(kind)}
    rows = [[words(row[0]), *row[1:]] for row in table["rows"]]
    return table | {"kind_label": words(OWN_KINDS[kind]), "rows": rows}


def _check_folder(out: Path) -> None:
    """Check that a directory is a report's, so that no other files are overwritten."""
    if out.exists() and not out.is_dir():
        raise UsageError(
            "{} is not a folder. The name of a report in one file must end in .html", out
        )
    if out.is_dir() and any(out.iterdir()) and not (out / PAGE).is_file():
        raise UsageError("{} contains files that are not part of a report. Choose another -o", out)
