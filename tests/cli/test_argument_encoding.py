"""Arguments, variables and names that are not UTF-8 are refused in one line."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.released import picture

GBK = "圖書".encode("gb18030")
COMMANDS = [
    [b"data", b"import", b"pages", b"scans", b"--out", b"made", b"--source", GBK],
    [b"data", b"import", b"pages", b"scans", b"--out", b"made", b"--licence", GBK],
    [b"run", b"data", b"--model", GBK, b"--out", b"made"],
    [b"run", b"data", b"--model=" + GBK, b"--out", b"made"],
    [b"run", b"data", b"--model", b"m", b"--system", GBK, b"--out", b"made"],
    [b"run", b"data", b"--model", b"m", b"--extra-body", b"a=" + GBK, b"--out", b"made"],
    [b"score", GBK],
    [b"audit", b"x.csv", b"--csv", GBK],
    [b"--plugin", GBK, b"list"],
    [GBK],
    [b"--" + GBK],
]  # fmt: skip


def run(folder: Path, *words: bytes, **variables: bytes) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "keju", *words],
        capture_output=True, encoding="utf-8", check=False, cwd=folder,
        env={**os.environb, **{name.encode(): value for name, value in variables.items()}},
    )  # fmt: skip


@pytest.mark.skipif(os.name == "nt", reason="arguments of Windows are not bytes")
@pytest.mark.parametrize("words", COMMANDS, ids=ascii)
def test_an_argument_that_is_not_utf8_is_refused_before_any_work(tmp_path, words):
    place = next(number for number, word in enumerate(words, start=1) if GBK in word)
    done = run(tmp_path, *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"keju: argument {place} is not UTF-8: ")
    assert done.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name == "nt", reason="variables of Windows are not bytes")
@pytest.mark.parametrize("name", ["KEJU_PLUGINS", "KEJU_CACHE", "OPENAI_API_KEY", "https_proxy"])
def test_a_variable_that_is_not_utf8_is_refused_without_its_value(tmp_path, name):
    done = run(tmp_path, b"list", **{name: GBK})
    assert (done.returncode, done.stdout) == (2, "")
    assert f"the environment variable {name} is not UTF-8" in done.stderr
    assert done.stderr.count("\n") == 1
    assert "\\x" not in done.stderr


def test_other_variables_and_chinese_arguments_are_accepted(tmp_path):
    assert run(tmp_path, b"--version", PS1=GBK).returncode == 0
    assert "no such file" in run(tmp_path, b"score", "圖書".encode()).stderr


@pytest.mark.skipif(sys.platform != "linux", reason="names are bytes on Linux alone")
@pytest.mark.parametrize("command", ["import", "report"])
@pytest.mark.parametrize(
    ("names", "status"),
    [([GBK + b".txt"], 2), ([GBK + b".png"], 2), ([GBK + b"/a.png"], 2), ([GBK + b".xml", GBK], 0)],
    ids=["text", "image", "folder", "other kinds"],
)
def test_a_name_that_is_not_utf8_in_a_source_is_one_line_or_a_note(
    tmp_path, command, names, status
):
    for name in [b"p1.png", b"p1.txt", *names]:
        path = tmp_path / "scans" / os.fsdecode(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(picture(1) if name.endswith(b".png") else "學而".encode())
    words = {
        "import": "data import pages scans --out made --licence CC0 --source x",
        "report": "ocr-report scans -o report.html --model baseline:copy",
    }[command]
    done = run(tmp_path, *words.encode().split())
    assert "Traceback" not in done.stderr
    assert done.returncode == status
    if status or command == "import":
        assert "udc" in done.stderr
