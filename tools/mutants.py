"""Change fixed lines of the core, one at a time, and count how many changes the tests catch.

    python -m tools.mutants             run all changes and print the share that is caught
    python -m tools.mutants --write     record it in tools/mutants.json

Each change is small: a comparison, a sign, a number, a boolean or a condition. Caught means that a
test of the same package (without the slow ones) fails. The changes are drawn once with a seed, by
package in proportion to its size, and stored with the text of their line. A line that no longer
exists is replaced by another one of its package. All changes take about two hours of CPU time;
`--package` runs a part of them and leaves the record of the others as it is.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import shutil
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Queue
from tempfile import TemporaryDirectory
from typing import NamedTuple

from rich.console import Console

ROOT = Path(__file__).parents[1]
RECORD = ROOT / "tools/mutants.json"
COUNT = 300
_SEED = 12345
_LONGEST = 300
"""CPU seconds of the tests of one change; a change that takes longer counts as caught."""

_LIMITED_PYTEST = f"""
import resource, runpy, sys
resource.setrlimit(resource.RLIMIT_CPU, ({_LONGEST}, {_LONGEST}))
sys.argv[0] = "pytest"
runpy.run_module("pytest", run_name="__main__")
"""
"""Limited by CPU time, so that a busy machine changes nothing. A child that waits for ever is ended
by the wall clock (`_LONGEST_WAIT`)."""

_LONGEST_WAIT = 1_800

_OPERATORS: dict[type[ast.AST], str] = {
    ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==",
    ast.In: "not in", ast.NotIn: "in", ast.Is: "is not", ast.IsNot: "is",
    ast.Add: "-", ast.Sub: "+", ast.Mult: "+", ast.And: "or", ast.Or: "and",
}  # fmt: skip
_SIGNS: dict[type[ast.AST], str] = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
    ast.In: "in", ast.NotIn: "not in", ast.Is: "is", ast.IsNot: "is not",
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.And: "and", ast.Or: "or",
}  # fmt: skip


class Mutant(NamedTuple):
    """A change of one line: the file in the repository, and the line before and after it."""

    file: str
    before: str
    after: str
    caught: bool | None = None

    @property
    def package(self) -> str:
        """The top-level package or module of the core."""
        return Path(self.file).relative_to("src/keju").parts[0].removesuffix(".py")


def main() -> None:
    """Run the changes."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", action="store_true", help="record the result")
    parser.add_argument("--package", default="", help="only the changes of this package")
    parser.add_argument("--jobs", type=int, default=2, help="changes that are tested at once")
    arguments = parser.parse_args()
    record = json.loads(RECORD.read_text("utf-8")) if RECORD.exists() else []
    mutants = choose([Mutant(**row) for row in record])
    chosen = [each for each in mutants if arguments.package in ("", each.package)]
    console = Console(soft_wrap=True)
    results = {}
    for mutant in run(chosen, jobs=arguments.jobs):
        results[mutant[:3]] = mutant
        if not mutant.caught:
            console.print(f"not caught: {mutant.file}: {mutant.after.strip()}", markup=False)
    counts, caught = Counter[str](), Counter[str]()
    for mutant in results.values():
        counts[mutant.package] += 1
        caught[mutant.package] += bool(mutant.caught)
    for package in sorted(counts):
        console.print(f"{package:14} {caught[package]:4} of {counts[package]}")
    total = counts.total()
    console.print(f"caught {caught.total()} of {total} ({100 * caught.total() / total:.1f} %)")
    if arguments.write:
        rows = [results.get(each[:3], each)._asdict() for each in mutants]
        RECORD.write_text(json.dumps(rows, ensure_ascii=False, indent=1) + "\n", "utf-8")


def choose(recorded: Sequence[Mutant]) -> list[Mutant]:
    """The recorded changes whose lines still exist, filled up to `COUNT` by package."""
    possible: dict[str, list[Mutant]] = defaultdict(list)
    texts: dict[str, str] = {}
    for path in sorted((ROOT / "src/keju").rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        texts[name] = path.read_text("utf-8")
        for mutant in changes(name, texts[name]):
            possible[mutant.package].append(mutant)
    size = sum(map(len, possible.values()))
    generator = random.Random(_SEED)  # noqa: S311  not for secrets
    shares = {package: COUNT * len(rows) / size for package, rows in possible.items()}
    counts = {package: int(share) for package, share in shares.items()}
    remainders = sorted(shares, key=lambda package: counts[package] - shares[package])
    for package in remainders[: COUNT - sum(counts.values())]:
        counts[package] += 1
    mutants = []
    for package, of_package in sorted(possible.items()):
        own = [mutant for mutant in recorded if mutant.package == package]
        existing = [
            mutant for mutant in own if mutant.before in texts.get(mutant.file, "").splitlines()
        ]
        lines = {(mutant.file, mutant.before) for mutant in existing}
        fresh = [mutant for mutant in of_package if (mutant.file, mutant.before) not in lines]
        generator.shuffle(fresh)
        mutants += [*existing, *fresh][: max(len(existing), counts[package])]
    return mutants


def changes(name: str, text: str) -> Iterator[Mutant]:
    """One change for each line of a module that can be changed, if the line is unique in it."""
    lines = text.splitlines()
    counts = Counter(lines)
    seen = set()
    for node in ast.walk(ast.parse(text)):
        changed = _change(node, lines)
        if changed is None:
            continue
        number, after = changed
        before = lines[number]
        if number not in seen and counts[before] == 1 and after != before:
            seen.add(number)
            yield Mutant(name, before, after)


def _change(node: ast.AST, lines: Sequence[str]) -> tuple[int, str] | None:
    """The index of a line and its changed text."""
    if isinstance(node, ast.Compare):
        return _replace_between(node.left, node.comparators[0], node.ops[0], lines)
    if isinstance(node, ast.BoolOp):
        return _replace_between(node.values[0], node.values[1], node.op, lines)
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        return _replace_between(node.left, node.right, node.op, lines)
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        value = str(not node.value) if isinstance(node.value, bool) else str(node.value + 1)
        return _splice(node, value, lines)
    if isinstance(node, ast.If) and node.test.lineno == node.test.end_lineno:
        number = node.test.lineno - 1
        source = _slice(lines[number], node.test.col_offset, node.test.end_col_offset or 0)
        return _splice(node.test, f"not ({source})", lines)
    return None


def _splice(node: ast.expr, value: str, lines: Sequence[str]) -> tuple[int, str] | None:
    if node.lineno != node.end_lineno:
        return None
    line = lines[node.lineno - 1].encode()
    changed = line[: node.col_offset] + value.encode() + line[node.end_col_offset :]
    return node.lineno - 1, changed.decode()


def _replace_between(
    left: ast.expr, right: ast.expr, operator: ast.AST, lines: Sequence[str]
) -> tuple[int, str] | None:
    """Replace the operator between two expressions on one line."""
    if left.end_lineno != right.lineno or type(operator) not in _OPERATORS:
        return None
    number = right.lineno - 1
    line = lines[number].encode()
    start, end = left.end_col_offset or 0, right.col_offset
    between = line[start:end].decode()
    sign = _SIGNS[type(operator)]
    if between.count(sign) != 1:
        return None
    changed = between.replace(sign, _OPERATORS[type(operator)])
    return number, (line[:start] + changed.encode() + line[end:]).decode()


def _slice(line: str, start: int, end: int) -> str:
    return line.encode()[start:end].decode()


def run(mutants: Sequence[Mutant], *, jobs: int) -> Iterator[Mutant]:
    """Run the tests with each change, in copies of the repository."""
    with TemporaryDirectory() as folder:
        copies: Queue[Path] = Queue()
        for number in range(jobs):
            copies.put(_copy(Path(folder) / str(number)))

        def test(mutant: Mutant) -> Mutant:
            copy = copies.get()
            try:
                return mutant._replace(caught=_is_caught(mutant, copy))
            finally:
                copies.put(copy)

        with ThreadPoolExecutor(jobs) as pool:
            yield from pool.map(test, mutants)


def _copy(place: Path) -> Path:
    """A copy of the tracked files."""
    command = ["git", "ls-files", "-z"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout  # noqa: S603
    for name in filter(None, listed.decode().split("\0")):
        if (ROOT / name).is_file():
            target = place / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target)
    return place


def _is_caught(mutant: Mutant, copy: Path) -> bool:
    path = copy / mutant.file
    text = path.read_text("utf-8")
    changed = [mutant.after if line == mutant.before else line for line in text.splitlines()]
    path.write_text("\n".join(changed) + "\n", "utf-8")
    shared = os.environ.get("KEJU_SHARED") or str(ROOT.parent / "shared")
    environment = {**os.environ, "PYTHONPATH": str(copy / "src"), "KEJU_SHARED": shared,
                   "PYTHONDONTWRITEBYTECODE": "1"}  # fmt: skip
    command = [sys.executable, "-c", _LIMITED_PYTEST, "-x", "-q", "-n", "0", "-m", "not slow",
               "-p", "no:cacheprovider", *map(str, _tests_of(mutant, copy))]  # fmt: skip
    try:
        done = subprocess.run(  # noqa: S603  our own tests
            command, cwd=copy, env=environment, capture_output=True, timeout=_LONGEST_WAIT,
            check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return True
    finally:
        path.write_text(text, "utf-8")
    if done.returncode > 2:
        # A change that breaks the import of keju keeps pytest from starting.
        unchanged = [*command, "--collect-only"]
        collected = subprocess.run(  # noqa: S603  our own tests
            unchanged, cwd=copy, env=environment, capture_output=True, check=False
        )
        if collected.returncode:
            output_end = collected.stdout.decode()[-2000:]
            raise SystemExit(f"{mutant.file}: the tests do not run:\n{output_end}")
    return done.returncode != 0


def _tests_of(mutant: Mutant, copy: Path) -> list[Path]:
    """The test files of the package, those first that name the module or are named like it."""
    folder = copy / "tests" / mutant.package
    files = folder.rglob("test_*.py") if folder.is_dir() else (copy / "tests").glob("test_*.py")
    module = ".".join(Path(mutant.file).relative_to("src").with_suffix("").parts)
    stem = module.rpartition(".")[2]

    def is_about_another(file: Path) -> bool:
        return stem not in file.stem and module not in file.read_text("utf-8")

    return sorted(files, key=lambda file: (is_about_another(file), file))


if __name__ == "__main__":
    main()
