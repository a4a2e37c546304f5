"""Ctrl-C where the event loop has no signal handlers, as on Windows."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from keju.runs import RunFolder
from tests.support import children
from tests.support.making import make_dataset
from tests.support.serving import Chat, run_command

_WITHOUT_HANDLERS = """
import asyncio.unix_events, sys
def refuse(*_):
    raise NotImplementedError
asyncio.unix_events._UnixSelectorEventLoop.add_signal_handler = refuse
from keju.cli import main
main()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for one process")
def test_a_signal_stops_the_run_after_the_requests_in_progress(
    chat: Chat, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-run-0123456789abcdefABCDEF")
    make_dataset(tmp_path / "d", pages=40)
    chat.plan(delay=0.3)
    command = run_command(tmp_path / "d", tmp_path / "r", chat)
    start = command.index("run")
    process = children.started(
        [sys.executable, "-c", _WITHOUT_HANDLERS, *command[start:]],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    for _ in range(3000):
        if chat.stats()["requests"] >= 6:
            break
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    said, errors = process.communicate(timeout=90)
    assert process.returncode == 1
    assert "Traceback" not in errors
    assert "Run the same command again to continue" in said
    stored = list(RunFolder(tmp_path / "r").responses())
    assert {each.status for each in stored} == {"answered"}
    assert 6 <= len(stored) == chat.stats()["requests"] < 40
