"""Plug-in files of a definition: which commands load them, and whose code never runs."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support import commanding

Done = subprocess.CompletedProcess[str]

DEFINITION = """
name = "colophons"
version = "1"
title = "Colophons"
plugins = ["metric.py"]
count_kind = "open"
[domains_zh]
"Books" = "书"
[families.title]
form = "short"
image = false
strict = ["Prefix2"]
[tasks.colophon_title]
domain = "Books"
name_zh = "题名"
name_en = "Title"
family = "title"
format = "QA"
ask = "{question}"
requirement = "只答书名。"
"""
METRIC = """
import keju

@keju.metric(name="Prefix2", form="short", rule="first two characters", rule_zh="前两字")
def prefix(reference, answer):
    return sum(a == b for a, b in zip(reference[:2], answer[:2])) / 2
"""
MAP = """
tables = [{ path = "items.csv" }]
[fields]
id = "id"
question = "question"
answer = "answer"
[constants]
task = "colophon_title"
"""


class Author:
    """A user with a folder, a definition in ``bench`` and a configuration of their own."""

    def __init__(self, folder: Path, home: str = "home") -> None:
        self.folder = folder
        self.home = folder / home

    def keju(self, *words: object) -> Done:
        environment = {**os.environ, "XDG_CONFIG_HOME": str(self.home)}
        return commanding.keju(*words, cwd=self.folder, env=environment)

    def done(self, *words: object) -> Done:
        found = self.keju(*words)
        assert found.returncode == 0, (words, found.stdout, found.stderr)
        return found

    def refused(self, *words: object) -> str:
        found = self.keju(*words)
        assert found.returncode == 2, (words, found.stdout, found.stderr)
        assert len(found.stderr.splitlines()) == 1, found.stderr
        return found.stderr


@pytest.fixture
def author(tmp_path: Path) -> Author:
    (tmp_path / "bench").mkdir()
    (tmp_path / "bench" / "own.toml").write_text(DEFINITION, "utf-8")
    (tmp_path / "bench" / "metric.py").write_text(METRIC, "utf-8")
    (tmp_path / "map.toml").write_text(MAP, "utf-8")
    (tmp_path / "items.csv").write_text("id,question,answer\n1,名？,論語\n2,名？,孟子\n", "utf-8")
    lines = '{"item": "1", "text": "論語"}\n{"item": "2", "text": "孟軻"}\n'
    (tmp_path / "a.jsonl").write_text(lines, "utf-8")
    return Author(tmp_path)


def import_data(author: Author, *more: object) -> Done:
    return author.done(
        "data", "import", "mapped", "items.csv", "--map", "map.toml", "--out", "data", *more,
        "--licence", "CC0-1.0", "--source", "the test",
    )  # fmt: skip


COMMANDS = (
    ("data", "validate", "data"),
    ("run", "--plan", "data", "--model", "baseline:copy"),
    ("run", "data", "--model", "replay:a.jsonl", "--model", "baseline:copy", "--out", "run"),
    ("score", "run", "--json", "scores.json"),
    ("report", "run", "-o", "r.html"),
    ("compare", "run", "--model", "replay:a.jsonl", "--model", "baseline:copy"),
    ("audit", "run"),
    ("protocols", "run"),
    ("bundle", "run", "-o", "own.keju.zip"),
    ("site", "own.keju.zip", "-o", "site"),
)


def test_once_the_definition_is_named_every_later_command_loads_the_file_beside_it(author):
    named = import_data(author, "--benchmark", "bench/own.toml")
    assert "bench/metric.py" in named.stderr
    for command in COMMANDS:
        author.done(*command)
    scores = json.loads((author.folder / "scores.json").read_text("utf-8"))
    values = scores["replay:a.jsonl"]["strict"]["tasks"]["colophon_title"]
    assert values["Prefix2"] == 0.75
    assert "verified" in author.done("verify", "own.keju.zip", "--dataset", "data").stdout


def test_a_file_that_was_named_with_the_option_once_is_loaded_later(author):
    shutil.move(author.folder / "bench" / "metric.py", author.folder / "metric.py")
    import_data(author, "--benchmark", "bench/own.toml", "--plugin", "metric.py")
    author.done("data", "validate", "data")


def test_a_changed_file_is_not_loaded_until_it_is_named_again(author):
    import_data(author, "--benchmark", "bench/own.toml")
    mark = author.folder / "executed"
    file = author.folder / "bench" / "metric.py"
    file.write_text(f"{METRIC}\nopen({str(mark)!r}, 'w').close()\n", "utf-8")
    line = author.refused("data", "validate", "data")
    assert f"--plugin {file}" in line
    assert not mark.exists()
    author.done("data", "validate", "data", "--plugin", file)
    author.done("data", "validate", "data")


@pytest.mark.parametrize("change", [("Colophons", "Other"), ("metric.py", "../metric.py")])
def test_code_that_came_with_data_of_others_is_never_executed(author, change):
    import_data(author, "--benchmark", "bench/own.toml")
    stranger = Author(author.folder, "other-home")
    assert "--plugin" in stranger.refused("data", "validate", "data")
    mark = author.folder / "executed"
    code = f"open({str(mark)!r}, 'w').close()\n"
    for folder in (author.folder, author.folder / "data"):
        (folder / "metric.py").write_text(code, "utf-8")
    stranger.refused("data", "validate", "data")
    author.done("data", "validate", "data")
    # Another definition of the same name is not the one that the user named.
    other = DEFINITION.replace(*change)
    (author.folder / "data" / "benchmark.toml").write_text(other, "utf-8")
    author.refused("data", "validate", "data")
    assert not mark.exists()


def test_a_damaged_record_is_no_record(author):
    import_data(author, "--benchmark", "bench/own.toml")
    (author.home / "keju" / "plugins.json").write_text("[", "utf-8")
    assert "metric.py" in author.refused("data", "validate", "data")
    author.done("data", "validate", "data", "--benchmark", "bench/own.toml")
    author.done("data", "validate", "data")
