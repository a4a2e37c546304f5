"""Sheets for people who rate answers: a blind sample to fill in, and the ratings in it.

A sample has a number of answers per task, with items drawn evenly over groups and the models taking
turns, in random order. It does not name the models: the code of an answer is computed from its run,
so no key file is needed. Ratings are parsed strictly, because an error in one row would bias all
results.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import polars as pl

from keju.csv_files import write_frame
from keju.datasets.readers.records import Place
from keju.datasets.readers.tables import sheet_lines
from keju.datasets.readers.workbooks import SheetRow
from keju.errors import DataError, UsageError
from keju.files import sha256_bytes
from keju.judging.answers import GradableAnswer
from keju.judging.grades import LEAST, MOST
from keju.judging.prompting import question_of
from keju.local_paths import check_local
from keju.running import Selection
from keju.running.selection import select
from keju.runs import RunFolder
from keju.texts import _, n_

CODE = "answer_code"
"""The column of a sheet that identifies an answer without naming its model."""

_RATING = (CODE, "rater", "score")
_SAMPLE = (
    CODE, "task", "question", "source", "images", "reference", "answer", "rater", "score",
)  # fmt: skip

_LETTER = "k"
"""Before a code in a cell, so that spreadsheets do not read a number."""


class RatedAnswer(NamedTuple):
    """One answer of a run with people's scores by rater, 0 to 10."""

    answer: GradableAnswer
    scores: dict[str, float]

    @property
    def human(self) -> float:
        """The mean over the raters."""
        return sum(self.scores.values()) / len(self.scores)


def draw_sample(
    judged: Sequence[GradableAnswer], run: RunFolder, *, per_task: int, seed: int = 0
) -> list[GradableAnswer]:
    """A number of answers of each task (or all), in the shuffled order in which they are rated.

    Each item is drawn once while there are enough of them; then its other models' answers follow.
    Answers without a text are not rated. `run` is named in errors.

    Raises:
        UsageError: there is nothing to rate.
    """
    tasks: dict[str, dict[tuple[str, str], list[GradableAnswer]]] = {}
    for answer in judged:
        if answer.is_sent:
            by_item = tasks.setdefault(answer.item.task, {})
            by_item.setdefault((answer.item.query, answer.item.id), []).append(answer)
    if not tasks:
        raise UsageError("{}: no answers to rate", run.path)
    sample: list[GradableAnswer] = []
    for task, by_item in tasks.items():
        items = [answers[0].item for answers in by_item.values()]
        selected_items = select(
            items, Selection(sample=min(per_task, len(items)), seed=seed), run.path
        )
        order = _generator(f"{seed}:{task}").sample(selected_items, len(selected_items))
        models = sorted(
            {answer.response.model for answers in by_item.values() for answer in answers}
        )
        _generator(f"{seed}:{task}:models").shuffle(models)
        rows = [
            sorted(by_item[item.query, item.id], key=lambda row: models.index(row.response.model))
            for item in order
        ]
        # Item after item, each with the next model.
        turns = (
            row[(place + turn) % len(row)]
            for turn in range(max(map(len, rows)))
            for place, row in enumerate(rows)
            if turn < len(row)
        )
        sample += islice(turns, per_task)
    return _generator(f"{seed}:order").sample(sample, len(sample))


def _generator(name: str) -> random.Random:
    return random.Random(sha256_bytes(name.encode()))  # noqa: S311


def write_sample(path: Path, sample: Sequence[GradableAnswer]) -> None:
    """Write a sheet for raters: one row per answer, with empty columns rater and score.

    `source` is the transcription where it is known, `images` are the paths inside the dataset.
    """
    rows = [
        (
            _LETTER + answer.code,
            answer.item.task,
            question_of(answer.item),
            answer.item.transcription,
            " ".join(ref.path for ref in answer.item.images),
            answer.item.answer,
            answer.text,
            None,
            None,
        )
        for answer in sample
    ]
    schema = dict.fromkeys(_SAMPLE, pl.String)
    write_frame(pl.DataFrame(rows, schema, orient="row"), path)


def sampled_codes(path: Path) -> frozenset[str]:
    """The codes of the answers in a sample, or in ratings of one.

    Raises:
        UsageError: there is no such file.
        DataError: it is not a table with such codes.
    """
    return frozenset(row[CODE] for _place, row in _rows_of(path, (CODE,)))


def _rows_of(path: Path, columns: Sequence[str]) -> Iterator[tuple[Place, dict[str, str]]]:
    """The rows of a sheet by column, each with its place; codes are without their letter."""
    check_local(path)
    if not path.is_file():
        raise UsageError("{}: no such file", path)
    lines = iter(sheet_lines(path, _SAMPLE))
    names = [name.strip().lower() for name in next(lines, SheetRow(1, [])).cells]
    if missing := [name for name in columns if names.count(name) != 1]:
        raise DataError(
            "column {} must exist once",
            ", ".join(missing),
            file=path,
            hint="Fill in a sheet of `keju judge sample`, or rate with `keju serve`",
        )
    for number, cells in lines:
        place = Place(path, f"line {number}")
        if len(cells) > len(names):
            width = len(names)
            raise place.error(
                n_("{n:,} cell for {} columns", "{n:,} cells for {} columns", len(cells), width)
            )
        row = dict.fromkeys(names, "") | dict(zip(names, map(str.strip, cells), strict=False))
        yield place, row | {CODE: row[CODE].removeprefix(_LETTER)}


def read_ratings(paths: Sequence[Path], answers: Iterable[GradableAnswer]) -> list[RatedAnswer]:
    """Read one or several sheets of a sample of a run's answers, each with one rater or several.

    A sheet is CSV with commas, semicolons or tabs, or .xlsx, with the columns answer_code, rater
    and score. Rows without a score are skipped. The answers are in the sheets' order.

    Raises:
        UsageError: there is no such file.
        DataError: a column is missing, a score is not a number from 0 to 10, someone rated an
            answer twice, or an answer is not in the run.
    """
    by_code = {answer.code: answer for answer in answers}
    rated: dict[str, RatedAnswer] = {}
    for place, row in (row for path in paths for row in _rows_of(path, _RATING)):
        code, rater = row[CODE], row["rater"]
        if code not in by_code:
            hint = _(
                "Name the run that the sample was drawn from. An answer that was requested again "
                "since then has another code"
            )
            raise place.error(_("the run has no answer {!r}", code, hint=hint))
        if not row["score"]:
            continue
        if not rater:
            raise place.error(_("no rater is named", hint="Name who rated"))
        scores = rated.setdefault(code, RatedAnswer(by_code[code], {})).scores
        if rater in scores:
            item, model = by_code[code].item.id, by_code[code].response.model
            hint = _("Keep one of the two rows")
            raise place.error(_("{} already rated {} of {}", rater, item, model, hint=hint))
        with suppress(ValueError):
            scores[rater] = float(row["score"].replace(",", ".", 1))  # a decimal comma
        if not LEAST <= scores.get(rater, -1) <= MOST:
            hint = _("Give a number from 0 to 10")
            raise place.error(_("score is {!r}", row["score"], hint=hint))
    if not rated:
        raise DataError("no answer is rated", file=paths[0], hint="Fill the column score")
    return [*rated.values()]
