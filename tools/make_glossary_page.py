"""Write docs/glossary.md: the words of keju in English and Chinese, each with its meaning.

    python -m tools.make_glossary_page [DIR]

The first table has the terms of reports, the second those of tools/glossary.toml. The test suite
compares the page with this output.
"""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

from keju.reporting.terms import TERMS
from keju.texts import in_english
from keju.words import Words

DOCS = Path(__file__).resolve().parents[1] / "docs"
MORE = Path(__file__).with_name("glossary.toml")
HEAD = """\
# Glossary · 术语表

One word for each concept, in reports, pages and documents. Chinese is written in simplified \
characters. Texts of pages, references and responses keep their script. The help of \
commands is in both languages (`KEJU_LANG=zh`); the names of commands and options are in English.

每个概念只用一个词，报告、网页和文档都相同。中文一律用简体字。页面文本、参考答案和回答保留原来的\
繁简。终端命令的帮助有中英文两种（`KEJU_LANG=zh`）；命令和选项的名称用英文。

## Terms of reports · 报告用语

"""
_MIDDLE = """
## Other terms · 其他用语

"""
_COLUMNS = """\
| English | 中文 | meaning | 含义 |
|---|---|---|---|
"""


def main(folder: Path = DOCS) -> None:
    """Write the page into a folder."""
    chinese = Words("zh")
    rows = [
        _row(
            in_english(term.name),
            chinese(term.name),
            in_english(term.meaning),
            chinese(term.meaning),
        )
        for term in TERMS.values()
    ]
    more = [
        _row(each["en"], each["zh"], each["meaning"], each["meaning_zh"])
        for each in tomllib.loads(MORE.read_text("utf-8"))["term"]
    ]
    page = "".join([HEAD, _COLUMNS, *rows, _MIDDLE, _COLUMNS, *more])
    (folder / "glossary.md").write_text(page, "utf-8")


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |\n"


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:2]))
