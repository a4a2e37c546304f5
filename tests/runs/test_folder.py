"""The manifest and the items in memory follow their files, and other formats are refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace
from typer.testing import CliRunner

from keju.cli import app
from keju.datasets import mini
from keju.errors import DataError, UsageError
from keju.files import sha256_bytes
from keju.items import Item
from keju.runs import RunFolder, RunManifest

MANIFEST = RunManifest(
    keju="0.2.0", dataset="d", dataset_version="1", dataset_hash="0" * 64, dataset_path="",
    created="2026-11-24T00:00:00+00:00", models={}, settings={},
)  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    folder = RunFolder(tmp_path / "run")
    folder.write_manifest(MANIFEST)
    folder.write_items([Item(id="a", benchmark="pages", task="page_ocr", answer="天")])
    return folder


def test_the_manifest_is_read_again_only_after_a_change(folder: RunFolder):
    first = folder.manifest()
    assert folder.manifest() is first
    other = RunFolder(folder.path)
    other.write_manifest(replace(first, items_sha256="0" * 64))
    assert [each.manifest().items_sha256 for each in (folder, other)] == ["0" * 64] * 2


def test_a_manifest_that_is_gone_is_an_error_also_after_it_was_read(folder: RunFolder):
    folder.manifest()
    folder.manifest_path.unlink()
    with pytest.raises(DataError) as error:
        folder.manifest()
    assert error.value.template == "no such file"


def test_the_hash_of_the_items_follows_the_file(folder: RunFolder):
    before = folder.items_hash()
    assert before == sha256_bytes(folder.items_path.read_bytes())
    folder.write_manifest(replace(MANIFEST, items_sha256=before))
    assert folder.has_its_items()
    folder.items_path.write_bytes(folder.items_path.read_bytes() + b"\0")
    assert not folder.has_its_items()


@pytest.mark.parametrize(
    "command",
    [
        ["run", "DATASET", "--model", "baseline:copy", "--task", "T1", "--out", "RUN"],
        ["run", "DATASET", "--model", "baseline:copy", "--task", "T1", "--out", "RUN", "--plan"],
        ["run", "DATASET", "--model", "replay:RUN/responses/m/T1.jsonl", "--out", "NEW"],
        ["merge", "RUN", "--out", "NEW"],
        ["score", "RUN"],
        ["report", "RUN", "-o", "NEW.html"],
        ["judge", "grade", "RUN", "--model", "baseline:copy"],
        ["export", "mcs-bench", "RUN", "-o", "NEW.json"],
        ["bundle", "RUN", "-o", "NEW.zip"],
    ],
    ids=" ".join,
)
def test_a_run_of_another_format_is_refused_and_left_alone(
    folder: RunFolder, tmp_path: Path, command: list[str]
):
    folder.write_manifest(replace(MANIFEST, format="keju-run-0"))
    responses = folder.path / "responses" / "m" / "T1.jsonl"
    responses.parent.mkdir(parents=True)
    responses.write_text('{"item":"a","text":"天"}', "utf-8")  # a writer adds a newline
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    places = {"RUN": str(folder.path), "DATASET": str(mini.path()), "NEW": str(tmp_path / "new")}
    for name, place in places.items():
        command = [part.replace(name, place) for part in command]
    error = CliRunner().invoke(app, command).exception
    assert isinstance(error, DataError)
    assert error.template == "format {!r}, but this keju reads {!r}"
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_the_dataset_of_a_run_is_where_it_recorded_it(folder: RunFolder):
    with pytest.raises(UsageError, match="does not record where its dataset"):
        folder.dataset()
    folder.write_manifest(replace(MANIFEST, dataset_path=str(mini.path())))
    assert folder.dataset().path == mini.path()
