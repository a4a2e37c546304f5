"""No command takes an address for a path."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import typer.main

from keju.building.steps import STEPS
from keju.cli import app
from keju.cli.addresses import may_be_remote, refuse_addresses
from keju.errors import UsageError
from keju.object_stores import is_address
from tests.support.commanding import keju

ADDRESSES = ["s3://bkt/run", "gs://bkt/run", "hf://datasets/x/y", "https://example.org/x.json",
             "az://c/x", "file:///tmp/x", "S3://bkt/run", "custom+store://x/y"]  # fmt: skip
COMMANDS = [
    ["run", "mini", "--model", "baseline:chance", "--out", "s3://bkt/run"],
    ["run", "abfs://bkt/d", "--model", "baseline:chance", "--out", "r"],
    ["run", "mini", "--model", "replay:s3://bkt/a.json", "--out", "r"],
    ["build", "release", "mini", "--out", "wasb://bkt/rel"],
    ["build", "filter", "mini", "--out", "gcs://bkt/d"],
    ["data", "import", "auto", "hf://datasets/x/y", "--out", "d"],
    ["data", "stats", "https://example.org/d"],
    ["score", "s3://bkt/run"],
    ["report", "gs://bkt/run", "-o", "r.html"],
    ["audit", "https://example.org/t.csv"],
    ["merge", "s3://bkt/1", "s3://bkt/2", "--out", "r"],
]


def parameters(command: Any) -> list[tuple[str, Any]]:
    found = [(command.name, each) for each in command.params]
    for each in getattr(command, "commands", {}).values():
        found += parameters(each)
    if command.name == "build":
        steps = [command.get_command(None, name) for name in STEPS]
        found += [each for step in steps for each in parameters(step)]
    return found


def refused(parameter: Any, value: object) -> bool:
    try:
        assert parameter.callback is not None, parameter.name
        parameter.callback(None, parameter, value)
    except UsageError:
        return True
    return False


@pytest.mark.parametrize("address", ADDRESSES)
def test_every_path_of_every_command_refuses_addresses(address: str):
    command = typer.main.get_command(app)
    refuse_addresses(command)
    paths = [each for each in parameters(command) if "Path" in str(each[1].bare_type())]
    assert len(paths) > 90
    # Typer makes a `Path` of the value first, which leaves one slash of two.
    value = Path(address) if not address.startswith("custom") else address
    taken = [
        f"{name} {each.name}"
        for name, each in paths
        if not refused(each, [value] if each.multiple or each.nargs != 1 else value)
    ]
    remote = [f"{name} {each.name}" for name, each in paths if may_be_remote(each)]
    assert len(remote) > 40
    assert taken == (remote if is_address(address) else [])


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: " ".join(words[:2]))
def test_a_command_refuses_an_address_in_one_line_and_writes_nothing(
    words: list[str], tmp_path: Path
):
    done = keju(*words, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "keju reads and writes local files" in done.stderr
    assert "://" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_addresses_of_servers_and_texts_are_taken(tmp_path: Path):
    done = keju(
        "run", "--plan", "mini", "--model", "openai:m", "--limit", "1", "--base-url",
        "http://127.0.0.1:9/v1", "--system-prompt", "https://example.org is here", "--json",
        cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
