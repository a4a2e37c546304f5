"""Judges beside people: simulated raters of known bias and noise, and sheets with slips."""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from keju.errors import DataError, UsageError
from keju.items import Item, Response
from keju.judging.aligning import PERSON, Alignment, align
from keju.judging.answers import GradableAnswer
from keju.judging.raters import RatedAnswer, read_ratings
from tests.support.workbooks import write_workbook

TASKS = ("T2", "T6")
JUDGES = {"stern": (1.5, 0.8), "noisy": (0.3, 2.5), "wild": (-2.0, 4.0)}
"""How much each judge gives less than people, and the spread of its own noise."""


def answer_of(item: str, task: str = "T2", group: str = "") -> GradableAnswer:
    """An answer of a model, in a group of its own by default."""
    known = Item(id=item, benchmark="MCS-Bench", task=task, answer="a", group=group or item)
    response = Response(
        key="k", item=item, model="m", benchmark="MCS-Bench", task=task, status="answered"
    )
    return GradableAnswer(known, response, "text")


def simulated(seed: int = 0, *, raters: int = 3, items: int = 50) -> tuple[list[RatedAnswer], dict]:
    """AncientDoc's design: 50 answers a task, several raters, several judges; pages of two items.

    People give the true grade with a noise of .5 each, judges the true grade less their bias.
    """
    generator = np.random.default_rng(seed)
    rated, grades = [], {judge: {} for judge in JUDGES}
    for task in TASKS:
        for place in range(items):
            answer = answer_of(f"{task}-{place}", task, f"page {place // 2}")
            truth = generator.normal(5, 1.5)
            given = {f"rater {n}": truth + generator.normal(0, 0.5) for n in range(raters)}
            rated.append(RatedAnswer(answer, given))
            for judge, (bias, noise) in JUDGES.items():
                grades[judge][answer.id] = truth - bias + generator.normal(0, noise)
    return rated, grades


@cache
def aligned(seed: int) -> Alignment:
    """A simulation, which several tests read."""
    return align(*simulated(seed))


def estimate(found, judge: str, task: str, measure: str):
    (row,) = (each for each in found.tasks if (each.judge, each.task) == (judge, task))
    return row.measures[measure]


def test_known_bias_and_noise_lie_within_the_stated_intervals():
    held, total = 0, 0
    for seed in range(3):
        result = aligned(seed)
        for judge, (bias, noise) in JUDGES.items():
            # The mean of three raters has a noise of .5 / √3 of its own.
            spread = noise**2 + 0.25 / 3
            truth = {
                "bias": bias,
                "mse": bias**2 + spread,
                "pearson": 1.5**2 / np.sqrt((1.5**2 + 0.25 / 3) * (1.5**2 + noise**2)),
                "mae": _folded_mean(bias, np.sqrt(spread)),
            }
            for measure, value in truth.items():
                for task in (*TASKS, ""):
                    each = estimate(result, judge, task, measure)
                    held += each.low <= value <= each.high
                    total += 1
    assert total == 3 * 3 * 4 * 3
    assert held / total >= 0.9


def _folded_mean(mean: float, spread: float) -> float:
    """The mean of the size of a normal variable."""
    return stats.foldnorm(abs(mean) / spread, scale=spread).mean()


def test_the_statistics_are_scipys_on_whole_grades():
    ratings, grades = simulated(3)
    rated = [
        each._replace(scores={name: float(round(s)) for name, s in each.scores.items()})
        for each in ratings
    ]
    complete = {judge: {w: float(round(g)) for w, g in of.items()} for judge, of in grades.items()}
    result = align(rated, complete)
    chosen = [each for each in rated if each.answer.item.task == "T2"]
    human = [each.human for each in chosen]
    judge = [complete["noisy"][each.answer.id] for each in chosen]
    expected = {
        "pearson": stats.pearsonr(human, judge).statistic,
        "spearman": stats.spearmanr(human, judge).statistic,
        "kendall": stats.kendalltau(human, judge).statistic,
        "mse": np.mean(np.subtract(human, judge) ** 2),
        "mae": np.mean(np.abs(np.subtract(human, judge))),
        "bias": np.mean(np.subtract(human, judge)),
    }
    for measure, value in expected.items():
        assert estimate(result, "noisy", "T2", measure).value == pytest.approx(value)


def test_raters_agree_as_their_noise_allows():
    overall = next(each for each in aligned(2).raters if not each.task)
    # Alpha for intervals is the share of variance that is the answers': 2.25 of 2.5.
    assert overall.alpha == pytest.approx(0.9, abs=0.05)
    assert (overall.gradings, overall.answers) == (3, 100)
    result = align(*simulated(2, raters=1))
    assert not result.raters
    assert not result.leave_one_out


def test_a_person_and_a_judge_are_compared_with_the_same_other_raters():
    given = {"Li": 4.0, "Wang": 6.0, "Zhao": 8.0}
    rated = [RatedAnswer(answer_of(name), given) for name in "ab"]
    rated.append(RatedAnswer(answer_of("c"), {"Li": 0.0}))
    result = align(rated, {"gpt": {row.answer.id: 9.0 for row in rated}})
    judge, person = result.leave_one_out
    assert (judge.judge, person.judge) == ("gpt", PERSON)
    # Li, Wang and Zhao in turn: 4 against 7, 6 against 6, 8 against 5; the judge's 9 against each.
    assert (person.measures["mae"].value, judge.measures["mae"].value) == (2, 3)
    assert (person.answers, judge.answers) == (2, 2)
    assert set(person.measures) == {"pearson", "spearman", "kendall", "mse", "mae"}
    # The papers' measure is over all answers and the mean of all raters.
    assert estimate(result, "gpt", "T2", "mae").value == (3 + 3 + 9) / 3


def test_a_judge_like_a_person_equals_a_person_and_a_noisier_one_is_worse():
    """Two raters of SD 1.2: against the mean of both, a judge of SD 1.5 seems to be as good."""
    generator = np.random.default_rng(38)
    rated, grades = [], {"equal": {}, "noisier": {}}
    for place in range(2000):
        answer = answer_of(str(place), group=f"book {place // 20}")
        truth = generator.normal(5, 1.2)
        raters = {name: _whole(truth + generator.normal(0, 1.2)) for name in ("Li", "Wang")}
        rated.append(RatedAnswer(answer, raters))
        for judge, noise in (("equal", 1.2), ("noisier", 1.5)):
            grades[judge][answer.id] = _whole(truth + generator.normal(0, noise))
    result = align(rated, grades)
    rows = {row.judge: row.measures for row in result.leave_one_out}
    person, equal, noisier = (rows[name] for name in (PERSON, "equal", "noisier"))
    assert equal["pearson"].value == pytest.approx(person["pearson"].value, abs=0.03)
    assert equal["mse"].value == pytest.approx(person["mse"].value, rel=0.06)
    assert noisier["pearson"].high < person["pearson"].value
    assert noisier["mse"].low > person["mse"].value
    # Against the mean of both raters, the noisier judge is as good as a person against one.
    both = estimate(result, "noisier", "T2", "pearson").value
    assert both == pytest.approx(person["pearson"].value, abs=0.03)


def _whole(grade: float) -> float:
    return float(min(10, max(0, round(grade))))


def test_answers_without_a_grade_are_counted():
    ratings, grades = simulated(4)
    for place in range(10):
        del grades["wild"][ratings[place].answer.id]
    result = align(ratings, grades)
    assert result.ungraded == {"wild": 10}
    assert len(result.points) == 290


ANSWERS = {name: answer_of(name) for name in "abc"}
CODES = {name: answer.code for name, answer in ANSWERS.items()}
SHEET = [
    ["answer_code", "rater", "score", "remark"],
    [f"k{CODES['a']}", "Li", "7", "1,5"],
    [f"k{CODES['a']}", "Wang", "8.5", ""],
    [f"k{CODES['b']}", "Li", "", ""],
    [CODES["c"], "Li", "0", ""],
]


def write(path: Path, rows: list[list[str]], encoding: str = "utf-8-sig") -> Path:
    with path.open("w", encoding=encoding, newline="") as stream:
        csv.writer(stream).writerows(rows)
    return path


def read(*paths: Path) -> list[RatedAnswer]:
    return read_ratings(paths, ANSWERS.values())


def test_a_sheet_is_read_as_it_stands(tmp_path):
    first, second = read(write(tmp_path / "r.csv", SHEET))
    assert first == (ANSWERS["a"], {"Li": 7, "Wang": 8.5})
    assert first.human == 7.75
    assert second == (ANSWERS["c"], {"Li": 0})
    more = [SHEET[0], [CODES["a"], "Zhao", "1", ""]]
    both = read(tmp_path / "r.csv", write(tmp_path / "s.csv", more))
    assert both[0].scores == {"Li": 7, "Wang": 8.5, "Zhao": 1}


@pytest.mark.parametrize(
    ("name", "encoding", "separator", "point"),
    [
        ("r.csv", "utf-8-sig", ";", "."),
        ("comma.csv", "utf-8-sig", ";", ","),
        ("unicode.txt", "utf-16", "\t", "."),
        ("comma.txt", "utf-16", "\t", ","),
        ("r.xlsx", "", "", "."),
    ],
)
def test_a_sheet_is_read_in_each_form_that_a_spreadsheet_writes(
    tmp_path, name, encoding, separator, point
):
    path = tmp_path / name
    if separator:
        text = "".join(separator.join(row).replace(".", point) + "\r\n" for row in SHEET)
        path.write_bytes(text.encode(encoding))
    else:
        write_workbook(path, SHEET)
    assert read(path) == read(write(tmp_path / "plain.csv", SHEET))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ((1, 2, "11"), "line 2: score is '11'. Give a number from 0 to 10"),
        ((1, 2, "good"), "score is 'good'"),
        ((1, 2, "nan"), "score is 'nan'"),
        ((2, 1, "Li"), "line 3: Li already rated a of m"),
        ((1, 1, ""), "line 2: no rater is named"),
        ((1, 0, "1.2E+15"), "line 2: the run has no answer '1.2E.15'"),
        ((1, 0, f"k{'0' * 16}"), "line 2: the run has no answer"),
        ((0, 2, "mark"), "column score must exist once"),
        ((0, 0, "thing"), "column answer_code must exist once"),
        ((0, 3, "rater"), "column rater must exist once"),
    ],
)
def test_a_slip_in_a_sheet_names_file_line_and_mend(tmp_path, change, says):
    row, column, value = change
    rows = [list(each) for each in SHEET]
    rows[row][column] = value
    with pytest.raises(DataError, match=says):
        read(write(tmp_path / "r.csv", rows))


def test_files_that_are_no_sheets_are_refused(tmp_path):
    with pytest.raises(UsageError, match="no such file"):
        read(tmp_path / "none.csv")
    (tmp_path / "bytes.csv").write_bytes(b"item,task\n\xff\xfe\x81\n")
    with pytest.raises(DataError, match="UTF-8"):
        read(tmp_path / "bytes.csv")
    (tmp_path / "empty.csv").write_bytes(b"")
    with pytest.raises(DataError, match="column answer_code, rater, score must exist once"):
        read(tmp_path / "empty.csv")
    with pytest.raises(DataError, match="no answer is rated"):
        read(write(tmp_path / "blank.csv", SHEET[:1]))
    with pytest.raises(DataError, match="8 cells for 4 columns"):
        read(write(tmp_path / "w.csv", [*SHEET, ["x"] * 8]))
