"""The tools that measure the repository count what their pages say."""

from __future__ import annotations

import ast

import pytest

from tools.mutants import changes
from tools.names import names_in
from tools.size import find_worse


def test_assigned_names_loop_variables_parameters_and_fields_are_counted():
    text = "class A:\n  field: int\ndef f(given, *, page=1):\n  for row in given:\n    x = row\n"
    assert sorted(names_in(ast.parse(text))) == ["field", "given", "page", "row", "x"]


@pytest.mark.parametrize(
    ("line", "changed"),
    [
        ("x = a < b", "x = a <= b"),
        ("x = a is not b", "x = a is b"),
        ("x = a and b", "x = a or b"),
        ("x = 甲 + b", "x = 甲 - b"),
        ("x = True", "x = False"),
        ("x = 41", "x = 42"),
    ],
)
def test_a_change_of_a_line_is_one_operator_number_or_boolean(line: str, changed: str):
    assert [(each.before, each.after) for each in changes("m.py", line)] == [(line, changed)]


def test_a_condition_is_inverted_and_a_repeated_line_is_never_changed():
    (mutant,) = changes("m.py", "if ready:\n    pass")
    assert mutant.after == "if not (ready):"
    assert not list(changes("m.py", "x = 1\nx = 1"))


def test_a_package_gets_worse_by_code_names_and_fewer_comments_but_not_by_rounding():
    before = {"code": 100.0, "public": 5.0, "vague": 9.0, "comments": 2.0}
    assert not list(find_worse({"text": {**before, "vague": 9.04}}, {"text": before}))
    assert not list(find_worse({"text": {**before, "code": 90.0}}, {"text": before}))
    assert not list(find_worse({"new": before}, {"text": before}))
    for change in ({"code": 101.0}, {"public": 6.0}, {"vague": 9.2}, {"comments": 1.8}):
        (line,) = find_worse({"text": {**before, **change}}, {"text": before})
        assert line.startswith("  text: ")
