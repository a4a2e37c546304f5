"""The command that makes a report on OCR engines from a directory of scans."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from keju.cli.app import WITH_FAILURES, WRONG_USE, app, err, note, say
from keju.cli.asking_output import show_failures, show_run
from keju.cli.grouped_options import with_groups
from keju.cli.making import option_pair
from keju.cli.options import LICENSE_TOO, dataset_path, out_option
from keju.cli.permission import permission
from keju.cli.report_options import CollectionOptions, LanguageOptions, ScanOptions
from keju.errors import PrerequisiteError, UsageError
from keju.local_paths import check_local
from keju.texts import _
from keju.texts import language as terminal_language

if TYPE_CHECKING:
    from keju.datasets.scan_import import TakenScans

_ENGINES = ("ppocr", "tesseract")
"""The default engines: the first always, others where installed."""
_MOST_FINDINGS = 20
_OPTIONS = {
    " with --retry-failed added, to ask the failed ones again too": "",
    " with --retry-failed": "",
    "another --out": "another --work",
}
"""Replacements for options of `keju run` in hints: failed pages are always read again."""


@app.command("ocr-report", context_settings=LICENSE_TOO)
@with_groups
def ocr_report(
    scans: Annotated[
        Path,
        typer.Argument(
            metavar="SCANS",
            help="Folder of page images with their texts (page1.jpg, page1.txt), one "
            "folder per book; or PAGE-XML, ALTO, a PDF, or a dataset.",
            callback=dataset_path,
        ),
    ],
    engines: ScanOptions,
    content: LanguageOptions,
    of_collection: CollectionOptions,
    page: Annotated[
        Path,
        out_option(metavar="FILE.html|DIR", help="Report: an HTML file, or a folder."),
    ] = (Path("report.html")),
    work: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Work folder. Default: next to the report (report-work)."),
    ] = None,
) -> None:
    """Compare OCR engines on your own scans: import, check, run, score and report in one command.

    You can interrupt it at any time: the same command resumes. Scans and texts that changed are
    imported again, and only what is new or has another image is read again.

    Example: keju ocr-report my-scans -o report.html --pages 1000000 --machine-price 0.20/h

    with my-scans/book1/page1.jpg and my-scans/book1/page1.txt, one line a column. At least 6 books
    are needed for a reliable difference between two engines.
    """
    from keju.analysis.blank_pages import invented_lines
    from keju.analysis.engine_times import Costs
    from keju.analysis.swapped import swap_lines, swapped_in
    from keju.datasets.scan_import import Origin, run_folder, take_scans
    from keju.models import check_models
    from keju.reporting.conclusions import conclusion_lines
    from keju.reporting.page import check_report_place, write_report
    from keju.running import Policy, Selection, run
    from keju.running.restricted_data import permitting
    from keju.runs import RunFolder
    from keju.scoring import score_run

    check_local(page)
    check_report_place(page)
    costs = Costs(collection=of_collection.collection())
    models = engines.model or list(_installed())
    check_models(models)
    work = work or _work_beside(page)
    origin = Origin(
        licence=engines.licence,
        source=engines.source,
        options=dict(option_pair(each) for each in engines.option or ()),
    )
    from keju.cli.import_progress import import_display
    from keju.cli.page_progress import stage_bar

    with import_display(scans, err):
        taken = take_scans(scans, work, origin)
    _show_import(taken, work)
    _validate(taken.dataset)
    folder = run_folder(work, engines.limit)
    with permitting(permission(engines.send_restricted_data)):
        summary = run(
            taken.dataset, models, folder, selection=Selection(limit=engines.limit),
            policy=Policy(replace=True, retry_failed=True), console=err,
        )  # fmt: skip
    show_run(summary, folder, "")
    if not summary.complete:
        show_failures(summary, folder, _OPTIONS)
    if not any(each.planned for each in summary.models):
        say(_("No request was sent: the column 'not asked' gives the reasons"))
        raise typer.Exit(WITH_FAILURES)
    if summary.left:
        raise typer.Exit(WITH_FAILURES)
    note(_("scoring, then writing the report"))
    scored = RunFolder.open(folder)
    score_run(scored)
    with stage_bar(err):
        made = write_report(
            [folder], page, language=content.language or terminal_language(), costs=costs
        )
    correct = _("Correct the texts and run the same command again")
    of_pages = [*swap_lines(swapped_in(scored), correct), *invented_lines(scored)]
    say(*of_pages, *conclusion_lines(made.view, made.run_set, made.misread))
    size = made.size / 1e6
    say(_("Report: {} ({:.1f} MB). Work folder: {}; run: {}", made.page, size, work, folder))
    if not summary.complete:
        raise typer.Exit(WITH_FAILURES)


def refuse_scans(dataset: Path, models: list[str]) -> None:
    """End with the command that takes scans, where a folder of scans is given for a dataset."""
    from keju.datasets.store import MANIFEST, find_items
    from keju.object_stores import is_address

    if is_address(dataset):
        return
    check_local(dataset)
    if (dataset / MANIFEST).is_file() and find_items(dataset).exists():
        return  # Before all readers are imported, which take 50 MB and half a second.
    from keju.datasets.scan_import import is_scans, ocr_report_command

    if is_scans(dataset):
        scans = _(
            "{}: the folder contains scans and is not a dataset. This command imports, runs, "
            "scores and reports them:",
            dataset,
        )
        note(_("keju: {}", scans))
        note(ocr_report_command(dataset, tuple(models)))
        raise typer.Exit(WRONG_USE)


def _work_beside(page: Path) -> Path:
    """The work directory of a report: beside it, and named after it."""
    place = page.resolve() if page.name in ("", "..") else page
    if not place.name:
        raise UsageError("{}: no work folder can be beside it. Choose one with --work", page)
    return place.with_name(f"{place.stem}-work")


def _installed() -> list[str]:
    """The default engines; a note names those that are not installed."""
    from keju.models import ModelOptions, open_model

    found = [_ENGINES[0]]
    for name in _ENGINES[1:]:
        try:
            open_model(name, ModelOptions(asking=False))
        except PrerequisiteError as error:
            note(_("note: {} is not run: {}", name, error))
        else:
            found.append(name)
    return found


def _show_import(taken: TakenScans, work: Path) -> None:
    from keju.cli.output.console import translate

    for each in taken.notes:
        note(_("note: {}", translate(each)))
    note(_("Work folder: {} (the same command resumes there). Dataset: {}", work, taken.dataset))


def _validate(dataset: Path) -> None:
    """Print the findings about a dataset; exit where pages cannot be used."""
    from keju.datasets.readers.words import shell_word
    from keju.datasets.validate import validate

    found = [each for each in validate(dataset) if each.severity != "notice"]
    for each in found[:_MOST_FINDINGS]:
        note(str(each))
    if len(found) > _MOST_FINDINGS:
        more = len(found) - _MOST_FINDINGS
        note(_("{:,} more: keju data validate {}", more, shell_word(str(dataset))))
    if any(each.severity == "error" for each in found):
        raise typer.Exit(WITH_FAILURES)
