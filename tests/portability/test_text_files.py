"""Texts with Windows' line endings and byte-order marks, and stored files without them."""

from __future__ import annotations

import ast
from pathlib import Path

from keju.files import read_jsonl, read_toml
from keju.models.decoding import read_system_prompt
from keju.running.options import read_item_ids
from keju.scoring.decisions import CODE, VALUE, read_decisions
from tests.support import ROOT

BOM = b"\xef\xbb\xbf"


def test_a_system_prompt_of_notepad_is_the_text(tmp_path: Path) -> None:
    for name, data in (("a", "讀\n題\n".encode()), ("b", BOM + "讀\r\n題\r\n".encode())):
        (tmp_path / name).write_bytes(data)
        assert read_system_prompt(f"@{tmp_path / name}") == "讀\n題"


def test_a_list_of_items_has_any_line_endings(tmp_path: Path) -> None:
    (tmp_path / "ids.txt").write_bytes(BOM + "i1\r\n項2\r\n".encode())
    assert read_item_ids(tmp_path / "ids.txt") == ("i1", "項2")


def test_toml_has_any_line_endings(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_bytes(BOM + b"[a]\r\nb = 1\r\n")
    assert read_toml(tmp_path / "a.toml", dict[str, dict[str, int]]) == {"a": {"b": 1}}


def test_json_lines_have_any_line_endings(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(BOM + b"[1]\r\n\r\n[2]\r\n")
    assert list(read_jsonl(tmp_path / "a.jsonl", list[int])) == [[1], [2]]


def test_decisions_have_any_line_endings(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(BOM + f"{CODE},{VALUE}\r\nx1,B\r\n".encode())
    decisions = read_decisions(tmp_path / "a.csv")
    assert decisions.of("x1").value == "B"


def _newlines_of_the_system(file: Path) -> list[str]:
    """The calls in a file of Python that would write another newline on Windows."""
    found = []
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if not isinstance(node, ast.Call):
            continue
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        given = {each.arg for each in node.keywords}
        # The mode is the first argument of a path's `open`, and the second of the function.
        place = 0 if isinstance(node.func, ast.Attribute) and name == "open" else 1
        modes = {
            each.value for each in node.args[place : place + 1] if isinstance(each, ast.Constant)
        }
        modes |= {each.value.value for each in node.keywords if each.arg == "mode"}
        written = name in {"open", "fdopen"} and modes & {"w", "a", "x", "w+", "a+", "r+", "wt"}
        if (name == "write_text" or written) and "newline" not in given:
            found.append(f"{file.relative_to(ROOT)}:{node.lineno}")
    return found


def test_no_file_is_written_with_the_newline_of_the_system(tmp_path: Path) -> None:
    sources = [*(ROOT / "src").rglob("*.py"), *(ROOT / "packages").glob("*/src/**/*.py")]
    assert len(sources) > 600
    assert [each for file in sources for each in _newlines_of_the_system(file)] == []
