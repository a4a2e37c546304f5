"""Commands, options and models under wrong names: the message has the command that works."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from keju.cli.app import app
from tests.support.scanned import Keju, pages

WRONG_USE = 2
ROOT: Any = typer.main.get_command(app)


def _leaves(command: Any = ROOT, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for name, each in command.commands.items():
        if hasattr(each, "commands"):
            yield from _leaves(each, (*path, name))
        else:
            yield (*path, name)


def _commands(command: Any = ROOT) -> Iterator[Any]:
    for each in getattr(command, "commands", {}).values():
        yield from _commands(each)
    yield command


IN_GROUPS = [path for path in _leaves() if len(path) > 1 and path[-1] not in ROOT.commands]


@pytest.mark.parametrize("path", IN_GROUPS, ids=" ".join)
def test_a_command_without_its_group_is_named_whole(path: tuple[str, ...], keju: Keju) -> None:
    done = keju(path[-1], "my scans", "--out", "dataset")
    assert done.status == WRONG_USE
    whole = f"keju {' '.join(path)} 'my scans' --out dataset"
    assert whole in " ".join(done.err.split())


def test_a_command_in_a_wrong_group_is_named_whole(keju: Keju) -> None:
    assert (
        "Did you mean 'keju run scans --model ppocr'?"
        in keju(*["data", "run", "scans", "--model", "ppocr"]).err
    )


def test_a_name_that_is_no_command_gets_no_command(keju: Keju) -> None:
    done = keju("nosuch", "scans")
    assert done.status == WRONG_USE
    assert done.err.startswith("keju: No such command 'nosuch'. See: ")
    assert "Did you mean" not in done.err


def test_a_path_with_spaces_that_has_no_quotes_is_named(keju: Keju) -> None:
    pages("my scans 掃描")
    done = keju(*["data", "import", "pages", "my", "scans", "掃描", "--out", "dataset"])
    assert done.status == WRONG_USE
    assert 'needs quotes: "my scans 掃描"' in done.err
    assert not Path("dataset").exists()


def test_license_is_taken_wherever_licence_is() -> None:
    taking = [
        command
        for command in _commands()
        if any("--licence" in each.opts for each in command.params)
    ]
    assert len(taking) > 1
    for command in taking:
        assert command.context_settings["token_normalize_func"]("license") == "licence"


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("paddleocr", "ppocr"),
        ("PaddleOCR", "ppocr"),
        ("rapidocr", "ppocr"),
        ("pp-ocr", "ppocr"),
        ("pp-ocrv5", "ppocr"),
        ("tesseract-ocr", "tesseract"),
        ("gpt-4o", "openai:gpt-4o"),
        ("o3", "openai:o3"),
        ("qwen2.5vl:7b", "openai:qwen2.5vl:7b"),
        ("Qwen2-VL-7B", "openai:Qwen2-VL-7B"),
        ("claude-3-5-sonnet", "openai:claude-3-5-sonnet"),
    ],
)
def test_a_model_under_another_name_is_found(name: str, meant: str, keju: Keju) -> None:
    done = keju("run", "mini", "--model", name, "--out", "run")
    assert done.status == WRONG_USE
    assert f"no model '{name}'. Did you mean '{meant}'?" in done.err


def test_a_report_is_not_written_under_the_name_of_another_form(keju: Keju) -> None:
    done = keju("report", "run", "-o", "out.pdf")
    assert done.status == WRONG_USE
    assert "Choose -o out.html" in done.err
    assert not Path("out.pdf").exists()


def test_the_suggested_folders_can_be_pasted(keju: Keju) -> None:
    pages("my scans")
    done = keju("run", "--plan", "my scans", "--model", "ppocr")
    assert "keju ocr-report 'my scans' -o report.html --model ppocr" in done.err
    done = keju("data", "validate", "my scans")
    assert "keju data import auto 'my scans' --out 'my scans-dataset'" in done.err
    assert keju("data", "import", "auto", "my scans", "--out", "my scans-dataset").status == 0
    again = keju("data", "import", "auto", "my scans", "--out", "my scans-dataset")
    assert again.status == WRONG_USE
    assert "Choose another --out, or remove it" in again.err
    done = keju("data", "detect", "my scans")
    assert "--out 'my scans-dataset-2'" in done.out


def test_a_folder_that_is_not_a_run_gets_the_whole_command(keju: Keju) -> None:
    pages("scans")
    assert "keju run DATASET --model MODEL --out scans" in keju("score", "scans").err
