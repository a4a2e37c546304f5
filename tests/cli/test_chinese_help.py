"""Help and command line errors in Chinese: no English is left, and lines fit the terminal."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys

import pytest
from rich.cells import cell_len

texts = pytest.importorskip("tools.texts", reason="Babel is not installed: make docs")

LOCALE = {"KEJU_LANG", "LC_ALL", "LC_MESSAGES", "LANG"}


@pytest.mark.parametrize(
    ("part", "place"),
    [
        ("help", "keju "),
        ("report", "src/keju/reporting/"),
        ("site", "src/keju/site/"),
        ("exam", "src/keju/annotation/"),
    ],
)
def test_sentences_without_chinese_are_reported(part: str, place: str) -> None:
    """They are shown in English, so a few fail nothing; ``make texts`` lists them all."""
    sentences = [
        sentence
        for sentence in texts.updated(texts.CORE)
        if any(where.startswith(place) for where, __ in sentence.locations)
    ]
    assert len(sentences) > 40
    missing = [sentence.id for sentence in sentences if not texts.is_translated(sentence)]
    assert len(missing) < 50
    if missing:
        pytest.skip(f"{len(missing)} sentences of {part} without Chinese, such as: {missing[0]}")


_MANY = """
import contextlib, io, json, sys
from keju.cli import main
printed = []
for line in json.load(sys.stdin):
    sys.argv = ["keju", *line]
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        try:
            main()
        except SystemExit:
            pass
    printed.append(out.getvalue())
json.dump(printed, sys.stdout)
"""


def _printed(*lines: str, **variables: str) -> list[str]:
    """What command lines print, in a process of their own with these environment variables."""
    kept = {name: value for name, value in os.environ.items() if name not in LOCALE}
    done = subprocess.run(
        [sys.executable, "-c", _MANY],
        input=json.dumps([line.split() for line in lines]),
        capture_output=True,
        encoding="utf-8",
        env={**kept, "PYTHONIOENCODING": "utf-8", "COLUMNS": "80", **variables},
        check=True,
        timeout=300,
    )
    found: list[str] = json.loads(done.stdout)
    return found


HELP = (
    "--help", "run --help", "ocr-report --help", "data import --help", "score --help",
    "build --help", "build filter --help", "build split --help", "export --help",
    "export mcs-bench --help", "judge grade --help", "benchmark",
)  # fmt: skip


def test_help_in_chinese_has_no_english_sentence_and_fits_the_terminal() -> None:
    for line, text in zip(HELP, _printed(*HELP, KEJU_LANG="zh"), strict=True):
        assert "用法：" in text, line
        assert _english_words(text) == set(), line
        assert max(map(cell_len, text.splitlines())) <= 80, line
        assert not re.search(r"^[│ ]+[，。、；：）]", text, re.MULTILINE), line


ENGLISH = frozenset(
    [
        "the",
        "of",
        "and",
        "to",
        "is",
        "are",
        "with",
        "for",
        "that",
        "it",
        "by",
        "on",
        "from",
        "not",
        "or",
        "each",
        "be",
        "can",
        "has",
        "its",
        "this",
    ]
)
"""Words of which every English sentence has one, and which no option, file or command is called."""


def _english_words(text: str) -> set[str]:
    return set(re.findall(r"(?<![\w/|<-])[a-z]+(?![\w|>=-])", text)) & ENGLISH


ERRORS = {
    "run": "keju: 缺少参数 'DATASET'。见 keju run --help",
    "run mini --model ppocr": "keju: 缺少 --out。请给出运行目录，例如 --out runs/first",
    "run mini --limt 3": "keju: 没有选项 --limt（相近的选项：--items, --limit, --timeout）。"
    "见 keju run --help",
    "run mini -x": "keju: 没有选项 -x。见 keju run --help",
    "run mini --limit x": "keju: '--limit' 的值无效：应为整数。见 keju run --help",
    "run mini --timeout x": "keju: '--timeout' 的值无效：应为数字。见 keju run --help",
    "run mini --timeout 0 --model ppocr --out x": "keju: '--timeout' 的值无效：不得小于 0.001。"
    "见 keju run --help",
    "serve mini --port 70000": "keju: '--port' 的值无效：不得大于 65535。见 keju serve --help",
    "score x --protocol bad": "keju: '--protocol' 的值无效：'bad' 不是下列之一："
    "'official', 'strict', 'printed', 'with-reasoning', 'both'。见 keju score --help",
    "run --limit": "keju: 选项 '--limit' 后面要有一个值。见 keju --help",
    "run mini --batch=3": "keju: 选项 '--batch' 不带值。见 keju --help",
    "tasks a b": "keju: 多余的参数：a b。见 keju tasks --help",
    "rn": "keju: 没有命令 'rn'。您要用的可能是 'run'。见 keju --help",
    "nosuch": "keju: 没有命令 'nosuch'。见 keju --help",
    "detect x": "keju: 没有命令 'detect'。您要用的可能是 'keju data detect x'。",
    "build split": "keju: 缺少参数 'DATASET'。见 keju build split --help",
}


def test_errors_in_a_command_line_are_in_chinese() -> None:
    printed = _printed(*ERRORS, KEJU_LANG="zh")
    assert dict(zip(ERRORS, (text.strip() for text in printed), strict=True)) == ERRORS


@pytest.mark.parametrize(
    ("variables", "word"),
    [
        ({"LANG": "zh_CN.UTF-8"}, "用法"),
        ({"LC_MESSAGES": "zh_TW.UTF-8", "LANG": "en_US.UTF-8"}, "用法"),
        ({"KEJU_LANG": "en", "LANG": "zh_CN.UTF-8"}, "Usage"),
        ({"LC_ALL": "C", "LANG": "zh_CN.UTF-8"}, "Usage"),
        ({}, "Usage"),
    ],
    ids=str,
)
def test_the_language_is_that_of_the_variable_or_of_the_locale(
    variables: dict[str, str], word: str
) -> None:
    assert word in _printed("demo --help", **variables)[0]
