"""Every message that the code uses is in both catalogues, with the same fields, and no other."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from keju.messages import templates

from keju.texts import LANGUAGES

ROOT = Path(__file__).resolve().parents[2]
CORE = ROOT / "src/keju"

PAGES = {"analysis", "figures", "reporting", "site"}
"""Packages whose texts are used by id in templates and scripts too."""

RECOGNISED = {"declarations", "stored", "analysis", "figures", "reporting"}
"""Catalogues with texts that are recognised where files and other packages have them in English."""


class Call(NamedTuple):
    """One use of a message; `fields` is None where the place does not fill them."""

    id: str
    fields: frozenset[str] | None
    place: str


def trees() -> Iterator[tuple[Path, ast.Module]]:
    for path in sorted(CORE.rglob("*.py")):
        yield path, ast.parse(path.read_text("utf-8"))


def name_of(call: ast.Call) -> str:
    return getattr(call.func, "id", "") or getattr(call.func, "attr", "")


def inside(text: str, start: int) -> str:
    """The text from a place to the parenthesis that closes the one before it."""
    depth = 1
    for place in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[place], 0)
        if depth == 0:
            return text[start:place]
    raise AssertionError(text[start : start + 80])


def at_top(text: str) -> str:
    """A text without what is in parentheses, brackets, braces and quotes."""
    before = ""
    while text != before:
        before = text
        text = re.sub(r'"[^"]*"|\([^()]*\)|\[[^\[\]]*\]|`[^`]*`', "", text)
    return text


def uses_in_pages() -> Iterator[Call]:
    """Uses in templates, ``text("id", a=value)``, and in scripts, ``say("id", { a: value })``."""
    for package in PAGES:
        for path in sorted((CORE / package).rglob("assets/*")):
            if path.suffix not in {".j2", ".js"}:
                continue
            code = path.read_text("utf-8")
            for found in re.finditer(r"""\b(?:text|say)\((["'])([a-z-]+\.[a-z0-9-]+)\1""", code):
                rest = at_top(inside(code, found.end()))
                if path.suffix == ".j2":
                    names = re.findall(r"(\w+)\s*=", rest)
                else:
                    names = re.findall(r"(?:\{|,)\s*(\w+)(?=\s*[:,}])", rest)
                yield Call(found[2], frozenset(names), path.name)
            for name in re.findall(rf'"({package}\.[a-z0-9-]+)"', code):
                yield Call(name, None, path.name)


def ids_in(path: Path, tree: ast.Module) -> Iterator[Call]:
    """The ids that a package of pages names without filling their fields, in constants."""
    if path.relative_to(CORE.parent).parts[1] not in PAGES:
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            package, _, name = node.value.partition(".")
            if package in PAGES and re.fullmatch("[a-z0-9]+(-[a-z0-9]+)*", name):
                yield Call(node.value, None, f"{path.name}:{node.lineno}")


@pytest.fixture(scope="module")
def calls() -> list[Call]:
    found = list(uses_in_pages())
    for path, tree in trees():
        found += ids_in(path, tree)
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call):
                continue
            if name_of(node) != "message" or not node.args:
                continue
            name = node.args[0]
            if isinstance(name, ast.Constant) and isinstance(name.value, str):
                fields = frozenset(each.arg for each in node.keywords if each.arg)
                found.append(Call(name.value, fields, f"{path.name}:{node.lineno}"))
    return found


@pytest.fixture(scope="module")
def packages() -> dict[str, Path]:
    """The packages with catalogues, by what their ids begin with."""
    return {path.stem: path for path in sorted(CORE.glob("messages/en/*.toml"))}


def fields_of(package: str, name: str, language: str) -> frozenset[str]:
    entry = templates(package, language)[name]
    return entry.text.fields | entry.hint.fields


def test_every_message_that_the_code_uses_exists_with_its_fields(calls, packages):
    wrong = []
    for call in calls:
        package, _, name = call.id.partition(".")
        if package not in packages or name not in templates(package, "en"):
            wrong.append(f"{call.place}: no message {call.id}")
        elif call.fields is not None and fields_of(package, name, "en") != call.fields:
            expected = sorted(fields_of(package, name, "en"))
            given = sorted(call.fields)
            wrong.append(f"{call.place}: {call.id} has the fields {expected}, but is given {given}")
    assert not wrong


def test_every_message_is_used(calls, packages):
    used = {call.id for call in calls}
    by_id = packages.keys() - RECOGNISED
    there = {f"{package}.{name}" for package in by_id for name in templates(package, "en")}
    unused = there - used
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
        other = path.parents[1] / "zh" / path.name
        for line in other.read_text("utf-8").splitlines():
            if line.startswith(("text =", "hint =")) and re.search("[a-z]{3} [a-z]{3}", line):
                assert chinese.search(line), f"{other.name}: {line}"


def test_ids_are_short_names_in_kebab_case(packages):
    names = [name for package in packages for name in templates(package, "en")]
    assert names
    assert not [name for name in names if not re.fullmatch("[a-z0-9]+(-[a-z0-9]+)*", name)]
