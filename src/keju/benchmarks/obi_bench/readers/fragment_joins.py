"""`joins_in`: of each fragment those that adjoin it, from the files of a source, checked."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from keju.benchmarks.obi_bench.readers.fragment_groups import folder_of
from keju.benchmarks.obi_bench.readers.fragment_pairs import (
    SUFFIXES,
    Pair,
    known_names,
    pair_files,
    read_pairs,
)
from keju.datasets.readers.base import files_under, join_names
from keju.datasets.readers.image_names import ImageNames
from keju.datasets.readers.records import Place
from keju.errors import DataError, number_of, shortened
from keju.texts import _

Adjacency = dict[str, set[str]]
"""Of each fragment, by its path under the source, those that adjoin it."""


def joins_in(
    folder: Path,
    images: Mapping[str, Path],
    fragments: Mapping[str, Path],
    given: Mapping[str, str],
) -> tuple[Adjacency, list[str]]:
    """Which fragments adjoin, as the files say, and notes for the user.

    Args:
        folder: the source.
        images: all images, by their path under it.
        fragments: those that are not taken for whole bones; one that a pair names is a fragment.
        given: names of columns by role, from the options ``field.ROLE=NAME``.

    Raises:
        UsageError: an option names a column of a role that this format has not.
        DataError: no file, one that names a fragment that is not there, adjoins a fragment to
            itself or to another bone's, or adjoins two one way only.
    """
    names = _Names(folder, images)
    files = pair_files(folder, lambda name: names.find(name, folder / "pairs") is not None, given)
    if not files:
        others = [path.relative_to(folder).as_posix() for path in files_under(folder, SUFFIXES)]
        unlike = _(". Not recognised as pairs: {}", join_names(others)) if others else ""
        raise DataError(
            "expected adjacency.csv, or another list of pairs; found none{}",
            unlike,
            file=folder,
            hint=(
                "Write it, or declare that the fragments of a bone adjoin one another: --option "
                "adjacency=all"
            ),
        )
    joins: Adjacency = {name: set() for name in fragments}
    apart = 0
    for file in files:
        for pair in read_pairs(file, given):
            one, other = (names.fragment(name, pair.place) for name in (pair.one, pair.other))
            _check_pair(one, other, pair.place)
            if not pair.adjoin:
                apart += 1
                continue
            _join(joins, one, other, pair)
        _check_mutual(joins, file)
    joins = {name: joins[name] for name in images if name in joins}
    read = ", ".join(path.relative_to(folder).as_posix() for path in files[:5])
    notes = [f"pairs read from {read}"] if files[0].stem.casefold() != "adjacency" else []
    if apart:
        notes.append(f"skipped {number_of(apart, 'pair')} declared not to adjoin")
    return joins, notes


def _join(joins: Adjacency, one: str, other: str, pair: Pair) -> None:
    joins.setdefault(one, set()).add(other)
    joins.setdefault(other, set())
    if not pair.one_way:
        joins[other].add(one)


class _Names:
    """Finds fragments by the names that files give them."""

    def __init__(self, folder: Path, images: Mapping[str, Path]) -> None:
        self._folder = folder
        self._known = known_names(images)
        self._index = ImageNames(folder, images.values())

    def find(self, name: str, file: Path) -> str | None:
        """The fragment of a name: from the file's folder on, else wherever it is.

        Raises:
            DataError: several fragments fit.
        """
        plain = PurePosixPath(name.strip().replace("\\", "/"))
        base = PurePosixPath(file.parent.relative_to(self._folder).as_posix())
        if found := self._known.get((base / plain).as_posix()):
            return found
        path = self._index.named(name.strip(), file)
        return None if path is None else path.relative_to(self._folder).as_posix()

    def fragment(self, name: str, place: Place) -> str:
        """The fragment of a name.

        Raises:
            DataError: there is none, or several fit.
        """
        found = self.find(name, place.file)
        if found is None:
            raise place.error(
                _(
                    "no fragment {!r}",
                    shortened(name),
                    hint="Name it by its path from the table's folder on, or put its image there",
                )
            )
        return found


def _check_pair(one: str, other: str, place: Place) -> None:
    wrong = ""
    if one == other:
        wrong = _("{} adjoins itself", one)
    elif folder_of(one) != folder_of(other):
        wrong = _("{} and {} are in folders of different bones", one, other)
    if wrong:
        raise place.error(wrong, hint=_("Remove the pair"))


def _check_mutual(joins: Adjacency, file: Path) -> None:
    for one, others in joins.items():
        if missing := sorted(other for other in others if one not in joins[other]):
            raise DataError(
                "it adjoins {}, but {} does not adjoin it",
                join_names(missing),
                missing[0],
                file=file,
                item=one,
                hint="Name the pair both ways, or not at all",
            )
