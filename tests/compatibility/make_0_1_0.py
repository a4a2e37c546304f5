"""How ``keju-0.1.0`` was made: small files of every kind that keju 0.1.0 wrote, by its own code.

They cannot be made with a later keju. To make them again, check out the last commit of 0.1.0
(181f01c4), copy this folder to its ``tests/`` and run in its root::

    PYTHONPATH=src:. python tests/compatibility/make_0_1_0.py

``written`` has the files that users write (pages, tables, recipes, settings), ``made`` what the
commands of 0.1.0 made of them, in one archive. The images are strokes drawn by this script; the
texts are classics in the public domain and sentences of ours.
"""

from __future__ import annotations

import csv
import json
import os
import shutil
import sqlite3
import tarfile
from contextlib import closing
from pathlib import Path

from msgspec import to_builtins
from typer.testing import CliRunner

from keju import __version__
from keju.cli import app
from keju.datasets.store import Dataset, DatasetWriter
from tests.compatibility.fixture_items import draw, items_of, write_sources
from tests.compatibility.fixture_people import people
from tests.compatibility.fixture_server import Server

ROOT = Path(__file__).with_name("keju-0.1.0")
WRITTEN, MADE = ROOT / "written", ROOT / "made"
EXPORTS = ("parquet", "mcs-bench", "ancientdoc", "vlmevalkit-tsv")
ABOUT = {"version": "1", "licence": "CC0-1.0", "source": "made by the tests"}


def keju(*arguments: object, status: int = 0) -> str:
    """Run the command from the folder of the fixtures, ."""
    done = CliRunner().invoke(app, [str(each) for each in arguments])
    unexpected = done.exception and not isinstance(done.exception, SystemExit)
    if done.exit_code != status or unexpected:
        raise SystemExit(f"{arguments}: {done.exit_code}\n{done.output}\n{done.exception!r}")
    print("keju", *arguments, flush=True)
    return done.stdout


def dataset(path: Path, name: str, tasks: set[str] | None = None) -> None:
    """One item of each form of answer of the three benchmarks, or those of some tasks."""
    with DatasetWriter(
        path, name=name, synthetic=True, language="lzh", script="Hant", **ABOUT
    ) as writer:
        for item in items_of(writer):
            if tasks is None or item.task in tasks:
                writer.add(item)


def datasets() -> None:
    dataset(MADE / "datasets/all", "all-forms")
    for form in EXPORTS:
        keju("data", "export", form, "made/datasets/all", "--out", f"made/exports/{form}")
    imports = {
        "pages": ("pages", ()),
        "page-xml": ("outlines/page-xml", ()),
        "alto": ("outlines/alto", ()),
        "mcs-bench": ("mcs-bench", ()),
        "ancientdoc": ("ancientdoc", ("books=written/books.csv",)),
        "obi-recognition": ("obi/O2BR", ("source=O2BR",)),
        "obi-rejoining": ("obi/OBI-rejoin", ("source=OBI-rejoin",)),
        "obi-classification": ("obi/HWOBC", ("source=HWOBC", "classes=3")),
        "obi-retrieval": ("obi/OBC306", ("source=OBC306", "classes=2", "distractors=3")),
        "obi-deciphering": ("obi/EVOBC", ("source=EVOBC",)),
    }
    about = ("--licence", "CC0-1.0", "--source", "made by the tests")
    for form, (source, options) in imports.items():
        given = [part for option in options for part in ("--option", option)]
        out = ("--out", f"made/imports/{form}")
        keju("data", "import", form, f"written/{source}", *out, *about, *given)
    for form in EXPORTS:
        out = ("--out", f"made/imports/exported-{form}")
        keju("data", "import", form, f"made/exports/{form}", *out, *about)


def runs(server: Server) -> None:
    asked = ("--base-url", server.url, "--concurrency", 1)
    models = ("--model", "openai:good", "--model", "openai:poor")
    everything = ("--model", "baseline:components", "--out", "made/runs/all")
    keju("run", "made/datasets/all", *models, *asked, *everything, status=1)
    keju("score", "made/runs/all", "--json", "made/scores/all.json")
    tasks = ("T1", "T2", "T3", "T4", "T6", "T7", "page_level_ocr", "knowledge_qa")
    keju("run", "made/datasets/all", *models, *asked, "--setting", "image", "--setting", "own-ocr",
         "--setting", "gold-ocr", *(part for task in tasks for part in ("--task", task)),
         "--out", "made/runs/settings", status=1)  # fmt: skip
    keju("score", "made/runs/settings", "--json", "made/scores/settings.json")
    keju("run", "made/datasets/all", *models, *asked, "--rounds", 2, "--temperature", 0.5,
         "--script", "traditional", "--boxes", "yxyx-1000", "--max-tokens", 64, "--preset",
         "obi-bench", "--task", "T1", "--task", "T5", "--task", "recognition",
         "--task", "deciphering", "--out", "made/runs/rounds")  # fmt: skip
    keju("score", "made/runs/rounds", "--json", "made/scores/rounds.json")
    for shard in (1, 2):
        keju("run", "made/datasets/all", "--model", "openai:good", *asked, "--task", "T2",
             "--task", "T7", "--shard", f"{shard}/2",
             "--out", f"made/runs/shard-{shard}")  # fmt: skip
    keju("merge", "made/runs/shard-1", "made/runs/shard-2", "--out", "made/runs/merged")
    keju("run", "made/datasets/all", "--model", "openai:good", *asked, "--task", "T5", "--task",
         "T6", "--batch", "--out", "made/runs/batch", status=1)  # fmt: skip
    keju("score", "written/RESPONSES.json", "--json", "made/scores/responses.json")
    judge = ("made/runs/settings", "--model", "openai:judge", *asked, "--limit", 1)
    keju("judge", "grade", *judge, "--repeats", 2)
    keju("judge", "grade", *judge, "--rubrics", "written/rubrics.toml")
    keju("judge", "probe", *judge, "--task", "T6", "--of", "openai:good")
    keju("judge", "sample", "made/runs/settings", "--per-task", 2, "-o", "made/sample.csv")
    grades = json.loads(keju("judge", "grade", "made/runs/settings", "--json"))
    (MADE / "scores/grades.json").write_text(json.dumps(grades, ensure_ascii=False, indent=1))


def review() -> None:
    """Sheets before and after a review, for people's programs and in the three forms."""
    drafts = "made/builds/drafted/steps/01-draft"
    keju("build", "review", "export", "made/datasets/all", "--out", "made/review/all.csv")
    keju("build", "review", "export", "made/datasets/all", "--out", "made/review/all.jsonl")
    keju("build", "review", "export", "made/datasets/all", "--form", "label-studio", "--out",
         "made/review/label-studio")  # fmt: skip
    keju("build", "review", "export", "made/datasets/all", "--form", "coco", "--task",
         "recognition", "--out", "made/review/coco")  # fmt: skip
    keju("build", "review", "export", drafts, "--drafts", "--scales", "written/scales.toml",
         "--out", "made/review/drafts.csv")  # fmt: skip
    for sheet, person in (("all", "anna"), ("all", "bo"), ("drafts", "anna")):
        out = f"{person}.csv" if sheet == "all" else f"{sheet}-{person}.csv"
        decide(MADE / f"review/{sheet}.csv", MADE / "review" / out, person)
    keju("build", "review", "import", "made/datasets/all", "--reviewed", "made/review/anna.csv",
         "--reviewed", "made/review/bo.csv", "--need", 2, "--judge", "anna", "--out",
         "made/review/reviewed")  # fmt: skip
    keju("build", "written/recipes/reviewed.toml", "--out", "made/builds/reviewed")


def decide(sheet: Path, out: Path, person: str) -> None:
    """Fill in a sheet as a person would: every third item mended, one rejected, all marked."""
    with sheet.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    scales = [name for name in rows[0] if name.partition(" ")[0] in {"correct", "to", "fit"}]
    for number, row in enumerate(rows):
        row["person"] = person
        row["decision"] = "accept"
        if number % 3 == 1 and not row["options"] and number < len(rows) - 1:
            row["decision"], row["new_question"] = "mend", f"（改）{row['question']}"
            row["reason"] = "the question was unclear"
        if number == len(rows) - 1 and person == "anna":
            row["decision"], row["reason"] = "reject", "not in the picture"
        for scale in scales:
            row[scale] = "3" if person == "anna" else "2"
    with out.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)


def builds() -> None:
    for recipe in sorted((WRITTEN / "recipes").glob("*.toml")):
        if recipe.stem != "reviewed":  # It reads a sheet that a person filled in.
            keju("build", f"written/recipes/{recipe.name}", "--out", f"made/builds/{recipe.stem}")
    keju("build", "release", "made/datasets/all", "--out", "made/release", "--drafts")


def record() -> None:
    """What 0.1.0 itself says of its datasets: hash, items, and the items in JSON."""
    found = {}
    for path in sorted(MADE.rglob("dataset.json")):
        if path.parent.is_symlink():
            continue
        opened = Dataset.open(path.parent)
        name = str(path.parent.relative_to(MADE))
        found[name] = opened.manifest.hash
    (MADE / "hashes.json").write_text(json.dumps(found, indent=1) + "\n", "utf-8")
    items = [to_builtins(item) for item in Dataset.open(MADE / "datasets/all").items()]
    text = json.dumps(items, ensure_ascii=False, indent=1)
    (MADE / "items.json").write_text(text + "\n", "utf-8")


def tidy() -> None:
    """Remove locks, and close the logs of people's acts that SQLite keeps in three files."""
    for path in MADE.rglob("run.lock"):
        path.unlink()
    for path in MADE.rglob("acts.sqlite"):
        with closing(sqlite3.connect(path)) as base:
            base.execute("pragma wal_checkpoint(truncate)")
            base.execute("pragma journal_mode=delete")


def pack() -> None:
    """Put what was made into one archive: 1,500 small files, most of them images of each other."""

    def plain(member: tarfile.TarInfo) -> tarfile.TarInfo:
        member.uid = member.gid = member.mtime = 0
        member.uname = member.gname = ""
        return member

    with tarfile.open(ROOT / "made.tar.xz", "w:xz", preset=9) as archive:
        archive.add(MADE, "made", filter=plain)
    shutil.rmtree(MADE)


def main() -> None:
    assert __version__ == "0.1.0"
    shutil.rmtree(MADE, ignore_errors=True)
    (MADE / "scores").mkdir(parents=True)
    write_sources(WRITTEN, draw)
    os.chdir(ROOT)  # So that stored paths are relative.
    os.environ.update(OPENAI_API_KEY="key-of-the-tests", COLUMNS="200")
    server = Server(WRITTEN)
    datasets()
    server.learn(Dataset.open(MADE / "datasets/all"))
    runs(server)
    builds()
    review()
    people(MADE)
    server.stop()
    record()
    tidy()
    pack()


if __name__ == "__main__":
    main()
