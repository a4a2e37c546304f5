"""Every command is run with KEJU_LANG=zh, and no line that it prints is in English.

``chinese_output.toml`` lists the command lines, the commands that are not run, and what may be
English; a new command fails here until it has a line there.
"""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import typer

from keju.building.steps import STEPS
from keju.cli.app import app
from keju.cli.benchmark_files import add_benchmark_option
from keju.datasets.readers import FORMATS
from keju.datasets.writers import FORMATS as WRITTEN
from keju.definitions import definitions, tasks
from keju.exports import EXPORTS
from keju.models import model_kinds
from keju.scoring import metrics
from tests.support.children import started
from tests.support.chinese_scene import make_scene
from tests.support.printed_lines import LOCALE, printed
from tests.support.serving import Chat

LISTED = tomllib.loads(Path(__file__).with_name("chinese_output.toml").read_text("utf-8"))
HAN = re.compile("[\u3400-\u9fff]")
QUOTED = re.compile(r"“[^”]*”|《[^》]*》|'[^']*'|\"[^\"]*\"|`[^`]*`")
NAME = re.compile(r"[\w./:@+*=<>\[\]-]*[A-Z0-9_./:@+*=<>\[\]-][\w./:@+*=<>\[\]-]*")
FUNCTION_WORDS = frozenset(LISTED["function_words"].split())


class Line(NamedTuple):
    """A line that a command printed."""

    command: str
    text: str


def leaf_commands(command: Any, path: tuple[str, ...] = ()) -> Iterator[str]:
    inner = getattr(command, "commands", None)
    if inner is None:
        yield " ".join(path)
    for name, each in (inner or {}).items():
        yield from leaf_commands(each, (*path, name))


def every_command() -> set[str]:
    root = typer.main.get_command(app)
    add_benchmark_option(root)
    return {*leaf_commands(root), *(f"export {name}" for name in EXPORTS), "build STEP"}


def command_of(line: str) -> str:
    """The name of the command in a command line, the steps of a build together."""
    words = shlex.split(line)
    for count in (3, 2, 1):
        name = " ".join(words[:count])
        if name in COMMANDS:
            return name
    if words[0] == "build" and words[1] in STEPS:
        return "build STEP"
    raise AssertionError(f"no command: {line}")


COMMANDS = every_command()


def known_names() -> frozenset[str]:
    """Names that the program prints in lower case: of commands, formats, forms, tasks, metrics."""
    found = {word for command in COMMANDS for word in command.split()}
    found |= {*FORMATS, *WRITTEN, *STEPS, *EXPORTS, "keju", "official", "strict"}
    found |= {each.name for each in metrics()} | {each.form for each in metrics()}
    found |= {each.name for each in definitions()}
    found |= {each.id for each in tasks()}
    found |= {query.name for each in tasks() for query in each.queries}
    found |= {kind.kind for kind in model_kinds()}
    found |= {word for kind in model_kinds() for word in re.split(r"\W", kind.spelling)}
    return frozenset(found)


NAMES = known_names()


def english_in(text: str) -> list[str]:
    """The words of a line for which it is English; empty where it is Chinese or has only names."""
    if any(re.search(pattern, text) for pattern in LISTED["lines"]):
        return []
    bare = QUOTED.sub(" ", text)
    words = re.findall(r"(?<![\w./:@=<-])[A-Za-z]+(?![\w./:@=>-])", bare)
    if sentence := [word for word in words if word in FUNCTION_WORDS]:
        return sentence
    if HAN.search(text):
        return []
    words = re.findall(r"[A-Za-z]{3,}", NAME.sub(" ", bare))
    return [word for word in words if word not in NAMES and word not in LISTED["words"]]


@pytest.fixture(scope="module")
def output(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[int, list[str]]]:
    """Exit status and lines of every command line."""
    folder = tmp_path_factory.mktemp("scene")
    make_scene(folder)
    chat = Chat()
    chat.plan(finds=[["學習", "分数：7"]])  # the reference of T6; the judge does not grade T2
    try:
        lines = [shlex.split(each.replace("{chat}", chat.url)) for each in LISTED["commands"]]
        done = printed(folder, lines, "zh")
        served = serve(folder)
    finally:
        chat.stop()
    found = {
        command: (each.status, each.text.splitlines())
        for command, each in zip(LISTED["commands"], done, strict=True)
    }
    return found | {"serve run": (0, served)}


def serve(folder: Path) -> list[str]:
    """What `keju serve` prints until it is interrupted."""
    kept = {name: value for name, value in os.environ.items() if name not in LOCALE}
    process = started(
        [sys.executable, "-m", "keju", "serve", "run", "--port", "0"],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=folder, text=True,
        env={**kept, "KEJU_LANG": "zh", "PYTHONIOENCODING": "utf-8", "PYTHONUNBUFFERED": "1"},
    )  # fmt: skip
    try:
        first = process.stdout.readline()
        process.send_signal(signal.SIGINT)
        rest, _ = process.communicate(timeout=60)
    finally:
        process.kill()
    return [first, *rest.splitlines()]


def test_every_command_is_run_or_has_a_reason() -> None:
    run = {command_of(line) for line in LISTED["commands"]} | {"serve"}
    assert COMMANDS - run == set(LISTED["not_run"])
    assert run & set(LISTED["not_run"]) == set()


@pytest.mark.slow
def test_every_command_succeeds_once(output: dict[str, tuple[int, list[str]]]) -> None:
    refused = {line for line, (status, _) in output.items() if status not in {0, 1}}
    assert refused == set(LISTED["refused"])
    assert {command_of(line) for line in output} == {
        command_of(line) for line in output if line not in refused
    }
    assert [line for line, (_, printed_lines) in output.items() if not printed_lines] == []


@pytest.mark.slow
def test_no_command_prints_an_english_line(output: dict[str, tuple[int, list[str]]]) -> None:
    english = {
        f"{command}: {text.strip()}": words
        for command, (_, lines) in output.items()
        if command_of(command) not in LISTED["partly_english"]
        for text in lines
        if (words := english_in(text))
    }
    assert english == {}


@pytest.mark.slow
def test_every_exception_is_needed(output: dict[str, tuple[int, list[str]]]) -> None:
    every = [Line(command, text) for command, (_, lines) in output.items() for text in lines]
    texts = "\n".join(line.text for line in every)
    assert [word for word in LISTED["words"] if not re.search(rf"\b{word}\b", texts)] == []
    assert [each for each in LISTED["lines"] if not re.search(each, texts, re.MULTILINE)] == []
    english = {command_of(line.command) for line in every if english_in(line.text)}
    assert set(LISTED["partly_english"]) - english == set()


@pytest.mark.parametrize(
    ("text", "english"),
    [
        ("pages: 页面图像", False),
        ("需要：a key in OPENAI_API_KEY", False),
        ("需要：the key of OPENAI_API_KEY", True),
        ("figures/standings-mcs-bench: svg, csv", False),
        ("no dataset", True),
        ("2 items dropped", True),
        ("openai:gpt-4o  6  0.0045", False),
        ("规则“no option chosen”", False),
    ],
)
def test_an_english_line_is_recognised(text: str, english: bool) -> None:
    assert bool(english_in(text)) == english
