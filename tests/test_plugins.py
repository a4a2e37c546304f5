"""Plug-in files and entry points as users meet them: in commands, recipes, datasets and runs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

import keju as package
from keju import plugins
from tests.support.builds import need_ray
from tests.support.commanding import keju as started
from tests.support.plugged import distribution, run_here

FILE = """
from pathlib import Path
from typing import Annotated

from msgspec import Struct

import keju
from keju.plugins import *


@keju.model("fixed:TEXT", summary="answers every request with TEXT", role="baseline")
class Fixed(Model):
    def __init__(self, text, options):
        self.text = text

    @property
    def identity(self):
        return {"text": self.text}

    async def answer(self, request, images):
        if self.text == "wrong":
            return b"neither an Answer nor a text"
        return Answer(text=self.text)


@keju.model("echo", summary="answers every request with its prompt")
class Echo(Model):
    def __init__(self, options):
        pass

    async def answer(self, request, images):
        return request.prompt


@keju.reader("answers-tsv", summary="lines of id and answer", layout="SRC  a TSV file")
def read_answers(src, writer, options):
    for line in source_text(src).splitlines():
        id, answer = line.split("\\t")
        writer.add(Item(id=id, benchmark="mcs-bench", task="T2", question=answer, answer=answer))
    return ["read by a plug-in"]


class Typed(Settings, frozen=True, kw_only=True):
    first: Annotated[int, Meta(description="number of the first item", ge=0)] = 1
    field: Annotated[dict[str, str], Meta(description="column of NAME")] = {}
    dry_run: Annotated[bool, Meta(description="yes: add nothing")] = False


@keju.reader("typed", summary="typed options", settings=Typed)
def read_typed(src, writer, settings):
    writer.add(Item(id=str(settings.first), benchmark="mcs-bench", task="T2", answer="甲"))
    return [f"{settings.field} {settings.dry_run}"]


class Kept(Settings, frozen=True, kw_only=True):
    text: Annotated[str, Meta(description="What an answer must contain.")]


class Row(Struct, frozen=True):
    id: str
    answer: str


class Found(Struct, frozen=True):
    length: int = 0
    error: str = ""


def measure(row: Row) -> Found:
    return Found(len(row.answer))


@keju.step("keep-answers", summary="Keep items with a text in their answer.", settings=Kept)
def keep(context, settings):
    rows = [Row(item.id, item.answer) for item in context.items()]
    lengths = context.engine.map("lengths", rows, measure, Found)
    for item, found in zip(context.items(), lengths, strict=True):
        if settings.text in item.answer:
            context.keep(item, note=f"{found.length} characters")


class Single(SourceSettings, frozen=True, kw_only=True):
    answer: Annotated[str, Meta(description="The answer.")]


@keju.source("single", summary="one item", settings=Single)
def single(settings, site):
    with writing(site.out, "single", licence=settings.licence, source=settings.source) as writer:
        text = settings.answer
        writer.add(Item(id="one", benchmark="mcs-bench", task="T2", question="書", answer=text))
    return ["one item"]
"""
RECIPE = """
name = "plugged"
licence = "CC0-1.0"

[[source]]
form = "single"
licence = "CC0-1.0"
source = "made"
answer = "論語"

[[source]]
form = "answers-tsv"
licence = "CC0-1.0"
source = "made"
path = "answers.tsv"

[[step]]
do = "keep-answers"
text = "論"
"""


@pytest.fixture
def keju(monkeypatch, capsys):
    """Run a command in this process, which then forgets its plug-in files."""
    return partial(run_here, monkeypatch, capsys)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "mine.py"
    path.write_text(FILE, "utf-8")
    (tmp_path / "answers.tsv").write_text("a\t論衡\nb\t孟子\n", "utf-8")
    (tmp_path / "recipe.toml").write_text(RECIPE, "utf-8")
    return path


def test_every_public_name_of_the_module_exists_and_the_decorators_are_those_of_keju():
    assert all(hasattr(plugins, name) for name in plugins.__all__)
    for name in ("model", "reader", "writer", "export", "responses", "step", "source"):
        assert getattr(package, name) is getattr(plugins, name)


def test_lists_show_plug_ins_beside_built_in_names(file, keju):
    for command, name in (
        (("models",), "fixed:TEXT"),
        (("data", "formats"), "answers-tsv"),
        (("build", "--help"), "keep-answers"),
        (("build", "sources"), "single"),
    ):
        listed = keju(*command, "--plugin", file)
        assert name in listed.stdout
        assert "mine.py" in listed.stdout
        assert name not in keju(*command).stdout
    assert keju("--plugin", file, "models").stdout == keju("models", f"--plugin={file}").stdout


def test_a_model_of_a_file_runs_and_the_run_records_it(file, tmp_path, keju):
    run = tmp_path / "run"
    command = ("run", "mini", "--task", "T7", "--limit", "2", "--model", "fixed:甲", "--out", run)
    done = keju(*command, "--plugin", file)
    assert (done.returncode, "2 of 2" in done.stdout) == (0, True), done.stderr
    manifest = json.loads((run / "run.json").read_text("utf-8"))
    (used,) = manifest["plugins"]
    assert used["name"] == "mine.py"
    assert manifest["roles"] == {"fixed:甲": "baseline"}
    identity = manifest["models"]["fixed:甲"]
    assert (identity["kind"], identity["text"]) == ("fixed", "甲")
    assert used["sha256"][:12] in identity["plugin"]
    # Neither scoring nor a report needs it; the role comes from the run.
    assert keju("score", run).returncode == 0
    page = tmp_path / "report.html"
    assert keju("report", run, "-o", page).returncode == 0
    assert keju("report", run, "-o", page, "--plugin", file).returncode == 0
    missing = keju(*command)
    assert missing.returncode == 2
    assert "no model 'fixed:甲'" in missing.stderr


def test_a_model_without_a_part_takes_none(file, keju):
    done = keju("run", "--plan", "mini", "--model", "echo:small", "--plugin", file)
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert "Models of this kind: echo" in done.stderr


def test_another_version_of_a_file_is_another_model(file, tmp_path, keju):
    command = ("run", "mini", "--task", "T7", "--limit", "1", "--model", "fixed:甲",
               "--out", tmp_path / "run", "--plugin", file)  # fmt: skip
    assert keju(*command).returncode == 0
    file.write_text(FILE + "\n# changed\n", "utf-8")
    again = keju(*command)
    assert again.returncode == 2
    assert "plugin of fixed:甲 (mine.py (sha256 " in again.stderr


def test_an_answer_of_another_type_is_a_failure_of_its_request(file, tmp_path, keju):
    run = tmp_path / "run"
    done = keju("run", "mini", "--task", "T7", "--limit", "1", "--model", "fixed:wrong",
                "--out", run, "--plugin", file)  # fmt: skip
    assert done.returncode == 1
    (responses,) = (run / "responses").rglob("*.jsonl")
    assert "fixed:wrong returned a bytes instead of a text" in responses.read_text("utf-8")


def test_the_wrapping_models_take_and_record_plug_ins(file, tmp_path, keju):
    run = tmp_path / "run"
    command = ("run", "mini", "--task", "T1", "--limit", "1", "--out", run, "--plugin", file)
    done = keju(*command, "--model", "blind:echo")
    assert done.returncode == 0, done.stderr
    manifest = json.loads((run / "run.json").read_text("utf-8"))
    assert [each["name"] for each in manifest["plugins"]] == ["mine.py"]
    assert manifest["roles"] == {"blind:echo": "baseline"}
    # The role that the plug-in declares counts: nothing is below a baseline.
    wrong = keju(*command, "--model", "blind:fixed:甲")
    assert wrong.returncode == 2
    assert "blind:fixed:甲: asks a " in wrong.stderr


def test_a_reader_of_a_file_imports_and_the_dataset_records_it(file, tmp_path, keju):
    data = tmp_path / "data"
    source = tmp_path / "answers.tsv"
    done = keju("data", "import", "answers-tsv", source, "--out", data, "--plugin", file)
    assert (done.returncode, done.stderr.splitlines()[0]) == (0, "note: read by a plug-in")
    manifest = json.loads((data / "dataset.json").read_text("utf-8"))
    assert manifest["made"]["plugins"].startswith("mine.py (sha256 ")
    assert keju("data", "stats", data).returncode == 0
    missing = keju("data", "import", "answers-tsv", source, "--out", tmp_path / "other")
    assert "no format 'answers-tsv'" in missing.stderr


def test_a_reader_of_a_file_has_typed_options(file, tmp_path, keju):
    source = tmp_path / "answers.tsv"

    def imported(form, *options):
        given = [word for option in options for word in ("--option", option)]
        out = tmp_path / f"{form}{len(options)}"
        return keju("data", "import", form, source, "--out", out, *given, "--plugin", file).stderr

    shown = keju("data", "formats", "typed", "--plugin", file).stdout
    assert "--option first=…  number of the first item" in shown
    assert "--option field.NAME=…  column of NAME" in shown
    assert "--option dry-run=…  yes: add nothing" in shown
    done = imported("typed", "first=7", "field.id=编号", "dry-run=yes")
    assert done.splitlines()[0] == "note: {'id': '编号'} True"
    wrong = imported("typed", "first=-1", "dry-run=perhaps")
    assert "first: expected a whole number >= 0" in wrong
    assert "dry-run: expected true or false" in wrong


def test_a_recipe_uses_source_reader_and_step_of_a_file(file, tmp_path, keju):
    build = tmp_path / "build"
    command = ("build", tmp_path / "recipe.toml", "--out", build)
    missing = keju(*command)
    assert missing.returncode == 2
    assert "no form 'single'" in missing.stderr
    assert "no step 'keep-answers'" in missing.stderr
    done = keju(*command, "--plugin", file)
    assert done.returncode == 0, done.stderr
    items = package.load(build / "dataset").items()
    assert [item.answer for item in items] == ["論語", "論衡"]
    assert items[0].provenance[-1].note == "2 characters"
    record = json.loads(next(build.glob("steps/01-*/step.json")).read_text("utf-8"))
    assert record["plugins"][0]["name"] == "mine.py"
    made = package.load(build / "dataset").manifest.made["plugins"]
    assert made.count("mine.py") == 1
    assert keju(*command, "--plugin", file).stdout.count("up to date") == 4
    gone = keju(*command).stderr
    for name in ("no form 'single'", "no step 'keep-answers'"):
        (line,) = [line for line in gone.splitlines() if name in line]
        assert f"An earlier build in {build} used the plug-in mine.py (sha256 " in line
        assert line.endswith("). Load it with --plugin FILE.py")
    file.write_text(FILE + "\n# changed\n", "utf-8")
    assert "up to date" not in keju(*command, "--plugin", file).stdout


def test_a_step_whose_name_is_a_list_is_one_line(tmp_path, keju):
    (tmp_path / "recipe.toml").write_text('name = "x"\n[[step]]\ndo = ["a"]\n', "utf-8")
    done = keju("build", tmp_path / "recipe.toml", "--out", tmp_path / "build")
    assert "step 1: it needs do = " in done.stderr


def test_a_step_of_a_file_is_a_command_with_its_settings(file, tmp_path, keju):
    data = tmp_path / "data"
    keju("data", "import", "answers-tsv", tmp_path / "answers.tsv", "--out", data, "--plugin", file)
    command = ("build", "keep-answers", data, "--text", "孟", "--out", tmp_path / "kept")
    assert "1 item" in keju(*command, "--plugin", file).stdout
    assert "no step 'keep-answers'" in keju(*command).stderr


def test_a_step_of_a_file_works_on_ray(file, tmp_path):
    need_ray()
    build = tmp_path / "build"
    command = ("build", tmp_path / "recipe.toml", "--out", build, "--engine", "ray")
    done = started(*command, "--plugin", file)
    assert done.returncode == 0, done.stderr
    notes = [item.provenance[-1].note for item in package.load(build / "dataset").items()]
    assert notes == ["2 characters", "2 characters"]


def test_workers_rebuild_the_modules_of_plug_in_files(file, tmp_path):
    made = subprocess.run(
        [
            sys.executable,
            "-c",
            "import sys, daft.pickle\n"
            "from pathlib import Path\n"
            "from keju.registry import add_plugin_files\n"
            "from keju.building.partitions import RowFunction\n"
            f"add_plugin_files([Path({str(file)!r})])\n"
            "module = next(m for n, m in sys.modules.items() if n.startswith('keju_plugin_'))\n"
            "guarded = RowFunction(module.measure, module.Row, module.Found)\n"
            "sys.stdout.buffer.write(daft.pickle.dumps((guarded, module.Row('a', '論語'))))\n",
        ],
        capture_output=True,
        check=True,
    ).stdout
    file.unlink()
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "import sys, pickle; work, row = pickle.load(sys.stdin.buffer); print(work(row))",
        ],
        input=made,
        capture_output=True,
        check=True,
    )
    assert done.stdout.decode().strip() == "Found(length=2, error='')"


def test_wrong_plug_in_options_are_one_line(file, tmp_path, keju):
    for arguments, said in (
        (("tasks", "--plugin"), "--plugin needs a file"),
        (("--plugin", tmp_path / "none.py", "tasks"), "none.py: No such file or directory"),
        (("tasks", "--plugin", "https://example.org/x.py"), "https://example.org/x.py"),
    ):
        done = keju(*arguments)
        assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
        assert said in done.stderr


def hostile(folder: Path, mark: Path) -> None:
    """A folder that would run code if anything in it were imported."""
    code = f"open({str(mark)!r}, 'w').close()\n"
    (folder / "plugin.py").write_text(code, "utf-8")
    distribution(folder, "hostile", "1", {"ppocr": "hostile", "evil": "hostile"}, hostile=code)
    (folder / "keju.toml").write_text('plugins = ["plugin.py"]\n', "utf-8")
    for name in ("dataset.json", "run.json"):
        if (folder / name).is_file():
            manifest = json.loads((folder / name).read_text("utf-8"))
            manifest["KEJU_PLUGINS"] = "plugin.py"
            manifest["plugin_files"] = [str(folder / "plugin.py")]
            if name == "run.json":
                manifest["plugins"] = [{"name": "plugin.py", "sha256": "0" * 64}]
            else:
                manifest["made"]["plugins"] = str(folder / "plugin.py")
            (folder / name).write_text(json.dumps(manifest), "utf-8")


def test_nothing_in_a_dataset_a_run_or_a_recipe_is_imported(file, tmp_path):
    mark = tmp_path / "executed"
    data, run, source = tmp_path / "data", tmp_path / "run", tmp_path / "source"
    started(
        "data", "import", "answers-tsv", tmp_path / "answers.tsv", "--out", data, "--plugin", file
    )
    started("run", data, "--model", "baseline:copy", "--out", run)
    source.mkdir()
    (source / "recipe.toml").write_text(
        'name = "x"\nplugin = "plugin.py"\nplugins = ["plugin.py"]\n'
        '[[source]]\nform = "evil"\n[[step]]\ndo = "plugin.py"\n',
        "utf-8",
    )
    for folder in (data, run, source):
        hostile(folder, mark)
    for folder, arguments in (
        (data, ("data", "validate", ".")),
        (data, ("data", "detect", ".")),
        (data, ("run", ".", "--model", "evil", "--out", tmp_path / "other")),
        (data, ("run", ".", "--model", "baseline:copy", "--out", tmp_path / "other")),
        (run, ("score", ".")),
        (run, ("report", ".", "-o", tmp_path / "report.html")),
        (run, ("models",)),
        (source, ("build", "recipe.toml", "--out", tmp_path / "build")),
        (source, ("build", "--help")),
        (source, ("data", "formats")),
    ):
        done = started(*arguments, cwd=folder)
        assert "Traceback" not in done.stderr
        assert not mark.exists(), (folder, arguments)
    assert (tmp_path / "report.html").is_file()


def test_a_broken_package_breaks_only_its_own_names(tmp_path, monkeypatch):
    points = {"faulty": "faulty"}
    distribution(tmp_path / "site", "faulty-plugin", "3.1", points, faulty="import no_such_lib")
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path / 'site'}:{os.environ.get('PYTHONPATH', '')}")
    monkeypatch.setenv("COLUMNS", "300")
    reason = "plug-in faulty-plugin 3.1 (entry point faulty = faulty): ModuleNotFoundError"
    for listing in (("models",), ("data", "formats"), ("build", "--help"), ("build", "sources")):
        listed = started(*listing)
        assert (listed.returncode, reason in listed.stdout) == (0, True), listed
    scans = Path(package.load("mini").path, "images")
    for used in (
        ("run", "mini", "--model", "faulty", "--out", tmp_path / "run"),
        ("data", "import", "faulty", scans, "--out", tmp_path / "data"),
        ("build", "faulty", "mini", "--out", tmp_path / "step"),
    ):
        done = started(*used)
        assert (done.returncode, len(done.stderr.splitlines())) == (2, 1), done
        assert reason in done.stderr
    unknown = started("run", "mini", "--model", "fault", "--out", tmp_path / "run").stderr
    assert "no model 'fault'" in unknown
    assert reason in unknown
    assert reason in started("benchmark", "list").stderr
    # Detection asks every reader and passes over the faulty one.
    assert started("data", "detect", scans).stderr == ""
