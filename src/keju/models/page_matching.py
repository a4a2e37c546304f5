"""`match_files`: match result files to pages by name.

Names are compared without case, in Unicode NFC, and folder by folder from the end. The path of a
file can have more or fewer folders than the page in its source, but the common part must be equal.
"""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from keju.datasets.page_names import NamedPage, scan_page
from keju.datasets.readers.base import join_names
from keju.datasets.readers.pages.page_items import EXPORT_FOLDERS
from keju.datasets.readers.pages.scans import scan_pages
from keju.errors import DataError
from keju.images import EXTENSIONS

_SECOND_SUFFIXES = frozenset({*EXTENSIONS, "pdf", *EXPORT_FOLDERS, "ocr", "pred", "text"})
"""Suffixes before the last one: ``p1.jpg.txt``, ``p1.alto.xml``."""

_Parts = tuple[str, ...]


class ResultFile(NamedTuple):
    """A result file: its path inside the directory, and the image name that it contains."""

    path: Path
    inside: PurePosixPath
    image_name: str = ""


class Matches(NamedTuple):
    """The result file of each page, the unused files, and files with a contradictory image name.

    `other_image` are files whose own name is that of one page, but whose image name is that of
    another page. The own name decides.
    """

    of: Mapping[NamedPage, ResultFile]
    unused: list[ResultFile]
    other_image: list[ResultFile]


class _Fit(NamedTuple):
    """How well a name fits a page; larger is better.

    `shared` is the number of equal parts, counted from the end; `whole` means that both paths have
    only these parts; `exact` that case and Unicode form are equal too; `likely` is 0 for the
    likeliest name of the page, and negative for others.
    """

    shared: int
    whole: bool
    exact: bool
    likely: int


class _Name(NamedTuple):
    parts: _Parts
    folded: _Parts
    page: int
    likely: int


class _Names:
    """The names of all pages, indexed by their last part."""

    def __init__(self, pages: Sequence[NamedPage]) -> None:
        self._names: dict[str, list[_Name]] = defaultdict(list)
        self._alone: dict[str, list[_Name]] = defaultdict(list)
        for at, page in enumerate(pages):
            for place, name in enumerate(page.names):
                parts = _without_format_folder(name)
                folded = tuple(map(_fold, parts))
                self._names[folded[-1]].append(_Name(parts, folded, at, -place))
            for place, single in enumerate(page.alone, start=len(page.names)):
                folded_one = _fold(single)
                self._alone[folded_one].append(_Name((single,), (folded_one,), at, -place))

    def fits(self, name: _Parts) -> dict[int, _Fit]:
        """The pages that a name fits, each with its score."""
        folded = tuple(map(_fold, name))
        found: dict[int, _Fit] = {}
        alone = self._alone.get(folded[-1], ()) if len(folded) == 1 else ()
        for each in (*self._names.get(folded[-1], ()), *alone):
            shared = min(len(folded), len(each.folded))
            if folded[-shared:] != each.folded[-shared:]:
                continue
            exact = name[-shared:] == each.parts[-shared:]
            fit = _Fit(shared, len(folded) == len(each.folded), exact, each.likely)
            found[each.page] = max(fit, found.get(each.page, fit))
        return found


def match_files(files: Sequence[ResultFile], pages: Sequence[NamedPage]) -> Matches:
    """Find the file of each page.

    A file belongs to the page with its name: that of the image in the source, of the item, of
    keju's exports, or of the image in the dataset. A file with the name of no page belongs to the
    page whose image name it contains. Directories called ``page``, ``alto`` and the like are
    ignored.

    Raises:
        DataError: two files fit one page equally well, or one file two pages.
    """
    names = _Names(pages)
    first = _first_numbers(files, names)
    candidates: dict[int, list[tuple[_Fit, ResultFile]]] = defaultdict(list)
    other_image: list[ResultFile] = []
    for file in files:
        own = _best(file, _fits(names, _own_names(file.inside, first)), pages)
        stated = _fits(names, _stated_names(file))
        if own and stated and not set(own) & set(stated):
            other_image.append(file)
        for at, fit in (own or _best(file, stated, pages)).items():
            candidates[at].append((fit, file))
    of = {pages[at]: _best_file(pages[at], found) for at, found in candidates.items()}
    used = set(of.values())
    return Matches(
        of,
        [file for file in files if file not in used],
        [file for file in other_image if file in used],
    )


def _fits(names: _Names, candidates: Iterator[_Parts]) -> dict[int, _Fit]:
    """The pages that fit the first name that fits any."""
    return next(filter(None, (names.fits(each) for each in candidates if each and each[-1])), {})


def _best(file: ResultFile, fits: dict[int, _Fit], pages: Sequence[NamedPage]) -> dict[int, _Fit]:
    """The pages that a file fits best; several only if they show the same image.

    Raises:
        DataError: several pages with different images fit equally well.
    """
    most = max(fits.values(), default=None)
    best = {at: fit for at, fit in fits.items() if fit == most}
    if len({pages[at].image.sha256 for at in best}) > 1:
        found = join_names(sorted({pages[at].item for at in best}), most=3)
        raise DataError(
            "the name fits several pages: {}",
            found,
            file=file.path,
            hint="Put the file into a folder named like that of its page, for example BOOK/PAGE",
        )
    return best


def _best_file(page: NamedPage, found: list[tuple[_Fit, ResultFile]]) -> ResultFile:
    """The file that fits a page best.

    Raises:
        DataError: several fit equally well.
    """
    most = max(fit[:3] for fit, _ in found)
    best = [file for fit, file in found if fit[:3] == most]
    if len(best) > 1:
        raise DataError(
            "two results for one page: {} and {}",
            best[0].inside,
            best[1].inside,
            file=best[0].path,
            item=f"page {page.item}",
            hint="Keep one of them, or give the folder of one form, for example FOLDER/page",
        )
    return best[0]


def _own_names(inside: PurePosixPath, first: Mapping[_Parts, int]) -> Iterator[_Parts]:
    """Yield the page names that a path can mean: a page, or a scan with the number of a page."""
    stem = inside.with_suffix("")
    yield _without_format_folder(stem.parts)
    if stem.suffix.casefold().lstrip(".") in _SECOND_SUFFIXES:
        yield _without_format_folder(stem.with_suffix("").parts)
    for scan, number in scan_pages(inside):
        name = _without_format_folder(scan.parts)
        yield (*name, scan_page(number + 1 - first.get(_folded(name), 1)))


def _stated_names(file: ResultFile) -> Iterator[_Parts]:
    """Yield the page names that the image name in a file can mean.

    It can be a path, a name in the folder of the file, or a name without a folder. It comes from
    the content of a file, so it is compared only and never opened as a path.
    """
    plain = file.image_name.partition("?")[0].replace("\\", "/").replace("\0", "")
    path = PurePosixPath(plain[:1000])
    if not path.name:
        return
    stem = path.stem if _is_image_suffix(path.suffix) else path.name
    # If the image name is that of the file, the folder of the file decides between pages of that
    # name.
    other = _fold(stem) not in {_fold(name[-1]) for name in _own_names(file.inside, {}) if name}
    if other or len(path.parts) > 1:
        yield (*path.parts[:-1], stem)
    yield _without_format_folder((*file.inside.parts[:-1], stem))
    if other:
        yield (stem,)


def _first_numbers(files: Sequence[ResultFile], names: _Names) -> dict[_Parts, int]:
    """The first page number, 0, of each scan whose files are numbered from 0, as by ImageMagick.

    Raises:
        DataError: a scan has a file with number 0, and one for each of its pages besides.
    """
    numbers: dict[_Parts, dict[int, ResultFile]] = defaultdict(dict)
    for file in files:
        for scan, number in scan_pages(file.inside):
            if scan.parts:
                numbers[_folded(_without_format_folder(scan.parts))][number] = file
    found: dict[_Parts, int] = {}
    for scan_name, given in numbers.items():
        if 0 not in given:
            continue
        last = max(given)
        if names.fits((*scan_name, scan_page(last))) and not names.fits(
            (*scan_name, scan_page(last + 1))
        ):
            raise DataError(
                "the results of {0} are numbered from 0 to {1}, but it has {1} pages",
                "/".join(scan_name),
                last,
                file=given[0].path,
                hint="Number the results like the pages, from 1 on",
            )
        found[scan_name] = 0
    return found


def _is_image_suffix(suffix: str) -> bool:
    return suffix.casefold().lstrip(".") in {*EXTENSIONS, "pdf"}


def _without_format_folder(parts: _Parts) -> _Parts:
    """The path without a folder that is named after a format: ``book/p1`` for ``book/page/p1``."""
    if len(parts) > 1 and parts[-2].casefold() in EXPORT_FOLDERS:
        return (*parts[:-2], parts[-1])
    return parts


def _folded(parts: _Parts) -> _Parts:
    return tuple(map(_fold, parts))


def _fold(part: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", part).casefold())
