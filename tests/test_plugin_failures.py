"""Exceptions of plug-ins: one line that names plug-in, function and exception."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path

import pytest

from keju.models.function_model import PluginModel
from keju.plugins import AskError, Model, Plugin, Request
from tests.support.plugged import run_here

FILE = """
import sys
from typing import Annotated

import keju
from keju.plugins import *


def broken(text=""):
    raise ZeroDivisionError(text)


@keju.model("faulty:PART", summary="fails where its part says")
class Faulty(Model):
    def __init__(self, part, options):
        self.part, self.asked = part, 0
        if part == "opens":
            broken("no weights")

    @property
    def identity(self):
        return broken("no name") if self.part == "identity" else {}

    @property
    def concurrency(self):
        return "many" if self.part == "concurrency" else 1

    def unsupported_reason(self, request):
        return broken("no rule") if self.part == "unsupported_reason" else ""

    async def answer(self, request, images):
        if self.part == "exits":
            sys.exit("no more")
        self.asked += 1
        if self.part == "once" and self.asked > 1:
            return Answer(text="A")
        broken("no memory")

    async def close(self):
        if self.part == "closes":
            broken("no end")


def detect(listing):
    if any(file.name == "odd.txt" for file in listing.files):
        return broken("no such form")
    return "yes" if any(file.name == "wrong.txt" for file in listing.files) else None


@keju.reader("lines", summary="lines", detect=detect)
def read_lines(src, writer, options):
    text = source_text(src)
    if text == "expected":
        raise DataError("expected two columns", file=src)
    if text == "late":
        return later()
    if text == "nothing":
        return None
    open("no-such-file")


def later():
    yield "one note"
    broken("halfway")


class Where(Settings, frozen=True, kw_only=True):
    where: Annotated[str, Meta(description="Where it fails.")] = "run"


@keju.step("faulty-step", summary="Fail.", settings=Where)
def faulty_step(context, settings):
    {}[settings.where]


class WhereSource(SourceSettings, frozen=True, kw_only=True):
    where: Annotated[str, Meta(description="Where it fails.")]


def check(settings):
    if settings.where == "check":
        broken("no check")


def reads(settings):
    if settings.where == "reads":
        yield broken("no list")


@keju.source("faulty-source", summary="fails", settings=WhereSource, check=check, reads=reads)
def faulty_source(settings, site):
    broken("no source")
"""
RECIPE = """
name = "r"
[[source]]
form = "{form}"
licence = "CC0-1.0"
source = "made"
{settings}
"""


HINT = "Set KEJU_DEBUG=1 to see the traceback"


@pytest.fixture
def failed(tmp_path, monkeypatch, capsys):
    """The one line that a failing command prints, behind the plug-in's name."""
    file = tmp_path / "mine.py"
    file.write_text(FILE, "utf-8")
    monkeypatch.chdir(tmp_path)

    def run(*arguments: object) -> str:
        done = run_here(monkeypatch, capsys, *arguments, "--plugin", file)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1), done
        assert "Traceback" not in done.stderr
        head, _, rest = done.stderr.partition("plug-in mine.py (sha256 ")
        assert head.startswith("keju: "), done.stderr
        said = rest.partition("): ")[2].strip()
        return re.sub(r"\(mine\.py:(\d+)\) raised", named_line, said)

    def named_line(place: re.Match[str]) -> str:
        """Only the name of the file, if the line is one that calls or raises."""
        assert re.search(r"broken\(|raise |open\(|\{\}\[", FILE.splitlines()[int(place[1]) - 1])
        return "(mine.py) raised"

    return run


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "other",
            "read_lines (mine.py) raised FileNotFoundError: [Errno 2] No such file or "
            f"directory: 'no-such-file'. {HINT}",
        ),
        ("late", f"broken (mine.py) raised ZeroDivisionError: halfway. {HINT}"),
        ("nothing", "read_lines returned NoneType, not a list of str"),
    ],
)
def test_a_reader_that_fails_is_named_in_imports_and_recipes(failed, text, said):
    Path("a.txt").write_text(text, "utf-8")
    assert failed("data", "import", "lines", "a.txt", "--out", "data") == said
    Path("recipe.toml").write_text(RECIPE.format(form="lines", settings='path = "a.txt"'), "utf-8")
    assert failed("build", "recipe.toml", "--out", "build") == said


def test_an_error_that_a_plug_in_means_is_left_as_it_is(tmp_path, monkeypatch, capsys):
    file, source = tmp_path / "mine.py", tmp_path / "a.txt"
    file.write_text(FILE, "utf-8")
    source.write_text("expected", "utf-8")
    done = run_here(monkeypatch, capsys, "data", "import", "lines", source,
                    "--out", tmp_path / "data", "--plugin", file)  # fmt: skip
    assert done.returncode == 2
    assert "a.txt: expected two columns" in done.stderr
    assert "raised" not in done.stderr


@pytest.mark.parametrize(
    ("name", "said"),
    [("odd.txt", f"broken (mine.py) raised ZeroDivisionError: no such form. {HINT}"),
     ("wrong.txt", "detect returned str, not a list of Detection")],
)  # fmt: skip
def test_a_detection_that_fails_is_named(failed, name, said):
    Path("scans").mkdir()
    Path("scans", name).write_text("x", "utf-8")
    for command in (
        ("data", "detect", "scans"),
        ("data", "import", "auto", "scans", "--out", "data"),
    ):
        assert failed(*command) == said


def test_a_step_that_fails_is_named(failed):
    assert failed("build", "faulty-step", "mini", "--out", "data") == (
        f"faulty_step (mine.py) raised KeyError: 'run'. {HINT}"
    )


@pytest.mark.parametrize(
    ("where", "said"),
    [("make", "no source"), ("check", "no check"), ("reads", "no list")],
)  # fmt: skip
def test_a_source_that_fails_is_named(failed, where, said):
    recipe = RECIPE.format(form="faulty-source", settings=f'where = "{where}"')
    Path("recipe.toml").write_text(recipe, "utf-8")
    assert failed("build", "recipe.toml", "--out", "build") == (
        f"broken (mine.py) raised ZeroDivisionError: {said}. {HINT}"
    )


@pytest.mark.parametrize(
    ("part", "said"),
    [("opens", "broken (mine.py) raised ZeroDivisionError: no weights"),
     ("identity", "broken (mine.py) raised ZeroDivisionError: no name"),
     ("unsupported_reason", "broken (mine.py) raised ZeroDivisionError: no rule"),
     ("concurrency", "the model 'faulty:concurrency' has a wrong attribute: Expected `int`, got "
      "`str` - at `$.concurrency`")],
)  # fmt: skip
def test_a_model_that_cannot_be_asked_is_named(failed, part, said):
    command = ("run", "mini", "--task", "T7", "--limit", "1", "--model", f"faulty:{part}")
    hint = "" if part == "concurrency" else f". {HINT}"
    assert failed(*command, "--out", "run") == f"{said}{hint}"


@pytest.mark.parametrize(
    ("part", "said", "statuses"),
    [("once", "broken (mine.py:10) raised ZeroDivisionError: no memory", ["failed", "answered"]),
     ("exits", "Faulty.answer (mine.py:33) raised SystemExit: no more", ["failed", "failed"])],
)  # fmt: skip
def test_an_answer_that_fails_is_a_failure_of_its_request(
    tmp_path, monkeypatch, capsys, part, said, statuses
):
    file, run = tmp_path / "mine.py", tmp_path / "run"
    file.write_text(FILE, "utf-8")
    done = run_here(monkeypatch, capsys, "run", "mini", "--task", "T7", "--limit", "2", "--model",
                    f"faulty:{part}", "--out", run, "--plugin", file)  # fmt: skip
    assert (done.returncode, "Traceback" in done.stderr) == (1, False), done
    (stored,) = (run / "responses").rglob("*.jsonl")
    found = [json.loads(line) for line in stored.read_text("utf-8").splitlines()]
    assert [response["status"] for response in found] == statuses
    assert found[0]["error"]["kind"] == "engine"
    message = found[0]["error"]["message"]
    assert message.startswith("plug-in mine.py (sha256 ")
    assert message.endswith(f"): {said}. {HINT}")


def test_a_timeout_of_a_plug_in_is_asked_again():
    class Late(Model):
        async def answer(self, request, images):
            raise TimeoutError("no server")

    request = Request(item="a", benchmark="pages", task="page_ocr", prompt="?", form="text")
    model = PluginModel("late", Late(), Plugin(name="mine", version="1"))
    with pytest.raises(
        AskError, match=r"mine 1: Late\.answer \(.* raised TimeoutError: no s"
    ) as late:
        asyncio.run(model.answer(request, ()))
    assert (late.value.kind, late.value.retryable) == ("timeout", True)


def test_the_traceback_is_printed_where_it_is_wanted(tmp_path, monkeypatch, capsys):
    file = tmp_path / "mine.py"
    file.write_text(FILE, "utf-8")
    monkeypatch.setenv("KEJU_DEBUG", "1")
    for command in (
        ("build", "faulty-step", "mini", "--out", tmp_path / "data"),
        ("run", "mini", "--task", "T7", "--limit", "1", "--model", "faulty:answer",
         "--out", tmp_path / "run"),
    ):  # fmt: skip
        printed = run_here(monkeypatch, capsys, *command, "--plugin", file).stderr
        assert "Traceback" in printed
        assert f'File "{file}", line ' in printed
    monkeypatch.setenv("KEJU_DEBUG", "0")
    printed = run_here(monkeypatch, capsys, "build", "no-such-step", "mini", "--out", "x").stderr
    assert "Traceback" not in printed
