"""`write_site`: write a leaderboard site from bundles; a later build reads only new bundles."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from keju.bundles import is_bundle, open_bundle
from keju.datasets.licences import forbids_copies
from keju.errors import DataError, UsageError
from keju.files import read_json, write_json
from keju.items import Record
from keju.local_paths import check_local
from keju.reporting.stages import show_stage
from keju.site.boards import Board, BoardNumbers, board_numbers, board_of, items_first
from keju.site.bundle_files import BUNDLES, stored_summary, write_bundle_files
from keju.site.bundle_items import bundle_items
from keju.site.bundle_reading import register_definitions, source_of
from keju.site.downloads import write_downloads
from keju.site.item_files import BOARDS, has_item_files, write_item_files
from keju.site.model_facts import FILE, Facts, read_model_facts
from keju.site.pages import Site, write_pages
from keju.site.records import FORMAT, BoardOfBundle, BundleSummary, Source
from keju.site.statements import read_statements
from keju.texts import LANGUAGES, _

_MARKER, _NUMBERS = "keju-site.json", "numbers.json"
ENDING = ".keju.zip"


class WrittenSite(NamedTuple):
    """A site that was written: its start page, the counts of bundles and boards, and its bytes."""

    page: Path
    bundles: int
    read: int
    boards: int
    size: int


class _Marker(Record, frozen=True, kw_only=True, omit_defaults=False):
    """The content of keju-site.json, which marks a folder as a site of keju."""

    format: str
    title: str


def write_site(
    bundles: Sequence[Path], out: Path, *, models: Sequence[Path] = (), title: str = ""
) -> WrittenSite:
    """Write a static site from bundles; a bundle that an earlier build read is not read again.

    Args:
        bundles: bundles, or folders with bundles (``*.keju.zip``), a ``models.toml`` and
            statements of `keju verify`.
        out: the folder of the site; new, or written by an earlier build.
        models: further files with facts about models (`keju.site.model_facts`).
        title: the title of the site.

    Raises:
        UsageError: there are no bundles, or the folder contains something else.
        DataError: a bundle or a file with facts is damaged.
    """
    paths = find_bundles(bundles)
    facts = read_model_facts([*models, *(p / FILE for p in bundles if (p / FILE).is_file())])
    _check_folder(out)
    write_json(out / _MARKER, _Marker(format=FORMAT, title=title or "keju"))
    summaries, read = _summaries(paths, out)
    boards = _boards(summaries, facts, out)
    sources = sorted(
        (each.source for each in summaries.values()),
        key=lambda source: (source.created, source.sha256),
    )
    statements = read_statements([path for path in bundles if path.is_dir()])
    for board in boards:
        write_downloads(out, board)
    written = write_pages(Site(title or "keju", boards, sources, facts, statements), out)
    _remove_old(out, sources, boards, written)
    size = sum(path.stat().st_size for path in out.rglob("*") if path.is_file())
    return WrittenSite(out / "index.html", len(summaries), read, len(boards), size)


def find_bundles(paths: Sequence[Path]) -> list[Path]:
    """The bundles among the paths, and the bundles in folders, sorted by name.

    Raises:
        UsageError: there are none, or a path is neither a bundle nor a folder.
    """
    found: list[Path] = []
    for path in paths:
        check_local(path)
        if path.is_dir():
            found += sorted(each for each in path.rglob(f"*{ENDING}") if each.is_file())
        elif is_bundle(path):
            found.append(path)
        else:
            raise UsageError("{} is neither a bundle nor a folder of bundles", path)
    if not found:
        raise UsageError(
            "no bundles found: no file is named, and no folder contains files that end in {}. "
            "Create a bundle with: keju bundle RUN -o NAME.keju.zip",
            ENDING,
        )
    return found


def _check_folder(out: Path) -> None:
    """Check that a folder is new, empty or a site: other files must not be overwritten."""
    check_local(out)
    if out.exists() and not out.is_dir():
        raise UsageError("{} is not a folder. Choose another -o", out)
    if out.is_dir() and any(out.iterdir()) and not (out / _MARKER).is_file():
        raise UsageError(
            "{} contains files that do not belong to a site of keju. Choose another -o", out
        )


def _summaries(paths: Sequence[Path], out: Path) -> tuple[dict[Path, BundleSummary], int]:
    """The summary of each bundle (equal files count once), and the number of bundles read now."""
    found: dict[Path, BundleSummary] = {}
    seen: set[str] = set()
    read = 0
    for number, path in enumerate(paths):
        show_stage(_("reading bundles"), number, len(paths))
        with open_bundle(path) as bundle:
            if bundle.sha256 in seen:
                continue
            seen.add(bundle.sha256)
            allowed = not forbids_copies(bundle.manifest.dataset.licence)
            try:
                source = source_of(bundle, path, shows_texts=allowed)
                register_definitions(source)
                summary = stored_summary(out, source)
                if summary is None:
                    summary = write_bundle_files(bundle, source, out)
                    read += 1
            except UsageError as error:
                # Such as a task that no benchmark has.
                raise DataError(error.problem, file=path) from None
            found[path] = summary
    return found, read


def _boards(summaries: Mapping[Path, BundleSummary], facts: Facts, out: Path) -> list[Board]:
    """The boards, by benchmark and dataset."""
    of_board: dict[str, list[Path]] = {}
    known: dict[str, BoardOfBundle] = {}
    for path, summary in summaries.items():
        for board in summary.boards:
            if any(entry.board == board.id for entry in summary.entries):
                of_board.setdefault(board.id, []).append(path)
                known[board.id] = board
    boards = []
    for number, (name, paths) in enumerate(of_board.items()):
        show_stage(_("computing leaderboards"), number, len(of_board))
        in_board = sorted((summaries[path] for path in paths), key=lambda each: each.source.sha256)
        first = min(paths, key=lambda path: items_first(summaries[path].source))
        _write_items(known[name], first, summaries[first], out)
        numbers = _numbers(known[name], in_board, out)
        boards.append(board_of(known[name], in_board, numbers, facts))
    return sorted(boards, key=lambda each: (each.of.benchmark, each.source.dataset, each.of.id))


def _write_items(board: BoardOfBundle, path: Path, summary: BundleSummary, out: Path) -> None:
    if has_item_files(out, board.id, summary.source.sha256):
        return
    shutil.rmtree(out / BOARDS / board.id, ignore_errors=True)
    with open_bundle(path) as bundle:
        placed = bundle_items(bundle.items(), summary.source)
        write_item_files(out, board, bundle, placed.items, shows_texts=summary.source.shows_texts)


def _numbers(board: BoardOfBundle, summaries: Sequence[BundleSummary], out: Path) -> BoardNumbers:
    """The numbers of a board; those of an earlier build are used if the bundles are the same."""
    path = out / BOARDS / board.id / _NUMBERS
    made_from = tuple(each.source.sha256 for each in summaries)
    if path.is_file():
        stored = read_json(path, BoardNumbers)
        if (stored.format, stored.bundles) == (FORMAT, made_from):
            return stored
    found = board_numbers(board, summaries, out)
    write_json(path, found)
    return found


def _remove_old(
    out: Path, kept: Sequence[Source], boards: Sequence[Board], pages: set[Path]
) -> None:
    """Remove the files and pages of bundles and boards that are no longer in the site."""
    _remove_folders(out / BUNDLES, {each.id for each in kept})
    _remove_folders(out / BOARDS, {each.of.id for each in boards})
    for language in LANGUAGES:
        for path in (out / language).rglob("*.html"):
            if path not in pages:
                path.unlink()


def _remove_folders(folder: Path, kept: set[str]) -> None:
    for path in folder.iterdir() if folder.is_dir() else ():
        if path.name not in kept:
            shutil.rmtree(path)
