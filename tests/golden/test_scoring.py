"""Every score is the recorded one: of generated replies, of the bundled set, of the golden vectors.

keju runs and scores as a user's would, by its commands; values are those of ``keju score --json``.
Three functions use more than that, and change with what they use: `stored_results` (the numbers
that are summed to values, and intervals without a second scoring), `write_decisions` (people's
decisions are by codes of answers) and `write_dataset` of `generated_run`.

A part is named after its source, benchmark, protocol, metric and form of answer. If its name begins
with ``reading:``, its values depend on how irregular answers are read, and move once when that is
decided again. All other parts must not move: answers that are plain, and MCS-Bench's `official`,
which reads nothing.
"""

from __future__ import annotations

import csv
import json
import os
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping
from operator import itemgetter
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest

import keju as api
from keju.api.scores import Results
from keju.encoders import ENCODERS
from keju.items import Box
from keju.runs import RunFolder
from keju.scoring.decisions import answer_code
from keju.scoring.scoring_sample import ScoringSample
from tests.support.bundled import DEFINITIONS
from tests.support.commanding import keju
from tests.support.generated import MISSING, generated
from tests.support.generated_run import (
    OWN,
    Question,
    draw_questions,
    draw_replies,
    form_of,
    write_dataset,
    write_replies,
)
from tests.support.snapshots import compare_snapshot
from tests.support.stored_scores import read_scores

COUNT = 5_000
"""Requests of the generated run; two models answer each."""
BASELINES = ("copy", "chance", "majority", "hog", "edges", "components")
OVERLAP = Path(__file__).parents[2] / "examples/baselines/src/keju_baselines/overlap.py"
NAMES = ("plain", "mixed")
WHAT = ("recognition", "What")
"""A query whose only metric needs an encoder that a package may bring along."""
BARE = {f"baseline:{name}" for name in ("chance", "hog", "edges", "components")}
"""Models whose answers are bare letters, numbers, probabilities and boxes."""
ENCODED = {
    "Avg", "BERTScore", "BERTScore_floor", "BERTScore_zhang", "BS-F1", "cosine", "cosine_floor",
}  # fmt: skip
"""Metrics that need an encoder: unscored, for a reason that depends on the installed packages."""
TOLERANCE = 2e-5
"""Of their values: processors differ in the last digits of an encoder's vectors."""
VERSIONS = re.compile(r"-\d+(\.\d+)+(-zh-cn)?|\|keju:[^|]*|(?<=people@)[0-9a-f]{8}")
DIGEST_MODEL = """
import hashlib
import keju
from keju.plugins import Answer, Model


@keju.model("digest", summary="an answer drawn by prompt and images")
class Digest(Model):
    name = "digest"

    def __init__(self, options):
        del options

    async def answer(self, request, images):
        digest = hashlib.sha256(request.prompt.encode() + b"".join(images)).digest()
        return Answer(text="ABCD"[digest[0] % 4] if request.choices else str(digest[0]))
"""

DOMAINS = {"Single": OWN, "Pairs": OWN} | {
    task["domain"]: name for name, table in DEFINITIONS.items() for task in table["tasks"].values()
}
READ = {"strict", "reviewed"}
"""Protocols of MCS-Bench that read answers."""

Parts = dict[str, list[Any]]


class Place(NamedTuple):
    """Benchmark, task, query and form of an item."""

    benchmark: str
    task: str
    query: str
    form: str


Places = Mapping[str, Place]


def _succeed(folder: Path, *words: object) -> None:
    result = keju(*words, cwd=folder)
    # A run with missing answers is complete but ends with 1.
    assert result.returncode in ({0, 1} if words[0] == "run" else {0}), result.stderr


def stored_results(run: Path) -> Results:
    """The scores that are stored in a run, as `keju.score` returns those that it makes."""
    scores = [score for file in sorted((run / "scores").glob("*.parquet"))
              for score in read_scores(file)]  # fmt: skip
    return Results(scores, RunFolder.open(run))


def write_decisions(run: Path, file: Path) -> None:
    """Decide six of seven unclear answers, as the page for people would have exported it."""
    folder = RunFolder.open(run)
    items = {item.id: item for item in folder.iter_items()}
    with file.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["answer_key", "value"])
        for response in folder.responses():
            draw = zlib.crc32(response.item.encode()) % 7
            sample = ScoringSample(items[response.item], response)
            if draw and sample.form == "letter" and sample.is_unclear:
                writer.writerow([answer_code(response), "ABCD"[draw - 1] if draw < 5 else "none"])


def _places_of(items: Iterable[Any]) -> dict[str, Place]:
    return {
        item.id: Place(item.benchmark, item.task, item.query,
                       form_of(item.benchmark, item.task, item.query))
        for item in items
        if item.split == "test"
    }  # fmt: skip


class Source:
    """The parts of one model's scores.

    Args:
        name: where the answers are from, the beginning of the parts' names.
        places: the items.
        disputed: whether its answers can be read in different ways.
        metrics: whether each metric has a part of its own, or all of a protocol have one.
    """

    def __init__(self, name: str, places: Places, *, disputed: bool, metrics: bool = True) -> None:
        self.name = name
        self.places = places
        self.disputed = disputed
        self.metrics = metrics
        self.tasks = {_json_task(place): place for place in places.values()}

    def parts(self, data: Mapping[str, Any]) -> Parts:
        """All parts of the JSON of a model."""
        parts: Parts = {}
        for protocol in ("official", "strict", "with_reasoning"):
            if protocol in data:
                self._items(parts, protocol, data[protocol]["items"])
                self._summary(parts, protocol, data[protocol])
        if "variants" in data:
            self._variants(parts, data["variants"])
        return parts

    def sums(self, results: Results, model: str) -> Parts:
        """The numbers that are stored with a value, where there are more than the value."""
        parts: Parts = {}
        for score in results.scores:
            parts_of_value = set(score.stats) - {"numerator", "denominator"}
            sums = parts_of_value or score.stats.get("denominator", 1) != 1
            if score.model == model and score.metric not in ENCODED and sums:
                row = [score.item, score.metric, score.stats]
                self._add(parts, score.benchmark, score.protocol, "sums", row)
        return parts

    def intervals(self, board: api.Leaderboard, model: str) -> Parts:
        """The rows of a model in the leaderboard of its run, without the ranks."""
        parts: Parts = {}
        for table in (board.overall, board.domains, board.tasks):
            for row in table.filter(model=model).iter_rows(named=True):
                if row.get("metric") not in ENCODED:
                    values = [
                        value
                        for name, value in row.items()
                        if not name.startswith("rank") and name != "value_if_right"
                    ]
                    what = "intervals" if self.metrics else "means"
                    self._add(parts, row["benchmark"], row["protocol"], what, values)
        return parts

    def _add(
        self, parts: Parts, benchmark: str, protocol: str, what: str, row: Any, *,
        disputed: bool | None = None,
    ) -> None:  # fmt: skip
        """Add a row to a part; by default, MCS-Bench's `official` alone is never disputed."""
        if disputed is None:
            disputed = self.disputed and (benchmark != "MCS-Bench" or protocol in READ)
        mark = "reading: " if disputed else ""
        parts.setdefault(f"{mark}{self.name}: {benchmark} {protocol} {what}", []).append(row)

    def _items(self, parts: Parts, protocol: str, rows: Iterable[Mapping[str, Any]]) -> None:
        answers = {}
        for row in rows:
            place = self.places[row["id"]]
            about = place.benchmark, protocol
            answers[row["id"]] = (place.benchmark, row["verdict"], row.get("extracted", ""))
            if row["metric"] in ENCODED:
                continue
            metric = f"{row['metric']} of {place.form}"
            if self.metrics and protocol != "with_reasoning":
                self._add(parts, *about, metric, [row["id"], row["value"]])
            else:
                self._add(parts, *about, "values", [row["id"], metric, row["value"]])
            if "reason" in row:
                self._add(parts, *about, "reasons", [row["id"], row["metric"], row["reason"]])
        if protocol == "strict":
            for item, (benchmark, *answer) in answers.items():
                self._add(parts, benchmark, protocol, "answers", [item, *answer])

    def _summary(self, parts: Parts, protocol: str, data: Mapping[str, Any]) -> None:
        tasks = "tasks" if self.metrics else "means"
        for section in ("tasks", "without_failures", "item_means"):
            for task, values in data[section].items():
                row = [section, task, _without_encoders(values)]
                self._add(parts, self.tasks[task].benchmark, protocol, tasks, row)
        for task, layers in data["layers"].items():
            row = ["layers", task, layers]
            self._add(parts, self.tasks[task].benchmark, protocol, tasks, row)
        for task, counts in data["counts"].items():
            row = [protocol, task, counts["verdicts"]]
            self._add(parts, self.tasks[task].benchmark, "strict", "answers", row)
        self._means(parts, protocol, data)
        if not self.metrics:
            return
        for task, counts in data["counts"].items():
            row = [protocol, task, counts["items"], counts["responses"]]
            parts.setdefault(f"{self.name}: responses", []).append(row)
        for task, signatures in data["signatures"].items():
            benchmark = self.tasks[task].benchmark
            # The version of the reader will be a part of each signature.
            reads = benchmark != "MCS-Bench" or protocol in READ
            for metric, signature in _without_encoders(signatures).items():
                row = [task, metric, VERSIONS.sub("", signature)]
                self._add(parts, benchmark, protocol, "signatures", row, disputed=reads)

    def _means(self, parts: Parts, protocol: str, data: Mapping[str, Any]) -> None:
        for domain, value in data["domains"].items():
            row = [domain, value, sorted(data["missing"].get(domain, ()))]
            self._add(parts, DOMAINS[domain], protocol, "means", row)
        for domain, directions in data.get("directions", {}).items():
            self._add(parts, DOMAINS[domain], protocol, "means", [domain, directions])
        for name, value in data["formats"].items():
            self._add(parts, name.partition(":")[0], protocol, "means", [name, value])
        overall, benchmarks = data["overall"], {place.benchmark for place in self.places.values()}
        for name, value in overall.items() if isinstance(overall, dict) else [("", overall)]:
            self._add(parts, name or min(benchmarks), protocol, "means", ["overall", value])

    def _variants(self, parts: Parts, data: Mapping[str, Any]) -> None:
        for row in data["items"]:
            place = self.places[row["id"]]
            if row["metric"] not in ENCODED:
                protocol = "reviewed" if row["metric"] == "Acc_reviewed" else "as-printed"
                metric = f"{row['metric']} of {place.form}"
                value = [row["id"], metric, row["value"], row.get("reason", "")]
                what = metric if self.metrics else "values"
                self._add(parts, place.benchmark, protocol, what, value)
        for task, values in data["tasks"].items():
            formulas = _without_encoders(values)
            mean = formulas.pop("Acc_reviewed", None)
            benchmark = self.tasks[task].benchmark
            if formulas:
                self._add(parts, benchmark, "as-printed", "means", [task, formulas])
            if mean is not None:
                self._add(parts, benchmark, "reviewed", "means", [task, mean])
        if self.metrics:
            signatures = _without_encoders(data["signatures"])
            row = VERSIONS.sub("", signatures.pop("Acc_reviewed", ""))
            rows = sorted(VERSIONS.sub("", text) for text in signatures.values())
            self._add(parts, "MCS-Bench", "as-printed", "signatures", rows)
            self._add(parts, "MCS-Bench", "reviewed", "signatures", row, disputed=True)


def _without_encoders(values: Mapping[str, Any]) -> dict[str, Any]:
    return {metric: value for metric, value in values.items() if metric not in ENCODED}


def _json_task(place: Place) -> str:
    name = place.task.removeprefix("T") if place.benchmark == "MCS-Bench" else place.task
    return f"{name}/{place.query}" if place.query else name


def _compare(name: str, parts: Parts) -> None:
    """Compare parts, in which the order of the rows says nothing."""
    rows = {part: sorted(rows, key=lambda row: json.dumps(row, default=str))
            for part, rows in parts.items()}  # fmt: skip
    compare_snapshot(name, rows)


def _ranks(name: str, board: api.Leaderboard) -> Parts:
    """The ranks of all models of a run, which depend on how the answers of each are read."""
    columns = ["benchmark", "protocol", "role", "model", "rank", "rank_low", "rank_high"]
    return {f"reading: {name}: ranks": board.overall.select(columns).rows()}


@pytest.fixture(scope="module")
def generated_parts(tmp_path_factory: pytest.TempPathFactory) -> Parts:
    """10,000 replies to tasks of every benchmark and form, by two models."""
    folder = tmp_path_factory.mktemp("generated")
    questions = [row for row in draw_questions(COUNT) if (row.item.task, row.item.query) != WHAT]
    write_dataset(folder, questions)
    write_replies(folder, questions)
    models = [word for name in NAMES for word in ("--model", f"replay:{name}.jsonl")]
    _succeed(folder, "run", "dataset", *models, "-o", "run", "--benchmark", "forms.toml")
    write_decisions(folder / "run", folder / "decisions.csv")
    _succeed(folder, "score", "run", "--protocol", "printed", "--adjudicated", "decisions.csv",
            "--json", "scores.json")  # fmt: skip
    data = json.loads((folder / "scores.json").read_text("utf-8"))
    results = stored_results(folder / "run")
    board = results.leaderboard()
    parts = _ranks("generated", board)
    for name in NAMES:
        model = f"replay:{name}.jsonl"
        places = _places_of(row.item for row in questions)
        source = Source(f"generated {name}", places, disputed=name == "mixed")
        parts |= source.parts(data[model])
        parts |= source.sums(results, model) | source.intervals(board, model)
    return parts | _authors_file(folder)


def _authors_file(folder: Path) -> Parts:
    """The same replies in the authors' form, also contents that are no text."""
    rows = []
    for reply in generated(900, 40):
        row: dict[str, object] = {
            "ID": reply.item.id,
            "Task_ID": int(reply.item.task.removeprefix("T")),
            "Answer_Simplified": reply.item.answer_simplified,
        }
        rows.append(row if reply.content is MISSING else row | {"Response": reply.content})
    (folder / "RESPONSES.json").write_text(json.dumps(rows), "utf-8")
    _succeed(folder, "score", "RESPONSES.json", "--protocol", "printed", "--json", "file.json")
    places = _places_of(reply.item for reply in generated(900, 40))
    data = json.loads((folder / "file.json").read_text("utf-8"))
    return Source("authors' form", places, disputed=True).parts(data)


@pytest.fixture(scope="module")
def bundled_parts(tmp_path_factory: pytest.TempPathFactory) -> Parts:
    """The bundled set, answered by baselines and by two replayed models."""
    folder = tmp_path_factory.mktemp("bundled")
    items = [item for item in api.load("mini").items()
             if item.split == "test" and (item.task, item.query) != WHAT]  # fmt: skip
    (folder / "items.txt").write_text("".join(f"{item.id}\n" for item in items), "utf-8")
    random = Random(39)
    pairs = {item.id: len(item.images) - 1 if item.relevant else 0 for item in items}
    write_replies(folder, [draw_replies(item, random, candidates=pairs[item.id]) for item in items])
    (folder / "digest.py").write_text(DIGEST_MODEL, "utf-8")
    places = _places_of(items)
    runs = {
        "image": [*(f"baseline:{name}" for name in BASELINES),
                  *(f"replay:{name}.jsonl" for name in NAMES), "blind:digest", "shuffled:digest"],
        "gold-text": ["baseline:copy", "overlap"],
    }  # fmt: skip
    plugins = ("--plugin", "digest.py", "--plugin", OVERLAP)
    parts: Parts = {}
    for setting, models in runs.items():
        options = [word for model in models for word in ("--model", model)]
        _succeed(folder, "run", "mini", *options, "--setting", setting, "--items", "items.txt",
                "-o", setting, *plugins)  # fmt: skip
        _succeed(folder, "score", setting, "--protocol", "printed", "--json", f"{setting}.json",
                *plugins)  # fmt: skip
        data = json.loads((folder / f"{setting}.json").read_text("utf-8"))
        board = stored_results(folder / setting).leaderboard()
        parts |= _ranks(f"bundled {setting}", board)
        for model in models:
            source = Source(f"bundled {setting} {model}", places, disputed=model not in BARE,
                            metrics=False)  # fmt: skip
            parts |= source.parts(data[model])
            for part, rows in source.intervals(board, model).items():
                parts.setdefault(part, []).extend(rows)
    return parts


def test_every_score_is_the_recorded_one(generated_parts: Parts, bundled_parts: Parts) -> None:
    _compare("scoring", generated_parts | bundled_parts)


@pytest.fixture(scope="module")
def golden_parts(tmp_path_factory: pytest.TempPathFactory, shared: Path) -> Parts:
    """The vectors of the three papers' benchmarks."""
    folder = tmp_path_factory.mktemp("golden")
    vectors = {name: json.loads((shared / "golden" / f"{name}_public.json").read_text("utf-8"))
               for name in ("mcs", "ancientdoc", "obi")}  # fmt: skip
    parts: Parts = {}
    for section in ("public", "edge", "ties", "probes"):
        parts |= _authors_vectors(folder, section, vectors["mcs"][section]["items"])
    pages, bones = _pages_and_texts(vectors["ancientdoc"]), _bones(vectors["obi"])
    for name, questions in (("pages", list(pages)), ("bones", list(bones))):
        place = tmp_path_factory.mktemp(name)
        write_dataset(place, questions)
        write_replies(place, questions)
        _succeed(place, "run", "dataset", "--model", "replay:plain.jsonl", "-o", "run")
        _succeed(place, "score", "run", "--json", "scores.json")
        data = json.loads((place / "scores.json").read_text("utf-8"))
        places = _places_of(row.item for row in questions)
        # Predictions of bones are bare numbers and lists of them.
        parts |= Source(f"golden {name}", places, disputed=name == "pages").parts(data)
    return parts


def _authors_vectors(folder: Path, section: str, items: Iterable[Mapping[str, Any]]) -> Parts:
    columns = ("ID", "Task_ID", "Answer_Simplified", "Response")
    rows = [{name: item[name] for name in columns if item[name] != "__missing__"} for item in items]
    (folder / f"{section}.json").write_text(json.dumps(rows), "utf-8")
    _succeed(
        folder,
        "score",
        f"{section}.json",
        "--protocol",
        "printed",
        "--json",
        f"{section}-scores.json",
    )
    places = {
        row["ID"]: Place("MCS-Bench", task := f"T{row['Task_ID']}", "", form_of("MCS-Bench", task))
        for row in rows
    }
    data = json.loads((folder / f"{section}-scores.json").read_text("utf-8"))
    return Source(f"golden {section}", places, disputed=True).parts(data)


def _pages_and_texts(vectors: Mapping[str, Any]) -> Iterator[Question]:
    for task, rows in (("page_level_ocr", vectors["ocr"]), ("knowledge_qa", vectors["text"])):
        for row in rows:
            item = api.Item(id=f"{task} {row['ID']}", benchmark="AncientDoc", task=task,
                            question="？", answer=row["reference"])  # fmt: skip
            yield Question(item, "", (row["prediction"],), ())


def _bones(vectors: Mapping[str, Any]) -> Iterator[Question]:
    for place, row in enumerate(vectors["how"]):
        item = _bone(f"how {place}", "recognition", "How", answer=str(row["truth"]))
        yield Question(item, "", (str(row["pred"]),), ())
    for place, row in enumerate(vectors["where"]):
        boxes = tuple(Box(x0=x0, y0=y0, x1=x1, y1=y1) for x0, y0, x1, y1 in row["gt"])
        item = _bone(f"where {place}", "recognition", "Where", boxes=boxes)
        yield Question(item, "", (json.dumps(row["pred"]),), ())
    for place, row in enumerate(vectors["retrieval"]):
        relevant = tuple(sorted(index + 1 for index in row["relevant"]))
        item = _bone(f"retrieval {place}", "retrieval", "How", relevant=relevant)
        yield Question(item, "", tuple(f"{score:.2f}" for score in row["scores"]), ())


def _bone(name: str, task: str, query: str, **fields: Any) -> api.Item:
    return api.Item(id=name, benchmark="OBI-Bench", task=task, query=query, **fields)


def test_every_score_of_the_golden_vectors_is_the_recorded_one(golden_parts: Parts) -> None:
    _compare("scoring_shared", golden_parts)


@pytest.mark.semantic
def test_every_score_that_needs_an_encoder_is_the_recorded_one(
    tmp_path: Path, shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # An encoder's values are cached for later scorings.
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    encoder = shared / "golden" / "tinybert"
    questions = [row for row in draw_questions(300) if row.form == "text"]
    write_dataset(tmp_path, questions)
    write_replies(tmp_path, questions)
    models = [word for name in NAMES for word in ("--model", f"replay:{name}.jsonl")]
    _succeed(tmp_path, "run", "dataset", *models, "-o", "run", "--benchmark", "forms.toml")
    _succeed(
        tmp_path,
        "score",
        "run",
        "--protocol",
        "printed",
        *(word for name in ENCODERS for word in ("--semantic", f"{name}={encoder}")),
        "--json",
        "scores.json",
    )
    data = json.loads((tmp_path / "scores.json").read_text("utf-8"))
    places = _places_of(row.item for row in questions)
    parts: dict[str, list[float | None]] = {}
    for name in NAMES:
        values = data[f"replay:{name}.jsonl"]
        for protocol in ("official", "strict", "variants"):
            for row in sorted(values[protocol]["items"], key=itemgetter("id")):
                if row["metric"] in ENCODED:
                    benchmark = places[row["id"]].benchmark
                    reads = benchmark != "MCS-Bench" or protocol == "strict"
                    mark = "reading: " if reads and name == "mixed" else ""
                    part = f"{mark}generated {name}: {benchmark} {protocol} {row['metric']}"
                    number = row["value"]
                    parts.setdefault(part, []).append(number and round(number, 5))
    _compare_values(parts)


def _compare_values(parts: Mapping[str, list[float | None]]) -> None:
    """Compare numbers with the recorded ones, which `compare_snapshot` would compare by a hash."""
    path = Path(__file__).with_name("scoring_semantic.json")
    if os.environ.get("KEJU_WRITE_SNAPSHOTS") and os.environ.get("CI") != "true":
        rows = [f"{json.dumps(part)}: {json.dumps(values)}" for part, values in parts.items()]
        path.write_text("{\n" + ",\n".join(rows) + "\n}\n", "utf-8")
        return
    recorded = json.loads(path.read_text("utf-8"))
    moved = [part for part in recorded.keys() | parts.keys()
             if parts.get(part) != pytest.approx(recorded.get(part), abs=TOLERANCE)]  # fmt: skip
    if moved:
        pytest.fail(f"{len(moved)} of {len(recorded)} parts of {path.name} moved: {sorted(moved)}")
