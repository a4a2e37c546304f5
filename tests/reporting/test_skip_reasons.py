"""Every reason why a request is not sent has a Chinese text."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import keju
from keju.texts import Text

HAN = re.compile("[\u4e00-\u9fff]")
ROOT = Path(keju.__file__).parent
FILES = [*(ROOT / "models").rglob("*.py"), *(ROOT / "running").rglob("*.py"),
         ROOT / "definitions/wordings.py"]  # fmt: skip


@cache
def trees() -> list[ast.Module]:
    return [ast.parse(file.read_text("utf-8")) for file in FILES]


@cache
def constants() -> dict[str, ast.expr]:
    return {
        name.id: node.value
        for tree in trees()
        for node in tree.body
        if isinstance(node, ast.Assign)
        for name in node.targets
        if isinstance(name, ast.Name)
    }


def is_text(function: ast.FunctionDef) -> bool:
    return isinstance(function.returns, ast.Name) and function.returns.id == "str"


@cache
def functions() -> dict[str, ast.FunctionDef]:
    """The functions that return a text, by name; those of a class share one with its base."""
    return {
        node.name: node
        for tree in trees()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and is_text(node)
    }


def reason_functions() -> Iterator[ast.FunctionDef]:
    """The functions that return a reason, and the ones that they get it from."""
    todo = [
        node
        for tree in trees()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and node.name.endswith("reason") and is_text(node)
    ]
    seen = {node.name for node in todo}
    while todo:
        yield (function := todo.pop())
        for name in (name for value in returned(function) for name in called(value)):
            if name in functions() and name not in seen:
                seen.add(name)
                todo.append(functions()[name])


def called(value: ast.expr) -> list[str]:
    """The functions whose value an expression has."""
    if isinstance(value, ast.IfExp):
        return [*called(value.body), *called(value.orelse)]
    if isinstance(value, ast.BoolOp):
        return [name for each in value.values for name in called(each)]
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
        return [value.func.id]
    return []


def returned(function: ast.FunctionDef) -> Iterator[ast.expr]:
    for node in ast.walk(function):
        if isinstance(node, ast.Return) and node.value:
            yield node.value


def sentences(value: ast.expr) -> list[str]:
    """The sentences of an expression, ``_("…")``; none of another call.

    Raises:
        AssertionError: the expression has a form that this test does not understand, or a text that
            cannot be translated.
    """
    if isinstance(value, ast.IfExp):
        return [*sentences(value.body), *sentences(value.orelse)]
    if isinstance(value, ast.BoolOp):
        return [text for each in value.values for text in sentences(each)]
    if isinstance(value, ast.Constant) and not value.value:
        return []
    if isinstance(value, ast.Name) and value.id in constants():
        return sentences(constants()[value.id])
    assert isinstance(value, ast.Call), ast.unparse(value)
    if isinstance(value.func, ast.Name) and value.func.id == "_":
        return [ast.literal_eval(value.args[0])]
    return []


@cache
def reasons() -> list[str]:
    """Every reason of the program."""
    found = reason_functions()
    return sorted({text for each in found for value in returned(each) for text in sentences(value)})


def test_the_reasons_are_found_in_functions_constants_and_helpers():
    found = reasons()
    assert len(found) > 25
    assert "an OCR engine only transcribes" in found
    assert sentences(constants()["NO_TRANSCRIPTION"])[0] in found
    assert "with {} the prompt would contain the answer" in found


def test_every_reason_has_a_chinese_text():
    chinese = [Text(reason).template_in("zh") for reason in reasons()]
    assert [text for text in chinese if not HAN.search(text)] == []


@pytest.mark.parametrize("code", ["'the moon is full' if full else ''", "f'the moon is {phase}'"])
def test_a_reason_that_cannot_be_translated_would_be_found(code):
    with pytest.raises(AssertionError, match="the moon"):
        sentences(ast.parse(code, mode="eval").body)
