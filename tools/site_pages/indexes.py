"""The start page of each language: the pages in groups, and the navigation of the site."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tools.site_pages.pages import groups

_NO_CHINESE = "（英文）"


def complete(source: Path) -> None:
    """Add the groups to both start pages, and the navigation to the English one."""
    found = groups()
    for language, name in (("en", "index.md"), ("zh", "index.zh.md")):
        with (source / name).open("a", encoding="utf-8") as page:
            page.writelines(_section(group, language, source) for group in found)
            if language == "en":
                page.writelines(_navigation(found, source))


def _section(group: dict[str, Any], language: str, source: Path) -> str:
    lines = [_line(each, language, source) for each in group["pages"]]
    return f"\n## {group[language]}\n\n" + "".join(lines)


def _line(entry: dict[str, Any], language: str, source: Path) -> str:
    translated = (source / f"{entry['page']}.zh.md").exists()
    file = f"{entry['page']}.zh.md" if language == "zh" and translated else f"{entry['page']}.md"
    untranslated = language == "zh" and not (translated or entry.get("both"))
    note = _NO_CHINESE if untranslated else ""
    return f"- [{entry[language]}]({file}){note}\n"


def _navigation(found: list[dict[str, Any]], source: Path) -> Iterator[str]:
    """The English groups, and after the first one the Chinese pages."""
    entries = [each for group in found for each in group["pages"]]
    translated = ["首页 <index.zh>"] + [
        f"{each['title_zh']} <{each['page']}.zh>" if "title_zh" in each else f"{each['page']}.zh"
        for each in entries
        if (source / f"{each['page']}.zh.md").exists()
    ]
    trees = [_tree(group["en"], [*map(_entry, group["pages"])]) for group in found]
    yield from (*trees[:1], _tree("中文", translated), *trees[1:])


def _entry(entry: dict[str, Any]) -> str:
    return f"{entry['title']} <{entry['page']}>" if "title" in entry else str(entry["page"])


def _tree(caption: str, documents: list[str]) -> str:
    if not documents:
        return ""
    lines = "\n".join(documents)
    return f"\n```{{toctree}}\n:hidden:\n:caption: {caption}\n\n{lines}\n```\n"
