"""Every reason why a request is not sent has a Chinese text."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import keju
from keju.words import Words

ZH = Words("zh")
ENGLISH = re.compile(r"(?<![-:+])[a-z]{2,} [a-z]{2,}")
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
    """The sentences of an expression, with a name in each blank; none of a call.

    Raises:
        AssertionError: the expression has a form that this test does not understand.
    """
    if isinstance(value, ast.IfExp):
        return [*sentences(value.body), *sentences(value.orelse)]
    if isinstance(value, ast.BoolOp):
        return [text for each in value.values for text in sentences(each)]
    if isinstance(value, ast.Constant) and isinstance(value.value, str):
        return [value.value] if value.value else []
    if isinstance(value, ast.JoinedStr):
        parts = (str(p.value) if isinstance(p, ast.Constant) else "NAME" for p in value.values)
        return ["".join(parts)]
    if isinstance(value, ast.Name) and value.id in constants():
        return sentences(constants()[value.id])
    assert isinstance(value, ast.Call), ast.unparse(value)
    return []


@cache
def reasons() -> list[str]:
    """Every reason of the program, with a name in each blank."""
    found = reason_functions()
    return sorted({text for each in found for value in returned(each) for text in sentences(value)})


def test_the_reasons_are_found_in_functions_constants_and_helpers():
    found = reasons()
    assert len(found) > 25
    assert "NAME transcribes; it gives no answer of the form NAME" in found
    assert sentences(constants()["NO_TRANSCRIPTION"])[0] in found
    assert sentences(constants()["NO_TEXT"])[0] in found
    (from_helper,) = [each for each in found if each.startswith("with NAME the prompt")]
    assert "answer" in from_helper


def test_every_reason_has_a_chinese_text():
    assert [reason for reason in reasons() if ZH(reason) == reason] == []
    chinese = [re.sub(r"--\S+ \S+", "", ZH(reason)) for reason in reasons()]
    assert [text for text in chinese if ENGLISH.search(text)] == []


def test_a_reason_without_a_chinese_text_would_be_found():
    unknown = sentences(ast.parse("'the moon is full' if full else ''", mode="eval").body)
    assert unknown == ["the moon is full"]
    assert ZH(unknown[0]) == unknown[0]
