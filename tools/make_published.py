"""Make the printed tables in src/keju/benchmarks from the shared transcription of the three papers.

    python -m tools.make_published

KEJU_SHARED (default ../shared) holds published/. Only facts are taken: numbers, names, counts and
which cells are bold or underlined. Each printed table becomes one CSV with the paper's rows; a
column is named ``task[/query][@subset]:metric`` with keju's names, so that it can be laid beside
our own numbers. A cell is as printed: ``**9**`` is bold, ``_9_`` underlined.
"""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from keju.definitions import task

ROOT = Path(__file__).resolve().parents[1]
PUBLISHED = Path(os.environ.get("KEJU_SHARED") or ROOT.parent / "shared") / "published"
FOLDERS = ROOT / "src" / "keju" / "benchmarks"

METRICS = {
    "mean_main": "mean",
    "EditDistance": "Edit_Distance",
    "CHRF++": "chrF++",
    "cosine_similarity": "cosine",
    "accuracy": "Acc",
    "IoU": "mIoU",
}
MARKS = {"": "{}", "bold": "**{}**", "underline": "_{}_"}
BOLD_IN_THE_IMAGE = "bold, not underlined, in the repo image"
COMPARED = ("domain", "modality", "scale", "n_category", "n_task", "n_llm")
TEXT_GIVEN = "text input="
README_IMAGE = "README ad_table3_ocr.png"

Row = Mapping[str, str]


def tables(folder: str) -> Path:
    """The folder of a benchmark's printed tables."""
    return FOLDERS / folder / "published" / "tables"


def stem(table: str) -> str:
    """The file's name of a printed table: "Table 16" is table-16, the README's picture readme."""
    return "readme" if table == README_IMAGE else table.lower().replace(" ", "-")


def metric(row: Row) -> str:
    """Keju's name of the metric; `main` is the main one of the row's task."""
    if row["metric"] == "main":
        return task(row["task"]).queries[0].official[0]
    return METRICS.get(row["metric"], row["metric"])


def mcs_column(row: Row) -> str:
    """MCS-Bench: a task, a domain's mean, or a mean over domains."""
    subset = ""
    if row["note"].startswith(TEXT_GIVEN):
        subset = "@" + row["note"].removeprefix(TEXT_GIVEN)
    scope = row["task"].removesuffix("-OverAll")
    if row["table"] == "Table 3" and row["task"] == "OverAll":
        scope = row["domain"]
    return f"{scope}{subset}:{metric(row)}"


def ancientdoc_column(row: Row) -> str:
    """AncientDoc: a task, or the agreement of a judge with people."""
    return f"{'judge' if row['group'] == 'judge' else row['task']}:{metric(row)}"


def obi_column(row: Row) -> str:
    """OBI-Bench: task and query, and the source or stratum of the images."""
    query, subset = row["domain"], row["dataset"]
    if row["task"] == "deciphering":
        query, subset = "What", " ".join(dict.fromkeys((row["dataset"], row["domain"])))
    elif row["table"].startswith("Figure"):
        query, subset = "How", row["domain"]
    return f"{row['task']}/{query}@{subset.replace('all ', '')}:{metric(row)}"


def cell(row: Row) -> str:
    """The value as printed, with its mark."""
    mark = row.get("mark_in_text", row.get("mark_in_image", ""))
    if row["note"].startswith(BOLD_IN_THE_IMAGE):
        mark = "bold"
    return MARKS[mark].format(row["value"])


def results() -> None:
    """The tables of results of all three papers."""
    for name, column, folder in (
        ("mcs", mcs_column, "mcs_bench"),
        ("ancientdoc", ancientdoc_column, "ancientdoc"),
        ("obi", obi_column, "obi_bench"),
    ):
        printed: dict[str, dict[str, dict[str, str]]] = {}
        with (PUBLISHED / f"{name}_results_long.csv").open(encoding="utf-8") as stream:
            for row in csv.DictReader(stream):
                rows = printed.setdefault(stem(row["table"]), {})
                rows.setdefault(row["model"], {})[column(row)] = cell(row)
        for table, rows in printed.items():
            # The source lists AncientDoc's Tables 2 to 6 from the last printed row to the first.
            turned = name == "ancientdoc" and table in {f"table-{n}" for n in range(2, 7)}
            ordered = dict(reversed(rows.items())) if turned else rows
            write(tables(folder) / f"{table}.csv", "model", ordered)


def facts() -> None:
    """The tables that describe the data: counts, lengths, pictures, how it was made."""
    mcs, obi = tables("mcs_bench"), tables("obi_bench")
    compared = {
        row["dataset"]: {name: row[name].replace(",", "") for name in COMPARED}
        for row in read("mcs_table1_datasets.json")
    }
    write(mcs / "table-1.csv", "dataset", compared)
    statistics = read("mcs_table2_stats.json")
    by_domain = {row["domain"]: dict(row) for row in statistics["text"]}
    for row in statistics["image"]:
        by_domain[row["domain"]] |= row
    write(mcs / "table-2.csv", "domain", {name: plain(row) for name, row in by_domain.items()})
    by_task = read("mcs_table5_task_stats.json")
    write(mcs / "table-5.csv", "task", {name: plain(row) for name, row in by_task.items()})
    registry = read("mcs_task_registry.json")
    methods = list(registry["generation_methods"])
    ticks = {
        each["id"]: {
            **{name: str(int(name in each["generation_method_as_printed"])) for name in methods},
            "in_text": (each["generation_method_from_text"] or "").split(" ")[0],
        }
        for each in registry["tasks"]
    }
    write(mcs / "table-13.csv", "task", ticks)
    sources = {
        each["id"]: {
            "method": " ".join(each["generation_method_as_printed"]),
            "links": " ".join(each["sources_raw"]["links"]),
            "licences": "; ".join(each["sources_raw"]["licenses"]),
        }
        for each in registry["tasks"]
    }
    write(mcs.parent / "sources-table-13.csv", "task", sources)
    books = read("ancientdoc_registry.json")
    for figure, what in (("figure-2", "dynasty"), ("figure-3", "category")):
        rows = {name: {"pages": str(pages)} for name, pages in books[f"{what}_pages"].items()}
        write(tables("ancientdoc") / f"{figure}.csv", what, rows)
    sources = {
        row["dataset"]: {"task": row["task"], "images": str(row["sampled_size"])}
        for row in read("obi_registry.json")["datasets"]
    }
    write(obi / "table-1.csv", "source", sources)


def model_tables() -> None:
    """The papers' tables of the models: MCS-Bench's Table 6 and OBI-Bench's Table 9."""
    columns = {
        "Open-Source": "open_source", "# Params": "params", "Vision Encoder": "vision_encoder",
        "Base LLM": "base_llm", "Institution": "institution", "Deployment": "deployment",
        "Domain": "domain",
    }  # fmt: skip
    write_models("mcs_bench", 6, "model", columns, read("mcs_models.json"))
    columns = {
        "Name": "table9_name", "Release": "released", "Vision Encoder": "vision_encoder",
        "Input Size": "input_size", "Alignment": "alignment", "Base LLM": "base_llm",
        "LLM Type": "llm_type",
    }  # fmt: skip
    described = [row for row in read("obi_models.json") if "table9_name" in row]
    write_models("obi_bench", 9, "results_name", columns, described)


def write_models(
    folder: str,
    table: int,
    name: str,
    columns: Mapping[str, str],
    models: Iterable[Mapping[str, object]],
) -> None:
    """One table of models; an empty cell is a dash in the paper."""
    words = {True: "Yes", False: "No", None: ""}
    rows = {
        str(row[name]): {
            column: words[value] if isinstance(value, bool | None) else str(value)
            for column, value in ((column, row.get(key)) for column, key in columns.items())
        }
        for row in models
    }
    write(tables(folder).parent / f"models-table-{table}.csv", "model", rows)


def plain(row: Mapping[str, object]) -> dict[str, str]:
    """Numbers without a trailing .0, and without the row's own name."""
    return {
        name: f"{value:g}" if isinstance(value, float) and value < 1e5 else f"{value:.0f}"
        for name, value in row.items()
        if isinstance(value, int | float)
    }


def read(name: str) -> dict:
    """One of the shared JSON files."""
    return json.loads((PUBLISHED / name).read_text("utf-8"))


def write(path: Path, kind: str, rows: Mapping[str, Mapping[str, str]]) -> None:
    """One table; a cell that the paper leaves out is empty."""
    columns: Iterable[str] = dict.fromkeys(name for row in rows.values() for name in row)
    with path.open("w", encoding="utf-8", newline="") as stream:
        out = csv.DictWriter(stream, [kind, *columns], restval="", lineterminator="\n")
        out.writeheader()
        out.writerows({kind: name, **row} for name, row in rows.items())


if __name__ == "__main__":
    results()
    facts()
    model_tables()
