"""Sound inputs of commands: replay forms, recipes, sheets, manifests, runs, tables, IIIF.

Each is a folder of files, and the commands that read them. `mutated_commands` changes one of the
files and runs the commands.
"""

from __future__ import annotations

import csv
import io
import json
import shutil
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import polars as pl

from keju.datasets.store import DatasetWriter
from keju.items import Item
from tests.support.making import page_item, picture
from tests.support.workbooks import write_workbook

Command = tuple[str, ...]
Run = Callable[..., None]
"""Runs a command whose success is needed to make a sound input."""

TESTS = Path(__file__).parents[1]
ANSWERS = {
    "i0": "天地玄黃",
    "i1": "宇宙洪荒",
    "c0": "A",
    "c1": "B",
    "q0": "學而時習之",
    "t0": "譯文",
}


class Input(NamedTuple):
    """A sound input.

    Args:
        kind: what is counted: ``replay``, ``recipe``, ``sheet`` …
        name: of this one.
        write: writes its files into a folder; gets what runs commands and the sound dataset.
        commands: what is run; ``SRC`` is the mutated folder, ``OUT`` the output, ``DATA`` the sound
            dataset, ``URL`` the address at which ``SRC`` is served.
        product: the file that must not be there after a refusal of the command that writes it.
    """

    kind: str
    name: str
    write: Callable[[Path, Run, Path], object]
    commands: tuple[Command, ...]
    product: str = ""


def dataset(folder: Path) -> Path:
    """Six items of five tasks, two of them with images."""
    with DatasetWriter(
        folder, name="small", version="1", licence="CC0-1.0", source="made by the tests"
    ) as writer:
        for number, answer in enumerate(("天地玄黃", "宇宙洪荒")):
            ref = writer.add_image(picture(number, side=48), f"page {number}")
            writer.add(page_item(f"i{number}", images=(ref,), answer=answer))
            letter = "AB"[number]
            writer.add(Item(id=f"c{number}", benchmark="MCS-Bench", task="T7", question="出處？",
                            images=(ref,), options=("史記", "漢書"), answer=letter))  # fmt: skip
        writer.add(Item(id="q0", benchmark="MCS-Bench", task="T6", question="何意？",
                        images=(ref,), answer="學習", transcription="學而時習之"))  # fmt: skip
        writer.add(Item(id="t0", benchmark="MCS-Bench", task="T2", answer="學了又按時去溫習它。",
                        images=(ref,), transcription="學而時習之"))  # fmt: skip
    return folder


def _table(text: str) -> Callable[[Path, Run, Path], object]:
    name, _, body = text.partition("\n")
    return lambda src, _run, _data: (src / name).write_text(body, "utf-8")


def _json(name: str, value: object, *, lines: bool = False) -> Callable[[Path, Run, Path], object]:
    dumped = json.dumps(value, ensure_ascii=False)
    if lines:
        assert isinstance(value, list)
        dumped = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in value)
    return lambda src, _run, _data: (src / name).write_text(dumped, "utf-8")


_SAMPLES = [
    {"id": name, "epoch": 1, "input": "?", "target": "天", "attachments": {"a1": text},
     "output": {"model": "m", "choices": [{"message": {"role": "assistant", "content": text},
                                           "stop_reason": "stop"}],
                "usage": {"input_tokens": 9, "output_tokens": 3}}}
    for name, text in ANSWERS.items()
]  # fmt: skip
_LOG = {"version": 2, "status": "success", "eval": {"task": "t"}, "samples": _SAMPLES}


def _eval(src: Path, _run: Run, _data: Path) -> None:
    with zipfile.ZipFile(src / "log.zip", "w", zipfile.ZIP_DEFLATED) as pack:
        pack.writestr("header.json", json.dumps({"version": 2, "eval": {"task": "t"}}))
        for each in _SAMPLES:
            pack.writestr(f"samples/{each['id']}_epoch_1.json", json.dumps(each))


def _workbook(src: Path, _run: Run, _data: Path) -> None:
    heads = ("index", "id", "question", "prediction")
    rows = [(str(n), name, "?", text) for n, (name, text) in enumerate(ANSWERS.items())]
    write_workbook(src / "m_D.xlsx", [heads, *rows])


def _parquet(src: Path, _run: Run, _data: Path) -> None:
    pl.DataFrame({"id": list(ANSWERS), "response": list(ANSWERS.values())}).write_parquet(
        src / "r.parquet"
    )


def _harness(name: str) -> Callable[[Path, Run, Path], object]:
    def write(src: Path, _run: Run, _data: Path) -> None:
        shutil.copytree(TESTS / name, src / "folder", ignore=shutil.ignore_patterns("*.pkl"))

    return write


_RESPONSES = [
    {"ID": name, "Task_ID": int(task), "Answer_Simplified": answer, "Response": text}
    for name, task, answer, text in (
        ("1", "1", "天地玄黄", "天地玄黃"), ("2", "7", "A", "答案：A"),
        ("3", "3", "学，而", "学。而"), ("4", "4", "孔子、孟子", "孔子、荀子"),
        ("5", "2", "学了。", "学习了。"), ("6", "21", "3", "三"),
    )
]  # fmt: skip
_OURS = [
    {"ID": name, "Task_ID": int(task), "Answer_Simplified": "A", "Response": text}
    for (name, text), task in zip(ANSWERS.items(), "117762", strict=True)
]
_LMMS = [
    {"doc_id": n, "target": "天", "filtered_resps": text, "resps": text,
     "id": name, "input": "?"} for n, (name, text) in enumerate(ANSWERS.items())
]  # fmt: skip
_ROWS = [{"item": name, "text": text} for name, text in ANSWERS.items()]


def _replay(
    name: str, file: str, write: Callable[[Path, Run, Path], object], *options: str
) -> Input:
    run = ("run", "DATA", "--model", f"replay:SRC/{file}", "--out", "OUT", *options)
    return Input("replay", name, write, (run, ("score", "OUT")))


def _csv(rows: list[dict[str, str]]) -> str:
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


_TABLE = _csv([{"id": name, "response": text} for name, text in ANSWERS.items()])

_REPLAYS = (
    _replay("JSON lines", "r.jsonl", _json("r.jsonl", _ROWS, lines=True)),
    _replay("authors' form", "r.json", _json("r.json", _OURS)),
    _replay("lmms-eval", "a_samples_x.jsonl", _json("a_samples_x.jsonl", _LMMS, lines=True),
            "--replay-columns", "id,resps,filtered_resps"),
    _replay("CSV", "r.csv", _table("r.csv\n" + _TABLE)),
    _replay("TSV", "r.tsv", _table("r.tsv\n" + _TABLE.replace(",", "\t"))),
    _replay("parquet", "r.parquet", _parquet),
    _replay("Inspect log", "log.json", _json("log.json", _LOG)),
    _replay("Inspect archive", "log.zip", _eval),
    _replay("VLMEvalKit workbook", "m_D.xlsx", _workbook),
    _replay(
        "VLMEvalKit folder", "folder/served_T*[0-9].xlsx",
        _harness("contracts/recorded/vlmevalkit/replay/xlsx/files/served"),
    ),
    _replay("lmms-eval folder", "folder",
            _harness("contracts/recorded/lmms-eval/replay/plain/files"),
            "--replay-columns", "id,resps,filtered_resps"),
    Input("replay", "score of a file", _json("r.json", _RESPONSES),
          (("score", "SRC/r.json", "--json", "OUT"),), "OUT"),
)  # fmt: skip

_ROWS_RECIPE = """name = "made"
licence = "CC0-1.0"
seed = 3
[[source]]
form = "mapped"
path = "rows.csv"
map = "rows.toml"
licence = "CC0-1.0"
source = "made"
"""
_ROWS_MAPPING = """tables = [{ path = "rows.csv" }]
fields = { id = "id", question = "question", answer = "answer", group = "page" }
metadata = { page = "page" }
constants = { task = "T6" }
"""
_ROWS_TABLE = "id,question,answer,page\n" + "".join(
    f"r{n},何謂{char}？,{char}也,p{n % 3}\n" for n, char in enumerate("仁義禮智信")
)
_STEPS = """[[step]]
do = "filter"
max-gaps = 0.9
words = "words.toml"
[[step]]
do = "subset"
limit = 4
"""
_WORDS = '[[kind]]\nname = "place"\nwords = ["長安", "洛陽"]\n'


def _recipe(src: Path, _run: Run, _data: Path) -> None:
    (src / "recipe.toml").write_text(_ROWS_RECIPE, "utf-8")
    (src / "rows.csv").write_text(_ROWS_TABLE, "utf-8")
    (src / "rows.toml").write_text(_ROWS_MAPPING, "utf-8")


def _steps(src: Path, _run: Run, _data: Path) -> None:
    (src / "recipe.toml").write_text(_ROWS_RECIPE + _STEPS, "utf-8")
    (src / "rows.csv").write_text(_ROWS_TABLE, "utf-8")
    (src / "rows.toml").write_text(_ROWS_MAPPING, "utf-8")
    (src / "words.toml").write_text(_WORDS, "utf-8")


def _pages(src: Path, _run: Run, _data: Path) -> None:
    (src / "scans").mkdir()
    for number, text in enumerate(("天地", "玄黃")):
        (src / f"scans/p{number}.png").write_bytes(picture(number, side=48))
        (src / f"scans/p{number}.txt").write_text(text, "utf-8")


_BUILD = ("build", "recipe", "SRC/recipe.toml", "--out", "OUT")
_RECIPES = (
    Input("recipe", "table", _recipe, (_BUILD,)),
    Input("recipe", "steps", _steps, (_BUILD,)),
    Input("recipe", "plan", _steps, ((*_BUILD, "--plan"),)),
)


def manifest(url: str, pages: int = 2) -> dict[str, object]:
    """A IIIF manifest whose images are files beside it."""
    canvases = [
        {"@id": f"{url}/c{n}", "label": f"p{n}", "width": 48, "height": 48,
         "images": [{"resource": {"@id": f"{url}/p{n}.png", "width": 48, "height": 48}}]}
        for n in range(pages)
    ]  # fmt: skip
    return {
        "@context": "http://iiif.io/api/presentation/2/context.json", "@id": f"{url}/manifest.json",
        "@type": "sc:Manifest", "label": "Book", "license": "https://creativecommons.org/"
        "publicdomain/zero/1.0/", "sequences": [{"canvases": canvases}],
    }  # fmt: skip


def _library(url: str) -> Callable[[Path, Run, Path], object]:
    def write(src: Path, _run: Run, _data: Path) -> None:
        (src / "recipe.toml").write_text(
            f'name = "library"\n[[source]]\nform = "iiif"\nurl = "{url}/collection.json"\n'
            'source = "s"\npause = 0\n'
        )
        collection = {
            "@context": "http://iiif.io/api/presentation/2/context.json",
            "@id": f"{url}/collection.json", "@type": "sc:Collection", "label": "Library",
            "manifests": [{"@id": f"{url}/manifest.json", "@type": "sc:Manifest", "label": "B"}],
        }  # fmt: skip
        (src / "collection.json").write_text(json.dumps(collection), "utf-8")
        (src / "manifest.json").write_text(json.dumps(manifest(url)), "utf-8")
        for number in range(2):
            (src / f"p{number}.png").write_bytes(picture(number, side=48))

    return write


def libraries(url: str) -> tuple[Input, ...]:
    """Inputs of a IIIF server whose files are at an address."""
    return (Input("iiif", "server", _library(url), (_BUILD,)),)


def _whole_dataset(src: Path, _run: Run, data: Path) -> None:
    shutil.copytree(data, src / "data")


def _sheet(*options: str, name: str) -> Callable[[Path, Run, Path], object]:
    def write(src: Path, run: Run, data: Path) -> None:
        run("build", "review", "export", data, "--out", src / name, *options)
        path = src / name
        if name.endswith(".csv"):
            with path.open(encoding="utf-8-sig", newline="") as file:
                rows = [row | {"decision": "accept"} for row in csv.DictReader(file)]
            path.write_text(_csv(rows), "utf-8")
        elif name.endswith(".jsonl"):
            found = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
            lines = (json.dumps(row | {"decision": "accept"}) for row in found)
            path.write_text("\n".join(lines), "utf-8")
        else:
            tasks = json.loads((path / "tasks.json").read_text("utf-8"))
            for number, task in enumerate(tasks, 1):
                chosen = {"from_name": "decision", "to_name": "shown", "type": "choices",
                          "value": {"choices": ["accept"]}}  # fmt: skip
                result = [*task["predictions"][0]["result"], chosen]
                task |= {"id": number, "annotations": [{"completed_by": 1, "result": result}]}
            (path / "tasks.json").write_text(json.dumps(tasks, ensure_ascii=False), "utf-8")

    return write


_RATED = "rated-run"
"""The run whose answers are rated; beside the sound dataset, so that only the sheet is mutated."""


def _ratings(src: Path, run: Run, data: Path) -> None:
    (src / "r.jsonl").write_text("".join(json.dumps(row) + "\n" for row in _ROWS), "utf-8")
    rated = data.with_name(_RATED)
    run("run", data, "--model", "replay:r.jsonl", "--out", rated, cwd=src)
    (src / "r.jsonl").unlink()
    run("judge", "sample", rated, "--out", src / "r.csv")
    with (src / "r.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    rows = [row | {"rater": rater, "score": str((number * 7) % 11)}
            for number, row in enumerate(rows) for rater in ("a", "b")]  # fmt: skip
    (src / "r.csv").write_text(_csv(rows), "utf-8")


_IMPORT = ("build", "review", "import", "DATA", "--person", "Anna", "--out", "OUT", "--reviewed")
_ALIGN = ("judge", "align", f"SRC/../../{_RATED}")
_DATASET = "OUT/dataset.json"
_SHEETS = (
    Input("sheet", "CSV", _sheet(name="s.csv"), ((*_IMPORT, "SRC/s.csv"),), _DATASET),
    Input("sheet", "JSON lines", _sheet(name="s.jsonl"), ((*_IMPORT, "SRC/s.jsonl"),), _DATASET),
    Input("sheet", "Label Studio", _sheet("--form", "label-studio", name="ls"),
          ((*_IMPORT, "SRC/ls/tasks.json"),), _DATASET),
    Input("sheet", "review form", _table('f.toml\nversion = "1"\n[[scale]]\nname = "a"\nzh = "甲"\n'
          'asks = "?"\nasks_zh = "？"\nmarks = ["no", "yes"]\n'),
          (("build", "review", "export", "DATA", "--scales", "SRC/f.toml", "--out", "OUT.csv"),),
          "OUT.csv"),
    Input("sheet", "ratings", _ratings, ((*_ALIGN, "SRC/r.csv"), (*_ALIGN, "SRC/r.csv", "--json"))),
)  # fmt: skip

_VALIDATE = (
    ("data", "validate", "SRC/data"), ("data", "stats", "SRC/data"),
    ("data", "export", "mcs-bench", "SRC/data", "--out", "OUT"),
    ("run", "SRC/data", "--model", "baseline:chance", "--out", "OUT2"), ("score", "OUT2"),
)  # fmt: skip


def _whole_run(src: Path, run: Run, data: Path) -> None:
    (src / "r.jsonl").write_text("".join(json.dumps(row) + "\n" for row in _ROWS), "utf-8")
    run("run", data, "--model", "replay:r.jsonl", "--model", "baseline:chance",
        "--out", src / "run", cwd=src)  # fmt: skip
    (src / "r.jsonl").unlink()
    run("score", src / "run")


_MANIFESTS = (
    Input("manifest", "dataset", _whole_dataset, _VALIDATE),
    Input("manifest", "reviewed dataset", _whole_dataset, (
        ("build", "subset", "SRC/data", "--limit", "3", "--out", "OUT"),
        ("build", "review", "export", "SRC/data", "--out", "OUT2.csv"),
    ), _DATASET),
    Input("manifest", "run", _whole_run, (
        ("report", "SRC/run", "-o", "OUT.html"), ("protocols", "SRC/run"), ("audit", "SRC/run"),
        ("merge", "SRC/run", "--out", "OUT"), ("score", "SRC/run"),
        ("report", "SRC/run", "-o", "OUT2", "--csv", "OUT3"),
    )),
    Input("manifest", "resumed run", _whole_run, (
        ("run", "DATA", "--model", "baseline:chance", "--out", "SRC/run"), ("score", "SRC/run"),
        ("compare", "SRC/run"), ("export", "inspect", "SRC/run", "--out", "OUT"),
    )),
    Input("manifest", "judged run", _whole_run, (
        ("judge", "sample", "SRC/run", "--out", "OUT.csv"), ("export", "mcs-bench", "SRC/run",
         "--out", "OUT"),
    )),
)  # fmt: skip

_PRICES = """currency = "USD"
[[models]]
names = ["gpt-4o"]
input = 2.5
output = 10.0
"""
_LEADERBOARD = "model,T1,T7,mean\n" + "".join(
    f"m{n},{50 + n}.1,{60 + n}.3,{55 + n}.2\n" for n in range(6)
)


def _mapping(src: Path, run: Run, _data: Path) -> None:
    (src / "rows.csv").write_text(_ROWS_TABLE.replace("page", "book"), "utf-8")
    run("data", "detect", src / "rows.csv", "--write-map", src / "map.toml")
    drafted = (src / "map.toml").read_text("utf-8")
    (src / "map.toml").write_text(drafted.replace('"TODO"', '"T6"'), "utf-8")


_TABLES = (
    Input("table", "prices", _table("p.toml\n" + _PRICES),
          (("run", "--plan", "DATA", "--model", "openai:gpt-4o", "--base-url", "http://127.0.0.1:9/v1",
            "--prices", "SRC/p.toml"),)),
    Input("table", "leaderboard", _table("t.csv\n" + _LEADERBOARD),
          (("audit", "SRC/t.csv"), ("audit", "SRC/t.csv", "--json"))),
    Input("table", "words", _table("w.toml\n" + _WORDS),
          (("build", "filter", "DATA", "--words", "SRC/w.toml", "--out", "OUT"),), _DATASET),
    Input("table", "items", _table("i.txt\ni0\nc0\nq0\n"),
          (("run", "--plan", "DATA", "--model", "baseline:chance", "--items", "SRC/i.txt"),)),
    Input("table", "mapping", _mapping,
          (("data", "detect", "SRC/rows.csv", "--map", "SRC/map.toml"),
           ("data", "import", "mapped", "SRC/rows.csv", "--map", "SRC/map.toml", "--out", "OUT")),
          _DATASET),
    Input("table", "pages", _pages,
          (("data", "detect", "SRC/scans"),
           ("data", "import", "pages", "SRC/scans", "--out", "OUT")), _DATASET),
)  # fmt: skip

INPUTS: Mapping[str, tuple[Input, ...]] = {
    "replay": _REPLAYS,
    "recipe": _RECIPES,
    "sheet": _SHEETS,
    "manifest": _MANIFESTS,
    "table": _TABLES,
}
"""Every input by its kind, but for those of a server (`libraries`)."""
