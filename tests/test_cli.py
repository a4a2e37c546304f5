"""The command line: what scripts rely on, and one line for every mistake."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from keju import __version__ as version
from keju.datasets import mini
from tests.support import commanding
from tests.support.bundled import QUERIES, TASKS

COMMANDS = [
    [], ["demo"], ["tasks"], ["metrics"], ["models"],
    ["run"], ["score"], ["protocols"], ["report"],
    ["ocr-report"], ["bundle"], ["verify"], ["site"],
    ["audit"], ["judge"], ["judge", "grade"], ["judge", "probe"], ["judge", "align"],
    ["judge", "sample"],
    ["data"], ["data", "import"], ["data", "export"], ["data", "formats"], ["data", "validate"],
    ["data", "stats"],
    ["build"],
]  # fmt: skip


def keju(
    *args: object, cwd: Path | None = None, encoding: str = "utf-8"
) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONIOENCODING": encoding}
    return commanding.keju(*args, cwd=cwd, env=environment)


def test_the_help_loads_no_package_that_only_work_needs():
    code = (
        "import sys; sys.argv = ['keju', '--help']; from keju.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "heavy = {'polars', 'numpy', 'pyarrow', 'rapidfuzz', 'PIL', 'cv2', 'scipy', 'aiohttp'}\n"
        "sys.exit(', '.join(sorted(heavy & set(sys.modules))))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=False
    )
    assert done.stderr.strip() == ""
    assert "Usage" in done.stdout


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_explains_itself(command):
    done = keju(*command, "--help")
    assert done.returncode == 0
    assert "Usage" in done.stdout
    assert len(done.stdout.splitlines()) > 8


@pytest.mark.parametrize(
    ("step", "option", "default"),
    [("standardise", "--recode", "off"), ("standardise-texts", "--punctuation", "on")],
)
def test_a_step_says_what_its_switches_are_at_first(step, option, default, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    lines = keju("build", step, "--help").stdout.splitlines()
    told = next(n for n, line in enumerate(lines) if f"{option} " in line)
    assert f"(default: {default})" in " ".join(" ".join(lines[told : told + 2]).split())


def test_prompts_are_printed_for_every_question_form():
    lines = keju("tasks", "--prompts").stdout.splitlines()
    assert sum(not line.startswith(" ") for line in lines) == len(QUERIES)
    place = lines.index("recognition/Where  甲骨识别 Recognition")
    assert "bounding box for each detected oracle bone character" in lines[place + 1]


def test_tasks_as_json_have_the_form_that_scripts_rely_on():
    rows = json.loads(keju("tasks", "--json").stdout)
    assert {(row["benchmark"], row["id"]) for row in rows} == {
        (name, task) for name, ids in TASKS.items() for task in ids
    }
    for row in rows:
        assert set(row) == {
            "id", "benchmark", "name_zh", "name_en", "domain", "format", "metrics", "count",
            "count_kind",
        }  # fmt: skip
        assert set(row["metrics"]) == {"official", "strict"}
    assert sum(row["count"] for row in rows if row["benchmark"] == "MCS-Bench") == 6500


def test_models_as_json_say_what_is_missing():
    rows = {row["spelling"]: row for row in json.loads(keju("models", "--json").stdout)}
    assert rows["ppocr"]["missing"] == ""
    assert "openai:MODEL" in rows


def test_the_version_is_printed_by_the_module_and_by_the_command():
    done = subprocess.run(
        [sys.executable, "-m", "keju", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout == keju("--version").stdout == f"keju {version}\n"


def authors_form(path: Path, rows: object) -> Path:
    path.write_text(json.dumps(rows, ensure_ascii=False), "utf-8")
    return path


def test_scoring_the_authors_form(tmp_path):
    file = authors_form(
        tmp_path / "responses.json",
        [
            {"ID": "a", "Task_ID": 1, "Answer_Simplified": "天地玄黄", "Response": "天地玄黃。"},
            {"ID": "b", "Task_ID": 5, "Answer_Simplified": "B", "Response": "答案是B"},
            {"ID": "c", "Task_ID": 5, "Answer_Simplified": "B", "Response": "ABCD"},
        ],
    )
    done = keju("score", file, "--protocol", "printed", "--json", tmp_path / "out.json")
    assert done.returncode == 0, done.stderr
    assert "BLEU_eq5" in done.stdout
    found = json.loads((tmp_path / "out.json").read_text("utf-8"))
    assert set(found) == {"official", "strict", "variants"}
    assert found["variants"]["tasks"] == {"1": {"BLEU_eq5": 1.0}, "5": {"Acc_reviewed": 0.5}}
    assert found["official"]["tasks"]["1"]["CR"] == 1.0
    assert found["official"]["tasks"]["5"] == {"Acc": 1.0}
    assert found["strict"]["tasks"]["5"]["Acc"] == 0.5
    assert found["strict"]["tasks"]["1"]["CER"] == 0.0
    assert {"id", "task", "metric", "value", "status"} <= set(found["official"]["items"][0])


def test_one_protocol_alone(tmp_path):
    row = {"ID": "b", "Task_ID": 5, "Answer_Simplified": "B", "Response": "B"}
    file = authors_form(tmp_path / "responses.json", [row])
    assert (
        keju("score", file, "--protocol", "strict", "--json", tmp_path / "o.json").returncode == 0
    )
    assert set(json.loads((tmp_path / "o.json").read_text())) == {"strict"}


GOOD = {"ID": "b", "Task_ID": 5, "Answer_Simplified": "B", "Response": "B"}
MISTAKES = {
    "no such file": (["score", "missing.json"], "missing.json"),
    "not JSON": (["score", "torn.json"], "torn.json"),
    "not the form": (["score", "object.json"], "object.json"),
    "missing key": (["score", "keyless.json"], "Response"),
    "not a run": (["report", "."], "run.json"),
    "not a dataset": (["data", "validate", "."], "dataset.json"),
    "no such format": (
        ["data", "import", "pdf", ".", "--out", "o", "--licence", "x", "--source", "y"],
        "pages",
    ),
    "no such task": (
        ["run", "--plan", mini.path(), "--model", "baseline:copy", "--task", "T99"],
        "T99",
    ),
    "no such model": (["run", "--plan", mini.path(), "--model", "ppocrr"], "ppocr"),
    "pictures that are no number": (["report", ".", "--pictures", "nan"], "--pictures"),
    "a name that steers the terminal": (["report", "\x1b[2J\n\u202e"], r"\x1b[2J"),
    "a name that is too long": (["score", "x" * 300], "File name too long"),
    "no such command": (["bogus"], "'bogus'"),
    "a missing argument": (["run"], "DATASET"),
    "no such option": (["tasks", "--nope"], "--nope"),
    "no such choice": (["score", "x", "--protocol", "foo"], "'official'"),
    "no number": (["report", "x", "--pictures", "many"], "--pictures"),
    "no whole number": (
        ["run", "mini", "--model", "baseline:copy", "--limit", "x", "--out", "r"],
        "'--limit': a whole number is expected. See: ",
    ),
    "weights nowhere, though nothing needs them": (
        ["score", "good.json", "--semantic", "minilm=/nope"],
        "/nope",
    ),
    "no key": (["run", mini.path(), "--model", "openai:m", "--out", "o"], "OPENAI_API_KEY"),
}


@pytest.mark.parametrize(("args", "named"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_one_line_that_names_it(args, named, tmp_path, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    (tmp_path / "torn.json").write_text('[{"ID": 1')
    (tmp_path / "object.json").write_text("{}")
    (tmp_path / "keyless.json").write_text('[{"ID": "a", "Task_ID": 1, "Answer_Simplified": "天"}]')
    authors_form(tmp_path / "good.json", [GOOD])
    done = keju(*args, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("keju: ")
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr[:-1].isprintable()
    assert named in done.stderr
    assert "Traceback" not in done.stderr + done.stdout


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "utf-8"])
def test_no_encoding_of_the_terminal_stops_a_command(encoding, tmp_path):
    row = {"ID": "b", "Task_ID": 5, "Answer_Simplified": "B", "Response": "B"}
    file = authors_form(tmp_path / "responses.json", [row])
    for args in (["tasks"], ["data", "formats"], ["data", "stats", mini.path()], ["score", file]):
        done = keju(*args, encoding=encoding)
        assert done.returncode == 0, done.stderr
    listed = json.loads(keju("tasks", "--json", encoding=encoding).stdout)
    assert {row["id"]: row["name_zh"] for row in listed}["T1"] == "文本OCR"


def test_the_whole_way_with_baselines(tmp_path):
    run = tmp_path / "run"
    command = ("run", "--plan", mini.path(), "--model", "baseline:chance", "--task", "T7")
    plan = keju(*command, "--json")
    calls = json.loads(plan.stdout)["rows"][0]["calls"]
    assert calls >= 3
    asked = keju("run", mini.path(), "--model", "baseline:chance", "--task", "T7", "--out", run)
    assert asked.returncode == 0, asked.stderr
    assert len((run / "responses").rglob("T7.jsonl").__next__().read_text().splitlines()) == calls
    again = keju("run", mini.path(), "--model", "baseline:chance", "--task", "T7", "--out", run)
    assert again.returncode == 0
    assert keju("score", run).returncode == 0
    answers = next((run / "responses").rglob("T7.jsonl"))
    kept = answers.read_text("utf-8")
    answers.write_text(kept + kept.splitlines()[0].replace('"item":"', '"item":"no-') + "\n")
    stray = keju("score", run)
    assert stray.returncode == 1
    assert "Not scored: 1 response" in stray.stdout
    assert str(answers) in stray.stdout
    answers.write_text(kept, "utf-8")
    assert keju("score", run).returncode == 0
    page = tmp_path / "r.html"
    made = keju("report", run, "-o", page, "--csv", tmp_path / "csv")
    assert made.returncode == 0, made.stderr
    assert page.stat().st_size > 100_000
    assert (tmp_path / "csv" / "items.csv").is_file()


def test_failures_end_with_status_one_and_a_hint(tmp_path):
    answers = tmp_path / "some.jsonl"
    answers.write_text('{"item": "no such item", "text": "天"}\n', "utf-8")
    done = keju(
        "run", mini.path(), "--model", f"replay:{answers}", "--task", "T7", "--out", tmp_path / "r"
    )
    assert done.returncode == 1
    # The same file has no answer the second time either.
    assert "--retry-failed" not in done.stdout
    assert "Add the answers" in done.stdout


def test_licence_and_source_are_optional_for_an_import(tmp_path):
    image = next((mini.path() / "images").glob("*.jpg"))
    src = tmp_path / "src"
    src.mkdir()
    (src / "p1.jpg").write_bytes(image.read_bytes())
    (src / "p1.txt").write_text("天地玄黃", "utf-8")
    done = keju("data", "import", "pages", src, "--out", tmp_path / "a")
    assert done.returncode == 0, done.stderr
    assert "not given: --licence, --source." in done.stderr
    done = keju("data", "import", "pages", src, "--out", tmp_path / "b", "--license", "CC0-1.0")
    assert "not given: --source." in done.stderr
    assert '"licence": "CC0-1.0"' in (tmp_path / "b/dataset.json").read_text("utf-8")


def test_importing_pages_then_validating_them(tmp_path):
    source = tmp_path / "scans"
    source.mkdir()
    image = next((mini.path() / "images").glob("*.jpg"))
    (source / "p1.jpg").write_bytes(image.read_bytes())
    (source / "p1.txt").write_text("天地玄黃\n宇宙洪荒\n", "utf-8")
    made = tmp_path / "made"
    done = keju(
        "data", "import", "pages", source, "--out", made, "--licence", "CC0-1.0", "--source", "us"
    )
    assert done.returncode == 0, done.stderr
    assert keju("data", "validate", made).returncode == 0
    stored = next((made / "images").iterdir())
    stored.write_bytes(stored.read_bytes()[:-200])
    faulty = keju("data", "validate", made)
    assert faulty.returncode == 1
    assert "p1" in faulty.stdout
    counted = json.loads(keju("data", "stats", made, "--json").stdout)
    assert counted["tasks"][0]["n_q"] == 1
    assert counted["tasks"][0]["avg_a"] == 8


def test_an_import_names_the_licence_that_the_definition_states(tmp_path):
    src = tmp_path / "src"
    src.mkdir()
    image = next((mini.path() / "images").glob("*.jpg"))
    (src / "p1.jpg").write_bytes(image.read_bytes())
    (src / "p1.txt").write_text("天地玄黃", "utf-8")
    plugin = tmp_path / "own metrics.py"
    plugin.write_text("")
    args = ("data", "import", "pages", src, "--option", "task=T1", "--plugin", plugin)
    done = keju(*args, "--out", tmp_path / "a")
    assert done.returncode == 0, done.stderr
    assert "MCS-Bench states the licence CC-BY-NC-SA-4.0" in done.stderr
    assert f"keju --plugin '{plugin}' run" in " ".join(done.stdout.split())
    done = keju(*args, "--out", tmp_path / "b", "--licence", "CC0-1.0")
    assert "states the licence" not in done.stderr
