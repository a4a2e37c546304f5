"""Write the list of layers into ``docs/architecture.md``, from the import rules and docstrings."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "architecture.md"
_BLOCK = re.compile(r"(?<=<!-- layers -->\n\n).*?(?=\n<!-- end of layers -->)", re.DOTALL)


def layers() -> list[list[str]]:
    """The rows of the import rules, highest first; packages of one row are independent."""
    rules = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]
    (house,) = (each for each in rules["contracts"] if each["type"] == "layers")
    return [re.split(r" [|:] ", row) for row in house["layers"]]


def purpose(name: str) -> str:
    """The first sentence of the docstring of a package or module of keju."""
    module = ROOT / "src" / "keju" / f"{name}.py"
    file = module if module.is_file() else ROOT / "src" / "keju" / name / "__init__.py"
    text = ast.get_docstring(ast.parse(file.read_text("utf-8"))) or ""
    return re.split(r"(?<=\.)\s", " ".join(text.split()).replace("``", "`"), maxsplit=1)[0]


def page() -> str:
    """The text of the page with its present list of layers."""
    lines = ["| layer | package | content |", "|---:|---|---|"]
    rows = layers()
    for number, row in zip(range(len(rows), 0, -1), rows, strict=True):
        lines.extend(f"| {number} | `{name}` | {purpose(name)} |" for name in row)
    return _BLOCK.sub(lambda _: "\n".join([*lines, ""]), PAGE.read_text("utf-8"))


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
