"""Names of files that every system accepts."""

from __future__ import annotations

from pathlib import Path

import pytest

from keju.datasets.page_names import safe_stem
from keju.files import is_reserved, relative_path
from keju.runs import file_name
from tests.support.windows_rules import Rules

_RESERVED = (
    "CON",
    "nul",
    "Aux.txt",
    "com1",
    "LPT9.v2",
    "prn.tar.gz",
    "COM0",
    "conin$",
    "com\u00b9",
)
_PLAIN = ("console", "con-1", "auxiliary", "com10", "lpt", "nul-x", "a.con", "gpt-4.1", "T1")

ODD = (
    *_RESERVED, "a/b", "a\\b", 'a<b>c:d"e|f?g*h', "ends with dot.", " spaces ", "..", ".", "", "-x",
    "字" * 100, "\U00020000" * 70, "a" * 300, "tab\there", "line\nbreak", "\ud800", "e\u0301", "é",
    "replay:answers/中文 模型.jsonl", "MODEL", "model", "\x7f", "con ", "NUL .txt", "con.x_",
)  # fmt: skip


@pytest.mark.parametrize("name", _RESERVED)
def test_names_of_devices_are_reserved(name: str) -> None:
    assert is_reserved(name)
    assert not is_reserved(file_name(name))
    assert file_name(name) != name


@pytest.mark.parametrize("name", _PLAIN)
def test_other_names_do_not_change(name: str) -> None:
    assert not is_reserved(name)
    assert file_name(name) == name


def test_names_with_a_hash_do_not_change() -> None:
    """Stored runs have these names."""
    assert file_name("baseline:copy") == "baseline_copy-558dbe5b"
    assert file_name("Qwen/Qwen2.5-VL-7B") == "Qwen_Qwen2.5-VL-7B-07a2b680"
    assert file_name("a" * 81) == "a" * 80 + "-8c48280d"
    assert file_name("nul_") == "nul-8dadd741"


@pytest.mark.parametrize("make", [lambda name: f"{file_name(name)}.jsonl", safe_stem])
def test_every_name_becomes_one_that_windows_accepts(tmp_path: Path, make) -> None:
    rules = Rules(tmp_path)
    for number, name in enumerate(ODD):
        if "\ud800" in name and make is not safe_stem:
            continue
        folder = tmp_path / str(number)
        folder.mkdir()
        rules.audit("os.mkdir", (str(folder / make(name)), 0o777, -1))
        (folder / make(name)).mkdir()
    assert rules.broken == []


def test_relative_paths_have_slashes(tmp_path: Path) -> None:
    assert relative_path(tmp_path / "a/b", tmp_path / "c") == "../a/b"
    assert relative_path(tmp_path, tmp_path) == "."
