"""Write docs/glossary.md: the words of keju in English and Chinese, each with its meaning.

    python -m tools.make_glossary_page [DIR]

The words and their meanings are those of the report's glossary; the test suite compares the page
with this output.
"""

from __future__ import annotations

import sys
from pathlib import Path

from keju.reporting.glossary import terms
from keju.translations import Words

DOCS = Path(__file__).resolve().parents[1] / "docs"
HEAD = """\
# Glossary · 术语表

One word for each concept, in reports, pages and documents. Chinese is written in simplified \
characters, as most readers write it. Texts of pages, references and responses keep the script in \
which they were written. The commands of the terminal \
explain themselves in both languages (`KEJU_LANG=zh`); their names and options are in English.

每个概念只用一个词，报告、网页和文档都相同。中文一律用简体字：多数读者使用简体。页面文本、参考答案和回答保留原来的\
繁简。终端命令的帮助有中英文两种（`KEJU_LANG=zh`）；命令和选项的名称用英文。

| English | 中文 | meaning | 含义 |
|---|---|---|---|
"""


def main(folder: Path = DOCS) -> None:
    """Write the page into a folder."""
    chinese = Words("zh")
    rows = [
        f"| {term} | {chinese(term)} | {meaning} | {chinese(meaning)} |\n"
        for term, meaning in terms().items()
    ]
    (folder / "glossary.md").write_text(HEAD + "".join(rows), "utf-8")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:2]))
