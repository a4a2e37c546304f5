"""Ratings by people: sheets, parsed strictly because an error in one row would bias all results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import NamedTuple, cast

from keju.datasets.readers.records import Place
from keju.errors import DataError
from keju.items import PromptScript, Setting
from keju.judging.answers import AnswerId, GradableAnswer
from keju.judging.grades import LEAST, MOST
from keju.judging.tables import CODE, plain_code, rows_of
from keju.texts import _

JUDGE = "judge:"
"""Prefix of the names of columns with judges' grades."""

_NAMED = ("item", "task", "model")


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
