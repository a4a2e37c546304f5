"""The pages of the site: copies of README and docs/, with links that lead to pages of the site."""

from __future__ import annotations

import os
import re
import shutil
import tomllib
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
ELSEWHERE = {
    "README.md": "readme.md",
    "README.zh.md": "readme.zh.md",
    "CONTRIBUTING.md": "contributing.md",
    "packages/keju-inspect/README.md": "keju-inspect.md",
    "packages/keju-synthetic/README.md": "keju-synthetic.md",
}
"""Pages of the site that are not in docs/: path in the repository, name in the site."""
_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
_FENCE = re.compile(r"^\s*(```|~~~)")


def groups() -> list[dict[str, Any]]:
    """The groups of docs/site.toml; the last one has the pages that no group names."""
    found = tomllib.loads((DOCS / "site.toml").read_text("utf-8"))["group"]
    named = {each["page"] for group in found for each in group["pages"]}
    for file in sorted(DOCS.glob("*.md")):
        if file.stem.endswith(".zh") or file.stem in {"index", *named}:
            continue
        title = heading(file.read_text("utf-8"))
        found[-1]["pages"].append({"page": file.stem, "en": title, "zh": title})
    return found


def heading(text: str) -> str:
    """The first heading of a page in Markdown."""
    return next(line.lstrip("# ") for line in text.splitlines() if line.startswith("# "))


def copy_pages(source: Path) -> None:
    """Copy everything of docs/ and the pages elsewhere into `source`, with adapted links."""
    for file in sorted(DOCS.rglob("*")):
        if file.is_file() and file.suffix not in {".md", ".toml"}:
            target = source / file.relative_to(DOCS)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, target)
    for path, page in _pages().items():
        text = (ROOT / path).read_text("utf-8")
        target = source / page
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(_with_other_language(with_links(text, path), target), "utf-8")


def _pages() -> dict[str, str]:
    """The page of the site for each Markdown file of the repository that has one."""
    found = {
        file.relative_to(ROOT).as_posix(): file.relative_to(DOCS).as_posix()
        for file in sorted(DOCS.rglob("*.md"))
    }
    return found | ELSEWHERE


def with_links(text: str, path: str) -> str:
    """The text of the file at `path`, whose links lead to pages of the site.

    A link to a file that the site does not contain becomes its text with the file's path.

    Raises:
        FileNotFoundError: a link leads to no file of the repository.
    """
    lines, in_code = [], False
    for line in text.splitlines():
        in_code ^= bool(_FENCE.match(line))
        lines.append(line if in_code else _LINK.sub(partial(_adapted, path), line))
    return "\n".join(lines) + "\n"


def _adapted(path: str, link: re.Match[str]) -> str:
    mark, text, target = link.groups()
    file, _, place = target.partition("#")
    if not file or re.match(r"[a-z]+:", file):
        return link[0]
    found = os.path.normpath(Path(path).parent / file)
    if not (ROOT / found).exists():
        raise FileNotFoundError(f"{path}: the link {target} leads to no file of the repository")
    pages = _pages()
    if found not in pages and not found.startswith("docs/"):
        return text if found in text else f"{text} (`{found}`)"
    here = pages[path]
    there = pages.get(found, found.removeprefix("docs/"))
    there = os.path.relpath(there, Path(here).parent)
    return f"{mark}[{text}]({there}{'#' if place else ''}{place})"


def _with_other_language(text: str, page: Path) -> str:
    """The page with a link to its other language below the heading, if it has one."""
    chinese = page.name.endswith(".zh.md")
    other = f"{page.name.removesuffix('.zh.md')}.md" if chinese else f"{page.stem}.zh.md"
    known = {Path(each).name for each in _pages().values()}
    if other not in known or f"]({other})" in text[:300]:
        return text
    title = f"# {heading(text)}\n"
    return text.replace(title, f"{title}\n[{'English' if chinese else '中文'}]({other})\n", 1)
