"""``keju upload`` and ``keju download``, against a running server of each object store."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from keju.cli import app
from keju.errors import DataError, UsageError
from keju.running import run
from keju.runs import RunFolder
from tests.support.making import make_dataset
from tests.support.object_server import ObjectServer
from tests.support.printed_lines import printed

HAN = re.compile(r"[\u4e00-\u9fff]")


@pytest.fixture
def made(tmp_path: Path, server: object) -> Path:
    run(make_dataset(tmp_path / "d", pages=3), ["baseline:copy"], tmp_path / "run")
    return tmp_path / "run"


def done(*words: object) -> str:
    result = CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_a_run_is_uploaded_and_downloaded(made: Path, address: str, tmp_path: Path):
    assert address in done("upload", made, "-o", address)
    back = tmp_path / "back"
    assert str(back) in done("download", address, "-o", back)
    assert RunFolder.open(back).items() == RunFolder.open(made).items()
    assert list(RunFolder.open(back).responses()) == list(RunFolder.open(made).responses())


def test_an_upload_without_anything_new_is_reported_as_such(made: Path, address: str):
    first, second = (done("upload", made, "-o", address) for _ in range(2))
    assert first != second


def test_a_bucket_that_does_not_exist_is_named(server: ObjectServer, tmp_path: Path):
    missing = server._replace(bucket="missing-bucket").at("run")
    with pytest.raises(DataError) as caught:
        done("download", missing, "-o", tmp_path / "back")
    assert caught.value.template == "the bucket or container {} does not exist"
    assert "missing-bucket" in caught.value.values


@pytest.mark.parametrize("wrong", ["hf://bucket/run", "some/folder", "gs://bucket"])
def test_an_address_of_another_form_is_refused(made: Path, wrong: str):
    with pytest.raises(UsageError):
        done("upload", made, "-o", wrong)
    with pytest.raises(UsageError):
        done("download", wrong, "-o", made.parent / "back")


def test_every_line_is_printed_in_chinese(made: Path, address: str, tmp_path: Path):
    lines = [["upload", "run", "-o", address]] * 2 + [["download", address, "-o", "back"]]
    found = printed(tmp_path, lines, "zh")
    assert [each.status for each in found] == [0, 0, 0]
    assert [HAN.search(line) for each in found for line in each.text.splitlines()].count(None) == 0
