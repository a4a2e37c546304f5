"""The table of programs, the runner and its page."""

from __future__ import annotations

import json
import re
import zipfile
from pathlib import Path

import pytest

from tests.support.contracting import CONTRACTS, RECORDED, RESULT, ROOT, programs, recorded_result
from tools import contracts, make_contracts_page

MACHINES = re.compile(rb"/(?:work|root|home|tmp|Users|private)/|127\.0\.0\.1:\d|[A-Z]:\\\\")
LARGEST = 200_000


def test_every_program_has_its_exchange_and_pins_its_packages():
    for program in programs().values():
        assert (CONTRACTS / "exchanges" / program.exchange).is_file()
        for package in (*program.packages, *program.bare, *program.shared, *program.npm):
            assert re.fullmatch(r"[\w.-]+(?:\[[\w,-]+\])?==[\w.+!]+", package), package


def test_every_record_is_of_a_program_in_its_present_version():
    known = programs()
    for folder in RECORDED.iterdir():
        result = recorded_result(folder.name)
        assert result.program == folder.name
        assert result.version
        assert not known[folder.name].pinned or result.version == known[folder.name].pinned
        assert result.exchanges


def contents(file: Path) -> list[bytes]:
    """The bytes of a file, or of the members of an archive such as a workbook."""
    if not zipfile.is_zipfile(file):
        return [file.read_bytes()]
    with zipfile.ZipFile(file) as pack:
        return [pack.read(name) for name in pack.namelist()]


def test_a_record_is_small_and_names_no_folder_or_port_of_a_machine():
    for file in (each for each in RECORDED.rglob("*") if each.is_file()):
        assert file.stat().st_size < LARGEST, file
        for content in contents(file):
            assert MACHINES.search(content) is None, file


def test_the_page_is_what_the_tool_prints():
    made = make_contracts_page.page()
    assert (ROOT / "docs" / "contracts.md").read_text("utf-8") == made


TRIAL = """\
[[programs]]
name = "here"
title = "Python"
exchange = "here.py"
exchanged = "words"

[[programs]]
name = "away"
title = "Away"
exchange = "here.py"
exchanged = "words"
commands = ["no-such-program"]

[[programs]]
name = "stopped"
title = "Stopped"
exchange = "stopped.py"
exchanged = "words"
"""
HERE = """\
from tests.support.contracting import compared

def version(contract):
    return "1"

def exchange(contract):
    contract.keep("said.json", contract.call(contract.python, "-c", "print('天')"))
    yield compared("words", {"a": 1, "b": 2}, {"a": 1, "b": 2})
    yield compared("more", {"a": 1, "b": 2}, {"a": 1, "b": 3})
"""
STOPPED = """\
def exchange(contract):
    ends = [contract.python, "-c", "raise SystemExit('no licence')"]
    with contract.serve(lambda port: ends, "/"):
        yield
"""


@pytest.fixture
def places(tmp_path: Path) -> list[str]:
    (tmp_path / "exchanges").mkdir()
    (tmp_path / "programs.toml").write_text(TRIAL, "utf-8")
    (tmp_path / "exchanges" / "here.py").write_text(HERE, "utf-8")
    (tmp_path / "exchanges" / "stopped.py").write_text(STOPPED, "utf-8")
    options = {"table": "programs.toml", "recorded": "r", "environments": "e", "page": "p.md"}
    return [f"--{name}={tmp_path / file}" for name, file in options.items()]


def test_what_differs_fails_and_is_recorded(
    tmp_path: Path, places: list[str], capsys: pytest.CaptureFixture[str]
):
    assert contracts.main(["here", *places]) == 1
    said = capsys.readouterr().out
    assert "Python 1" in said
    assert "equal    words: 2 of 2 equal" in said
    assert "DIFFERS  more: 1 of 2 differ, first b: 2 and 3" in said
    result = json.loads((tmp_path / "r" / "here" / RESULT).read_text("utf-8"))
    assert [each["equal"] for each in result["exchanges"]] == [True, False]
    assert json.loads((tmp_path / "r" / "here" / "said.json").read_text("utf-8")) == "天\n"
    page = (tmp_path / "p.md").read_text("utf-8")
    assert "| Python | 1 | words | 1 of 2 |" in page
    assert "| Away | – | words | not run yet |" in page


@pytest.mark.parametrize(
    ("name", "reason"),
    [("away", "the program no-such-program is not on this machine"), ("stopped", "no licence")],
)
def test_a_missing_program_fails_unless_allowed(
    tmp_path: Path, places: list[str], capsys: pytest.CaptureFixture[str], name: str, reason: str
):
    run = contracts.main
    assert run([name, *places]) == 1
    said = capsys.readouterr().out
    assert "not run: " in said
    assert reason in said
    assert run([name, "--allow-missing", *places]) == 0
    assert not (tmp_path / "r" / name).exists()


def test_an_unknown_name_lists_the_programs(places: list[str], capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit):
        contracts.main(["nonesuch", *places])
    assert "no program nonesuch; there are here, away, stopped" in capsys.readouterr().err
