"""What reports, comparisons, figures, sites and bundles show of six kinds of runs does not move.

The runs: two datasets with equal item ids, rounds (with settings and scripts), people and a judge,
a partial run, and one merged of shards. Each CSV, JSON and LaTeX file that the commands write is a
part, and so are the numbers of the tables below each heading of a report (``html:``, without words,
which may be edited). Numbers of the files are compared as printed, those with more than ten digits
rounded. Left out are hashes, versions, dates, paths, times of this machine, drawings, and the
reasons of missing values, which name the packages that this machine lacks.

Everything is done by commands, except for two adapters: `make_dataset` (every import needs images
of its own form), and `edit_run`, which sets what no command can repeat in the stored lines of a
run: the seconds of an answer, and the answers of people.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import lxml.html
import pytest

import keju as api
from keju.datasets.store import DatasetWriter
from keju.items import Item
from keju.runs import RunFolder
from tests.support.commanding import keju
from tests.support.making import picture
from tests.support.snapshots import compare_snapshot

GOOD, POOR = "replay:good.jsonl", "replay:poor.jsonl"
MODELS = ("--model", GOOD, "--model", POOR)
SKILLS = {"good": 0.85, "poor": 0.5}
PEOPLE = {"human:李雷": "good", "human:Wang": "poor"}
RELEASED = ("image", "released", "released", 1)
"""Setting, script, wording and round of a usual request."""

TEXTS = (
    "天地玄黃\n宇宙洪荒", "日月盈昃\n辰宿列張", "寒來暑往\n秋收冬藏", "閏餘成歲\n律呂調陽",
    "雲騰致雨\n露結爲霜", "金生麗水\n玉出崑岡", "劍號巨闕\n珠稱夜光", "果珍李柰\n菜重芥薑",
)  # fmt: skip
_REQUIREMENT = "要求：请只输出识别结果，不要有其他无关内容。"
WORDINGS = {
    "short": f"抄錄圖中文字。\\n{_REQUIREMENT}",
    "long": f"請按閱讀順序抄錄圖中的全部文字，不要加標點。\\n{_REQUIREMENT}",
}
PRICES = """currency = "USD"
seen = "2025"
[[models]]
names = ["replay:good.jsonl"]
input = 1.0
output = 4.0
[[models]]
names = ["replay:poor.jsonl"]
input = 0.2
output = 0.6
"""
ENCODED = {("recognition", "What"), ("deciphering", "What"), ("deciphering", "How")}
"""Question forms whose value needs an encoder, which is not installed everywhere."""

EXAM = ("T2", "T3", "T7", "T10", "T13", "page_level_ocr", "knowledge_qa")
VOLATILE = {"signature", "signatures", "bundle_sha256", "run_date", "entry", "image", "keju",
            "sha256", "created", "run", "notes", "reason"}  # fmt: skip
NEEDS = re.compile("needs the (?:package|weights of) .*")
"""What an encoder lacks on this machine."""

DROPPED_FILES = ("times.csv",)
NUMBER = re.compile(r"[-+−–]?\d+(?:[.,:/]\d+)*")


def make_dataset(path: Path, shift: int) -> None:
    """Questions with letters, pages, translations and a blank page, of eight books.

    Datasets of different shifts have equal ids and different answers.
    """
    about = {"name": path.name, "version": "1", "licence": "CC0-1.0", "source": "the test"}
    with DatasetWriter(path, **about) as writer:
        image = writer.add_image(picture(shift), f"{path.name}.png")
        for number in range(24):
            writer.add(
                Item(
                    id=f"q{number}", benchmark="MCS-Bench", task=("T7", "T16")[number % 2],
                    group=f"book {number % 8}", question="這是什麼？", images=(image,),
                    options=("絹本", "紙本", "碑刻", "竹簡"),
                    answer="ABCD"[(number // 2 + shift) % 4], transcription=TEXTS[number % 8],
                    metadata={"dynasty": "唐宋"[number % 2]},
                )
            )  # fmt: skip
        for number in range(len(TEXTS)):
            text = TEXTS[(number + shift) % len(TEXTS)]
            shared = {"images": (image,), "answer": text, "group": f"book {number}"}
            writer.add(Item(id=f"p{number}", benchmark="MCS-Bench", task="T1", **shared))
            writer.add(Item(id=f"o{number}", benchmark="pages", task="page_ocr", **shared))
            writer.add(Item(id=f"t{number}", benchmark="MCS-Bench", task="T2", **shared))
        writer.add(
            Item(id="blank", benchmark="pages", task="page_ocr", images=(image,),
                 metadata={"blank": "yes"}, group="book 0")
        )  # fmt: skip


def write_answers(
    folder: Path, items: Iterable[Item], variants: Iterable[tuple[str, str, str, int]] = (RELEASED,)
) -> None:
    """Write ``good.jsonl`` and ``poor.jsonl``, with more and fewer right answers."""
    rows = list(product(items, variants))
    folder.mkdir(parents=True, exist_ok=True)
    for name, skill in SKILLS.items():
        lines = [
            json.dumps({"item": item.id, **line, **dict(zip(
                ("setting", "script", "wording", "round"), variant, strict=True
            ))}, ensure_ascii=False)
            for item, variant in rows
            for line in _answers(item, skill, Random(f"{folder.name} {name} {item.id} {variant}"))
        ]  # fmt: skip
        (folder / f"{name}.jsonl").write_text("\n".join(lines) + "\n", "utf-8")


def _answers(item: Item, skill: float, draw: Random) -> Iterator[dict[str, Any]]:
    """The answers to an item; for pairs, to each candidate. One of 25 is empty, one missing."""
    luck = draw.randrange(25)
    usage = {"input_tokens": 900 + draw.randrange(90), "output_tokens": 20 + draw.randrange(90)}
    if luck == 0:
        return
    for candidate in range(1, len(item.images)) if item.relevant else (0,):
        right = draw.random() < skill
        line = {"candidate": candidate, "text": "", "usage": usage}
        if luck > 1:
            line |= {"text": _text(item, candidate, right, skill, draw)}
        if item.task in {"T1", "page_ocr"} and line["text"]:
            sure = round(0.5 + skill * draw.random() / 2, 3)
            line |= {"lines": [{"id": "l", "text": line["text"], "confidence": sure}]}
        yield line


def _text(item: Item, candidate: int, right: bool, skill: float, draw: Random) -> str:
    reference = item.answer or item.answer_simplified
    if item.options:
        letters = "ABCDEFGHIJ"[: len(item.options)]
        return reference if right else letters[(letters.index(reference[:1]) + 1) % len(letters)]
    if item.boxes:
        boxes = [[box.x0, box.y0, box.x1 + 9 * (not right), box.y1] for box in item.boxes]
        return json.dumps(boxes[: None if right else -1])
    if candidate:
        relevant = (candidate in item.relevant) == right
        return ("0.2", "0.9")[relevant] if item.query == "How" else ("no", "yes")[relevant]
    if reference in {"yes", "no"}:
        return ("no", "yes")[(reference == "yes") == right]
    if reference.isdecimal():
        return str(int(reference) + (not right))
    return _misread(reference or "大吉"[: 0 if right else 2], skill, draw)


def _misread(text: str, skill: float, draw: Random) -> str:
    """A text of which some characters are other ones, or missing."""
    signs = (sign if draw.random() < 0.5 + skill / 2 else draw.choice("之也") for sign in text)
    return "".join(sign for sign in signs if sign == "\n" or draw.random() < 0.6 + skill / 3)


def edit_run(run: Path, people: Mapping[str, str] = {}) -> None:
    """Set the seconds of the stored responses, and add people who answer as a model does.

    The times that this machine measured are removed.
    """
    files = sorted((run / "responses").rglob("*.jsonl"))
    manifest = json.loads((run / "run.json").read_text("utf-8"))
    for path in files:
        lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        for line in lines:
            line["seconds"] = Random(f"{line['model']} {line['item']}").randrange(5, 90) / 10
        _write_lines(path, lines)
        for person, model in people.items():
            if lines[0]["model"] == f"replay:{model}.jsonl":
                answers = [line | {"model": person, "key": f"{person}{line['key']}",
                                   "seconds": 5 * line["seconds"]} for line in lines]  # fmt: skip
                _write_lines(RunFolder(run).responses_path(person, lines[0]["task"]), answers)
                manifest["models"][person] = {"kind": "human", "name": person}
    (run / "timings.json").unlink(missing_ok=True)
    (run / "run.json").write_text(json.dumps(manifest, ensure_ascii=False), "utf-8")


def _write_lines(path: Path, lines: Iterable[object]) -> None:
    path.parent.mkdir(exist_ok=True)
    texts = (json.dumps(line, ensure_ascii=False) for line in lines)
    path.write_text("\n".join(texts) + "\n", "utf-8")


class Folder:
    """A folder in which commands run; paths in their results are relative to it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def call(
        self, *words: object, folder: str = ".", env: Mapping[str, str] = {}, status: int = 0
    ) -> str:
        """The output of a command that ends with a status."""
        result = keju(*words, cwd=self.path / folder, env={**os.environ, **env})
        assert result.returncode == status, (words, result.stderr)
        return result.stdout

    def ask(self, name: str, dataset: str, *options: object, folder: str = "") -> None:
        """Make a run with the answers in a folder, of which some are missing (status 1)."""
        words = ("run", dataset, *MODELS, *options, "-o", f"../runs/{name}")
        self.call(*words, folder=folder or name, status=1)

    def score(self, *names: str) -> None:
        """Score runs, with all numbers in ``scores/NAME.json``."""
        (self.path / "scores").mkdir(exist_ok=True)
        for name in names:
            self.call("score", f"runs/{name}", "--json", f"scores/{name}.json")


@pytest.fixture(scope="module")
def six(tmp_path_factory: pytest.TempPathFactory, chat) -> Folder:
    """The scored runs, and their bundles."""
    six = Folder(tmp_path_factory.mktemp("six"))
    for shift, name in enumerate(("left", "right")):
        make_dataset(six.path / "data" / name, shift)
    for name, ask in WORDINGS.items():
        text = f'source = "wordings.toml"\n[prompts.T1]\nask = "{ask}"\n'
        (six.path / "data" / f"{name}.toml").write_text(text, "utf-8")
    (six.path / "data" / "prices.toml").write_text(PRICES, "utf-8")
    left, right = (list(api.load(six.path / "data" / name)) for name in ("left", "right"))
    for name, label in (("left", "step-1"), ("later", "step-2")):
        write_answers(six.path / name, left)
        six.ask(name, "../data/left", "--model", "baseline:copy", "--label", label)
    wordings = [("image", "released", wording, 1) for wording in ("released", "short", "long")]
    write_answers(six.path / "right", right, wordings)
    six.ask(
        "right",
        "../data/right",
        "--prompts",
        "../data/short.toml",
        "--prompts",
        "../data/long.toml",
        "--wording",
        "released",
    )
    settings, scripts = ("image", "gold-ocr"), ("released", "traditional")
    write_answers(six.path / "rounds", left, product(settings, scripts, ("released",), (1, 2)))
    options = [word for setting in settings for word in ("--setting", setting)]
    options += [word for script in scripts for word in ("--script", script)]
    six.ask("rounds", "../data/left", *options, "--rounds", 2)
    mini = [item for item in api.load("mini") if (item.task, item.query) not in ENCODED]
    write_answers(six.path / "bundled", mini)
    _write_ids(six.path / "bundled" / "ids.txt", mini, 2)
    for part in (1, 2, 3):
        six.ask(f"part-{part}", "mini", "--items", "ids.txt", "--shard", f"{part}/3",
                "--model", "baseline:majority", folder="bundled")  # fmt: skip
        edit_run(six.path / "runs" / f"part-{part}")
    parts = [f"runs/part-{part}" for part in (1, 2, 3)]
    six.call("merge", *parts, "-o", "runs/merged")
    six.call("merge", *parts[:2], "-o", "runs/partial", status=1)
    _write_ids(six.path / "bundled" / "exam.txt", [item for item in mini if item.task in EXAM], 4)
    six.ask("people", "mini", "--items", "exam.txt", folder="bundled")
    edit_run(six.path / "runs" / "people", PEOPLE)
    for name in ("left", "later", "right", "rounds"):
        edit_run(six.path / "runs" / name)
    chat.plan(says="分数：7", finds=[["論", "分数：9"], ["之", "分数：4"]])
    six.call("judge", "grade", "runs/people", "--model", "openai:judge", "--base-url", chat.url,
             env={"OPENAI_API_KEY": "sk-judge-0123456789abcdefABCDEF"})  # fmt: skip
    names = ("left", "later", "right", "rounds", "people", "partial", "merged")
    six.score(*names)
    for name in names:
        six.call("bundle", f"runs/{name}", "-o", f"bundles/{name}.keju.zip", "--include-data")
    return six


def _write_ids(path: Path, items: Iterable[Item], most: int) -> None:
    """Write the ids of the first test items of each question form."""
    counts: Counter[tuple[str, str]] = Counter()
    with path.open("w", encoding="utf-8") as stream:
        for item in items:
            counts[item.task, item.query] += item.split == "test"
            if item.split == "test" and counts[item.task, item.query] <= most:
                stream.write(f"{item.id}\n")


def file_parts(folder: Path, name: str) -> Iterator[tuple[str, list[Any]]]:
    """Each CSV, JSON and LaTeX file below a folder, as a part."""
    for path in sorted(folder.rglob("*")):
        if path.suffix in {".csv", ".json", ".tex"} and path.name not in DROPPED_FILES:
            yield (
                f"{name}/{path.relative_to(folder)}",
                values_of(path.name, path.read_text("utf-8-sig")),
            )


def values_of(name: str, text: str) -> list[Any]:
    """The rows of a CSV, its columns first; the places and values of a JSON; the rows of a TeX."""
    if name.endswith(".tex"):
        return [line for line in text.splitlines() if " & " in line]
    if name.endswith(".json"):
        return list(_leaves(json.loads(text)))
    head, *rows = csv.reader(io.StringIO(text))
    places = [place for place, column in enumerate(head) if column not in VOLATILE]
    return [[_cell(row[place]) for place in places] for row in (head, *rows)]


def _cell(text: str) -> str:
    """A cell as printed; the last digits of a fraction differ between processors."""
    digits = text.lstrip("-0.").replace(".", "")
    return f"{float(text):.10g}" if digits.isdecimal() and len(digits) > 10 else text


def _leaves(value: Any, place: str = "") -> Iterator[list[Any]]:
    if isinstance(value, dict):
        for key, below in value.items():
            if key not in VOLATILE:
                yield from _leaves(below, f"{place}.{key}")
    elif isinstance(value, list):
        for number, below in enumerate(value):
            yield from _leaves(below, f"{place}[{number}]")
    else:
        text = NEEDS.sub("needs an encoder", value) if isinstance(value, str) else value
        yield [NEEDS.sub("needs an encoder", place), text]


def html_parts(path: Path, name: str) -> Iterator[tuple[str, list[Any]]]:
    """The numbers of the tables of a report, below each heading with an id."""
    tree = lxml.html.parse(path)
    for heading in tree.xpath("//h2[@id]"):
        tables = tree.xpath("//table[preceding::h2[1]/@id = $id]", id=heading.get("id"))
        rows = [
            [_numbers(cell) for cell in row.xpath("./td | ./th")]
            for table in tables
            for row in table.xpath(".//tr")
        ]
        if rows:
            yield f"html:{name}/{heading.get('id')}", rows
    drawn = json.loads(tree.xpath("string(//script[@id='views'])"))
    yield f"html:{name}/tables of the script", _data(drawn)


def _data(drawn: dict[str, list[Any]]) -> list[Any]:
    """The rows of the tables that the page's script draws: breakdowns and options of questions."""
    leaves = ((place, value) for name in ("breakdowns", "options")
              for place, value in _leaves(drawn[name], name))  # fmt: skip
    # The sign of a zero is that of a rounding error.
    return [[place, value + 0.0] for place, value in leaves if isinstance(value, int | float)]


def _numbers(cell: lxml.html.HtmlElement) -> str:
    """The numbers of a cell that is no heading, without those of signatures (``CR|strict|…``)."""
    words = " ".join(cell.itertext()).split() if cell.tag == "td" else []
    return " ".join(NUMBER.findall(" ".join(word for word in words if "|" not in word)))


REPORTS: dict[str, tuple[str, ...]] = {
    "left right": (),
    "rounds": ("--prices", "data/prices.toml"),
    "people": ("--published", "--same-as", f"{GOOD}=GPT-4o", "--prices", "data/prices.toml"),
    "partial": (),
    "merged": ("--published", "--same-as", f"{GOOD}=GPT-4o"),
}
"""Runs that a report shows, and its options."""

COMPARISONS: dict[str, tuple[str, ...]] = {
    "models": ("runs/left", "--model", GOOD, "--model", POOR, "--margin", "5"),
    "models, official": ("runs/merged", "--model", GOOD, "--model", POOR, "--protocol", "official"),
    "runs": ("runs/left", "runs/later", "--model", GOOD),
    "settings": ("runs/rounds", "--setting", "image", "--setting", "gold-ocr", "--model", GOOD,
                 "--script", "released"),
    "scripts": ("runs/rounds", "--script", "released", "--script", "traditional", "--model", POOR,
                "--setting", "image"),
    "wordings": ("runs/right", "--wording", "short", "--wording", "long", "--model", POOR),
    "partial run": ("runs/partial", "runs/merged", "--model", POOR),
    "bundles": ("bundles/left.keju.zip", "bundles/later.keju.zip", "--model", POOR),
}  # fmt: skip

FIGURES: dict[str, tuple[str, ...]] = {
    "left": ("runs/left", "--which", "standings", "--which", "ranks", "--which", "differences",
             "--which", "heatmap", "--which", "options"),
    "rounds": ("runs/rounds", "--which", "settings", "--which", "risks"),
    "people": ("runs/people", "--which", "costs", "--prices", "data/prices.toml"),
    "published": ("published", "--which", "settings", "--which", "classes", "--which", "judges",
                  "--which", "questions", "--which", "pictures", "--which", "strata"),
    "mini": ("mini", "--which", "questions", "--which", "strata", "--which", "distributions"),
}  # fmt: skip


def test_tables_figures_and_files_show_the_recorded_values(six: Folder) -> None:
    parts = dict(file_parts(six.path / "scores", "score"))
    for runs, options in REPORTS.items():
        name = runs.replace(" ", "-")
        paths, out = [f"runs/{run}" for run in runs.split()], six.path / "reports" / name
        six.call("report", *paths, "-o", out / "report.html", "--csv", out, "--latex", out,
                 "--language", "en", "--pictures", 0.1, *options)  # fmt: skip
        parts |= dict(file_parts(out, f"report:{name}"))
        parts |= dict(html_parts(out / "report.html", name))
    for name, words in COMPARISONS.items():
        parts[f"compare:{name}"] = values_of(".json", six.call("compare", *words, "--json"))
    history = ("runs/left", "runs/later", "--model", GOOD, "--order", "given", "--json")
    parts["history"] = values_of(".json", six.call("history", *history))
    for name, words in FIGURES.items():
        out = six.path / "figures" / name
        six.call("figures", *words, "-o", out, "--language", "en")
        parts |= dict(file_parts(out, f"figures:{name}"))
    six.call("site", "bundles", "-o", "site")
    parts |= site_parts(six.path / "site")
    compare_snapshot("presentation", parts)


def site_parts(site: Path) -> dict[str, list[Any]]:
    """The downloads of each board of a site; bundles and rows of equal rank have no order."""
    parts: dict[str, list[Any]] = {}
    for path in sorted(site.rglob("leaderboard.json")):
        board = json.loads(path.read_text("utf-8"))
        name = f"site:{board['benchmark']} of {board['dataset']}"
        rows = [list(_leaves(row)) for row in board.pop("rows")]
        values = {path.name: [*_leaves(board), *sorted(rows, key=str)]}
        for file in ("leaderboard.csv", "tasks.csv"):
            head, *rows = values_of(file, path.with_name(file).read_text("utf-8-sig"))
            values[file] = [head, *sorted(rows)]
        for file, lines in values.items():
            parts.setdefault(f"{name}/{file}", []).append(lines)
    return {name: sorted(boards, key=str) for name, boards in parts.items()}
