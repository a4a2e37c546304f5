"""No call of the Python API and no recipe takes an address for a local folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from keju.building.engine import Engine
from keju.building.pipeline import build
from keju.building.recipe import read_recipe
from keju.building.releasing.release import write_release
from keju.datasets.readers import import_dataset
from keju.datasets.store import Dataset
from keju.datasets.writers import export_dataset
from keju.encoders import parse_semantic
from keju.errors import ProblemsError, UsageError
from keju.files import read_json, write_atomic
from keju.local_paths import shell_quoted
from keju.models import ModelOptions, open_model
from keju.reporting.page import write_report
from keju.running import run
from keju.running.merging import merge
from keju.runs import RunFolder
from tests.support.making import make_dataset

AWAY = Path("abfs://bucket/x")
S3 = Path("s3://bucket/x")
"""Datasets can be at such an address; runs, reports and sources cannot."""
ABOUT = {"name": "x", "version": "1"}
CALLS: dict[str, Callable[[], object]] = {
    "open a dataset": lambda: Dataset.open(AWAY),
    "open a run": lambda: RunFolder.open(S3),
    "run into": lambda: run(Path("d"), ["baseline:chance"], S3),
    "run from": lambda: run(AWAY, ["baseline:chance"], Path("r2")),
    "import into": lambda: import_dataset("parquet", Path("d"), AWAY, **ABOUT),
    "import from": lambda: import_dataset("auto", S3, Path("d2"), **ABOUT),
    "export": lambda: export_dataset("parquet", Path("d"), AWAY),
    "merge": lambda: merge([Path("r"), Path("r")], S3),
    "report to": lambda: write_report([Path("r")], S3),
    "report of": lambda: write_report([S3], Path("r.html")),
    "write": lambda: write_atomic(S3 / "a.json", b"{}"),
    "read": lambda: read_json(Path("https://example.org/a.json"), dict),
    "replay": lambda: open_model("replay:hf://datasets/x/a.json", ModelOptions()),
    "weights": lambda: open_model("got:hf://x/y", ModelOptions()),
    "encoder": lambda: parse_semantic(["minilm=hf://x/y"]),
    "release": lambda: write_release(Dataset.open(Path("d")), AWAY),
}
RECIPE = """
name = "trial"
[[source]]
form = "{form}"
path = "{path}"
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    make_dataset(Path("d"), pages=2)
    return tmp_path


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.semantic] if name == "weights" else [])
        for name in CALLS
    ],
)
def test_a_call_refuses_an_address_and_writes_nothing(here: Path, name: str):
    before = sorted(here.rglob("*"))
    with pytest.raises(UsageError, match="keju reads and writes local files") as caught:
        CALLS[name]()
    assert "://" in str(caught.value)
    assert sorted(here.rglob("*")) == before


@pytest.mark.parametrize("path", ["s3://bucket/d", "https://example.org/d", "hf://datasets/x"])
@pytest.mark.parametrize("form", ["dataset", "images", "pages"])
def test_a_recipe_names_each_address_in_it(here: Path, form: str, path: str):
    file = here / "recipe.toml"
    file.write_text(RECIPE.format(form=form, path=path))
    with pytest.raises(ProblemsError) as caught:
        build(read_recipe(file), here / "b", engine=Engine())
    (line,) = [each for each in caught.value.lines if path in each]
    assert "source 1" in line
    assert "keju reads and writes local files" in line
    assert not (here / "b").exists()


def test_a_build_is_not_written_to_an_address(here: Path):
    file = here / "recipe.toml"
    file.write_text(RECIPE.format(form="dataset", path="d"))
    with pytest.raises(UsageError, match="gs://bucket/b"):
        build(read_recipe(file), Path("gs://bucket/b"), engine=Engine())
    assert sorted(path.name for path in here.iterdir()) == ["d", "recipe.toml"]


def test_a_folder_whose_name_looks_like_a_scheme_is_a_path(here: Path):
    made = make_dataset(here / "s3:", pages=1)
    assert len(Dataset.open(made).items()) == 1


@pytest.mark.parametrize(
    ("text", "posix", "windows"),
    [
        ("run", "run", "run"),
        ("C:\\runs\\a", "'C:\\runs\\a'", "C:\\runs\\a"),
        ("a b", "'a b'", '"a b"'),
        ("it's", "'it'\"'\"'s'", '"it\'s"'),
        ("模型", "'模型'", "模型"),
        ("a&b", "'a&b'", '"a&b"'),
        ("", "''", '""'),
    ],
)
def test_a_path_is_one_word_of_the_shell(text: str, posix: str, windows: str) -> None:
    assert shell_quoted(text, windows=False) == posix
    assert shell_quoted(text, windows=True) == windows
