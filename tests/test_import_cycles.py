"""No module of keju imports itself through others, at its top or inside a function.

Imports for type checkers only do not run and are not counted.
"""

from __future__ import annotations

import ast
import importlib.util
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = [
    ROOT / "src" / "keju",
    ROOT / "packages" / "keju-inspect" / "src" / "keju_inspect",
    ROOT / "packages" / "keju-synthetic" / "src" / "keju_synthetic",
]

ALLOWED = {("keju", "keju.api")}
"""`import keju` gives the public functions, which it imports when they are first used."""


def module_name(path: Path, top: Path) -> str:
    parts = path.relative_to(top.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(path: Path, name: str, modules: Mapping[str, Path]) -> Iterator[str]:
    """The modules that a file imports, at its top or inside functions."""
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    tree = ast.parse(path.read_text("utf-8"))
    for_types = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for part in node.body
        for inner in ast.walk(part)
    }
    for node in ast.walk(tree):
        if id(node) in for_types:
            continue
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names if each.name in modules)
        elif isinstance(node, ast.ImportFrom):
            relative = "." * node.level + (node.module or "")
            source = importlib.util.resolve_name(relative, package) if node.level else relative
            for each in node.names:
                inner = f"{source}.{each.name}"
                if inner in modules or source in modules:
                    yield inner if inner in modules else source


def graph_of(top: Path) -> dict[str, set[str]]:
    modules = {module_name(path, top): path for path in sorted(top.rglob("*.py"))}
    graph = {name: set(imported(path, name, modules)) - {name} for name, path in modules.items()}
    for source, target in ALLOWED:
        graph.get(source, set()).discard(target)
    return graph


def cycles(graph: Mapping[str, set[str]]) -> list[list[str]]:
    """The strongly connected components of more than one module, without what reaches no cycle."""
    left = {name: set(targets) for name, targets in graph.items()}
    while ends := {name for name, targets in left.items() if not targets & left.keys()}:
        left = {name: targets for name, targets in left.items() if name not in ends}
    found = []
    for name in left:
        reached: set[str] = set()
        ahead = [name]
        while ahead:
            for target in left.get(ahead.pop(), ()):
                if target in left and target not in reached:
                    reached.add(target)
                    ahead.append(target)
        if name in reached:
            found.append((name, reached))
    groups = {
        frozenset(other for other, theirs in found if other in reached and name in theirs)
        for name, reached in found
    }
    return sorted(sorted(group) for group in groups)


@pytest.mark.parametrize("top", PACKAGES, ids=lambda path: path.name)
def test_no_modules_import_each_other(top: Path) -> None:
    graph = graph_of(top)
    assert len(graph) > (10 if top.name == "keju_inspect" else 20)  # it is a small package
    assert cycles(graph) == []


def test_a_cycle_is_found() -> None:
    graph = {"a": {"b"}, "b": {"c"}, "c": {"b", "d"}, "d": set(), "e": {"a"}}
    assert cycles(graph) == [["b", "c"]]
