"""Count local names that carry neither type nor role: pronouns, adverbs and participles.

    python -m tools.names [--most N]

Examples are `each`, `found`, `whole` and `kept`. Counted are assigned names, loop variables,
parameters and fields of classes. `tools.size` prints the share of each package, which may not grow.
"""

from __future__ import annotations

import argparse
import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console

VAGUE_WORDS = frozenset(
    """
    each every found said told there here whole kept asked given beside left these those this that
    such so then thus both either neither one ones other others another same rest all some any
    anything something nothing nobody made taken shown seen drawn known named wanted read sent
    brought proven uncounted noted held gone came done put set_ began begun tried chosen meant
    """.split()  # noqa: SIM905  a table of words
)
"""Words that say nothing about the value."""

_IGNORED = frozenset({"self", "cls", "_"})


def names_in(tree: ast.Module) -> Iterator[str]:
    """Every name that a module binds: targets of assignments and loops, parameters and fields."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg


def count_names(files: list[Path]) -> tuple[int, Counter[str]]:
    """The number of bound names of some files, and how often each vague one is bound."""
    total, vague = 0, Counter[str]()
    for path in files:
        for name in names_in(ast.parse(path.read_text("utf-8"))):
            if name not in _IGNORED:
                total += 1
                if name.strip("_") in VAGUE_WORDS:
                    vague[name] += 1
    return total, vague


def main() -> None:
    """Print the share of the core, and its most frequent vague names."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--most", type=int, default=20, help="the number of names that are listed")
    most = parser.parse_args().most
    total, vague = count_names(sorted(Path("src/keju").rglob("*.py")))
    console = Console()
    console.print(f"{vague.total()} of {total} names ({100 * vague.total() / total:.1f} %):")
    for name, count in vague.most_common(most):
        console.print(f"{count:6} {name}")


if __name__ == "__main__":
    main()
