"""Sheets that go to spreadsheets: filled in as people do, and read back."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from openpyxl import load_workbook

from keju.building.reviewing.verdicts import Verdict
from keju.items import Item
from keju.judging.answers import graded_answers
from keju.judging.prompting import read_rubrics
from keju.judging.raters import read_ratings
from keju.models.function_model import PythonModel
from keju.running import Selection, run
from keju.runs import RunFolder
from tests.support.commanding import keju
from tests.support.making import make_dataset

RATER = "李, 華"
SCORES: dict[str, tuple[str, float | None]] = {
    "r1": ("007", 7.5),
    "r2": ("=1+1 之乎者也", 10),
    "r3": ("1/2", 0),
    "r4": ("TRUE", 3.25),
    "r5": ("第一行\n第二行；he said \"no\", 1,5", 9),
    "r6": ("3-4", None),
}  # fmt: skip
"""The answer to each item and its rating; None: not rated."""


def _answer(_images: list[bytes], prompt: str) -> str:
    return next(text for name, (text, _) in SCORES.items() if f"[item {name}]" in prompt)


def rated_run(folder: Path) -> RunFolder:
    """A run of open questions whose answers spreadsheets take for numbers, dates or formulas."""
    items = [
        Item(id=name, benchmark="MCS-Bench", task="T2", question=f"[item {name}] 譯為白話。",
             verbatim=True, answer="譯文", transcription="學而時習之", group=f"page {name}")
        for name in SCORES
    ]  # fmt: skip
    data = make_dataset(folder / "data", items)
    # The code of an answer covers the model and its address, so both are the same everywhere.
    model = PythonModel("rated", _answer, version="1")
    run(data, [model], folder / "run", selection=Selection(settings=("gold-text",)))
    return RunFolder.open(folder / "run")


def sampled(opened: RunFolder, sheet: Path) -> None:
    """`keju judge sample` as a command.

    Raises:
        RuntimeError: it is refused.
    """
    done = keju("judge", "sample", opened.path, "--out", sheet)
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])


def fill_review(book: Path, verdicts: Mapping[str, Verdict], items: list[str]) -> None:
    """Write verdicts into the rows of a workbook, which are in the order of the items."""
    workbook = load_workbook(book)
    sheet = workbook.active
    heads = {str(cell.value).partition(" | ")[0]: cell.column for cell in sheet[1]}
    for row, name in enumerate(items, start=2):
        if verdict := verdicts.get(name):
            cells = {"decision": verdict.decision, "person": verdict.person,
                     "reason": verdict.reason}  # fmt: skip
            cells |= {f"new_{field}": text for field, text in verdict.corrections.fields().items()}
            cells |= {f"mark: {scale}": mark for scale, mark in verdict.marks.items()}
            _write(sheet, row, {heads[head]: value for head, value in cells.items()})
    workbook.save(book)


def fill_ratings(book: Path, opened: RunFolder) -> None:
    """Write the scores into the rows of a workbook, which are found by their codes."""
    workbook = load_workbook(book)
    sheet = workbook.active
    heads = {cell.value: cell.column for cell in sheet[1]}
    item_of = {f"k{code}": each.item.id for code, each in _answers(opened).items()}
    for row in range(2, sheet.max_row + 1):
        score = SCORES[item_of[sheet.cell(row, heads["answer_code"]).value]][1]
        if score is not None:
            _write(sheet, row, {heads["rater"]: RATER, heads["score"]: score})
    workbook.save(book)


def _write(sheet, row: int, cells: Mapping[int, object]) -> None:
    for column, value in cells.items():
        cell = sheet.cell(row, column, value)
        if isinstance(value, str):
            cell.data_type = "s"  # also of a text that begins like a formula


def ratings(sheet: Path, opened: RunFolder) -> dict[str, dict[str, float]]:
    """The scores of a sheet that came back, by item and rater, through keju's reader."""
    found = read_ratings([sheet], _answers(opened).values())
    return {each.answer.item.id: each.scores for each in found}


def expected_ratings() -> dict[str, dict[str, float]]:
    """What the sheet holds after `fill_ratings`."""
    return {name: {RATER: score} for name, (_, score) in SCORES.items() if score is not None}


def _answers(opened: RunFolder):
    return {each.code: each for each in graded_answers(opened, read_rubrics(None))}
