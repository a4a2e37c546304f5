"""`Problems`: collects the errors in the files of a source, to report them at once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePath
from typing import Literal

from keju.datasets.readers.base import join_names
from keju.errors import DataError, ProblemsError
from keju.texts import _, join_sentences, n_

MOST = 1_000
"""Number of faulty files after which an import stops searching for more."""


class Problems:
    """The problems of a source, by kind."""

    def __init__(self, src: Path) -> None:
        self._src = src
        self._lines: list[str] = []
        self._hints: list[str] = []
        self._notes: list[str] = []
        self._errors: dict[str, list[DataError]] = {}

    @contextmanager
    def collecting(self, kind: Literal["texts", "images"]) -> Iterator[None]:
        """Collect an error about a text or an image instead of raising it.

        Raises:
            DataError: there are `MOST` faulty files.
        """
        try:
            yield
        except DataError as error:
            self._errors.setdefault(kind, []).append(error)
            if sum(map(len, self._errors.values())) >= MOST:
                self.check()

    def add(self, line: str) -> None:
        """Add a sentence on files that lack something."""
        self._lines.append(line)

    def hint(self, line: str) -> None:
        """Add a hint, after all problems that were added."""
        self._hints.append(line)

    def note(self, line: str) -> None:
        """Add a note that is shown only if there is a problem."""
        self._notes.append(line)

    def check(self) -> None:
        """Raise the collected errors.

        Raises:
            DataError: the only error, as it was raised; or all of them, one line for each kind.
        """
        errors = [each for kind in self._errors.values() for each in kind]
        if len(errors) == 1 and not self._lines and not self._notes:
            raise errors[0]
        if self:
            faults = [self._line(kind, found) for kind, found in self._errors.items()]
            lacks = [*self._lines, *self._hints]
            if len(self._lines) == 1:
                lacks = [join_sentences(lacks)]
            lines = (*lacks, *faults, *self._notes)
            hints = [*self._hints, *(each.hint for each in errors if each.hint)]
            raise ProblemsError(
                (f"{self._src}: {line}" for line in lines),
                file=self._src,
                hint=join_sentences(dict.fromkeys(hints)) or None,
            )

    def _line(self, kind: str, errors: list[DataError]) -> str:
        files = join_names(map(self._problem_text, errors))
        count = len(errors)
        if kind == "texts":
            line = n_("{n:,} unusable text: {}", "{n:,} unusable texts: {}", count, files)
        else:
            line = n_("{n:,} unusable image: {}", "{n:,} unusable images: {}", count, files)
        hints = dict.fromkeys(each.hint for each in errors if each.hint)
        return join_sentences([line, *hints])

    def _problem_text(self, error: DataError) -> str:
        file = PurePath(error.file or "")
        inner = file.relative_to(self._src) if file.is_relative_to(self._src) else file
        place = ": ".join(each for each in ("/".join(inner.parts), error.item or "") if each)
        return _("{} ({})", place, error.problem) if place else error.problem

    def __bool__(self) -> bool:
        return bool(self._lines or self._errors)
