"""Every message that the code uses is in both catalogues, with the same fields, and no other."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from keju.messages import LANGUAGES, templates

ROOT = Path(__file__).resolve().parents[2]
CORE = ROOT / "src/keju"
SYNTHETIC = ROOT / "packages/keju-synthetic/src/keju_synthetic"
BENCHMARKS = sorted(each.parent for each in CORE.glob("benchmarks/*/messages"))

PLAIN = {
    "annotation",
    "notebook.py",
    "telemetry.py",
}
"""Packages whose errors still have plain English texts."""

ERRORS = re.compile(
    r"(Keju|Usage|Data|Problems|Prerequisite|Plugin|Ask|OutOfDate|NotNow|UndefinedMetric|TooLong)"
    r"Error"
)


class Call(NamedTuple):
    """One use of a message."""

    id: str
    fields: frozenset[str]
    place: str


def trees() -> Iterator[tuple[Path, ast.Module]]:
    for folder in (CORE, SYNTHETIC):
        for path in sorted(folder.rglob("*.py")):
            yield path, ast.parse(path.read_text("utf-8"))


def name_of(call: ast.Call) -> str:
    return getattr(call.func, "id", "") or getattr(call.func, "attr", "")


def is_text(node: ast.expr) -> bool:
    """Whether an expression has words of its own."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str) and re.search("[A-Za-z]{2}", node.value) is not None
    if isinstance(node, ast.JoinedStr):
        return any(map(is_text, node.values))
    if isinstance(node, ast.IfExp):
        return is_text(node.body) or is_text(node.orelse)
    if isinstance(node, ast.BinOp):
        return is_text(node.left) or is_text(node.right)
    return False


@pytest.fixture(scope="module")
def calls() -> list[Call]:
    found = [Call("messages.or", frozenset({"first", "last"}), "either")]
    found.append(Call("messages.and", frozenset({"first", "last"}), "both"))
    for path, tree in trees():
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call) or name_of(node) != "message" or not node.args:
                continue
            name = node.args[0]
            if isinstance(name, ast.Constant) and isinstance(name.value, str):
                fields = frozenset(each.arg for each in node.keywords if each.arg)
                found.append(Call(name.value, fields, f"{path.name}:{node.lineno}"))
    return found


@pytest.fixture(scope="module")
def packages() -> dict[str, Path]:
    """The packages with catalogues, by what their ids begin with."""
    found = {path.stem: path for path in sorted(CORE.glob("messages/en/*.toml"))}
    for folder in BENCHMARKS:
        importlib.import_module(f"keju.benchmarks.{folder.name}")
        found[folder.name.replace("_", "-")] = folder / "messages/en.toml"
    if (SYNTHETIC / "messages").is_dir():
        importlib.import_module("keju_synthetic")
        found["synthetic"] = SYNTHETIC / "messages/en.toml"
    return found


def fields_of(package: str, name: str, language: str) -> frozenset[str]:
    entry = templates(package, language)[name]
    return entry.text.fields | entry.hint.fields


def test_every_message_that_the_code_uses_exists_with_its_fields(calls, packages):
    wrong = []
    for call in calls:
        package, _, name = call.id.partition(".")
        if package not in packages or name not in templates(package, "en"):
            wrong.append(f"{call.place}: no message {call.id}")
        elif fields_of(package, name, "en") != call.fields:
            wrong.append(f"{call.place}: {call.id} has other fields")
    assert not wrong


def test_every_message_is_used(calls, packages):
    used = {call.id for call in calls}
    there = {f"{package}.{name}" for package in packages for name in templates(package, "en")}
    unused = {each for each in there - used if not each.startswith("nouns.")}
    assert not unused


def test_every_message_has_the_same_fields_and_a_hint_in_each_language(packages):
    wrong = []
    for package in packages:
        first = templates(package, "en")
        for language in LANGUAGES[1:]:
            other = templates(package, language)
            wrong += [f"{package}.{name}: {language}" for name in first.keys() ^ other.keys()]
            for name in first.keys() & other.keys():
                same = fields_of(package, name, "en") == fields_of(package, name, language)
                if not same or first[name].hint.empty != other[name].hint.empty:
                    wrong.append(f"{package}.{name}: other fields in {language}")
    assert not wrong


def test_chinese_texts_are_chinese_and_english_ones_are_not(packages):
    chinese = re.compile("[\u4e00-\u9fff]")
    for path in packages.values():
        if path.parent.name == "en":
            other = path.parents[1] / "zh" / path.name
        else:
            other = path.with_name("zh.toml")
        for line in other.read_text("utf-8").splitlines():
            if line.startswith(("text =", "hint =")) and re.search("[a-z]{3} [a-z]{3}", line):
                assert chinese.search(line), f"{other.name}: {line}"


def test_ids_are_short_names_in_kebab_case(packages):
    names = [
        name for package in packages if package != "nouns" for name in templates(package, "en")
    ]
    assert names
    assert not [name for name in names if not re.fullmatch("[a-z0-9]+(-[a-z0-9]+)*", name)]


def test_errors_of_the_core_have_messages_with_ids():
    plain = []
    for path, tree in trees():
        if not path.is_relative_to(CORE) or path.relative_to(CORE).parts[0] in PLAIN:
            continue
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call) or not ERRORS.fullmatch(name_of(node)):
                continue
            given = [*node.args, *(each.value for each in node.keywords if each.arg == "hint")]
            first = given[1:] if name_of(node) == "AskError" else given
            if name_of(node) != "PrerequisiteError" and any(map(is_text, first)):
                plain.append(f"{path.relative_to(CORE)}:{node.lineno}")
    assert not plain


def test_every_package_with_plain_texts_exists():
    assert not [name for name in PLAIN if not (CORE / name).exists()]
