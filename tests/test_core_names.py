"""Only the folders of `keju.benchmarks` know a published benchmark and its tasks by name."""

from __future__ import annotations

import ast
import csv
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import keju
from tests.support.bundled import FOLDERS, PAPERS
from tests.support.bundled import TASKS as TASKS_OF

CORE = Path(keju.__file__).parent


def pattern_of(name: str) -> str:
    """A benchmark's name with its words written together or apart: ``ancient[-_ ]?doc``."""
    return "[-_ ]?".join(re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+|\d+", name))


NAMED = re.compile("|".join(map(pattern_of, FOLDERS)), re.IGNORECASE)
TEXTS = {".py", ".toml", ".csv", ".j2", ".js", ".css", ".json", ".svg", ".txt"}
OUTSIDE = ("benchmarks/", "datasets/mini/data/")
"""The folders of the benchmarks, and the items of the bundled set."""

TASKS = {task for name in FOLDERS for task in TASKS_OF[name]}

HOMONYMS = {
    (
        "datasets/writers/assets/alto.xml.j2",
        "recognition",
    ): "The ID of the processing step in ALTO.",
    (
        "datasets/writers/assets/page-xml.xml.j2",
        "recognition",
    ): "The name of the processing step in PAGE XML.",
    (
        "reporting/error_rows.py",
        "recognition",
    ): "The share of the error rate that is neither layout nor spelling.",
    ("reporting/assets/report.html.j2", "recognition"): "The label of that share.",
}
"""Words that are a task's id too, by file and word, with what they mean there."""


def files() -> list[str]:
    """Every text file of the core, relative to the package."""
    found = (path.relative_to(CORE).as_posix() for path in CORE.rglob("*") if path.suffix in TEXTS)
    return sorted(name for name in found if not name.startswith(OUTSIDE))


def names_in(file: str) -> list[str]:
    """The benchmarks' names in a file's path and text, and the tasks' ids among its strings."""
    text = (CORE / file).read_text("utf-8")
    ids = {each for each in strings_in(file, text) if each in TASKS}
    return [*NAMED.findall(f"{file}\n{text}"), *sorted(ids - homonyms(file))]


def homonyms(file: str) -> set[str]:
    return {word for known, word in HOMONYMS if known == file}


def strings_in(file: str, text: str) -> Iterator[str]:
    """Every whole string: literals of code, keys and values of TOML, cells of CSV."""
    match Path(file).suffix:
        case ".py":
            nodes = ast.walk(ast.parse(text))
            yield from (str(each.value) for each in nodes if isinstance(each, ast.Constant))
        case ".toml":
            yield from words_of(tomllib.loads(text))
        case ".csv":
            yield from (cell for row in csv.reader(text.splitlines()) for cell in row)
        case _:
            yield from re.findall(r"""(?<=["'])[\w/]+(?=["'])""", text)


def words_of(value: object) -> Iterator[str]:
    """The strings of a nested value; ``task/query`` counts as the task."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from words_of(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from words_of(inner)
    elif isinstance(value, str):
        yield value.partition("/")[0]


def test_the_names_and_tasks_are_those_of_the_folders() -> None:
    assert {name for name in FOLDERS if not NAMED.fullmatch(FOLDERS[name])} == set()
    assert set(PAPERS) <= set(FOLDERS)
    assert NAMED.findall("mcsbench AncientDoc ancient_doc OBI Bench") == [
        "mcsbench", "AncientDoc", "ancient_doc", "OBI Bench",
    ]  # fmt: skip
    assert {"T1", "page_level_ocr", "recognition"} <= TASKS


def test_no_file_of_the_core_names_a_published_benchmark_or_a_task() -> None:
    found = {file: names for file in files() if (names := names_in(file))}
    assert found == {}, f"names of benchmarks or tasks outside {OUTSIDE[0]} (or common words)"


def test_an_exception_is_a_word_that_the_file_has() -> None:
    lacking = [
        (file, word)
        for file, word in HOMONYMS
        if word not in strings_in(file, (CORE / file).read_text("utf-8"))
    ]
    assert lacking == []
