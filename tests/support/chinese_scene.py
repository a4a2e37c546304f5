"""The files of a folder in which `tests/cli/test_chinese_output.py` runs every command."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path

from keju.datasets.store import DatasetWriter
from keju.items import Item
from tests.support.making import page_item, picture
from tests.support.mutated_inputs import ANSWERS, dataset
from tests.support.printed_lines import printed

TEXTS = ("天地玄黃宇宙洪荒", "日月盈昃辰宿列張", "")
RECIPE = """name = "made"
licence = "CC0-1.0"
seed = 3
[[source]]
form = "mapped"
path = "texts.csv"
map = "texts.toml"
licence = "CC0-1.0"
source = "made"
[[step]]
do = "filter"
max-gaps = 0.9
[[step]]
do = "dedup-texts"
[[step]]
do = "standardise-texts"
[[step]]
do = "subset"
limit = 4
[[step]]
do = "split"
reference = 0.4
[[step]]
do = "release"
"""
MAPPING = """metadata.page = "page"
tables = [{ path = "rows.csv" }]
[fields]
id = "id"
question = "question"
answer = "answer"
image = "{folder}/rows.png"
[constants]
task = "T6"
"""
TEXTS_MAPPING = """tables = [{ path = "texts.csv" }]
[fields]
id = "id"
question = "question"
answer = "answer"
group = "page"
image = "image"
[constants]
task = "T6"
"""


def make_scene(folder: Path) -> None:
    """Write scans, datasets, tables, answers and a recipe."""
    dataset(folder / "small")
    shutil.copytree(folder / "small", folder / "damaged")
    next((folder / "damaged/images").iterdir()).unlink()
    _scans(folder / "scans/book")
    _choices(folder / "choices")
    _books(folder / "books")
    rows = [f"r{n},何謂{char}？,{char}也,p{n % 3}" for n, char in enumerate("仁義禮智信")]
    _write(folder / "rows.csv", "\n".join(["id,question,answer,page", *rows]))
    texts = [f"{row},scans/book/p{number % 3}.png" for number, row in enumerate(rows)]
    _write(folder / "texts.csv", "\n".join(["id,question,answer,page,image", *texts]))
    (folder / "rows.png").write_bytes(picture(9, side=48))
    _write(folder / "recipe.toml", RECIPE)
    _write(folder / "rows.toml", MAPPING)
    _write(folder / "texts.toml", TEXTS_MAPPING)
    board = [f"m{n},{50 + n}.1,{60 + n}.3,{55 + n}.2" for n in range(6)]
    _write(folder / "board.csv", "\n".join(["model,T1,T7,mean", *board]))
    _lines(folder / "good.jsonl", ANSWERS)
    _lines(folder / "pages.jsonl", {f"book/p{place}": "天地玄黃" for place in range(3)})
    answers = [("1", 1, "天地玄黄", "天地玄黃"), ("2", 7, "A", "答案：A"), ("3", 21, "3", "三")]
    responses = [
        {"ID": name, "Task_ID": task, "Answer_Simplified": answer, "Response": text}
        for name, task, answer, text in answers
    ]
    _write(folder / "responses.json", json.dumps(responses))
    for place, name in enumerate("甲乙"):
        (folder / "crops" / name).mkdir(parents=True)
        for number in range(3):
            data = picture(10 * place + number, side=48)
            (folder / "crops" / name / f"{number}.png").write_bytes(data)
    _sheets(folder)


def _scans(folder: Path) -> None:
    folder.mkdir(parents=True)
    for number, text in enumerate(TEXTS):
        (folder / f"p{number}.png").write_bytes(picture(number, side=48))
        if text:
            _write(folder / f"p{number}.txt", text)


def _choices(folder: Path) -> None:
    """Questions whose answer is always A, the longest option."""
    about = {"name": "choices", "version": "1", "licence": "CC0-1.0", "source": "made"}
    with DatasetWriter(folder, **about) as writer:
        ref = writer.add_image(picture(3), "page")
        for number in range(24):
            writer.add(
                Item(id=f"c{number}", benchmark="MCS-Bench", task="T7", question="出處？",
                     images=(ref,), options=("史記史記史記", "漢書"), answer="A")
            )  # fmt: skip


def _books(folder: Path) -> None:
    """Pages of two books, which `build perturb` exchanges."""
    about = {"name": "books", "version": "1", "licence": "CC0-1.0", "source": "made"}
    with DatasetWriter(folder, **about) as writer:
        for number, text in enumerate(("天地玄黃宇宙洪荒", "日月盈昃辰宿列張")):
            ref = writer.add_image(picture(number, side=48), "page")
            writer.add(page_item(f"b{number}", images=(ref,), answer=text, group=f"book {number}"))


def _sheets(folder: Path) -> None:
    """A review sheet with decisions, and the ratings of two people."""
    printed(folder, [["build", "review", "export", "small", "--out", "decided.csv"]], "en")
    with (folder / "decided.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = [row | {"decision": "accept"} for row in csv.DictReader(file)]
    _table(folder / "decided.csv", rows)
    # An answer has the same code in every run, so this sheet is one of the later run, too.
    words = ["run", "small", "--model", "replay:good.jsonl", "--out", "sampled-run"]
    sample = ["judge", "sample", "sampled-run", "--out", "sampled.csv"]
    printed(folder, [words, sample], "en")
    with (folder / "sampled.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    ratings = [
        row | {"rater": rater, "score": str((number * 7) % 11)}
        for number, row in enumerate(rows) for rater in ("a", "b")
    ]  # fmt: skip
    _table(folder / "rated.csv", ratings)


def _table(path: Path, rows: list[dict[str, str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def _lines(path: Path, answers: dict[str, str]) -> None:
    rows = (json.dumps({"item": item, "text": text}) for item, text in answers.items())
    _write(path, "\n".join(rows) + "\n")


def _write(path: Path, text: str) -> None:
    path.write_text(text, "utf-8")
