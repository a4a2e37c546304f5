"""Help and command line errors in Chinese: every text has its entry, and no English is left."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
import typer
from msgspec.structs import fields
from rich.cells import cell_len

from keju.building.steps import STEPS
from keju.cli.app import app
from keju.cli.benchmark_files import add_benchmark_option
from keju.cli.chinese_help import chinese
from keju.cli.help_texts import parameter_name
from keju.exports import EXPORTS
from tests.support.chinese_entries import help_entries

OF_STEPS = "build STEP"
LOCALE = {"KEJU_LANG", "LC_ALL", "LC_MESSAGES", "LANG"}


class Text(NamedTuple):
    """An English help text, and the command and name under which it is declared."""

    path: str
    name: str
    english: str


def _of(command: Any, path: tuple[str, ...]) -> Iterator[Text]:
    place = " ".join(path)
    yield Text(place, "help", command.help)
    for each in command.params:
        yield Text(place, parameter_name(each), each.help)
    for name, each in getattr(command, "commands", {}).items():
        yield from _of(each, (*path, name))


def _texts() -> list[Text]:
    """All English texts of all commands that keju ships, but not the settings of steps."""
    root: Any = typer.main.get_command(app)
    add_benchmark_option(root)
    context = typer.Context(root, info_name="keju")
    found = list(_of(root, ()))
    for name in EXPORTS:
        if EXPORTS.get_plugin(name) is None:
            found += _of(root.commands["export"].get_command(context, name), ("export", name))
    step = root.commands["build"].get_command(context, "split")
    own = {f"--{each.name}" for each in fields(STEPS["split"].settings)}
    found += [
        Text(OF_STEPS, parameter_name(each), each.help)
        for each in step.params
        if parameter_name(each) not in own
    ]
    found.append(Text("", "--help", step.get_help_option(context).help))
    return found


TEXTS = _texts()


def _shared(text: Text) -> bool:
    return text.name not in chinese().commands.get(text.path, {})


def test_every_help_text_has_a_chinese_entry() -> None:
    missing = [
        (text.path, text.name)
        for text in TEXTS
        if _shared(text) and (text.name == "help" or text.name not in chinese().shared)
    ]
    assert missing == []


def test_every_chinese_entry_belongs_to_a_help_text() -> None:
    known = {(text.path, text.name) for text in TEXTS}
    entries = {(path, name) for path, own in chinese().commands.items() for name in own}
    assert entries - known == set()
    assert set(chinese().shared) - {text.name for text in TEXTS if _shared(text)} == set()


def test_a_shared_entry_translates_one_english_text() -> None:
    english = defaultdict(set)
    for text in TEXTS:
        if text.name != "help" and _shared(text):
            english[text.name].add(text.english)
    assert {name: found for name, found in english.items() if len(found) > 1} == {}


def test_every_step_and_setting_has_a_chinese_entry() -> None:
    declared = {
        (name, setting)
        for name in STEPS
        if _ships(name)
        for setting in ("help", *(each.name for each in fields(STEPS[name].settings)))
    }
    entries = {(name, setting) for name, own in chinese().steps.items() for setting in own}
    assert declared - entries == set()
    assert entries - declared == set()


def _ships(step: str) -> bool:
    plugin = STEPS.get_plugin(step)
    return plugin is None or str(plugin).startswith("keju-synthetic")


def test_every_heading_of_options_has_a_chinese_entry() -> None:
    root: Any = typer.main.get_command(app)
    used = {each.rich_help_panel for each in _parameters(root)} - {None}
    assert used == set(chinese().panels)


def _parameters(command: Any) -> Iterator[Any]:
    yield from command.params
    for each in getattr(command, "commands", {}).values():
        yield from _parameters(each)


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


def test_no_chinese_entry_has_an_english_sentence() -> None:
    assert {text for text in help_entries() if _english_words(text)} == set()


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
    "run mini --model ppocr": "keju: 缺少选项 '-o' / '--out'。见 keju run --help",
    "run mini --limt 3": "keju: 没有选项 --limt（相近的选项：--items, --limit, --timeout）。"
    "见 keju run --help",
    "run mini -x": "keju: 没有选项 -x。见 keju run --help",
    "run mini --limit x": "keju: '--limit' 的值无效：应为整数。见 keju run --help",
    "run mini --timeout x": "keju: '--timeout' 的值无效：应为数字。见 keju run --help",
    "run mini --timeout 0 --model ppocr --out x": "keju: '--timeout' 的值无效：不得小于 0.001。"
    "见 keju run --help",
    "serve mini --port 70000": "keju: '--port' 的值无效：不得大于 65535。见 keju serve --help",
    "score x --protocol bad": "keju: '--protocol' 的值无效：'bad' 不是下列之一："
    "'official', 'strict', 'both'。见 keju score --help",
    "run --limit": "keju: 选项 '--limit' 后面要有一个值。见 keju --help",
    "compare x --models a": "keju: 选项 '--models' 后面要有 2 个值。见 keju --help",
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
