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
from math import isfinite
from pathlib import Path
from typing import NamedTuple, cast

from keju.datasets.readers.records import Place
from keju.datasets.readers.tables import sheet_lines
from keju.datasets.readers.workbooks import SheetRow
from keju.definitions import prompt_of
from keju.errors import DataError, UsageError
from keju.files import cell_text, sha256_bytes, write_atomic
from keju.items import PromptScript, Setting
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
_KNOWN = (*_NAMED, "rater", "score", "query", "setting", "round", "group", CODE)
"""Known columns, by which the separator of a sheet is found."""

_LETTER = "k"
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
        UsageError: a number is not valid, or there is nothing to rate.
    """
    if per_task < 1:
        raise UsageError("--per-task must be 1 or more, not {}", per_task)
    tasks: dict[str, list[GradableAnswer]] = defaultdict(list)
    for each in judged:
        if each.answered and each.text:
            tasks[each.item.task].append(each)
    if not tasks:
        raise UsageError("{}: no answers to rate", run.path)
    drawn: list[GradableAnswer] = []
    for task, there in tasks.items():
        drawn += _of_task(task, there, run, per_task, seed)
    return _generator(f"{seed}:order").sample(drawn, len(drawn))


def _of_task(
    task: str, there: Sequence[GradableAnswer], run: RunFolder, per_task: int, seed: int
) -> list[GradableAnswer]:
    by_item: dict[tuple[str, str], list[GradableAnswer]] = defaultdict(list)
    for each in there:
        by_item[each.item.query, each.item.id].append(each)
    items = [found[0].item for found in by_item.values()]
    order = select(items, Selection(sample=min(per_task, len(items)), seed=seed), run.path)
    order = _generator(f"{seed}:{task}").sample(order, len(order))
    models = sorted({each.id.model for each in there})
    _generator(f"{seed}:{task}:models").shuffle(models)
    waiting = [by_item[item.query, item.id] for item in order]
    found: list[GradableAnswer] = []
    while len(found) < per_task and any(waiting):
        for left in waiting[: per_task - len(found)]:
            # Each turn takes the next model, or the nearest after it that answered this item.
            place = min(
                range(len(left)),
                key=lambda each: (models.index(left[each].id.model) - len(found)) % len(models),
            )
            found.append(left.pop(place))
        waiting = [left for left in waiting if left]
    return found


def write_sample(path: Path, drawn: Sequence[GradableAnswer]) -> None:
    """Write a sheet for raters: one row per answer, with empty columns rater and score.

    `source` is the transcription where it is known, `images` are the paths inside the dataset. A
    text that a spreadsheet would read as a formula gets an apostrophe before it.
    """
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(_SAMPLE)
    for each in drawn:
        item = each.item
        images = " ".join(ref.path for ref in item.images)
        texts = (prompt_of(item), item.transcription or "", images, item.answer, each.text)
        writer.writerow([sheet_code(code_of(each)), item.task, *map(cell_text, texts), "", ""])
    # Spreadsheets recognise UTF-8 by the byte order mark.
    write_atomic(path, "\ufeff" + stream.getvalue())


def sampled_codes(path: Path) -> frozenset[str]:
    """The codes of the answers in a sample, or in ratings of one.

    Raises:
        UsageError: there is no such file.
        DataError: it is not a table with such codes.
    """
    codes = frozenset(plain_code(row.get(CODE, "")) for _, row in rows_of(path)) - {""}
    if not codes:
        raise DataError(
            "no column {!r} that names answers", CODE, file=path, hint="See: judge sample"
        )
    return codes


def _generator(name: str) -> random.Random:
    return random.Random(sha256_bytes(name.encode()))  # noqa: S311


def sheet_code(code: str) -> str:
    """A code for a cell, with a letter before it so that spreadsheets do not read a number."""
    return _LETTER + code


def plain_code(cell: str) -> str:
    """The code in a cell, with or without the letter; ratings of `keju serve` have none."""
    plain = cell.removeprefix(_LETTER)
    return plain if _HEX.fullmatch(plain) else cell


def rows_of(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """The rows of a sheet by column, each with the number of its line.

    Sheets have the formats that `sheet_lines` reads. Names of columns are trimmed and in lower
    case, values trimmed; rows without any value are skipped.

    Raises:
        UsageError: there is no such file, or it is an address.
        DataError: it is not readable, has a column twice, or a row with more cells than columns.
    """
    check_local(path)
    if not path.is_file():
        raise UsageError("{}: no such file", path)
    lines = iter(sheet_lines(path, _KNOWN))
    names = [name.strip() for _, heads in [next(lines, SheetRow(1, []))] for name in heads]
    names = [name if name.startswith(JUDGE) else name.lower() for name in names]
    if twice := {name for name in names if name and names.count(name) > 1}:
        raise DataError("column {!r} exists twice", min(twice), file=path)
    for number, cells in lines:
        if len(cells) > len(names):
            raise DataError(
                n_(
                    "{n:,} cell for {} columns",
                    "{n:,} cells for {} columns",
                    len(cells),
                    len(names),
                ),
                file=path,
                item=f"line {number}",
            )
        yield number, dict(zip(names, map(str.strip, cells), strict=False))


def read_ratings(
    paths: Sequence[Path], known: Mapping[str, GradableAnswer] | None = None
) -> Ratings:
    """Read one or several sheets, each with one rater or several.

    Args:
        paths: sheets (CSV with commas, semicolons or tabs, or .xlsx) with the columns item, task,
            model, rater and score; `query`, `setting`, `round` and `group` where they matter;
            ``judge:NAME`` for judges' grades. A sheet made by ``keju judge sample`` has
            `answer_code` in place of the first three.
        known: the answers of the run, by code (`code_of`), where there is one. They determine the
            group.

    Raises:
        UsageError: there is no such file.
        DataError: a column is missing, a value is not a number from 0 to 10, someone rated an
            answer twice, a judge gave it two grades, or an answer is not in the run or differs from
            the sheet's column `answer`.
    """
    by_answer: dict[AnswerId, RatedAnswer] = {}
    by_id = {judged.id: judged for judged in (known or {}).values()}
    blank = 0
    for path in paths:
        columns: set[str] = set()
        for line, row in rows_of(path):
            if not columns:
                columns = set(row)
                _check_columns(path, columns)
            place = Place(path, f"line {line}")
            which = _which(place, row, known)
            judged = by_id.get(which)
            _check_answer(place, row, judged)
            group = judged.group if judged else row.get("group") or which.item
            rated = by_answer.setdefault(which, RatedAnswer(which, group, {}, {}))
            _note_judges(place, row, rated)
            if not row.get("score"):
                blank += 1
                continue
            rater = row.get("rater", "")
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
    found = [rated for rated in by_answer.values() if rated.raters]
    if not found:
        raise DataError("no answer is rated", file=paths[0], hint="Fill the column score")
    return Ratings(found, blank)


def _check_columns(path: Path, columns: set[str]) -> None:
    missing = [name for name in ("rater", "score") if name not in columns]
    if CODE not in columns:
        missing += [name for name in _NAMED if name not in columns]
    if missing:
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
    number = row.get("round") or "1"
    if not (number.isascii() and number.isdecimal() and 1 <= len(number) <= 4):
        raise place.error(_("{!r} is not a round", number))
    setting = row.get("setting") or "image"
    return AnswerId(
        row["model"],
        row["item"],
        row["task"],
        row.get("query", ""),
        cast("Setting", setting),
        int(number),
        cast("PromptScript", row.get("script") or "released"),
        row.get("wording") or "released",
    )


def _check_answer(place: Place, row: Mapping[str, str], judged: GradableAnswer | None) -> None:
    """Check that a rated answer is the run's; a code covers the answer already."""
    answer = row.get("answer", "")
    if judged is None or row.get(CODE) or not answer:
        return
    if "".join(answer.removeprefix("'").split()) != "".join(judged.text.removeprefix("'").split()):
        raise place.error(
            _(
                "the answer of {} to {} differs from that in the run",
                judged.id.model,
                judged.id.item,
                hint="Rate the answer of this run, or name the run that it is from",
            )
        )


def _note_judges(place: Place, row: Mapping[str, str], rated: RatedAnswer) -> None:
    for name, value in row.items():
        if not name.startswith(JUDGE) or not value:
            continue
        judge, grade = name.removeprefix(JUDGE), _number(place, name, value)
        if rated.judges.setdefault(judge, grade) != grade:
            raise place.error(_("{} gives this answer two grades", judge))


def _number(place: Place, column: str, value: str) -> float:
    try:
        number = float(value.replace(",", ".", 1))  # some languages use a decimal comma
    except ValueError:
        number = float("nan")
    if not (isfinite(number) and LEAST <= number <= MOST):
        raise place.error(_("{} is {!r}", column, value, hint="Give a number from 0 to 10"))
    return number
