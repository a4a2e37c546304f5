"""A benchmark that keju does not ship, from its definition to figures, as a user runs it."""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import polars as pl
import pytest

from tests.support import commanding
from tests.support.bundled import FOLDERS, PAPERS
from tests.support.scanned import scan
from tests.support.serving import Chat

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "manuscripts"
DEFINITION = EXAMPLE / "manuscripts.toml"

Done = subprocess.CompletedProcess[str]


def keju(*words: object, cwd: Path, path: Path | None = None) -> Done:
    """A finished command in a process of its own; `path` has packages that are installed there."""
    environment = dict(os.environ)
    if path is not None:
        found = filter(None, (str(path), os.environ.get("PYTHONPATH")))
        environment["PYTHONPATH"] = os.pathsep.join(found)
    return commanding.keju(*words, cwd=cwd, env=environment)


def done(*words: object, cwd: Path) -> str:
    found = keju(*words, cwd=cwd)
    assert found.returncode == 0, (words, found.stdout, found.stderr)
    return found.stdout


def refused(*words: object, cwd: Path, path: Path | None = None) -> str:
    """The one line of an error."""
    found = keju(*words, cwd=cwd, path=path)
    assert found.returncode == 2, (words, found.stdout, found.stderr)
    assert len(found.stderr.splitlines()) == 1, found.stderr
    return found.stderr


def example(folder: Path) -> Path:
    """A copy of the example, with an image for each item."""
    shutil.copytree(EXAMPLE, folder, dirs_exist_ok=True)
    with (folder / "items" / "items.csv").open(encoding="utf-8") as stream:
        for row in csv.DictReader(stream):
            scan(str(folder / "items" / row["image"]))
    return folder


def guide_commands() -> list[list[str]]:
    """The commands of the first block of the guide."""
    page = (ROOT / "docs" / "own-benchmarks.md").read_text("utf-8")
    block = re.search(r"^```\n(keju benchmark check.*?)^```", page, re.DOTALL | re.MULTILINE)
    assert block
    return [line.split()[1:] for line in block[1].splitlines()]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The guide's commands were run; the definition was removed when nothing needs it any more."""
    folder = example(tmp_path_factory.mktemp("own"))
    for words in guide_commands():
        if "--benchmark" not in words and words[0] != "benchmark":
            (folder / "manuscripts.toml").unlink(missing_ok=True)
        done(*words, cwd=folder)
    assert not (folder / "manuscripts.toml").exists()
    return folder


def test_the_definition_has_less_than_60_lines() -> None:
    assert len(DEFINITION.read_text("utf-8").splitlines()) < 60


def test_dataset_and_run_contain_the_definition(made: Path) -> None:
    text = DEFINITION.read_text("utf-8")
    assert (made / "dataset" / "benchmark.toml").read_text("utf-8") == text
    assert (made / "packed" / "benchmark.toml").read_text("utf-8") == text
    manifest = json.loads((made / "run" / "run.json").read_text("utf-8"))
    assert manifest["benchmarks"] == {"Manuscripts": text}


def test_the_scores_are_those_of_the_strict_metrics(made: Path) -> None:
    done("score", "run", "--json", "scores.json", cwd=made)
    found = json.loads((made / "scores.json").read_text("utf-8"))["replay:answers.jsonl"]["strict"]
    dating, slips = found["tasks"]["dunhuang_dating"], found["tasks"]["bamboo_slip_transcription"]
    assert dating["Acc"] == pytest.approx(5 / 6)
    # 恒 is a variant of 恆; three of 12 characters are missing in s3, and four of 8 in s5.
    right = [1, 1, 9 / 12, 1, 4 / 8, 1]
    assert slips["CharAcc"] == pytest.approx(sum(right) / 6)
    assert found["overall"] == pytest.approx((5 / 6 + sum(right) / 6) / 2)


def test_the_report_shows_licence_and_citation_of_the_definition(made: Path) -> None:
    html = (made / "report.html").read_text("utf-8")
    assert "licence: CC0-1.0 · cite as: An example of the keju documentation." in html


def test_no_output_has_a_papers_table_or_column(made: Path) -> None:
    html = (made / "report.html").read_text("utf-8")
    assert "Manuscripts of the Dunhuang caves and on bamboo" in html
    assert not any(name in html for name in PAPERS)
    (table,) = (made / "tables").glob("*.tex")
    assert table.name == "manuscripts-leaderboard.tex"
    assert "official" not in table.read_text("utf-8")
    assert (made / "figures" / "standings-manuscripts.svg").is_file()


def test_detect_prints_the_definition_that_the_import_needs(tmp_path: Path) -> None:
    folder = example(tmp_path)
    source = ("items", "--map", "mapping.toml")
    printed = done("data", "detect", *source, "--benchmark", "manuscripts.toml", cwd=folder)
    (line,) = (line for line in printed.splitlines() if "keju data import" in line)
    assert "--benchmark manuscripts.toml --map mapping.toml" in line
    done(*line.split()[1:], cwd=folder)
    assert (folder / "items-dataset" / "benchmark.toml").is_file()


def test_the_other_commands_need_no_definition_either(made: Path) -> None:
    done("report", "run", "-o", "zh.html", "--language", "zh", cwd=made)
    page = (made / "zh.html").read_text("utf-8")
    assert "敦煌写本与简牍：总均值" in page
    assert "Manuscripts of the Dunhuang" not in page
    assert "<td>Dunhuang" not in page
    assert "No task has a value under both protocols" in done("protocols", "run", cwd=made)
    done("export", "inspect", "run", "-o", "logs", cwd=made)
    done("data", "stats", "packed", cwd=made)
    models = ("--model", "baseline:chance", "--model", "replay:answers.jsonl")
    for number in (1, 2):
        shard = ("--shard", f"{number}/2", "--out", f"shard-{number}")
        done("run", "dataset", *models, *shard, cwd=made)
    done("merge", "shard-1", "shard-2", "-o", "merged", cwd=made)
    done("score", "merged", cwd=made)
    about = ("--source", "us", "--licence", "CC0-1.0")
    done("build", "release", "dataset", "-o", "released", *about, cwd=made)
    done("data", "validate", "released", cwd=made)
    done("data", "import", "parquet", "packed", "-o", "again", cwd=made)
    assert (made / "again" / "benchmark.toml").is_file()
    table = pl.read_parquet(made / "again" / "items.parquet")
    assert set(table["benchmark"]) == {"Manuscripts"}


def test_a_judge_grades_by_the_rubric_that_the_definition_names(made: Path, chat: Chat) -> None:
    chat.plan()
    task = ("--task", "bamboo_slip_transcription")
    done("judge", "sample", "run", *task, "--per-task", 1, "-o", "sheet.csv", cwd=made)
    words = ("judge", "grade", "run", "--model", "openai:judge", "--base-url", chat.url)
    done(*words, *task, "--only", "sheet.csv", cwd=made)
    (file,) = (made / "run" / "judgements").glob("*/responses/*/bamboo_slip_transcription.jsonl")
    assert len(file.read_text("utf-8").splitlines()) == 1


def test_inspect_asks_its_items(made: Path) -> None:
    code = (
        "from keju_inspect.tasks import own\n"
        "found = own(dataset='dataset', benchmark='Manuscripts', task='dunhuang_dating')\n"
        "print(len(found.dataset), 'B、盛唐' in str(found.dataset[0].input))\n"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=made
    )
    assert found.stdout == "6 True\n", found.stderr


def test_a_run_resumes_without_the_file_and_refuses_another_definition(made: Path) -> None:
    done("run", "dataset", "--model", "baseline:chance", "--model", "replay:answers.jsonl",
         "--out", "run", cwd=made)  # fmt: skip
    other = made / "other.toml"
    other.write_text(DEFINITION.read_text("utf-8").replace("转录简上", "抄写简上"), "utf-8")
    line = refused("run", "dataset", "--benchmark", other.name, "--model", "baseline:chance",
                   "--out", "run2", cwd=made)  # fmt: skip
    assert "dataset/benchmark.toml: this definition of 'Manuscripts' differs from" in line
    assert "the one in other.toml" in line
    line = refused("score", "run", "--benchmark", "other.toml", cwd=made)
    assert "run/run.json" in line
    assert "other.toml" in line


def test_own_pages_can_answer_an_own_task(tmp_path: Path) -> None:
    for name in ("a", "b"):
        scan(str(tmp_path / "scans" / f"{name}.png"))
        (tmp_path / "scans" / f"{name}.txt").write_text("道可道也", "utf-8")
    text = DEFINITION.read_text("utf-8").replace("出自{site}", "出自某地")
    (tmp_path / "own.toml").write_text(text, "utf-8")
    words = ("data", "import", "pages", "scans", "--option", "task=bamboo_slip_transcription")
    assert "--benchmark" in refused(*words, "--out", "pages", cwd=tmp_path)
    done(*words, "--out", "pages", "--benchmark", "own.toml", cwd=tmp_path)
    assert "0 errors" in done("data", "validate", "pages", cwd=tmp_path)


def test_a_recipe_makes_items_of_an_own_task(tmp_path: Path) -> None:
    scan(str(tmp_path / "scans" / "a.png"))
    text = DEFINITION.read_text("utf-8").replace("出自{site}", "出自某地")
    (tmp_path / "own.toml").write_text(text, "utf-8")
    (tmp_path / "recipe.toml").write_text(
        'name = "own"\nversion = "1"\n\n[[source]]\nform = "images"\npath = "scans"\n'
        'licence = "CC0-1.0"\nsource = "us"\ntask = "bamboo_slip_transcription"\n'
    )
    assert "--benchmark" in refused("build", "recipe.toml", "--out", "built", cwd=tmp_path)
    done("build", "recipe.toml", "--out", "built", "--benchmark", "own.toml", cwd=tmp_path)
    assert (tmp_path / "built" / "dataset" / "benchmark.toml").read_text("utf-8") == text
    done("build", "measure", "built/dataset", "--out", "measured", cwd=tmp_path)
    assert (tmp_path / "measured" / "benchmark.toml").is_file()


def test_a_missing_plugin_is_an_error_of_every_command(made: Path) -> None:
    text = f'plugins = ["no-x"]\n{DEFINITION.read_text("utf-8")}'
    stored = made / "needing"
    shutil.copytree(made / "dataset", stored)
    (stored / "benchmark.toml").write_text(text, "utf-8")
    planned = ["run", "--plan", stored, "--model", "baseline:chance"]
    for words in (["data", "validate", stored], planned):
        line = refused(*words, cwd=made)
        assert "no-x, which is missing" in line
        assert "benchmark.toml" in line


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ('"Acc", "Acc_chance_corrected"', '"Accuracy"', ("tasks.dunhuang_dating", "'Accuracy'")),
        ('rubric = "transcription"', 'rubric = "ocr"', ("bamboo_slip_transcription", "'ocr'")),
        (
            'name = "Manuscripts"',
            'name = "OBI-Bench"',
            ("differs from the one in keju", "'OBI-Bench'"),
        ),
        ("tasks.dunhuang_dating", "tasks.page_ocr", ("'page_ocr'", "pages (keju)")),
    ],
)
def test_check_refuses(old: str, new: str, named: tuple[str, ...], tmp_path: Path) -> None:
    text = DEFINITION.read_text("utf-8")
    assert old in text
    (tmp_path / "own.toml").write_text(text.replace(old, new), "utf-8")
    line = refused("benchmark", "check", "own.toml", cwd=tmp_path)
    for word in ("own.toml", *named):
        assert word in line


def test_a_draft_is_written_once_and_accepted(tmp_path: Path) -> None:
    done("benchmark", "new", "Mine", cwd=tmp_path)
    before = (tmp_path / "Mine.toml").read_bytes()
    assert "exists already" in refused("benchmark", "new", "Mine", cwd=tmp_path)
    assert (tmp_path / "Mine.toml").read_bytes() == before
    printed = done("benchmark", "check", "Mine.toml", cwd=tmp_path)
    assert "    （问题）\n    A、唐代 B、宋代 C、元代 D、明代\n" in printed
    assert tomllib.loads(before.decode())["name"] == "Mine"


def installed(folder: Path, code: str = "") -> Path:
    """A folder of packages, in which one provides the example's definition."""
    package, about = folder / "slips", folder / "slips_benchmark-1.0.dist-info"
    package.mkdir(parents=True)
    about.mkdir()
    (package / "__init__.py").write_text(code, "utf-8")
    shutil.copy(DEFINITION, package / "benchmark.toml")
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: slips-benchmark\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[keju]\nslips = slips\n")
    return folder


def test_an_installed_package_provides_a_benchmark(tmp_path: Path) -> None:
    packages, folder = installed(tmp_path / "site"), example(tmp_path / "work")
    listed = keju("benchmark", "list", "--json", cwd=folder, path=packages)
    names = [each["name"] for each in json.loads(listed.stdout)]
    assert set(names[:-2]) == set(FOLDERS)
    assert names[-2:] == ["pages", "Manuscripts"]
    assert "slips-benchmark" in json.loads(listed.stdout)[-1]["from"]
    words = ["data", "import", "mapped", "items", "--map", "mapping.toml", "--out", "dataset"]
    found = keju(*words, cwd=folder, path=packages)
    assert found.returncode == 0, found.stderr
    shutil.rmtree(packages)
    done("run", "--plan", "dataset", "--model", "baseline:chance", cwd=folder)


def test_a_stored_definition_is_used_instead_of_an_installed_one(tmp_path: Path) -> None:
    packages, folder = installed(tmp_path / "site"), example(tmp_path / "work")
    words = ["data", "import", "mapped", "items", "--map", "mapping.toml", "--out", "dataset"]
    done(*words, "--benchmark", "manuscripts.toml", cwd=folder)
    text = DEFINITION.read_text("utf-8")
    changed = text.replace("转录简上", "抄写简上")
    (packages / "slips" / "benchmark.toml").write_text(changed, "utf-8")
    planned = ("run", "--plan", "dataset", "--model", "baseline:chance")
    found = keju(*planned, cwd=folder, path=packages)
    assert found.returncode == 0, found.stderr


def test_a_dataset_uses_the_files_of_the_package_with_its_definition(tmp_path: Path) -> None:
    packages, folder = installed(tmp_path / "site"), example(tmp_path / "work")
    package = packages / "slips"
    (package / "presets.toml").write_text('[slips]\nwhat = "t"\nbenchmark = "Manuscripts"\n')
    (package / "published").mkdir()
    (package / "published" / "paper.toml").write_text("")
    words = ["data", "import", "mapped", "items", "--map", "mapping.toml", "--out", "dataset"]
    assert keju(*words, cwd=folder, path=packages).returncode == 0
    broken = packages / "broken-1.dist-info"
    broken.mkdir()
    (broken / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1\n")
    (broken / "entry_points.txt").write_text("[keju]\na = no_such_module\n")
    plan = ["run", "--plan", "dataset", "--model", "baseline:chance", "--preset", "slips"]
    found = keju(*plan, cwd=folder, path=packages)
    assert found.returncode == 0, found.stderr
    assert "no preset 'slips'" in refused(*plan, cwd=folder)
    code = (
        "from pathlib import Path\n"
        "from keju.datasets.store import Dataset\nfrom keju.published import papers\n"
        "Dataset.open(Path('dataset'))\nprint('Manuscripts' in papers())\n"
    )
    path = os.pathsep.join(each for each in (str(packages), os.environ.get("PYTHONPATH")) if each)
    asked = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=folder,
        env={**os.environ, "PYTHONPATH": path},
    )  # fmt: skip
    assert asked.stdout == "True\n", asked.stderr
    text = DEFINITION.read_text("utf-8").replace("转录简上", "抄写简上")
    (package / "benchmark.toml").write_text(text, "utf-8")
    assert "no preset 'slips'" in refused(*plan, cwd=folder, path=packages)


def test_a_broken_package_is_named(tmp_path: Path) -> None:
    packages = installed(tmp_path / "site", "raise RuntimeError('no such file')\n")
    line = refused("benchmark", "show", "Manuscripts", cwd=tmp_path, path=packages)
    assert "no benchmark 'Manuscripts'" in line
    assert "slips-benchmark 1.0 (entry point slips = slips): RuntimeError: no such file" in line
    assert "no such file" in line


@pytest.mark.parametrize(
    ("name", "licence"),
    [("MCS-Bench", "CC-BY-NC-SA-4.0"), ("AncientDoc", "CC0-1.0"), ("OBI-Bench", "")],
)
def test_show_names_licence_and_citation(name: str, licence: str, tmp_path: Path) -> None:
    found = json.loads(done("benchmark", "show", name, "--json", cwd=tmp_path))
    assert found["licence"] == licence
    assert name.split("-", maxsplit=1)[0] in found["citation"] or name == "AncientDoc"
    assert f"licence: {licence or 'not stated'}\n" in done("benchmark", "show", name, cwd=tmp_path)


def test_python_loads_a_plugin_beside_the_definition_that_it_names(tmp_path: Path) -> None:
    text = DEFINITION.read_text("utf-8").replace(
        'version = "1"', 'version = "1"\nplugins = ["gaps.py"]'
    )
    (tmp_path / "own.toml").write_text(text, "utf-8")
    (tmp_path / "gaps.py").write_text(
        "import keju\n\n\n@keju.metric(name='Gaps', form='transcription', rule='gaps')\n"
        "def gaps(reference, answer):\n    return 1.0\n"
    )
    code = (
        "from pathlib import Path\nimport {}\nfrom keju.definitions import load_benchmark\n"
        "print(load_benchmark(Path('own.toml')).plugins)\n"
    )
    for module in ("gaps", "keju"):
        found = subprocess.run(
            [sys.executable, "-c", code.format(module)],
            capture_output=True, text=True, check=False, cwd=tmp_path,
        )  # fmt: skip
        assert found.stdout == "('gaps.py',)\n", found.stderr


def test_the_printed_tables_beside_a_definition_are_audited(tmp_path: Path) -> None:
    folder = tmp_path / "published"
    (folder / "tables").mkdir(parents=True)
    (tmp_path / "own.toml").write_text(DEFINITION.read_text("utf-8"), "utf-8")
    (folder / "paper.toml").write_text("", "utf-8")
    (folder / "models.csv").write_text(
        "role,name,kind\nevaluated,A,ocr\nevaluated,B,ocr\n", "utf-8"
    )
    (folder / "metrics.csv").write_text("metric,scale,better\nmean,100,higher\n", "utf-8")
    table = "model,Caves:mean,Slips:mean,OverAll:mean\nA,40.0,60.0,50.0\nB,40.0,60.0,52.0\n"
    (folder / "tables" / "table-1.csv").write_text(table, "utf-8")
    (folder / "checks.toml").write_text(CHECKS, "utf-8")
    printed = done("audit", "published", "--benchmark", "own.toml", cwd=tmp_path)
    assert "Table 1 OverAll, 1/2: B 52.0 → 50.00" in printed
    (folder / "models.csv").write_text("role,name,kind\nwinner,A,ocr\n", "utf-8")
    error = refused("audit", "published", "--benchmark", "own.toml", cwd=tmp_path)
    assert "models.csv" in error
    assert "line 2" in error


CHECKS = """
[[checks]]
kind = "mean"
id = "mean"
severity = "error"
tables = ["Table 1"]
column = "OverAll:mean"
parts = ["Caves:mean", "Slips:mean"]
holds = "OverAll is the mean of the domains"
says = "OverAll is not the mean of the domains."
consequence = "The order is wrong."
"""


PAPER = {
    "paper.toml": '[tables]\nshown = ["Table 1"]\n',
    "models.csv": "role,name,kind\nevaluated,Model-A,ocr\nevaluated,Model-B,ocr\n",
    "metrics.csv": "metric,scale,better\nAcc,100,higher\n",
    "tables/table-1.csv": "model,dunhuang_dating:Acc\nModel-A,**61.2**\nModel-B,_50.0_\n",
}


def test_reports_and_figures_show_the_tables_beside_a_definition(tmp_path: Path) -> None:
    folder = example(tmp_path)
    text = DEFINITION.read_text("utf-8").replace(
        'strict = ["Acc"', 'official = ["Acc"]\nstrict = ["Acc"'
    )
    (folder / "own.toml").write_text(f'official_as = "MCS-Bench"\n{text}', "utf-8")
    (folder / "published" / "tables").mkdir(parents=True)
    for name, content in PAPER.items():
        (folder / "published" / name).write_text(content, "utf-8")
    own = ("--benchmark", "own.toml")
    words = ("data", "import", "mapped", "items", "--map", "mapping.toml", "--out", "dataset")
    done(*words, *own, cwd=folder)
    done("run", "dataset", "--model", "replay:answers.jsonl", "--out", "run", cwd=folder)
    done("score", "run", cwd=folder)
    done("report", "run", "--published", *own, "-o", "report.html", cwd=folder)
    rows = re.findall(r"<tr\b.*?</tr>", (folder / "report.html").read_text("utf-8"), re.DOTALL)
    (row,) = (row for row in rows if "Model-A" in row)
    assert ">61.2<" in row
    assert "paper" in row
    done("figures", "run", "--published", *own, "-o", "of-run", cwd=folder)
    done("figures", "published", *own, "--which", "heatmap", "-o", "of-papers", cwd=folder)
    for file in ("of-run/heatmap-manuscripts.csv", "of-papers/heatmap-manuscripts.csv"):
        assert "61.2" in (folder / file).read_text("utf-8")
