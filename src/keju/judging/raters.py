"""Sheets for people who rate answers: a blind sample to fill in, and the ratings in it.

A sample has a number of answers per task, with items drawn evenly over groups and the models taking
turns, in random order. It does not name the models: the code of an answer is computed from its run,
so no key file is needed. Ratings are parsed strictly, because an error in one row would bias all
results.
"""

from __future__ import annotations

import csv
import io
import random
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from keju.datasets.readers.records import Place
from keju.datasets.readers.tables import sheet_lines
from keju.datasets.readers.workbooks import SheetRow
from keju.definitions import prompt_of
from keju.errors import DataError, UsageError
from keju.files import cell_text, sha256_bytes, write_atomic
from keju.judging.answers import AnswerId, GradableAnswer, code_of
from keju.judging.grades import LEAST, MOST
from keju.local_paths import check_local
from keju.running import Selection
from keju.running.selection import select
from keju.runs import RunFolder
from keju.texts import _, n_

CODE = "answer_code"
"""The column of a sample's sheet that identifies an answer without naming its model."""

JUDGE = "judge:"
"""Prefix of the names of columns with judges' grades."""

_NAMED = ("item", "task", "model")
_SAMPLE = (
    CODE, "task", "question", "source", "images", "reference", "answer", "rater", "score",
)  # fmt: skip
_KNOWN = (*AnswerId._fields, "rater", "score", "group", CODE)
"""Known columns, by which the separator of a sheet is found."""

_LETTER = "k"
"""Before a code in a cell, so that spreadsheets do not read a number."""
_HEX = re.compile("[0-9a-f]{16}")


class RatedAnswer(NamedTuple):
    """One answer with the grades of people, and perhaps of judges; 0 to 10.

    `raters` maps each person to a score, `judges` each judge named in the sheet to its grade.
    """

    which: AnswerId
    group: str
    raters: dict[str, float]
    judges: dict[str, float]

    @property
    def human(self) -> float:
        """The mean over the raters."""
        return sum(self.raters.values()) / len(self.raters)


class Ratings(NamedTuple):
    """Rated answers in the sheets' order, and the rows without a score."""

    rated: list[RatedAnswer]
    blank: int


def draw_sample(
    judged: Sequence[GradableAnswer], run: RunFolder, *, per_task: int, seed: int = 0
) -> list[GradableAnswer]:
    """A number of answers of each task, in the shuffled order in which they are rated.

    Each item is drawn once while there are enough of them; then its other models' answers follow.

    Args:
        judged: the available answers; those without a text are not rated.
        run: their source, for errors.
        per_task: the number of answers of each task; all, where there are fewer.
        seed: the same seed draws the same sample.

    Raises:
        UsageError: there is nothing to rate.
    """
    tasks: dict[str, list[GradableAnswer]] = defaultdict(list)
    for answer in judged:
        if answer.answered and answer.text:
            tasks[answer.item.task].append(answer)
    if not tasks:
        raise UsageError("{}: no answers to rate", run.path)
    sample: list[GradableAnswer] = []
    for task, answers in tasks.items():
        sample += _of_task(task, answers, run, per_task, seed)
    return _generator(f"{seed}:order").sample(sample, len(sample))


def _of_task(
    task: str, answers: Sequence[GradableAnswer], run: RunFolder, per_task: int, seed: int
) -> list[GradableAnswer]:
    by_item: dict[tuple[str, str], list[GradableAnswer]] = defaultdict(list)
    for answer in answers:
        by_item[answer.item.query, answer.item.id].append(answer)
    items = [waiting[0].item for waiting in by_item.values()]
    order = select(items, Selection(sample=min(per_task, len(items)), seed=seed), run.path)
    order = _generator(f"{seed}:{task}").sample(order, len(order))
    models = sorted({answer.id.model for answer in answers})
    _generator(f"{seed}:{task}:models").shuffle(models)
    waiting = [by_item[item.query, item.id] for item in order]
    sample: list[GradableAnswer] = []
    while len(sample) < per_task and any(waiting):
        for remaining in waiting[: per_task - len(sample)]:
            # Each turn takes the next model, or the nearest after it that answered this item.
            turns = [
                (models.index(answer.id.model) - len(sample)) % len(models) for answer in remaining
            ]
            sample.append(remaining.pop(turns.index(min(turns))))
        waiting = [remaining for remaining in waiting if remaining]
    return sample


def _generator(name: str) -> random.Random:
    return random.Random(sha256_bytes(name.encode()))  # noqa: S311


def write_sample(path: Path, sample: Sequence[GradableAnswer]) -> None:
    """Write a sheet for raters: one row per answer, with empty columns rater and score.

    `source` is the transcription where it is known, `images` are the paths inside the dataset. A
    text that a spreadsheet would read as a formula gets an apostrophe before it.
    """
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(_SAMPLE)
    for answer in sample:
        item = answer.item
        images = " ".join(ref.path for ref in item.images)
        texts = (prompt_of(item), item.transcription or "", images, item.answer, answer.text)
        writer.writerow([_LETTER + code_of(answer), item.task, *map(cell_text, texts), "", ""])
    # Spreadsheets recognise UTF-8 by the byte order mark.
    write_atomic(path, "\ufeff" + stream.getvalue())


def sampled_codes(path: Path) -> frozenset[str]:
    """The codes of the answers in a sample, or in ratings of one.

    Raises:
        UsageError: there is no such file.
        DataError: it is not a table with such codes.
    """
    codes = frozenset(plain_code(row.get(CODE, "")) for _, row in _rows_of(path)) - {""}
    if not codes:
        raise DataError(
            "no column {!r} that names answers", CODE, file=path, hint="See: judge sample"
        )
    return codes


def plain_code(cell: str) -> str:
    """The code in a cell, with or without the letter; ratings of `keju serve` have none."""
    plain = cell.removeprefix(_LETTER)
    return plain if _HEX.fullmatch(plain) else cell


def _rows_of(path: Path) -> Iterator[tuple[Place, dict[str, str]]]:
    """The rows of a sheet by column, each with its place.

    Names of columns are trimmed and in lower case, values trimmed; rows without any value are
    skipped.
    """
    check_local(path)
    if not path.is_file():
        raise UsageError("{}: no such file", path)
    lines = iter(sheet_lines(path, _KNOWN))
    names = [name.strip() for name in next(lines, SheetRow(1, [])).cells]
    names = [name if name.startswith(JUDGE) else name.lower() for name in names]
    if twice := {name for name in names if name and names.count(name) > 1}:
        raise DataError("column {!r} exists twice", min(twice), file=path)
    for number, cells in lines:
        place = Place(path, f"line {number}")
        if len(cells) > len(names):
            raise place.error(
                n_(
                    "{n:,} cell for {} columns",
                    "{n:,} cells for {} columns",
                    len(cells),
                    len(names),
                )
            )
        filled = [*map(str.strip, cells), *[""] * (len(names) - len(cells))]
        yield place, dict(zip(names, filled, strict=True))


def read_ratings(
    paths: Sequence[Path], known: Mapping[str, GradableAnswer] | None = None
) -> Ratings:
    """Read one or several sheets, each with one rater or several.

    Args:
        paths: sheets (CSV with commas, semicolons or tabs, or .xlsx) with the columns item, task,
            model, rater and score; `query`, `setting`, `round`, `script`, `wording` and `group`
            where they matter; ``judge:NAME`` for judges' grades. A sheet made by ``keju judge
            sample`` has `answer_code` in place of the first three.
        known: the answers of the run, by code (`code_of`), where there is one. They determine the
            group.

    Raises:
        UsageError: there is no such file.
        DataError: a column is missing, a value is not a number from 0 to 10, someone rated an
            answer twice, a judge gave it two grades, or an answer is not in the run or differs from
            the sheet's column `answer`.
    """
    by_answer: dict[AnswerId, RatedAnswer] = {}
    by_id = {answer.id: answer for answer in (known or {}).values()}
    blank = 0
    for place, row in (row for path in paths for row in _rows_of(path)):
        _check_columns(place.file, row)
        which = _which(place, row, known)
        answer = by_id.get(which)
        _check_answer(place, row, answer)
        group = answer.group if answer else row.get("group") or which.item
        rated = by_answer.setdefault(which, RatedAnswer(which, group, {}, {}))
        for name in filter(row.get, row):
            if name.startswith(JUDGE):
                judge, grade = name.removeprefix(JUDGE), _number(place, name, row[name])
                if rated.judges.setdefault(judge, grade) != grade:
                    raise place.error(_("{} gives this answer two grades", judge))
        if not row["score"]:
            blank += 1
            continue
        rater = row["rater"]
        if not rater:
            raise place.error(_("no rater is named", hint="Name who rated"))
        if rater in rated.raters:
            raise place.error(
                _(
                    "{} already rated {} of {}",
                    rater,
                    which.item,
                    which.model,
                    hint="Keep one of the two rows",
                )
            )
        rated.raters[rater] = _number(place, "score", row["score"])
    answers = [rated for rated in by_answer.values() if rated.raters]
    if not answers:
        raise DataError("no answer is rated", file=paths[0], hint="Fill the column score")
    return Ratings(answers, blank)


def _check_columns(path: Path, row: Mapping[str, str]) -> None:
    needed = ("rater", "score") if CODE in row else ("rater", "score", *_NAMED)
    if missing := [name for name in needed if name not in row]:
        raise DataError(
            "no column {}",
            ", ".join(missing),
            file=path,
            hint="Columns: item, task, model, rater, score; judge sample makes such sheets",
        )


def _which(
    place: Place, row: Mapping[str, str], known: Mapping[str, GradableAnswer] | None
) -> AnswerId:
    if code := plain_code(row.get(CODE, "")):
        if known is None:
            raise DataError(
                "the sheet of a sample does not contain the models that answered",
                file=place.file,
                hint="Name the run that it was drawn from with --run",
            )
        if code not in known:
            raise place.error(
                _(
                    "the run has no answer {!r}",
                    code,
                    hint=(
                        "Name the run that the sample was drawn from. An answer that was requested "
                        "again since then has another code"
                    ),
                )
            )
        return known[code].id
    if empty := [name for name in _NAMED if not row.get(name)]:
        raise place.error(_("no {}", ", ".join(empty)))
    cells: dict[str, Any] = {name: row[name] for name in AnswerId._fields if row.get(name)}
    number = cells.pop("round", "1")
    if not (number.isascii() and number.isdecimal() and len(number) <= 4):
        raise place.error(_("{!r} is not a round", number))
    return AnswerId(**cells, round=int(number))


def _check_answer(place: Place, row: Mapping[str, str], answer: GradableAnswer | None) -> None:
    """Check that a rated answer is the run's; a code covers the answer already."""
    text = row.get("answer", "")
    if answer is None or row.get(CODE) or not text:
        return
    if "".join(text.removeprefix("'").split()) != "".join(answer.text.removeprefix("'").split()):
        raise place.error(
            _(
                "the answer of {} to {} differs from that in the run",
                answer.id.model,
                answer.id.item,
                hint="Rate the answer of this run, or name the run that it is from",
            )
        )


def _number(place: Place, column: str, value: str) -> float:
    try:
        number = float(value.replace(",", ".", 1))  # some languages use a decimal comma
    except ValueError:
        number = float("nan")
    if not LEAST <= number <= MOST:
        raise place.error(_("{} is {!r}", column, value, hint="Give a number from 0 to 10"))
    return number
