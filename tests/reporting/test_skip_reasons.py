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
        for name in map(called, returned(function)):
            if name in functions() and name not in seen:
                seen.add(name)
                todo.append(functions()[name])


def called(value: ast.expr) -> str:
    """The name of the function whose value an expression has, or an empty string."""
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
        return value.func.id
    return ""


def returned(function: ast.FunctionDef) -> Iterator[ast.expr]:
    """The expressions that a function may return, each without a choice."""
    for node in ast.walk(function):
        if isinstance(node, ast.Return) and node.value:
            yield from choices(node.value, function)


def choices(value: ast.expr, function: ast.FunctionDef) -> Iterator[ast.expr]:
    """The expressions one of which is the value of an expression in a function.

    The value of a variable is one that was assigned to it, and that of ``next(…)`` comes from the
    rows of a table.
    """
    if isinstance(value, ast.IfExp):
        parts = [value.body, value.orelse]
    elif isinstance(value, ast.BoolOp):
        parts = value.values
    elif isinstance(value, ast.Name):
        parts = assigned(value.id, function)
    elif called(value) == "next":
        assert isinstance(value, ast.Call)
        rows, *default = value.args
        parts = [*column(rows, function), *default]
    else:
        parts = []
    if not parts:
        yield value
    for part in parts:
        yield from choices(part, function)


def assigned(name: str, function: ast.FunctionDef) -> list[ast.expr]:
    """The expressions that a function assigns to a variable, also side by side with others."""
    pairs = [
        pair
        for node in ast.walk(function)
        if isinstance(node, ast.Assign)
        for target in node.targets
        for pair in (
            zip(target.elts, node.value.elts, strict=True)
            if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple)
            else [(target, node.value)]
        )
    ]
    return [value for target, value in pairs if isinstance(target, ast.Name) and target.id == name]


def column(rows: ast.expr, function: ast.FunctionDef) -> list[ast.expr]:
    """The column of a table from which ``(text for condition, text in table if …)`` chooses."""
    assert isinstance(rows, ast.GeneratorExp), ast.unparse(rows)
    (loop,) = rows.generators
    assert isinstance(loop.target, ast.Tuple), ast.unparse(rows)
    names = [ast.unparse(name) for name in loop.target.elts]
    place = names.index(ast.unparse(rows.elt))
    cells = []
    for table in choices(loop.iter, function):
        assert isinstance(table, ast.Tuple), ast.unparse(table)
        for row in table.elts:
            assert isinstance(row, ast.Tuple), ast.unparse(row)
            cells.append(row.elts[place])
    return cells


def sentences(value: ast.expr) -> list[str]:
    """The sentence of an expression without a choice, ``_("…")``; none of another call.

    Raises:
        AssertionError: the expression has a form that this test does not understand, or a text that
            cannot be translated.
    """
    if isinstance(value, ast.Constant) and not value.value:
        return []
    if isinstance(value, ast.Name) and value.id in constants():
        return sentences(constants()[value.id])
    assert isinstance(value, ast.Call), ast.unparse(value)
    return [ast.literal_eval(value.args[0])] if called(value) == "_" else []


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
    assert "there is no image to read first" in found


def test_every_reason_has_a_chinese_text():
    chinese = [Text(reason).template_in("zh") for reason in reasons()]
    assert [text for text in chinese if not HAN.search(text)] == []


@pytest.mark.parametrize(
    "code",
    [
        "return 'the moon is full' if full else ''",
        "return f'the moon is {phase}'",
        "reason = ''\n if full: reason = 'the moon is full'\n return reason",
        "table = ((full, _('fine')), (new, 'the moon is new'))\n"
        " return next((text for applies, text in table if applies), '')",
    ],
)
def test_a_reason_that_cannot_be_translated_would_be_found(code):
    function = ast.parse(f"def reason() -> str:\n {code}").body[0]
    assert isinstance(function, ast.FunctionDef)
    with pytest.raises(AssertionError, match="the moon"):
        [sentences(value) for value in returned(function)]
