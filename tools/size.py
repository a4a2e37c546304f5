"""Measure the repository by package, beside the last recorded state (tools/size.json).

    python -m tools.size            print the tables; status 1 where a package got worse
    python -m tools.size --write    record the present state: commit it with the reason

Per package: lines of Python, code lines (without docstrings, comments and blank lines), tokens,
share of comments, files, public names of modules, classes, and the share of vague local names
(`tools.names`). For the whole: commands and their options (with the keys of ``--option`` and
``--where``), data, templates and scripts, words of docs, lines of tests, and the functions and
files on the path of one page through run, score and report, imports left out.

A package gets worse if its code lines, public names or share of vague names grow, or its share of
comments falls. A change that needs this records it.
"""

from __future__ import annotations

import argparse
import ast
import io
import json
import subprocess
import sys
import tokenize
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rich.console import Console
from rich.table import Table
from typer import Context

from tools.names import count_names

ROOT = Path(__file__).parents[1]
RECORD = ROOT / "tools/size.json"

Sizes = dict[str, dict[str, float]]

_COLUMNS = {
    "lines": "lines",
    "code": "code",
    "tokens": "tokens",
    "comments": "comments %",
    "files": "files",
    "public": "public",
    "classes": "classes",
    "vague": "vague %",
}
_SHARES = {"comments", "vague"}
_WORSE = {"code": 1, "public": 1, "vague": 1, "comments": -1}
"""The measures that may not get worse, and the direction of worse."""

_SLACK = 0.05
"""Percent points that a share may change by rounding."""

_DATA = {"data": (".toml", ".json", ".csv", ".tsv", ".po", ".txt", ".bib"),
         "templates": (".html", ".j2", ".css", ".svg"), "scripts": (".js",)}  # fmt: skip
_LAYOUT_TOKENS = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
    tokenize.ENDMARKER, tokenize.ENCODING,
}  # fmt: skip


def main() -> None:
    """Print the tables, and record them or compare them with the record."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", action="store_true", help="record the present state")
    parser.add_argument("--no-path", action="store_true", help="leave the path of one page out")
    arguments = parser.parse_args()
    sizes, totals = measure_packages(), measure_whole(with_path=not arguments.no_path)
    record = json.loads(RECORD.read_text("utf-8")) if RECORD.exists() else {}
    _print(sizes, totals, record)
    if arguments.write:
        packages = {name: {key: row[key] for key in _COLUMNS} for name, row in sizes.items()}
        content = {"packages": packages, "whole": {**record.get("whole", {}), **totals}}
        RECORD.write_text(json.dumps(content, indent=1, sort_keys=True) + "\n", "utf-8")
        return
    if worse := list(find_worse(sizes, record.get("packages", {}))):
        lines = ["These packages got worse since tools/size.json:", *worse,
                 "Improve them, or record the reason: python -m tools.size --write"]  # fmt: skip
        Console().print("\n".join(lines), markup=False)
        sys.exit(1)


def measure_packages() -> Sizes:
    """The sizes of each part of the core, of the other distributions, and of the core's sum."""
    parts: dict[str, list[Path]] = {}
    for path in sorted((ROOT / "src/keju").rglob("*.py")):
        inside = path.relative_to(ROOT / "src/keju").parts
        parts.setdefault(inside[0] if len(inside) > 1 else "(modules)", []).append(path)
    core = [path for files in parts.values() for path in files]
    sizes = {name: _measure(files) for name, files in sorted(parts.items())}
    sizes["core"] = _measure(core)
    for folder in sorted((ROOT / "packages").glob("*/src")):
        sizes[folder.parent.name] = _measure(sorted(folder.rglob("*.py")))
    return sizes


def measure_whole(*, with_path: bool) -> dict[str, float]:
    """The sizes that belong to the whole repository."""
    totals: dict[str, float] = dict(count_surface())
    for name, suffixes in _DATA.items():
        totals[f"lines of {name}"] = sum(
            _count_lines(path)
            for path in (ROOT / "src").rglob("*")
            if path.suffix in suffixes and path.is_file()
        )
    pages = [*(ROOT / "docs").rglob("*.md"), *ROOT.glob("*.md")]
    totals["words of docs"] = sum(len(path.read_text("utf-8").split()) for path in pages)
    totals["lines of tests"] = sum(map(_count_lines, (ROOT / "tests").rglob("*.py")))
    totals["lines of tests in packages"] = sum(
        map(_count_lines, (ROOT / "packages").glob("*/tests/**/*.py"))
    )
    if with_path:
        totals |= measure_path()
    return totals


def count_surface() -> dict[str, int]:
    """The number of commands and of their options, keys of ``--option`` and filters included."""
    from typer.main import get_command  # noqa: PLC0415

    from keju.cli.app import app  # noqa: PLC0415
    from keju.cli.benchmark_files import add_benchmark_option  # noqa: PLC0415
    from keju.datasets.readers import FORMATS  # noqa: PLC0415

    root = get_command(app)
    add_benchmark_option(root)
    commands = list(_leaves(root))
    slots = sum(
        parameter.param_type_name == "option" and parameter.name != "help"
        for command in commands
        for parameter in command.params
    )
    keys = sum(len(reader.settings.__struct_fields__) for reader in FORMATS.list_usable())
    return {"commands": len(commands), "options": slots, "keys of --option": keys}


def _leaves(command: Any) -> Iterator[Any]:  # noqa: ANN401 - Typer's own types
    if not hasattr(command, "list_commands"):
        yield command
        return
    context = Context(command)
    for name in command.list_commands(context):
        yield from _leaves(command.get_command(context, name))


def measure_path() -> dict[str, float]:
    """The distinct functions and files of keju that one replayed page calls on its way."""
    functions: set[tuple[str, str]] = set()
    with TemporaryDirectory() as folder:
        place = Path(folder)
        _make_page(place)
        steps = {
            "run": ["run", f"{place}/data", "--model", f"replay:{place}/answers.jsonl",
                    "--out", f"{place}/run"],
            "score": ["score", f"{place}/run"],
            "report": ["report", f"{place}/run", "-o", f"{place}/report.html"],
        }  # fmt: skip
        for name, arguments in steps.items():
            traced = place / f"{name}.json"
            command = [sys.executable, "-m", "tools.trace", str(traced), *arguments]
            done = subprocess.run(  # noqa: S603  our own command
                command, cwd=ROOT, capture_output=True, text=True, check=False
            )
            if done.returncode or not traced.exists():
                raise SystemExit(f"keju {' '.join(arguments)} failed:\n{done.stderr[-2000:]}")
            functions |= {(file, name) for file, name in json.loads(traced.read_text("utf-8"))}
    files = {file for file, _ in functions}
    return {"functions on the path": len(functions), "files on the path": len(files)}


def _make_page(place: Path) -> None:
    """A dataset of one page and its answer."""
    from PIL import Image  # noqa: PLC0415

    pages = place / "pages"
    pages.mkdir()
    Image.new("L", (64, 64), 255).save(pages / "a.png")
    (pages / "a.txt").write_text("天地玄黃", "utf-8")
    command = [sys.executable, "-m", "keju", "data", "import", "pages", str(pages),
               "--out", str(place / "data")]  # fmt: skip
    subprocess.run(command, cwd=ROOT, capture_output=True, check=True)  # noqa: S603
    from keju.datasets import Dataset  # noqa: PLC0415

    (item,) = Dataset.open(place / "data").items()
    answer = json.dumps({"id": item.id, "response": "天地玄黄"}, ensure_ascii=False)
    (place / "answers.jsonl").write_text(answer + "\n", "utf-8")


def _measure(files: list[Path]) -> dict[str, float]:
    lines = code = tokens = comments = public = classes = 0
    for path in files:
        text = path.read_text("utf-8")
        tree = ast.parse(text)
        code_lines, comment_lines, count = _lines_of(text, tree)
        lines += len(text.splitlines())
        code += code_lines
        comments += comment_lines
        tokens += count
        public += sum(map(_count_public, tree.body))
        classes += sum(isinstance(node, ast.ClassDef) for node in ast.walk(tree))
    total, vague = count_names(files)
    return {
        "lines": lines,
        "code": code,
        "tokens": tokens,
        "comments": round(100 * comments / max(1, lines), 2),
        "files": len(files),
        "public": public,
        "classes": classes,
        "vague": round(100 * vague.total() / max(1, total), 2),
    }


def _lines_of(text: str, tree: ast.Module) -> tuple[int, int, int]:
    """Code lines, lines with a comment, and tokens."""
    docstrings: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                docstrings.update(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    code: set[int] = set()
    comments: set[int] = set()
    count = 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            comments.add(token.start[0])
        elif token.type not in _LAYOUT_TOKENS:
            code.update(range(token.start[0], token.end[0] + 1))
            count += 1
    return len(code - docstrings), len(comments), count


def _count_public(node: ast.stmt) -> int:
    """The number of public names that a statement of a module binds."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        names = [node.name]
    elif isinstance(node, ast.Assign):
        names = [target.id for target in node.targets if isinstance(target, ast.Name)]
    elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        names = [node.target.id]
    else:
        names = []
    return sum(not name.startswith("_") for name in names)


def _count_lines(path: Path) -> int:
    with path.open("rb") as file:
        return sum(1 for _ in file)


def find_worse(sizes: Sizes, record: Mapping[str, Mapping[str, float]]) -> Iterator[str]:
    """A line for each measure of a package that got worse since the record."""
    for name, row in sizes.items():
        before = record.get(name)
        for key, direction in _WORSE.items() if before else ():
            slack = _SLACK if key in _SHARES else 0
            if direction * (row[key] - before[key]) > slack:
                yield f"  {name}: {_COLUMNS[key]} {before[key]:g} -> {row[key]:g}"


def _print(sizes: Sizes, totals: Mapping[str, float], record: Mapping[str, Any]) -> None:
    console = Console(width=170)
    table = Table("package", box=None)
    for column in _COLUMNS.values():
        table.add_column(column, justify="right")
    packages, whole = record.get("packages", {}), record.get("whole", {})
    for name, row in sizes.items():
        before = packages.get(name, {})
        table.add_row(name, *(_cell(row[key], before.get(key)) for key in _COLUMNS))
    console.print(table)
    table = Table("repository", box=None)
    table.add_column("", justify="right")
    for name, value in totals.items():
        table.add_row(name, _cell(value, whole.get(name)))
    console.print(table)


def _cell(value: float, before: float | None) -> str:
    text = f"{value:,.1f}" if isinstance(value, float) and value < 100 else f"{value:,.0f}"
    if before is None or abs(value - before) < _SLACK:
        return text
    change = value - before
    return f"{text} ({change:+,.1f})" if value < 100 else f"{text} ({change:+,.0f})"


if __name__ == "__main__":
    main()
